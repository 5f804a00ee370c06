package report

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

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
	root := mapping{&yaml.Node{Kind: yaml.MappingNode}}
	models := root.mapping("models")
	for _, m := range model.Models {
		for _, grid := range c.Models {
			if grid.Model != m.Name {
				continue
			}
			axes := models.mapping(m.Name)
			for _, name := range m.Axes {
				values := valuesOf(&grid, name)
				texts := make([]string, len(values))
				for i, v := range values {
					texts[i] = v.String()
				}
				axes.list(name, texts)
			}
		}
	}
	in := c.Inference
	root.set("action_noise_kind", in.ActionNoiseKind)
	inference := root.mapping("inference")
	inference.set("method", in.Method)
	inference.set("observe", in.Observe)
	if in.Method == sweep.Marginal {
		inference.set("mc_se", in.MCSE)
		inference.set("posterior_se", in.PosteriorSE)
	} else {
		inference.set("filters", in.Filters)
		inference.set("resample", in.Resample)
		inference.set("resample_threshold", in.ResampleThreshold)
		inference.set("resample_kind", in.ResampleKind)
		inference.set("rejuvenate", in.Rejuvenate)
	}
	for _, name := range []string{sweep.FitStage, sweep.ReportStage} {
		p, stage := c.Procedure(name), root.mapping(name)
		stage.set("runs", p.Runs)
		if in.Method != sweep.Marginal {
			stage.set("particles_per_goal", p.ParticlesPerGoal)
		}
	}
	if c.TopUp > 1 {
		root.set("top_up", c.TopUp)
	}
	bootstrap := root.mapping("bootstrap")
	bootstrap.set("resamples", c.Bootstrap.Resamples)
	bootstrap.list("units", c.Bootstrap.Units)
	root.set("seed", c.Seed)
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	return errors.Join(e.Encode(root.node), e.Close())
}

// mapping is a mapping of YAML being made.
type mapping struct{ node *yaml.Node }

func (m mapping) add(key string, value *yaml.Node) {
	m.node.Content = append(m.node.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value)
}

// set adds a key with a value.
func (m mapping) set(key string, value any) {
	m.add(key, &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(value)})
}

// list adds a key with values on one line.
func (m mapping) list(key string, values []string) {
	l := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, v := range values {
		l.Content = append(l.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: v})
	}
	m.add(key, l)
}

// mapping adds a key with an empty mapping.
func (m mapping) mapping(key string) mapping {
	inner := mapping{&yaml.Node{Kind: yaml.MappingNode}}
	m.add(key, inner.node)
	return inner
}

// Setting is a setting of a sweep.yaml: its keys from the outermost in, with spaces between them, and the text of its value, or
// of its values with commas between them.
type Setting struct{ Key, Value string }

// ReadSettings reads a sweep.yaml that [WriteConfig] wrote, of whatever version: all settings, in its order.
func ReadSettings(r io.Reader) ([]Setting, error) {
	var document yaml.Node
	if err := yaml.NewDecoder(r).Decode(&document); err != nil {
		return nil, err
	}
	var all []Setting
	for _, root := range document.Content {
		all = settingsOf(root, "", all)
	}
	return all, nil
}

// settingsOf appends the settings of a node that stands under some keys.
func settingsOf(n *yaml.Node, keys string, all []Setting) []Setting {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			all = settingsOf(n.Content[i+1], strings.TrimPrefix(keys+" "+n.Content[i].Value, " "), all)
		}
	case yaml.SequenceNode:
		values := make([]string, len(n.Content))
		for i, v := range n.Content {
			values[i] = v.Value
		}
		all = append(all, Setting{keys, strings.Join(values, ", ")})
	case yaml.ScalarNode:
		if n.Value != "" {
			all = append(all, Setting{keys, n.Value})
		}
	}
	return all
}
