package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/heuristic"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/domains"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// shelf is a coordinator's studies, of which one is there.
type shelf struct {
	foiblev1.StudyServiceClient
	bundle []byte
	err    error // instead of it
}

// GetStudy implements [foiblev1.StudyServiceClient].
func (s shelf) GetStudy(context.Context, *foiblev1.GetStudyRequest, ...grpc.CallOption) (grpc.ServerStreamingClient[foiblev1.GetStudyResponse], error) {
	return &delivery{bundle: s.bundle, err: s.err}, nil
}

// delivery is the stream of a study, which breaks with an error, if there is one.
type delivery struct {
	grpc.ServerStreamingClient[foiblev1.GetStudyResponse]
	bundle []byte
	err    error
}

func (d *delivery) Recv() (*foiblev1.GetStudyResponse, error) {
	switch {
	case d.err != nil:
		return nil, d.err
	case d.bundle == nil:
		return nil, io.EOF
	}
	m := &foiblev1.GetStudyResponse{Chunk: d.bundle}
	d.bundle = nil
	return m, nil
}

func hashOf(bundle []byte) string {
	sum := sha256.Sum256(bundle)
	return hex.EncodeToString(sum[:])
}

// sample is a study and an executor that can fetch it.
func sample(t *testing.T) (*Science, *domains.Study) {
	t.Helper()
	domain, _ := domains.ByName("block-words")
	study, found := domains.Load(domain.Sample)
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return NewScience(shelf{bundle: study.Bundle}), study
}

// request is a job on a study's first stimulus.
func request(t *testing.T, study *domains.Study, settings string, judged bool) (*foiblev1.Assign, []model.ParameterSet) {
	t.Helper()
	m, err := domains.LoadSweep("sweep.yaml", []byte(settings))
	if err != nil {
		t.Fatal(err)
	}
	config, err := codec.Config(m)
	if err != nil {
		t.Fatal(err)
	}
	sets, err := config.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	p := config.Procedure(sweep.FitStage)
	if judged {
		p.Detail = sweep.DetailJudged
	}
	return &foiblev1.Assign{
		StudyHash: study.Hash, Seed: 1, Work: &foiblev1.Assign_Infer{Infer: codec.InferJob(study.Stimuli[0].ID, p, sets)},
	}, sets
}

const twoModels = "models: {boltzmann: {alpha: [0.5, 1]}, goal-lesioned: {budget_r: [1], budget_q: [0.5], search_noise: [0.1], action_noise: [0.1, 0.2, 0.3]}}\n"

// with lets a study that has been fetched have other heuristics.
func with(t *testing.T, e *Science, hash string, heuristics func(*ground.Task) (func(int) (*heuristic.Table, error), error)) {
	t.Helper()
	l, err := e.load(t.Context(), hash)
	if err != nil {
		t.Fatal(err)
	}
	domain := *l.study.Domain // which all studies share
	domain.Heuristics = heuristics
	l.study.Domain = &domain
}

// cells are those of a result, checked as a coordinator does.
func cellsOf(t *testing.T, study *domains.Study, out *foiblev1.JobResult) []result.Cell {
	t.Helper()
	cells, err := codec.ReadCells(out.GetInfer(), &codec.Shapes(study.Shapes())[0])
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

// Cells that cannot be computed are answered as such, with the reason; those of other models in the same job are
// computed, and it does not matter which cells are asked for together.
func TestCellsThatFail(t *testing.T) {
	for _, judged := range []bool{false, true} {
		e, study := sample(t)
		job, sets := request(t, study, twoModels, judged)
		with(t, e, study.Hash, func(*ground.Task) (func(int) (*heuristic.Table, error), error) {
			return nil, errors.New("no such thing here")
		})
		out, err := e.Execute(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		cells := cellsOf(t, study, out)
		var alone []result.Cell
		var hashes []byte
		for i := range cells {
			exact := sets[i].Model == "boltzmann"
			if cells[i].Failed() == exact || exact && len(cells[i].Posterior) == 0 {
				t.Errorf("%s: %+v", &sets[i], cells[i])
			}
			if !exact && cells[i].Undefined.Reason != "heuristic: no such thing here" {
				t.Errorf("%s: %q", &sets[i], cells[i].Undefined.Reason)
			}
			one := proto.CloneOf(job)
			p, _, err := codec.ReadInferJob(job.GetInfer())
			if err != nil {
				t.Fatal(err)
			}
			one.Work = &foiblev1.Assign_Infer{Infer: codec.InferJob(study.Stimuli[0].ID, p, sets[i:i+1])}
			single, err := e.Execute(t.Context(), one)
			if err != nil {
				t.Fatal(err)
			}
			alone = append(alone, cellsOf(t, study, single)...)
			hashes = append(hashes, codec.CellHash(single.GetInfer(), 0)...)
		}
		if !proto.Equal(codec.InferResult(alone, hashes), out.GetInfer()) {
			t.Error("cells that are asked for one by one are others")
		}
	}
}

// A panic ends the job, and what it left half made is not used again; in the last try it ends the cell alone.
func TestPanicInACell(t *testing.T) {
	e, study := sample(t)
	job, sets := request(t, study, twoModels, true)
	with(t, e, study.Hash, func(*ground.Task) (func(int) (*heuristic.Table, error), error) { panic("out of range") })
	w := &Worker{cfg: Config{Executor: e}, log: hclog.NewNullLogger()}
	if _, err := w.try(t.Context(), job); err == nil || err.Error() != "panic: out of range" {
		t.Fatalf("it ended with %v", err)
	}
	if n := len(e.loaded[study.Hash].stimuli[study.Stimuli[0].ID].free); n != 0 {
		t.Errorf("%d stimuli are used again", n)
	}
	if m := failure(errors.New("panic: out of range")).GetFailure(); m.GetKind() != foiblev1.FailureKind_FAILURE_KIND_UNSPECIFIED {
		t.Errorf("its kind is %v", m.GetKind())
	}
	job.LastTry = true
	result, err := w.try(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	for i, cell := range cellsOf(t, study, result) {
		if exact := sets[i].Model == "boltzmann"; cell.Failed() == exact || !exact && cell.Undefined.Reason != "panic: out of range" {
			t.Errorf("%s: %+v", &sets[i], cell)
		}
	}
}

// Errors say what is to blame: what cannot be fetched is not the job's fault, what cannot be read or done is.
func TestFailureKinds(t *testing.T) {
	const (
		computation    = foiblev1.FailureKind_FAILURE_KIND_COMPUTATION
		infrastructure = foiblev1.FailureKind_FAILURE_KIND_INFRASTRUCTURE
	)
	_, study := sample(t)
	job, _ := request(t, study, twoModels, true)
	damaged := append([]byte(nil), study.Bundle...)
	damaged[len(damaged)/2] ^= 1
	foreign := proto.CloneOf(job)
	foreign.StudyHash = hashOf([]byte("no archive"))
	nowhere := proto.CloneOf(job)
	nowhere.GetInfer().Stimulus = "none"
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx     context.Context
		studies shelf
		job     *foiblev1.Assign
		kind    foiblev1.FailureKind
		says    string
	}{
		"connection":        {t.Context(), shelf{err: status.Error(codes.Unavailable, "reset")}, job, infrastructure, "reset"},
		"study not there":   {t.Context(), shelf{err: status.Error(codes.NotFound, "no such study")}, job, infrastructure, "no such study"},
		"study damaged":     {t.Context(), shelf{bundle: damaged}, job, infrastructure, "it is damaged: its content has the hash " + hashOf(damaged)},
		"study no archive":  {t.Context(), shelf{bundle: []byte("no archive")}, foreign, computation, "zip: not a valid zip file"},
		"no such stimulus":  {t.Context(), shelf{bundle: study.Bundle}, nowhere, computation, `the study has no stimulus "none"`},
		"cancelled fetch":   {ended, shelf{err: status.Error(codes.Canceled, "cancelled")}, job, infrastructure, "cancelled"},
		"nothing to do":     {t.Context(), shelf{bundle: study.Bundle}, &foiblev1.Assign{StudyHash: study.Hash}, computation, "job of an unknown kind"},
		"study of no bytes": {t.Context(), shelf{}, job, infrastructure, "it is damaged"},
	} {
		_, err := NewScience(test.studies).Execute(test.ctx, test.job)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if f := failure(err).GetFailure(); f.GetKind() != test.kind || !strings.Contains(f.GetReason(), test.says) {
			t.Errorf("%s: %v, want %v with %q", name, f, test.kind, test.says)
		}
	}
}

// What the science answers passes the checks of answers, for every model, method and detail.
func TestAnswersPass(t *testing.T) {
	const models = `models:
  full: {goal_noise: [0.1], budget_r: [1], budget_q: [0.5], search_noise: [0.1], action_noise: [0.1]}
  goal-lesioned: {budget_r: [1], budget_q: [0.5], search_noise: [0.1], action_noise: [0.1]}
  plan-lesioned: {goal_noise: [0.1], action_noise: [0.1]}
  action-lesioned: {goal_noise: [0.1], budget_r: [1], budget_q: [0.5], search_noise: [0.1]}
  boltzmann: {alpha: [1], value: [optimal, heuristic]}
`
	for name, settings := range map[string]string{
		"sips":       "inference: {method: sips}\nfit: {runs: 3, particles_per_goal: 4}\n",
		"sips exact": "inference: {method: sips, observe: exact, filters: per_goal}\nfit: {runs: 1, particles_per_goal: 2}\n",
		"marginal":   "inference: {mc_se: 0.5, posterior_se: 0.5}\nfit: {runs: 4}\n",
	} {
		for _, detail := range []string{sweep.DetailSteps, sweep.DetailJudged, sweep.DetailMistakes} {
			e, study := sample(t)
			job, sets := request(t, study, models+settings, false)
			p, _, err := codec.ReadInferJob(job.GetInfer())
			if err != nil {
				t.Fatal(err)
			}
			if p.Detail = detail; p.Method == sweep.SIPS && detail == sweep.DetailMistakes {
				continue
			}
			var predictions [][]result.Prediction // [set][stimulus]
			shapes := codec.Shapes(study.Shapes())
			for i := range shapes {
				job.Work = &foiblev1.Assign_Infer{Infer: codec.InferJob(shapes[i].Stimulus, p, sets)}
				result, err := e.Execute(t.Context(), job)
				if err != nil {
					t.Fatal(err)
				}
				cells, err := codec.ReadCells(result.GetInfer(), &shapes[i])
				if err != nil {
					t.Fatal(err)
				}
				for k := range cells {
					if err := shapes[i].CheckCell(&cells[k], &sets[k], &p); err != nil {
						t.Errorf("%s, %s, stimulus %s: %s: %v", name, detail, shapes[i].Stimulus, &sets[k], err)
					}
					if i == 0 {
						predictions = append(predictions, nil)
					}
					predictions[k] = append(predictions[k], shapes[i].Predict(&cells[k]))
				}
			}
			b := sweep.Bootstrap{Resamples: 10, Units: []string{"participants", "stimuli", "both"}}
			scored := &foiblev1.ScoreJob{Bootstrap: codec.Bootstrap(b)}
			for k := range sets {
				scored.Scored = append(scored.Scored, &foiblev1.Scored{ParameterSet: codec.ParameterSet(&sets[k]), Predictions: codec.Predictions(predictions[k])})
			}
			job.Work = &foiblev1.Assign_Score{Score: scored}
			result, err := e.Execute(t.Context(), job)
			if err != nil {
				t.Fatal(err)
			}
			for k, m := range result.GetScore().GetFits() {
				fit, err := codec.ReadFit(m)
				if err == nil {
					err = score.CheckFit(&fit, sets[k].Model, score.Outlines(predictions[k]), shapes, b)
				}
				if err != nil {
					t.Errorf("%s, %s: %s: %v", name, detail, &sets[k], err)
				}
			}
		}
	}
}
