package domains_test

import (
	"fmt"
	"strings"
	"testing"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/domains"
)

// found are the mistakes inferred in a stimulus at the full model's fitted parameters.
type found struct {
	*study.Stimulus
	slip, offPath, confused []float64 // by action
}

func findMistakes(t *testing.T, s *domains.Study) map[string]*found {
	t.Helper()
	m, _ := model.ByName("full")
	set := typical(s.Domain, &m)
	in, _, report := sweep.DefaultsOf(sweep.Marginal)
	in.ActionNoiseKind = "per_action_odds"
	config := sweep.Config{Inference: in, Report: report, Seed: 2021}
	all := map[string]*found{}
	for i := range s.Stimuli {
		st := &s.Stimuli[i]
		ready, err := s.Ready(st.ID)
		if err != nil {
			t.Fatal(err)
		}
		cell, err := infer(ready, set, config)
		if err != nil {
			t.Fatal(err)
		}
		f := &found{Stimulus: st}
		offPath, _ := cell.Mistakes.OffPath.Get()
		for k := range st.Plan {
			f.slip = append(f.slip, cell.Mistakes.Slip[k].Probability)
			f.offPath = append(f.offPath, offPath[k].Probability)
			f.confused = append(f.confused, cell.Mistakes.Confused[k].Probability)
		}
		all[st.ID] = f
	}
	return all
}

// most is the highest number and the action that it is of, from 1.
func most(xs []float64) (x float64, action int) {
	for k := range xs {
		if xs[k] > x {
			x, action = xs[k], k+1
		}
	}
	return x, action
}

// What is inferred about mistakes agrees with what the experimenters put into the
// stimuli, whose ids begin with the number of their category: 1 for none.
func TestMistakesAreFoundWhereTheyAre(t *testing.T) {
	eachDomain(t, func(t *testing.T, domain string, s *domains.Study) {
		all := findMistakes(t, s)
		var table strings.Builder
		fmt.Fprintf(&table, "\n| %s | slip, highest | off path, highest | off path, last action | confused, highest |\n|---|---|---|---|---|\n", domain)
		slips, means := map[byte][]float64{}, map[byte][4]float64{}
		category := map[byte]string{}
		for i := range s.Stimuli {
			f := all[s.Stimuli[i].ID]
			slip, _ := most(f.slip)
			off, _ := most(f.offPath)
			confused, _ := most(f.confused)
			c := f.ID[0]
			category[c] = f.Category
			slips[c] = append(slips[c], slip)
			m := means[c]
			for j, x := range []float64{slip, off, f.offPath[len(f.offPath)-1], confused} {
				m[j] += x / 4 // stimuli of a category
			}
			means[c] = m
		}
		for c := byte('1'); c <= '4'; c++ {
			m := means[c]
			fmt.Fprintf(&table, "| %s | %.2f | %.2f | %.2f | %.2f |\n", category[c], m[0], m[1], m[2], m[3])
		}
		t.Log(table.String())

		if means['2'][0] < 2*means['1'][0] {
			t.Errorf("%s: slips of %.2f where there are some, %.2f where there are none", domain, means['2'][0], means['1'][0])
		}
		switch domain {
		case "block-words":
			controls, _ := most(slips['1'])
			for i, x := range slips['2'] {
				if x < 1.5*controls {
					t.Errorf("%s 2-%d: a slip is at most %.2f probable, %.2f without one", domain, i+1, x, controls)
				}
			}
			// E is put on the wrong block, and taken away again at once.
			if x, k := most(all["2-2"].slip); x < .6 || k != 4 {
				t.Errorf("%s 2-2: a slip is most probable at action %d, %.2f; want 4", domain, k, x)
			}
			for id, f := range all {
				x, _ := most(f.confused)
				if id[0] == '4' && x < .48 || id[0] < '4' && id[0] != '2' && x > .48 {
					t.Errorf("%s %s, %s: confused with at most %.2f", domain, id, f.Category, x)
				}
			}
		case "doors-keys-gems":
			// Wrong steps, and where the agent turns round with no key nearer.
			for id, want := range map[string]int{"2-1": 6, "2-2": 4, "3-1": 22, "3-2": 27} {
				if x, k := most(all[id].slip); k != want || x < .25 {
					t.Errorf("%s %s: a slip is most probable at action %d, %.2f; want %d", domain, id, k, x, want)
				}
			}
			for id, f := range all {
				last := f.offPath[len(f.offPath)-1]
				if (id[0] == '4') != (last > .5) {
					t.Errorf("%s %s, %s: the plan in the end is off path with %.2f", domain, id, f.Category, last)
				}
				if id[0] != '4' {
					continue
				}
				// A key is fetched, and then spent on the wrong door.
				for k, a := range f.Plan {
					if off := f.offPath[k]; a.Name == "pickup" && off > .6 || a.Name == "unlock" && off < .85 {
						t.Errorf("%s %s: off path with %.2f at %v", domain, id, off, a)
					}
				}
			}
		}
	})
}
