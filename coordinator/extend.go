package coordinator

import (
	"context"
	"fmt"

	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/core/model"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// ExtendSweep implements [service.Sweeps].
func (c *Coordinator) ExtendSweep(ctx context.Context, m *foiblev1.ExtendSweepRequest) (*foiblev1.Sweep, bool, error) {
	from, _, err := c.store.Sweep(ctx, m.GetSweepId())
	if err != nil {
		return nil, false, err
	}
	if from.GetVersion() != c.cfg.Version {
		return nil, false, fmt.Errorf("%w: it was made by version %s, and results of different versions are not mixed; submit the larger sweep", service.ErrPrecondition, from.GetVersion())
	}
	config, err := codec.Extend(from.GetConfig(), m.GetModels())
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", service.ErrInvalid, err)
	}
	before, err := setsOf(from.GetConfig())
	if err != nil {
		return nil, false, err
	}
	after, err := setsOf(config)
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", service.ErrInvalid, err)
	}
	if len(after) == len(before) {
		return nil, false, fmt.Errorf("%w: it has all of these values already; name others", service.ErrInvalid)
	}
	made, err := c.create(ctx, &foiblev1.Sweep{
		StudyHash: from.GetStudyHash(), StudyName: from.GetStudyName(), Config: config, Stimuli: from.GetStimuli(),
		Priority: from.GetPriority(), Extends: from.GetSweepId(), Verify: from.GetVerify(),
	})
	return made.GetSweep(), made.GetExisted(), err
}

func setsOf(m *foiblev1.SweepConfig) ([]model.ParameterSet, error) {
	config, err := codec.Config(m)
	if err != nil {
		return nil, err
	}
	return config.Sets, nil
}
