package domains_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"foible/core/agent"
	"foible/core/inference"
	"foible/core/published"
	"foible/core/sweep"
)

// marginal is the posterior of one stimulus and parameter set, computed by an
// independent implementation without particles: by step, then goal.
type marginal struct {
	domain, stimulus, set string
	parameters            agent.Parameters
	mean, se              []map[string]float64
}

func readMarginals(t *testing.T) []*marginal {
	t.Helper()
	path := filepath.Join(published.Dir(t), "golden", "marginal.csv")
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) float64 {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil && s != "" {
			t.Fatal(err)
		}
		return x
	}
	var all []*marginal
	for _, row := range rows[1:] {
		set := strings.Join(row[2:9], " ")
		if n := len(all); n == 0 || all[n-1].domain != row[0] || all[n-1].stimulus != row[1] || all[n-1].set != set {
			p := agent.Parameters{
				GoalNoise: number(row[3]), BudgetR: int(number(row[4])), BudgetQ: number(row[5]), SearchNoise: number(row[6]),
				ActionNoise: number(row[7]), Unlimited: row[2] == "plan-lesioned", Kind: agent.Total,
			}
			if row[8] == "per_action_odds" {
				p.Kind = agent.PerActionOdds
			}
			all = append(all, &marginal{domain: row[0], stimulus: row[1], set: set, parameters: p})
		}
		m := all[len(all)-1]
		step := int(number(row[9]))
		for len(m.mean) <= step {
			m.mean, m.se = append(m.mean, map[string]float64{}), append(m.se, map[string]float64{})
		}
		m.mean[step][row[10]], m.se[step][row[10]] = number(row[11]), number(row[12])
	}
	return all
}

// With one filter for each goal and observed states, the posterior weighted by
// evidence agrees at every step with that of an independent implementation without
// particles: within 5 standard errors of its own 20 runs and of the other one's
// together. To these .002 is added, for what a few runs do not show. For agents
// that never slip it is .005 and more particles: a rare plan that explains an action
// may be in none of 4,000 (Block Words 2-1, reap: .012 by the other, 0 here).
//
// Plan-lesioned agents in Doors, Keys & Gems are left out. MODEL.md's A* draws among
// the nodes of least f at every draw, as gamma -> 0 does; the other implementation's
// gives each node a random priority when it is opened, and so favours later ones:
// up to .10 apart. With such priorities here, all 384 of its probabilities agreed
// within 2.6 standard errors.
func TestMarginal(t *testing.T) {
	all := readMarginals(t)
	if len(all) != 40 {
		t.Fatalf("%d posteriors, want 8 stimuli of 5 parameter sets", len(all))
	}
	var wg sync.WaitGroup
	for _, domain := range []string{"block-words", "doors-keys-gems"} {
		wg.Go(func() {
			s := loadPublished(t, domain)
			worst, cells := 0.0, 0
			for i, m := range all {
				if m.domain != domain || m.parameters.Unlimited && domain == "doors-keys-gems" {
					continue
				}
				ready, err := s.Ready(m.stimulus)
				if err != nil {
					t.Error(err)
					return
				}
				sips, err := ready.SIPS()
				if err != nil {
					t.Error(err)
					return
				}
				var goals []string
				for k := range s.Stimuli {
					if s.Stimuli[k].ID == m.stimulus {
						for _, g := range s.Stimuli[k].Goals {
							goals = append(goals, g.Name)
						}
					}
				}
				z, n := compareMarginal(t, sips, m, goals, uint64(i))
				worst, cells = max(worst, z), cells+n
			}
			t.Logf("%s: %d probabilities, the worst off by %.1f standard errors", domain, cells, worst)
		})
	}
	wg.Wait()
}

func compareMarginal(t *testing.T, sips *inference.SIPS, m *marginal, goals []string, seed uint64) (worst float64, cells int) {
	const runs = 20
	o := inference.DefaultOptions()
	o.Exact, o.PerGoal, o.ParticlesPerGoal = true, true, 100
	unseen := 0.002
	if m.parameters.ActionNoise == 0 {
		o.ParticlesPerGoal, unseen = 200, 0.005
	}
	made := make([]*inference.Run, runs)
	for r := range made {
		var err error
		set := &sweep.ParameterSet{Model: m.set}
		if made[r], err = sips.Run(m.parameters, o, sweep.RunStream(seed, "marginal", set, m.stimulus, r)); err != nil {
			t.Error(err)
			return 0, 0
		}
	}
	weights := make([]float64, runs) // evidence up to the step, logarithm
	for step := range m.mean {
		top := math.Inf(-1)
		for r, run := range made {
			if step >= len(run.Evidence) {
				weights[r] = math.Inf(-1)
				continue
			}
			weights[r] += run.Evidence[step]
			top = max(top, weights[r])
		}
		for goal, name := range goals {
			var sum, both float64
			for r, run := range made {
				if w := math.Exp(weights[r] - top); w > 0 {
					sum += w
					both += w * run.Posterior[step][goal]
				}
			}
			mean := both / sum
			var squares float64 // of the ratio's deviations
			for r, run := range made {
				if w := math.Exp(weights[r] - top); w > 0 {
					d := w * (run.Posterior[step][goal] - mean)
					squares += d * d
				}
			}
			se := math.Sqrt(squares*runs/(runs-1))/sum + unseen
			want, wantSE := m.mean[step][name], m.se[step][name]
			z := math.Abs(mean-want) / math.Hypot(se, wantSE)
			worst = max(worst, z)
			cells++
			if !(z < 5) {
				t.Errorf("%s: %.4f +- %.4f, want %.4f +- %.4f", fmt.Sprintf("%s %s, %s, step %d, %s", m.domain, m.stimulus, m.set, step, name), mean, se, want, wantSE)
			}
		}
	}
	return worst, cells
}
