package inference

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"foible/core/agent"
	"foible/core/ground"
	"foible/core/heuristic"
	"foible/core/pddl"
	"foible/core/search"
)

// tiny is a task small enough to enumerate: its first two goals are candidates,
// the third one what they may be taken for.
func tiny(t testing.TB, domain, problem string, goals []string, heuristics func(*ground.Task) func(goal int) search.Heuristic) *SIPS {
	t.Helper()
	read := func(name string) []byte {
		b, err := os.ReadFile("testdata/" + name)
		check(t, err)
		return b
	}
	d, err := pddl.ParseDomain(domain, read(domain+".pddl"))
	check(t, err)
	p, err := pddl.ParseProblem(problem, read(problem+".pddl"), d)
	check(t, err)
	plan, err := pddl.ParsePlan(problem, read(problem+".plan"))
	check(t, err)
	var formulas []pddl.Formula
	for _, g := range goals {
		f, err := pddl.ParseGoal("goal", []byte(g), p)
		check(t, err)
		formulas = append(formulas, f)
	}
	task, err := ground.New(p, formulas)
	check(t, err)
	_, _, err = task.Validate(plan)
	check(t, err)
	of := heuristics(task)
	g := agent.Goals{Corrupt: [][]int{{0, 1, 2}, {2, 1}, {}}} // itself among them
	for goal := range goals {
		g.Heuristic = append(g.Heuristic, of(goal))
	}
	return NewSIPS(task, g, 2, plan)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func threeBlocks(t testing.TB) *SIPS {
	return tiny(t, "blocks", "blocks-3",
		[]string{"(and (on b c) (on c a))", "(and (on c a) (ontable b))", "(on a b)"},
		func(task *ground.Task) func(int) search.Heuristic {
			p, err := task.Propositional()
			check(t, err)
			r := heuristic.NewRelaxation(p)
			return func(goal int) search.Heuristic { return r.FF(goal) }
		})
}

func smallMaze(t testing.TB) *SIPS {
	return tiny(t, "maze", "maze-3x3",
		[]string{"(has left)", "(has right)", "(and (= (xpos) 3) (= (ypos) 1))"},
		func(task *ground.Task) func(int) search.Heuristic {
			return func(goal int) search.Heuristic {
				to := [][2]float64{{1, 3}, {3, 3}, {3, 1}}[goal]
				return heuristic.NewTable(func(s ground.StateID) float64 {
					if task.Satisfies(s, goal) {
						return 0
					}
					x, _ := task.Value(s, "xpos")
					y, _ := task.Value(s, "ypos")
					return math.Abs(x-to[0]) + math.Abs(y-to[1])
				})
			}
		})
}

// total sums estimates of one quantity: of each run its evidence, relative to
// the exact one, and its posterior of goal 0.
type total struct {
	n              int
	evidence, sq   float64
	both, bothSq   float64 // evidence times the difference of the posterior to the exact one
	exactPosterior float64
}

func (c *total) add(evidence, posterior float64) {
	c.n++
	c.evidence += evidence
	c.sq += evidence * evidence
	x := evidence * (posterior - c.exactPosterior)
	c.both += x
	c.bothSq += x * x
}

// errors are the differences to the exact values in standard errors. The
// evidence is unbiased, and so is evidence times posterior: E[Z (p - exact)] = 0.
func (c *total) errors() (evidence, posterior float64) {
	z := func(sum, squares, want float64) float64 {
		n := float64(c.n)
		mean := sum / n
		se := math.Sqrt((squares/n - mean*mean) / n)
		if math.Abs(mean-want) < 1e-7 { // what Enumerate drops
			return 0
		}
		return (mean - want) / se
	}
	return z(c.evidence, c.sq, 1), z(c.both, c.bothSq, 0)
}

// allOptions are the combinations of options. Where it is never resampled, the
// kind and the moves play no part.
func allOptions(exact bool) []Options {
	var all []Options
	o := Options{ParticlesPerGoal: 8, Exact: exact, Threshold: 0.6, PredicateNoise: 0.1, FluentNoise: 0.7}
	for _, o.PerGoal = range []bool{false, true} {
		for _, o.Resample = range []Occasion{ESS, Always, Never} {
			for _, o.Kind = range []Resampling{Residual, Systematic, Multinomial} {
				for _, o.Rejuvenate = range []Move{NoMove, Replan, ChangeGoal, Mixed} {
					if o.Resample == Never && (o.Kind != Residual || o.Rejuvenate != NoMove) {
						continue
					}
					all = append(all, o)
				}
			}
		}
	}
	return all
}

// Under every combination of options, the filter's evidence and evidence-weighted
// posterior agree at every step with the exact ones. A combination's 200 runs
// are within 6 of their own standard errors (they are few and skewed), and those of
// all combinations together, 10,000, within 4.
func TestFilterAgreesWithEnumeration(t *testing.T) {
	runs := 200
	full := agent.Parameters{GoalNoise: 0.2, BudgetR: 2, BudgetQ: 0.65, SearchNoise: 0.7, ActionNoise: 0.15}
	for name, s := range map[string]*SIPS{"blocks": threeBlocks(t), "maze": smallMaze(t)} {
		for _, kind := range []agent.NoiseKind{agent.Total, agent.PerActionOdds} {
			for _, exact := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, noise kind %d, exact %v", name, kind, exact), func(t *testing.T) {
					p := full
					p.Kind = kind
					compareFilter(t, s, p, allOptions(exact), runs)
				})
			}
		}
	}
}

// Lesioned agents, and a plan that is one of their mistakes.
func TestFilterOfLesionedAgentsAgreesWithEnumeration(t *testing.T) {
	for name, s := range map[string]*SIPS{"blocks": threeBlocks(t), "maze": smallMaze(t)} {
		for lesion, p := range map[string]agent.Parameters{
			"goal":   {BudgetR: 2, BudgetQ: 0.65, SearchNoise: 0.7, ActionNoise: 0.15},
			"action": {GoalNoise: 0.2, BudgetR: 2, BudgetQ: 0.65, SearchNoise: 2},
			"plan":   {GoalNoise: 0.2, Unlimited: true, ActionNoise: 0.15},
		} {
			for _, exact := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, no mistakes of %s, exact %v", name, lesion, exact), func(t *testing.T) {
					all := allOptions(exact)
					compareFilter(t, s, p, []Options{all[1], all[len(all)/2+3]}, 800)
				})
			}
		}
	}
}

func compareFilter(t *testing.T, s *SIPS, p agent.Parameters, all []Options, runs int) {
	t.Helper()
	want, err := s.Enumerate(p, all[0])
	check(t, err)
	steps := len(want.Posterior)
	if steps != len(s.states) {
		t.Fatalf("%+v", want)
	}
	sums := make([]total, steps)
	for k := range sums {
		sums[k].exactPosterior = want.Posterior[k][0]
	}
	worst := 0.0
	rng := rand.New(rand.NewPCG(uint64(len(s.task.Operators)), uint64(p.SearchNoise*100+p.ActionNoise*10)+uint64(p.Kind)))
	for _, o := range all {
		each := make([]total, steps)
		for k := range each {
			each[k].exactPosterior = want.Posterior[k][0]
		}
		for range runs {
			run, err := s.Run(p, o, rng)
			check(t, err)
			log := 0.0
			for k := range steps {
				evidence, posterior := 0.0, 0.0 // of a run whose weights vanished
				if k < len(run.Posterior) {
					log += run.Evidence[k] - want.Evidence[k]
					evidence, posterior = math.Exp(log), run.Posterior[k][0]
				}
				each[k].add(evidence, posterior)
				sums[k].add(evidence, posterior)
			}
		}
		for k := range each {
			e, b := each[k].errors()
			worst = max(worst, math.Abs(e), math.Abs(b))
			if math.Abs(e) > 6 || math.Abs(b) > 6 {
				t.Errorf("%+v, step %d: evidence off by %.1f standard errors, posterior by %.1f", o, k, e, b)
			}
		}
	}
	for k := range sums {
		e, b := sums[k].errors()
		t.Logf("step %d: exact P(goal 0) %.4f, evidence %.4f +- %.4f of the exact one, off by %.1f and %.1f standard errors",
			k, want.Posterior[k][0], sums[k].evidence/float64(sums[k].n), math.Sqrt(sums[k].sq-sums[k].evidence*sums[k].evidence/float64(sums[k].n))/float64(sums[k].n), e, b)
		if math.Abs(e) > 4 || math.Abs(b) > 4 {
			t.Errorf("step %d, all options: evidence off by %.1f standard errors, posterior by %.1f", k, e, b)
		}
	}
	t.Logf("worst of %d options: %.1f standard errors", len(all), worst)
}
