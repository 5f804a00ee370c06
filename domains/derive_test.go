package domains

import (
	"bytes"
	"context"
	"encoding/csv"
	"strings"
	"testing"

	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/recovery"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
)

// Simulated plans make a study that can be checked and fitted, and that says who acted.
func TestDerive(t *testing.T) {
	for i := range All {
		s, found := Load(All[i].Sample)
		if s == nil {
			t.Fatal(found)
		}
		config := sweep.Config{Models: []sweep.ModelGrid{{Model: "full"}, {Model: "plan-lesioned"}, {Model: "boltzmann"}}}
		sets, err := config.ParameterSets()
		if err != nil {
			t.Fatal(err)
		}
		const each = 3
		simulate := func(seed uint64) []recovery.Stimulus {
			stimuli, err := recovery.Simulate(context.Background(), s.Study, func(i int) (*inference.Stimulus, error) {
				return s.Ready(s.Stimuli[i].ID)
			}, &recovery.Agents{Sets: sets, Inference: sweep.MarginalInference, Times: each, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			return stimuli
		}
		stimuli := simulate(5)
		derived, err := s.Derive(stimuli, `"so": said`)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := s.Derive(simulate(5), `"so": said`); err != nil || again.Hash != derived.Hash {
			t.Errorf("%s: the same seed gives another study (%v)", s.Name, err)
		}
		if other, err := s.Derive(simulate(6), `"so": said`); err != nil || other.Hash == derived.Hash {
			t.Errorf("%s: another seed gives the same study (%v)", s.Name, err)
		}
		if err := must(study.Check(context.Background(), derived.Study)).Err(); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		if derived.Name != s.Name+"-recovery" || derived.Simulated != `"so": said` || derived.Observation != s.Observation || len(derived.Stimuli) != each*len(s.Stimuli) {
			t.Errorf("%s: %s of %d stimuli, simulated %s, observed %v", s.Name, derived.Name, len(derived.Stimuli), derived.Simulated, derived.Observation)
		}
		acted := map[string]int{}
		for k := range derived.Stimuli {
			d, of := &derived.Stimuli[k], &stimuli[k]
			from := &s.Stimuli[of.Source]
			acted[d.Category]++
			last := d.JudgementSteps[len(d.JudgementSteps)-1]
			if !strings.HasPrefix(d.ID, from.ID+"-t") || d.TrueGoal != of.Goal || len(d.Plan) != of.Actions || last > of.Actions || d.Category != of.Agent.Model {
				t.Errorf("%s: %s of %s has the goal %d, %d actions and is judged at %v", s.Name, d.ID, d.Category, d.TrueGoal, len(d.Plan), d.JudgementSteps)
			}
		}
		for model, n := range acted {
			if want := each * len(s.Stimuli) / len(acted); len(acted) != 3 || n != want {
				t.Errorf("%s: %s acts %d times, want %d", s.Name, model, n, want)
			}
		}
		files := map[string][]byte{}
		for name, content := range derived.Files() {
			files[name] = content
		}
		rows, err := csv.NewReader(bytes.NewReader(files["stimuli.csv"])).ReadAll()
		if err != nil || len(rows) != len(stimuli)+1 {
			t.Fatalf("%s: %d rows, %v", s.Name, len(rows), err)
		}
		for c, name := range rows[0] {
			for k := range stimuli {
				if v, ok := stimuli[k].Agent.Get(name); ok && rows[k+1][c] != v.String() {
					t.Errorf("%s: %s of %s is %s, want %s", s.Name, name, rows[k+1][0], rows[k+1][c], v)
				}
			}
		}
	}
}

// must returns what a call has found; no test here lets it fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
