package follow

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"foible.dev/foible/command/connect"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// SweepJSON is a sweep for scripts. The help of `foible status` is made of the notes.
type SweepJSON struct {
	Sweep    string `json:"sweep" note:"id"`
	Study    string `json:"study" note:"name of the study"`
	State    string `json:"state" note:"running, paused, succeeded, failed (some jobs), cancelled, damaged (what follows is not known then)"`
	Extends  string `json:"extends,omitempty" note:"id of the sweep that it extends"`
	WaitsFor string `json:"waits_for,omitempty" note:"id of the sweep that it extends and that has not ended: no jobs are scheduled before"`
	Stalled  string `json:"stalled,omitempty" note:"why the coordinator schedules no jobs of any sweep; not there if it does"`
	Damage   string `json:"damage,omitempty" note:"what is damaged of it where the coordinator stores it; not there if nothing is"`
	Priority int    `json:"priority" note:"share of the workers"`
	RetryDue bool   `json:"retry_due,omitempty" note:"what has failed of it is tried again when all its other jobs are done; not there if not"`
	Version  string `json:"version" note:"of Foible"`
	Created  string `json:"created" note:"time, RFC 3339; empty if not known"`
	Ended    string `json:"ended,omitempty" note:"time; not there before"`

	Cells          int     `json:"cells" note:"parameter sets times stimuli, of all stages"`
	CellsDone      int     `json:"cells_done" note:"cells that have a result, each counted once"`
	Jobs           int     `json:"jobs" note:"in which cells are run, and compared with people"`
	JobsDone       int     `json:"jobs_done" note:"with a result"`
	JobsFailed     int     `json:"jobs_failed" note:"of these, those that failed for good"`
	CellsFailed    int     `json:"cells_failed" note:"that could not be computed, of the other jobs"`
	JobsLeased     int     `json:"jobs_leased" note:"that workers have now"`
	Retries        int     `json:"retries" note:"times that a job was scheduled again, since the coordinator started"`
	LeasesLost     int     `json:"leases_lost" note:"of these, because nothing was heard of the worker"`
	Copies         int     `json:"copies" note:"times that a job was given to another worker too, because it took too long"`
	Verify         float64 `json:"verify,omitempty" note:"share of the cells that are computed twice and compared; not there if none"`
	Verified       int     `json:"cells_verified,omitempty" note:"cells computed twice with the same numbers, since the coordinator started"`
	VerifiedAlone  int     `json:"cells_verified_alone,omitempty" note:"of these, those that one worker computed twice, as there was no other"`
	Duplicates     int     `json:"duplicates" note:"results refused because the job had one, since the coordinator started"`
	Workers        int     `json:"workers" note:"connected now"`
	Slots          int     `json:"slots" note:"of these workers"`
	CellsPerSecond float64 `json:"cells_per_second" note:"lately"`
	// The range is absent where nothing can be said.
	ETALow  *float64 `json:"eta_low_seconds,omitempty" note:"seconds until it ends at the earliest: an 80 % range; not there if not known"`
	ETAHigh *float64 `json:"eta_high_seconds,omitempty" note:"and at the latest"`

	Stages      []partJSON        `json:"stages,omitempty" note:"name (fit, fit_scores, top_up, top_up_scores, report, report_scores), cells, cells_done, jobs, jobs_done"`
	Models      []partJSON        `json:"models,omitempty" note:"name, cells, cells_done"`
	Stimuli     []partJSON        `json:"stimuli,omitempty" note:"name, cells, cells_done; none of more than 200"`
	Failures    []string          `json:"failures,omitempty" note:"reasons, at most ten"`
	FailedCells []failedCellsJSON `json:"failed_cells,omitempty" note:"model, reason, cells; at most twenty"`
	Troubles    []string          `json:"troubles,omitempty" note:"what is in the way of the work now, as workers that keep failing; at most ten"`
	Best        []fitJSON         `json:"best,omitempty" note:"of each model at most three, the best first: parameter_set (its number in the sweep), model, settings, r (null where undefined), n, complete (false where it lacks points that others have, so that its r is not compared with theirs)"`
}

type partJSON struct {
	Name      string `json:"name"`
	Cells     int    `json:"cells"`
	CellsDone int    `json:"cells_done"`
	Jobs      int    `json:"jobs,omitempty"`
	JobsDone  int    `json:"jobs_done,omitempty"`
}

type failedCellsJSON struct {
	Model  string `json:"model"`
	Reason string `json:"reason"`
	Cells  int    `json:"cells"`
}

type fitJSON struct {
	Number   int      `json:"parameter_set"`
	Model    string   `json:"model"`
	Settings string   `json:"settings"`
	R        *float64 `json:"r"` // null where it is undefined
	N        int      `json:"n"`
	Complete bool     `json:"complete"`
}

// StatusFields documents the fields of `foible status --json`, a line each.
func StatusFields() string { return FieldNotes(reflect.TypeFor[SweepJSON]()) }

// FieldNotes documents the fields of a struct that is printed as JSON, a line each.
func FieldNotes(of reflect.Type) string {
	var text strings.Builder
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		fmt.Fprintf(&text, "  %-16s  %s\n", name, of.Field(i).Tag.Get("note"))
	}
	return text.String()
}

// NewSweepJSON describes a sweep for scripts, without its best fits.
func NewSweepJSON(m *foiblev1.Sweep) SweepJSON {
	p := m.GetProgress()
	s := SweepJSON{
		Sweep: m.GetSweepId(), Study: m.GetStudyName(), State: connect.StateWords[m.GetState()], Extends: m.GetExtends(),
		RetryDue: m.GetRetryDue(), WaitsFor: m.GetWaitsFor(), Stalled: m.GetStalled(), Damage: m.GetDamage(),
		Priority: int(m.GetPriority()), Version: m.GetVersion(), Created: m.GetCreateTime().AsTime().UTC().Format(time.RFC3339),
		Cells: int(p.GetCells()), CellsDone: int(p.GetCellsDone()), Jobs: int(p.GetJobs()), JobsDone: int(p.GetJobsDone()),
		JobsFailed: int(p.GetJobsFailed()), CellsFailed: int(p.GetCellsFailed()), JobsLeased: int(p.GetJobsLeased()), Workers: int(p.GetWorkers()), Slots: int(p.GetSlots()),
		Retries: int(p.GetRetries()), LeasesLost: int(p.GetLeasesLost()), Copies: int(p.GetCopies()),
		Verify: m.GetVerify(), Verified: int(p.GetCellsVerified()), VerifiedAlone: int(p.GetCellsVerifiedAlone()), Duplicates: int(p.GetDuplicates()),
		CellsPerSecond: p.GetCellsPerSecond(), Failures: p.GetFailures(), Troubles: p.GetTroubles(),
		Stages: partsJSON(p.GetStages()), Models: partsJSON(p.GetModels()), Stimuli: partsJSON(p.GetStimuli()),
	}
	for _, f := range p.GetFailedCells() {
		s.FailedCells = append(s.FailedCells, failedCellsJSON{f.GetModel(), f.GetReason(), int(f.GetCells())})
	}
	if m.GetDamage() != "" {
		s.State = connect.StateDamaged
	}
	if m.GetCreateTime() == nil {
		s.Created = ""
	}
	if m.GetEndTime() != nil {
		s.Ended = m.GetEndTime().AsTime().UTC().Format(time.RFC3339)
	}
	if m.GetEtaHigh() != nil {
		low, high := m.GetEtaLow().AsDuration().Seconds(), m.GetEtaHigh().AsDuration().Seconds()
		s.ETALow, s.ETAHigh = &low, &high
	}
	return s
}

func partsJSON(of []*foiblev1.PartProgress) []partJSON {
	var parts []partJSON
	for _, p := range of {
		parts = append(parts, partJSON{p.GetName(), int(p.GetCells()), int(p.GetCellsDone()), int(p.GetJobs()), int(p.GetJobsDone())})
	}
	return parts
}

// withBest adds fits.
func (s SweepJSON) withBest(fits []*foiblev1.Fit) (SweepJSON, error) {
	for _, fit := range fits {
		set, err := codec.ReadParameterSet(fit.GetParameterSet())
		if err != nil {
			return s, err
		}
		s.Best = append(s.Best, fitJSON{
			Number: int(fit.GetNumber()), Model: set.Model, Settings: set.Settings(),
			R: fit.GetOverall().PearsonR, N: int(fit.GetOverall().GetN()), Complete: !fit.GetIncomplete(),
		})
	}
	return s, nil
}

// StatusOf is a sweep with its best fits.
func StatusOf(ctx context.Context, c *connect.Client, m *foiblev1.Sweep) (SweepJSON, error) {
	if m.GetDamage() != "" {
		return NewSweepJSON(m), nil
	}
	fits, err := c.Sweeps.ListFits(ctx, &foiblev1.ListFitsRequest{SweepId: m.GetSweepId(), PerModel: 3})
	if err != nil {
		return SweepJSON{}, c.Explain(err)
	}
	return NewSweepJSON(m).withBest(fits.GetFits())
}
