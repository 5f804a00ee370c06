package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"foible/core/sweep"
	"foible/domains"
	"foible/proto/codec"
	foiblev1 "foible/proto/foible/v1"
)

// SweepChoice says which sweep to make of a study.
type SweepChoice struct {
	File   string   // a sweep.yaml; without one the study's own, else the domain's
	Models []string // keep these alone
	Set    []string // axis=value[,value...] for every model that has the axis
	Runs   int      // runs a cell; 0 leaves them
	Seed   string   // the sweep's seed; "" leaves it
}

// config resolves the choice.
func (c *SweepChoice) config(fsys fs.FS, domain *domains.Domain) (*foiblev1.SweepConfig, error) {
	m, err := c.base(fsys, domain)
	if err != nil {
		return nil, err
	}
	if len(c.Models) > 0 {
		kept := map[string]*foiblev1.ModelConfig{}
		for _, name := range c.Models {
			if _, ok := sweep.ModelByName(name); !ok {
				return nil, usagef("--models: unknown model %q; there are %s", name, sweep.ModelNames())
			}
			kept[name] = m.GetModels()[name] // a model that the sweep does not name has its default axes
			if kept[name] == nil {
				kept[name] = &foiblev1.ModelConfig{}
			}
		}
		m.Models = kept
	}
	for _, assignment := range c.Set {
		if err := set(m, assignment); err != nil {
			return nil, err
		}
	}
	if c.Runs < 0 {
		return nil, usagef("--runs %d: must be at least 1", c.Runs)
	}
	if c.Runs > 0 {
		m.Fit = &foiblev1.StageConfig{Runs: int32(c.Runs)}
	}
	if c.Seed != "" {
		if m.Seed, err = strconv.ParseUint(c.Seed, 10, 64); err != nil {
			return nil, usagef("--seed %q: must be a whole number from 0", c.Seed)
		}
	}
	if _, err := codec.Config(m); err != nil {
		return nil, &UsageError{err}
	}
	return m, nil
}

func (c *SweepChoice) base(fsys fs.FS, domain *domains.Domain) (*foiblev1.SweepConfig, error) {
	if c.File != "" {
		src, err := os.ReadFile(c.File)
		if err != nil {
			return nil, fmt.Errorf("--sweep: %w", err)
		}
		return domains.LoadSweep(c.File, src)
	}
	src, err := fs.ReadFile(fsys, "sweep.yaml")
	if errors.Is(err, fs.ErrNotExist) {
		src, err = domain.Sweep, nil
	}
	if err != nil {
		return nil, err
	}
	return domains.LoadSweep("sweep.yaml", src)
}

// set replaces the values of an axis.
func set(m *foiblev1.SweepConfig, assignment string) error {
	name, list, ok := strings.Cut(assignment, "=")
	if !ok || list == "" {
		return usagef("--set %q: write it as axis=value or axis=value,value", assignment)
	}
	axis, ok := sweep.AxisByName(name)
	if !ok {
		var names []string
		for _, a := range sweep.Axes {
			names = append(names, a.Name)
		}
		return usagef("--set %q: unknown axis %q; there are %s", assignment, name, strings.Join(names, ", "))
	}
	used := false
	for modelName, config := range m.GetModels() {
		model, _ := sweep.ModelByName(modelName)
		if !slices.Contains(model.Axes, name) {
			continue
		}
		used = true
		r := config.ProtoReflect()
		field := r.Descriptor().Fields().ByTextName(name)
		values := r.NewField(field).List()
		for text := range strings.SplitSeq(list, ",") {
			if len(axis.Words) > 0 {
				values.Append(protoreflect.ValueOfString(strings.TrimSpace(text)))
				continue
			}
			x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				return usagef("--set %q: %q is not a number", assignment, text)
			}
			values.Append(protoreflect.ValueOfFloat64(x))
		}
		r.Set(field, protoreflect.ValueOfList(values))
	}
	if !used {
		return usagef("--set %q: none of the sweep's models has the axis %s", assignment, name)
	}
	return nil
}
