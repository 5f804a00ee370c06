package coordinator_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"foible.dev/foible/coordinator"
	"foible.dev/foible/domains"
	foiblev1 "foible.dev/foible/proto/foible/v1"
	"foible.dev/foible/worker"
)

// liar spoils the results of real jobs.
type liar struct {
	worker.Executor
	spoil func(*foiblev1.JobResult)
}

// Execute implements [worker.Executor].
func (l liar) Execute(ctx context.Context, job *foiblev1.Assign) (*foiblev1.JobResult, error) {
	result, err := l.Executor.Execute(ctx, job)
	if err == nil {
		l.spoil(result)
	}
	return result, err
}

// TestLiesAboutFits: a fit that may be one, and is not that of the recorded posteriors and the judgements, is refused with
// both numbers. The job goes to another worker, and the results are those of honest workers.
func TestLiesAboutFits(t *testing.T) {
	run := func(t *testing.T, spoil func(fit, another *foiblev1.Fit)) (results []byte, log []string) {
		synctest.Test(t, func(t *testing.T) {
			c, said := logged(t, func(cfg *coordinator.Config) { cfg.Scorer = domains.Scorer })
			lies := 0
			var before *foiblev1.Fit // of another parameter set
			c.employ("liar", 1, func(conn *grpc.ClientConn) worker.Executor {
				return liar{worker.NewScience(foiblev1.NewStudyServiceClient(conn)), func(result *foiblev1.JobResult) {
					fits := result.GetScore().GetFits()
					switch {
					case len(fits) == 0 || spoil == nil || lies > 0:
					case before == nil:
						before = proto.CloneOf(fits[0])
					default:
						lies++
						spoil(fits[0], before)
					}
				}}
			})
			id := c.submit(c.sampleRequest())
			whole(t, c.wait(id))
			if results, _ = c.export(id); spoil != nil && lies == 0 {
				t.Error("there was no score job to lie about")
			}
			log = said.lines("tried again")
		})
		return results, log
	}
	honest, _ := run(t, nil)
	for name, lie := range map[string]struct {
		spoil func(fit, another *foiblev1.Fit)
		want  string
	}{
		"r":    {func(fit, _ *foiblev1.Fit) { fit.Overall.PearsonR = proto.Float64(-1) }, "r is -1; computed here, it is "},
		"no r": {func(fit, _ *foiblev1.Fit) { fit.Overall.PearsonR = nil; fit.Intervals = nil; fit.McSe = 0 }, "r is undefined; computed here, it is "},
		"the last bit of r": {func(fit, _ *foiblev1.Fit) {
			fit.Overall.PearsonR = proto.Float64(fit.Overall.GetPearsonR() + 1e-16)
		}, "computed here, it is "},
		"rmse":     {func(fit, _ *foiblev1.Fit) { fit.Overall.Rmse = proto.Float64(0.25) }, "rmse is 0.25; computed here, it is "},
		"interval": {func(fit, _ *foiblev1.Fit) { fit.Intervals[0].Low -= 0.125 }, "computed here, they are "},
		"r of a category": {func(fit, _ *foiblev1.Fit) {
			fit.ByCategory[0].PearsonR = proto.Float64(0.5)
		}, "r is 0.5; computed here, it is "},
		"r of a stimulus": {func(fit, _ *foiblev1.Fit) {
			fit.ByStimulus[1].PearsonR = proto.Float64(0.5)
		}, "r is 0.5; computed here, it is "},
		"another's": {func(fit, another *foiblev1.Fit) {
			fit.Overall, fit.ByCategory, fit.ByStimulus, fit.Intervals = another.GetOverall(), another.GetByCategory(), another.GetByStimulus(), another.GetIntervals()
		}, "computed here, it is "},
	} {
		t.Run(name, func(t *testing.T) {
			results, log := run(t, lie.spoil)
			if len(log) == 0 || !strings.Contains(log[0], lie.want) {
				t.Errorf("the log says %q, want %q", log, lie.want)
			}
			if !bytes.Equal(results, honest) {
				t.Error("the results are not those of honest workers")
			}
		})
	}
}

// TestStimuliOfAnotherStudy: a sweep has the stimuli of its study, all of them and as they are. Its fits could not be made.
func TestStimuliOfAnotherStudy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, func(cfg *coordinator.Config) { cfg.Shapes = domains.Shapes })
		whole := c.sampleRequest()
		some := proto.CloneOf(whole)
		some.Stimuli = some.GetStimuli()[:2]
		_, err := c.sweeps.CreateSweep(t.Context(), some)
		wantCode(t, err, codes.InvalidArgument, "the sweep's 2 stimuli are not the study's 8 stimuli")
		shorter := proto.CloneOf(whole)
		shorter.Stimuli[0].Actions--
		_, err = c.sweeps.CreateSweep(t.Context(), shorter)
		wantCode(t, err, codes.InvalidArgument, "or have other goals, actions or judgement steps")
		if _, err = c.sweeps.CreateSweep(t.Context(), whole); err != nil {
			t.Error(err)
		}
	})
}
