// Package answer has the computations by which answers of workers are checked, and that need nothing of a running sweep:
// [Scorers] compute fits again, [Computation] compares two computations of one job, [Entry] makes of a result what the
// ledger takes. Which answer is accepted is decided by package active, which knows the sweep.
package answer

import (
	"bytes"
	"context"
	"errors"
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

// Scoring is what fits depend on besides predictions.
type Scoring struct {
	StudyHash string
	Seed      uint64
	Bootstrap sweep.Bootstrap
}

// scorer compares predictions with the judgements of a study; nil without s.New.
func (s *Scorers) scorer(ctx context.Context, by *Scoring) (*score.Scorer, error) {
	if s.New == nil {
		return nil, nil
	}
	one := s.of(fmt.Sprint(by.StudyHash, by.Seed, by.Bootstrap))
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.ready != nil {
		return one.ready, nil
	}
	bundle, release, err := s.Studies.Fetch(ctx, by.StudyHash)
	if err != nil {
		return nil, fmt.Errorf("study %s: %w", by.StudyHash, err)
	}
	defer release()
	if one.ready, err = s.New(bundle, by.Bootstrap, by.Seed); err != nil {
		return nil, fmt.Errorf("study %s: %w", by.StudyHash, err)
	}
	return one.ready, nil
}

// Expect returns what is known of the fits of parameter sets, by their predictions, before a worker makes them.
func (s *Scorers) Expect(ctx context.Context, by Scoring, sets []model.ParameterSet, predictions [][]result.Prediction) ([]ExpectedFit, error) {
	scorer, err := s.scorer(ctx, &by)
	if err != nil {
		return nil, err
	}
	fits := make([]ExpectedFit, len(sets))
	hasher := sweep.NewScoreHash(by.StudyHash, by.Seed, by.Bootstrap)
	for i := range sets {
		fits[i] = ExpectedFit{hash: hasher.Of(&sets[i], predictions[i]), outlines: score.Outlines(predictions[i])}
		if scorer == nil {
			continue
		}
		fit, err := scorer.Score(predictions[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", &sets[i], err)
		}
		fits[i].fit = &fit
	}
	return fits, nil
}

// ExpectedFit is what is known of a fit before a worker makes it.
type ExpectedFit struct {
	hash     []byte
	outlines []score.Outline // of the predictions, one a stimulus
	fit      *result.Fit     // as it is to be; nil where only its outlines are known
}

// Check says why a worker's fit of a parameter set is not the one expected; nil if it is.
func (e *ExpectedFit) Check(m *foiblev1.Fit, set *model.ParameterSet, stimuli []sweep.Shape, b sweep.Bootstrap) error {
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

// OtherHash says that the answer for a parameter set has the hash of another computation.
func OtherHash(set *model.ParameterSet) error {
	return fmt.Errorf("%s: the hash is of another computation", set)
}

// echo compares what a worker says it has computed with what it was asked for.
func echo(m *foiblev1.ParameterSet, want *model.ParameterSet, hash, wantHash []byte) error {
	if m == nil {
		return errors.New("an answer without its parameters")
	}
	got, err := codec.ReadParameterSet(m)
	switch {
	case err != nil:
		return err
	case got != *want:
		return fmt.Errorf("computed with %s, not %s", got.String(), want.String())
	case !bytes.Equal(hash, wantHash):
		return OtherHash(want)
	}
	return nil
}
