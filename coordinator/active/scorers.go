package active

import (
	"context"
	"fmt"
	"sync"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// maxScorers bounds the scorers that are kept: one holds the resampled judgements of a study, some megabytes.
const maxScorers = 4

// NewScorer reads the judgements of a study from its bundle.
type NewScorer func(bundle []byte, b sweep.Bootstrap, seed uint64) (*score.Scorer, error)

// Scorers make the fits that workers are to make. Computing a fit again is cheap, so that no fit has to be believed.
type Scorers struct {
	New     NewScorer   // nil: fits are checked for what they can be, no more
	Studies interface { // where bundles of studies are read
		Fetch(ctx context.Context, hash string) (bundle []byte, release func(), err error)
	}

	mu   sync.Mutex // guards kept
	kept []*scorer  // the one used last is the last
}

// scorer compares the predictions of sweeps with one study, seed and bootstrap. It is made when it is first needed.
type scorer struct {
	key string

	mu    sync.Mutex // guards ready; held while it is made
	ready *score.Scorer
}

// of finds the scorer of a key, or makes room for one.
func (s *Scorers) of(key string) *scorer {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, one := range s.kept {
		if one.key == key {
			s.kept = append(append(s.kept[:i:i], s.kept[i+1:]...), one)
			return one
		}
	}
	if len(s.kept) == maxScorers {
		s.kept = s.kept[1:]
	}
	one := &scorer{key: key}
	s.kept = append(s.kept, one)
	return one
}

// scorer compares the predictions of a stage with the judgements of the sweep's study; nil without Scorers.New.
func (r *Sweep) scorer(ctx context.Context, stage string) (*score.Scorer, error) {
	if r.env.Scorers.New == nil {
		return nil, nil
	}
	study, b := r.Spec.GetStudyHash(), r.Plan.BootstrapOf(&r.Config, stage)
	s := r.env.Scorers.of(fmt.Sprint(study, r.Config.Seed, b))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready != nil {
		return s.ready, nil
	}
	bundle, release, err := r.env.Scorers.Studies.Fetch(ctx, study)
	if err != nil {
		return nil, fmt.Errorf("study %s: %w", study, err)
	}
	defer release()
	if s.ready, err = r.env.Scorers.New(bundle, b, r.Config.Seed); err != nil {
		return nil, fmt.Errorf("study %s: %w", study, err)
	}
	return s.ready, nil
}

// expectedFit is what is known of a fit before a worker makes it.
type expectedFit struct {
	hash     []byte
	outlines []score.Outline // of the predictions, one a stimulus
	fit      *result.Fit     // as it is to be; nil where only its outlines are known
}

// expectedFits are those of a score job, one a parameter set.
func (r *Sweep) expectedFits(ctx context.Context, job sweep.Job, predictions [][]result.Prediction) ([]expectedFit, error) {
	scorer, err := r.scorer(ctx, job.Stage)
	if err != nil {
		return nil, err
	}
	fits := make([]expectedFit, len(job.Sets))
	hasher := sweep.NewScoreHash(r.Spec.GetStudyHash(), r.Config.Seed, r.Plan.BootstrapOf(&r.Config, job.Stage))
	for i := range job.Sets {
		fits[i] = expectedFit{hash: hasher.Of(&job.Sets[i], predictions[i]), outlines: score.Outlines(predictions[i])}
		if scorer == nil {
			continue
		}
		fit, err := scorer.Score(predictions[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", &job.Sets[i], err)
		}
		fits[i].fit = &fit
	}
	return fits, nil
}

// check says why a worker's fit of a parameter set is not the one expected; nil if it is.
func (e *expectedFit) check(m *foiblev1.Fit, set *model.ParameterSet, stimuli []sweep.Shape, b sweep.Bootstrap) error {
	if err := echo(m.GetParameterSet(), set, m.GetScoreHash(), e.hash); err != nil {
		return err
	}
	fit, err := codec.ReadFit(m)
	if err != nil {
		return err
	}
	if err := score.CheckFit(&fit, set.Model, e.outlines, stimuli, b); err != nil {
		return fmt.Errorf("%s: %w", set, err)
	}
	if e.fit == nil {
		return nil
	}
	if err := e.fit.CheckSame(&fit); err != nil {
		return fmt.Errorf("%s: %w", set, err)
	}
	return nil
}
