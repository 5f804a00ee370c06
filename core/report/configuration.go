package report

import (
	"fmt"
	"io"
	"strings"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/sweep"
)

// valuesOf are the values of an axis that a grid has.
func valuesOf(grid *sweep.ModelGrid, axis string) []model.Setting {
	if values := grid.Axes[axis]; len(values) > 0 {
		return values
	}
	a, _ := model.AxisByName(axis)
	return a.Default
}

// WriteConfig writes a configuration as a sweep.yaml with nothing left to default.
func WriteConfig(w io.Writer, c *sweep.Config) error {
	var b strings.Builder
	b.WriteString("models:\n")
	for _, m := range model.Models {
		for _, grid := range c.Models {
			if grid.Model != m.Name {
				continue
			}
			fmt.Fprintf(&b, "  %s:\n", m.Name)
			for _, name := range m.Axes {
				values := valuesOf(&grid, name)
				texts := make([]string, len(values))
				for i, v := range values {
					texts[i] = v.String()
				}
				fmt.Fprintf(&b, "    %s: [%s]\n", name, strings.Join(texts, ", "))
			}
		}
	}
	in := c.Inference
	fmt.Fprintf(&b, "action_noise_kind: %s\n", in.ActionNoiseKind)
	fmt.Fprintf(&b, "inference:\n  method: %s\n  observe: %s\n", in.Method, in.Observe)
	if in.Method == sweep.Marginal {
		fmt.Fprintf(&b, "  mc_se: %v\n  posterior_se: %v\n", in.MCSE, in.PosteriorSE)
	} else {
		fmt.Fprintf(&b, "  filters: %s\n  resample: %s\n  resample_threshold: %v\n  resample_kind: %s\n  rejuvenate: %s\n",
			in.Filters, in.Resample, in.ResampleThreshold, in.ResampleKind, in.Rejuvenate)
	}
	for _, stage := range []string{sweep.FitStage, sweep.ReportStage} {
		p := c.Procedure(stage)
		fmt.Fprintf(&b, "%s:\n  runs: %d\n", stage, p.Runs)
		if in.Method != sweep.Marginal {
			fmt.Fprintf(&b, "  particles_per_goal: %d\n", p.ParticlesPerGoal)
		}
	}
	if c.TopUp > 1 {
		fmt.Fprintf(&b, "top_up: %d\n", c.TopUp)
	}
	fmt.Fprintf(&b, "bootstrap:\n  resamples: %d\n  units: [%s]\n", c.Bootstrap.Resamples, strings.Join(c.Bootstrap.Units, ", "))
	fmt.Fprintf(&b, "seed: %d\n", c.Seed)
	_, err := io.WriteString(w, b.String())
	return err
}
