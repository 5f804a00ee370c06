package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"foible.dev/foible/coordinator/web/views"
	"foible.dev/foible/core/model"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// change is something that a visitor can do to a sweep.
type change struct {
	Name   string
	Button string
	Says   string // what will happen
	Danger bool   // it cannot be taken back
	do     func(c Coordinator, ctx context.Context, id string) (*foiblev1.Sweep, error)
}

var changes = []change{
	{
		Name: "pause", Button: "Pause the sweep", do: Coordinator.PauseSweep,
		Says: "No more jobs are started until it is resumed. Those that workers have are finished and recorded.",
	},
	{
		Name: "resume", Button: "Resume the sweep", do: Coordinator.ResumeSweep,
		Says: "Jobs are started again, from where it stopped.",
	},
	{
		Name: "cancel", Button: "Cancel the sweep", Danger: true, do: Coordinator.CancelSweep,
		Says: "It ends here. What is recorded stays and can be read; what workers still have is refused when it comes. Submitted again, it goes on from there.",
	},
	{
		Name: "retry", Button: "Try again what failed",
		do: func(c Coordinator, ctx context.Context, id string) (*foiblev1.Sweep, error) {
			m, _, err := c.RetrySweep(ctx, id)
			return m, err
		},
		Says: "Failures are removed from what is recorded and computed again, with the stages after the one that they are of. No cell that is good is computed again.",
	},
	{Name: "extend", Button: "Extend the sweep", Says: "Makes a sweep of the larger grid. Cells that this one has recorded are kept; it begins when this one has ended."},
}

type actionView struct {
	page
	Change  change
	Sweep   *views.Summary
	Axes    []axisView // of extend
	Message string
}

// axisView is an axis that can have more values.
type axisView struct {
	Name   string
	Has    string // its values by now
	Models string // that have it
	Given  string // what the visitor wrote
}

// changeOf finds what a request is to do, and the sweep; it answers itself if there is none.
func (s *Server) changeOf(w http.ResponseWriter, r *http.Request, v *visitor) (change, *foiblev1.Sweep, bool) {
	i := slices.IndexFunc(changes, func(c change) bool { return c.Name == r.PathValue("action") })
	if i < 0 {
		http.NotFound(w, r)
		return change{}, nil, false
	}
	m, err := s.coordinator.Sweep(r.Context(), r.PathValue("sweep"))
	if err != nil {
		s.failed(w, r, v, err)
		return change{}, nil, false
	}
	return changes[i], m, true
}

// actionPage asks whether it is meant.
func (s *Server) actionPage(w http.ResponseWriter, r *http.Request, v *visitor) {
	if c, m, ok := s.changeOf(w, r, v); ok {
		s.show(w, r, http.StatusOK, "action.html", s.newActionView(r, v, c, m))
	}
}

func (s *Server) newActionView(r *http.Request, v *visitor, c change, m *foiblev1.Sweep) *actionView {
	view := &actionView{page: s.newPage(c.Button, v), Change: c, Sweep: views.NewSummary(m)}
	if c.do == nil {
		view.Axes = axesOf(m, r)
	}
	return view
}

// action does it.
func (s *Server) action(w http.ResponseWriter, r *http.Request, v *visitor) {
	c, m, ok := s.changeOf(w, r, v)
	if !ok {
		return
	}
	if c.do == nil {
		s.extend(w, r, v, c, m)
		return
	}
	if _, err := c.do(s.coordinator, r.Context(), m.GetSweepId()); err != nil {
		s.failed(w, r, v, err)
		return
	}
	s.log.Info("sweep changed by a visitor", "sweep", m.GetSweepId(), "change", c.Name, "peer", r.RemoteAddr)
	http.Redirect(w, r, views.SweepPath(m.GetSweepId()), http.StatusSeeOther)
}

// axesOf are the axes of a sweep's models, and what the request says of them.
func axesOf(m *foiblev1.Sweep, r *http.Request) []axisView {
	config, err := codec.Config(m.GetConfig())
	if err != nil {
		return nil
	}
	var all []axisView
	for _, axis := range model.Axes {
		var models, values []string
		for i := range config.Models {
			has := views.Settings(&config.Models[i], axis)
			if len(has) > 0 {
				models = append(models, config.Models[i].Model)
			}
			for _, v := range has {
				if !slices.Contains(values, v.String()) {
					values = append(values, v.String())
				}
			}
		}
		if len(models) > 0 {
			all = append(all, axisView{axis.Name, strings.Join(values, ", "), strings.Join(models, ", "), r.PostFormValue(axis.Name)})
		}
	}
	return all
}

func (s *Server) extend(w http.ResponseWriter, r *http.Request, v *visitor, c change, m *foiblev1.Sweep) {
	again := func(message string) { // asks once more
		view := s.newActionView(r, v, c, m)
		view.Message = message
		s.show(w, r, http.StatusUnprocessableEntity, "action.html", view)
	}
	more := map[string]*foiblev1.ModelConfig{}
	for _, axis := range axesOf(m, r) {
		values := strings.FieldsFunc(axis.Given, func(r rune) bool { return r == ',' || r == ' ' || r == ';' })
		for _, model := range strings.Split(axis.Models, ", ") {
			if len(values) == 0 {
				continue
			}
			if more[model] == nil {
				more[model] = &foiblev1.ModelConfig{}
			}
			if err := codec.SetAxis(more[model], axis.Name, values); err != nil {
				again(views.Sentence(fmt.Sprintf("%s: %v", axis.Name, err)))
				return
			}
		}
	}
	if len(more) == 0 {
		again("Name at least one new value.")
		return
	}
	larger, _, err := s.coordinator.ExtendSweep(r.Context(), &foiblev1.ExtendSweepRequest{SweepId: m.GetSweepId(), Models: more})
	if err != nil {
		again(views.Sentence(err.Error()))
		return
	}
	s.log.Info("sweep extended by a visitor", "sweep", m.GetSweepId(), "larger", larger.GetSweepId(), "peer", r.RemoteAddr)
	http.Redirect(w, r, views.SweepPath(larger.GetSweepId()), http.StatusSeeOther)
}
