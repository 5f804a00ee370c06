package connect

import (
	"fmt"

	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// States as they are shown.
const (
	StateRunning   = "running"
	StatePaused    = "paused"
	StateCancelled = "cancelled"
	StateInPart    = "failed in part"
	StateDamaged   = "damaged"
	StateWaiting   = "waiting"                   // of running ones, for the sweep that they extend; see stateText
	StateStalled   = "paused by the coordinator" // of running ones; see stateText
)

// StateText is the state of a sweep for people to read: a running one may be stalled, or wait for another.
func StateText(m *foiblev1.Sweep) string {
	switch name := StateName(m); {
	case name != StateRunning:
		return name
	case m.GetStalled() != "":
		return StateStalled
	case m.GetWaitsFor() != "":
		return StateWaiting
	}
	return StateRunning
}

// StateName is the state of a sweep in a word or two, as `foible list` prints it.
func StateName(m *foiblev1.Sweep) string {
	switch state := m.GetState(); {
	case m.GetDamage() != "":
		return StateDamaged
	case HasNotEnded(state) && m.GetProgress() == nil:
		return "left by version " + m.GetVersion() // no other version takes it up
	case state == foiblev1.SweepState_SWEEP_STATE_FAILED:
		return StateInPart
	case StateWords[state] != "":
		return StateWords[state]
	}
	return "unknown"
}

// HasNotEnded says whether a sweep in a state may still have results.
func HasNotEnded(state foiblev1.SweepState) bool {
	return state == foiblev1.SweepState_SWEEP_STATE_RUNNING || state == foiblev1.SweepState_SWEEP_STATE_PAUSED
}

// CellsText says how many of a sweep's cells are done. Of a sweep that ended in an
// earlier life of the coordinator, that is all.
func CellsText(m *foiblev1.Sweep) string {
	p := m.GetProgress()
	if p != nil && m.GetDamage() == "" {
		return fmt.Sprintf("%s of %s", words.Thousands(p.GetCellsDone()), words.Count(p.GetCells(), "cell"))
	}
	plan, _, err := PlanOf(m)
	switch {
	case err != nil || m.GetDamage() != "":
		return "an unknown number of cells"
	case HasNotEnded(m.GetState()) || m.GetState() == foiblev1.SweepState_SWEEP_STATE_CANCELLED:
		return "some of " + words.Count(plan.Cells(), "cell")
	}
	return fmt.Sprintf("%s of %s", words.Thousands(plan.Cells()), words.Count(plan.Cells(), "cell"))
}

// StateWords are the states of sweeps as the API has them.
var StateWords = map[foiblev1.SweepState]string{
	foiblev1.SweepState_SWEEP_STATE_RUNNING:   StateRunning,
	foiblev1.SweepState_SWEEP_STATE_PAUSED:    StatePaused,
	foiblev1.SweepState_SWEEP_STATE_SUCCEEDED: "succeeded",
	foiblev1.SweepState_SWEEP_STATE_FAILED:    "failed",
	foiblev1.SweepState_SWEEP_STATE_CANCELLED: StateCancelled,
}

// VerifiedText says how many cells were computed twice with the same numbers; "" if none is to be.
func VerifiedText(m *foiblev1.Sweep) string {
	p := m.GetProgress()
	n, alone := p.GetCellsVerified(), p.GetCellsVerifiedAlone()
	switch {
	case m.GetVerify() == 0:
		return ""
	case n == 0:
		return "no cell has been computed twice with the same numbers"
	case alone == n:
		return words.Count(n, "cell") + " computed twice, with the same numbers, by the same worker, as there was no other"
	case alone > 0:
		return fmt.Sprintf("%s computed twice, with the same numbers; %s of them by the same worker, as there was no other", words.Count(n, "cell"), words.Thousands(alone))
	}
	return words.Count(n, "cell") + " computed twice, with the same numbers, by different workers"
}

// AskForSweep asks for the argument SWEEP where it is missing.
const AskForSweep = "name a sweep of those that `foible list` lists"

// PlanOf is the plan that a coordinator made of a sweep.
func PlanOf(m *foiblev1.Sweep) (*sweep.Plan, *sweep.Resolved, error) {
	config, err := codec.Config(m.GetConfig())
	if err != nil {
		return nil, nil, err
	}
	plan, err := config.Plan(codec.Shapes(m.GetStimuli()), int(m.GetCellsPerJob()))
	return plan, config, err
}
