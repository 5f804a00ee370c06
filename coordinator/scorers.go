package coordinator

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

// scorers make the fits that workers are to make. Computing a fit again is cheap, so that no fit has to be believed.
type scorers struct {
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
func (s *scorers) of(key string) *scorer {
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

// scorer compares the predictions of a stage with the judgements of the sweep's study; nil without Config.Scorer.
func (r *sweepRun) scorer(ctx context.Context, stage string) (*score.Scorer, error) {
	if r.c.cfg.Scorer == nil {
		return nil, nil
	}
	study, b := r.spec.GetStudyHash(), r.plan.BootstrapOf(&r.config, stage)
	s := r.c.scorers.of(fmt.Sprint(study, r.config.Seed, b))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready != nil {
		return s.ready, nil
	}
	bundle, release, err := r.c.transfers.Fetch(ctx, study)
	if err != nil {
		return nil, fmt.Errorf("study %s: %w", study, err)
	}
	defer release()
	if s.ready, err = r.c.cfg.Scorer(bundle, b, r.config.Seed); err != nil {
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
func (r *sweepRun) expectedFits(ctx context.Context, job sweep.Job, predictions [][]result.Prediction) ([]expectedFit, error) {
	scorer, err := r.scorer(ctx, job.Stage)
	if err != nil {
		return nil, err
	}
	fits := make([]expectedFit, len(job.Sets))
	hasher := sweep.NewScoreHash(r.spec.GetStudyHash(), r.config.Seed, r.plan.BootstrapOf(&r.config, job.Stage))
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
