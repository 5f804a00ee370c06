package study

import (
	"errors"
	"path"

	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/words"
)

// readTasks reads the domain, and the problem, plan and goals of each stimulus.
func (r *reader) readTasks(stimuli []*draft) {
	domain := r.readDomain()
	problems, ok := r.template("problems", r.src.Problems)
	plans, plansOK := r.template("plans", r.src.Plans)
	if plansOK && len(stimuli) > 1 && fill(plans, "") == plans {
		r.warnf(r.src.where("plans"), "", "plans: %s has no {stimulus}: every stimulus shows the same plan", plans)
	}
	read, known := map[string]*pddl.Problem{}, map[string][]pddl.Step{}
	for _, d := range stimuli {
		if ok {
			d.Problem = r.readProblem(fill(problems, d.ID), domain, d, read)
		}
		if plansOK {
			r.readPlan(fill(plans, d.ID), d, known)
		}
		if d.Problem != nil {
			r.readFormulas(d)
		}
	}
}

func (r *reader) readDomain() *pddl.Domain {
	name, src := "built-in "+r.src.Domain+" domain.pddl", r.src.BuiltinPDDL
	if r.src.DomainPDDL != "" {
		name = path.Clean(r.src.DomainPDDL)
		var ok bool
		if src, ok = r.pddlFile("domain_pddl", name, r.limits.pddlBytes, r.src.where("domain_pddl"), ""); !ok {
			return nil
		}
	} else if len(src) == 0 {
		r.errorf(r.src.where("domain_pddl"), "", "domain_pddl names no file, and there is no built-in PDDL")
		return nil
	}
	d, err := pddl.ParseDomain(name, src)
	if err != nil {
		r.pddlError(err, "")
		return nil
	}
	for _, w := range d.Warnings {
		r.warnf(w.Pos, "", "%s", w.Message)
	}
	return d
}

// pddlError reports errors where the parser found them; the same one in many places of a
// file is reported at the first.
func (r *reader) pddlError(err error, stimulus string) {
	var all pddl.Errors
	if !errors.As(err, &all) {
		panic("pddl: an error without a place")
	}
	for _, e := range all {
		r.repeat("place", "errors in PDDL", e.Message, Finding{Severity: Error, Pos: e.Pos, Stimulus: stimulus, Message: e.Message})
	}
}

func located(err error) (pddl.Pos, string) {
	var e *pddl.Error
	if errors.As(err, &e) {
		return e.Pos, e.Message
	}
	return pddl.Pos{}, err.Error()
}

// readProblem reads a problem once, also if several stimuli share it. read has
// the problems known, nil for those that cannot be read.
func (r *reader) readProblem(name string, domain *pddl.Domain, d *draft, read map[string]*pddl.Problem) *pddl.Problem {
	if p, ok := read[name]; ok {
		return p
	}
	read[name] = nil
	src, ok := r.pddlFile("problems", name, r.limits.pddlBytes, d.Pos, d.ID)
	if !ok || domain == nil {
		return nil
	}
	p, err := pddl.ParseProblem(name, src, domain)
	if err != nil {
		r.pddlError(err, d.ID)
		return nil
	}
	for _, w := range p.Warnings {
		r.warnf(w.Pos, d.ID, "%s", w.Message)
	}
	read[name] = p
	return p
}

// readPlan reads a plan once, also if several stimuli share it. read has the plans
// known, nil for those that cannot be read.
func (r *reader) readPlan(name string, d *draft, read map[string][]pddl.Step) {
	plan, ok := read[name]
	if !ok {
		plan = r.parsePlan(name, d)
		read[name] = plan
	}
	if plan == nil {
		return
	}
	d.Plan = plan
	for i, k := range d.JudgementSteps {
		if k > len(plan) {
			r.errorf(d.steps[i], d.ID, "judgement step %d is beyond the end of its plan (%s)", k, words.Count(len(plan), "action"))
		}
	}
}

// parsePlan is nil if the plan cannot be read.
func (r *reader) parsePlan(name string, d *draft) []pddl.Step {
	src, ok := r.pddlFile("plans", name, r.limits.planBytes, d.Pos, d.ID)
	if !ok {
		return nil
	}
	plan, err := pddl.ParsePlan(name, src)
	if err != nil {
		r.pddlError(err, d.ID)
		return nil
	}
	if len(plan) == 0 {
		r.warnf(pddl.Pos{File: name}, d.ID, "a plan without actions")
	}
	return append([]pddl.Step{}, plan...)
}

// readFormulas gives each goal its meaning. An error stands where the goal's
// name does.
func (r *reader) readFormulas(d *draft) {
	for i := range d.Goals {
		g := &d.Goals[i]
		text := g.Name
		if r.src.Goal != nil {
			var err error
			if text, err = r.src.Goal(g.Name, d.Problem); err != nil {
				r.errorf(g.Pos, d.ID, "goal %s: %v", quote(g.Name), err)
				continue
			}
		}
		f, err := pddl.ParseGoal(g.file(), []byte(text), d.Problem)
		if err != nil {
			_, message := located(err)
			r.errorf(g.Pos, d.ID, "goal %s: %s", quote(g.Name), message)
			continue
		}
		g.Formula = f
	}
}
