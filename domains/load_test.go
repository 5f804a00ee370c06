package domains_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/report/fit"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/domains"
	"foible.dev/foible/proto/codec"
)

func load(t testing.TB, f folder) *domains.Study {
	t.Helper()
	s, found := domains.Load(f)
	if s == nil {
		t.Fatal(found.Err())
	}
	return s
}

// What a worker opens is what was loaded.
func TestBundle(t *testing.T) {
	for _, d := range domains.All {
		f := sample(t, d.Name)
		want := load(t, f)
		got, err := domains.Open(want.Bundle)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Study, want.Study) || got.Domain != want.Domain {
			t.Errorf("%s: another study comes out", d.Name)
		}
		if got.Hash != want.Hash || !bytes.Equal(got.Bundle, want.Bundle) {
			t.Errorf("%s: hash %s, was %s", d.Name, got.Hash, want.Hash)
		}
		if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(got.Hash) {
			t.Errorf("%s: hash %q", d.Name, got.Hash)
		}
	}
	if _, err := domains.Open([]byte("PK")); err == nil {
		t.Error("half an archive is opened")
	}
}

// Equal files have equal hashes, wherever they lie and whatever lies beside
// them; every file that a study names plays its part, to the last byte.
func TestHash(t *testing.T) {
	f := sample(t, "block-words")
	want := load(t, f).Hash
	dir := t.TempDir()
	if err := os.CopyFS(dir, f.MapFS); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"notes.txt": "not in study.yaml", "sweep.yaml": "models: {boltzmann: {}}\n"} {
		if err := os.WriteFile(path.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if s, found := domains.Load(os.DirFS(dir)); s == nil || s.Hash != want {
		t.Errorf("another hash in another place: %v", found.Err())
	}
	for name := range f.MapFS {
		if name == "sweep.yaml" {
			continue
		}
		comment := "\n"
		changed := sample(t, "block-words")
		changed.write(name, changed.read(name)+comment)
		if load(t, changed).Hash == want {
			t.Errorf("%s plays no part in the hash", name)
		}
	}
}

// Paths may be written as people write them.
func TestPathsAreCleaned(t *testing.T) {
	f := sample(t, "block-words")
	for _, name := range []string{"domain.pddl", "stimuli.csv", "problems/", "plans/", "responses.csv"} {
		f.swap("study.yaml", ": "+name, ": ./"+name)
	}
	s := load(t, f)
	if _, err := domains.Open(s.Bundle); err != nil {
		t.Error(err)
	}
}

// study.yaml with a byte order mark and Windows line ends is the same study.
func TestMarksAndLineEnds(t *testing.T) {
	f := sample(t, "doors-keys-gems")
	want := load(t, f)
	for _, name := range []string{"study.yaml", "stimuli.csv", "responses.csv", "plans/1-1.plan", "problems/1-1.pddl"} {
		f.write(name, "\ufeff"+strings.ReplaceAll(f.read(name), "\n", "\r\n"))
	}
	got := load(t, f)
	if got.Simulated != want.Simulated || !reflect.DeepEqual(got.Stimuli[0].Human, want.Stimuli[0].Human) || !reflect.DeepEqual(got.Shapes(), want.Shapes()) {
		t.Error("another study")
	}
}

func TestReady(t *testing.T) {
	s := load(t, sample(t, "doors-keys-gems"))
	if _, err := s.Ready("9-9"); err == nil || err.Error() != `the study has no stimulus "9-9"` {
		t.Error(err)
	}
	ready, err := s.Ready("4-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"optimal", "on_policy", "heuristic"} {
		set := boltzmann(1, value)
		cell, err := ready.Infer(context.Background(), &set, sweep.Procedure{}, 0)
		if err != nil || len(cell.Posterior) != len(s.Stimuli[slices.Index(ids(s), "4-1")].Plan)+1 || cell.Undefined != nil {
			t.Errorf("%s: %+v, %v", value, cell, err)
		}
	}
}

func ids(s *domains.Study) []string {
	var all []string
	for i := range s.Stimuli {
		all = append(all, s.Stimuli[i].ID)
	}
	return all
}

func boltzmann(alpha float64, value string) model.ParameterSet {
	set := model.ParameterSet{Model: "boltzmann"}
	set.Set("alpha", model.Setting{Number: alpha})
	set.Set("value", model.Setting{Word: value})
	set.Set("unreachable_value", model.Setting{Number: -1000})
	return set
}

func TestShapes(t *testing.T) {
	s := load(t, sample(t, "block-words"))
	shapes := codec.Shapes(s.Shapes())
	if want := (sweep.Shape{Stimulus: "1-1", Goals: 5, Actions: 10, JudgementSteps: []int{0, 2, 4, 6, 8}, Points: 25}); len(shapes) != 8 || !reflect.DeepEqual(shapes[0], want) {
		t.Errorf("%+v, want %+v first of 8", shapes, want)
	}
}

func config(t testing.TB, src string) sweep.Config {
	t.Helper()
	m, err := domains.LoadSweep("sweep.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	c, err := codec.Config(m)
	if err != nil {
		t.Fatal(err)
	}
	return c.Config
}

func settings(t testing.TB, c sweep.Config) string {
	t.Helper()
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i := range sets {
		all = append(all, sets[i].Settings())
	}
	return strings.Join(all, "\n")
}

func TestLoadSweep(t *testing.T) {
	for name, src := range map[string]string{
		"a value for a list of one": "models: {boltzmann: {alpha: 2, value: heuristic}}",
		"lists":                     "models:\n  boltzmann:\n    alpha: [2]\n    value: [heuristic]\n    unreachable_value: [-1000]\n",
		"equal numbers":             "models: {boltzmann: {alpha: [2, 2.0, 2e0], value: [heuristic, heuristic]}}",
		"quoted words":              "models: {boltzmann: {alpha: 2, value: \"heuristic\"}}",
		"mark and line ends":        "\ufeffmodels:\r\n  boltzmann:\r\n    alpha: 2\r\n    value: heuristic\r\n",
	} {
		c := config(t, src)
		if got, want := settings(t, c), "alpha=2 value=heuristic unreachable_value=-1000"; got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
		if c.Fit != sweep.MarginalFit || c.Report != sweep.MarginalReport || c.Inference != sweep.MarginalInference || c.Seed != 0 || !reflect.DeepEqual(c.Bootstrap, sweep.DefaultBootstrap) {
			t.Errorf("%s: %+v", name, c)
		}
	}
	for _, src := range []string{"models: {boltzmann: {}}", "models:\n  boltzmann:\n"} {
		_, want, _ := strings.Cut("\n"+settings(t, config(t, string(domains.All[0].Sweep))), "\nalpha=")
		if got, want := settings(t, config(t, src)), "alpha="+want; got != want {
			t.Errorf("%q: got\n%s\nwant\n%s", src, got, want)
		}
	}
}

// resolved is the sweep.yaml that a report writes.
func resolved(t testing.TB, s *domains.Study, c sweep.Config) string {
	t.Helper()
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sweep.NewPlan(sets, codec.Shapes(s.Shapes()), 1, c.Report.Runs > 0)
	if err != nil {
		t.Fatal(err)
	}
	var out only
	r, err := fit.New(&out, s.Study, plan, c, fit.Manifest{})
	if err == nil {
		err = r.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// only keeps sweep.yaml of what a report writes.
type only struct{ bytes.Buffer }

func (o *only) Create(name string) (io.WriteCloser, error) {
	if name == "sweep.yaml" {
		return &closing{&o.Buffer}, nil
	}
	return &closing{io.Discard}, nil
}

type closing struct{ io.Writer }

func (closing) Close() error { return nil }

// The sweep.yaml of a report is the sweep that it reports: with it one gets the same id.
func TestResolvedSweepLoadsAgain(t *testing.T) {
	s := load(t, sample(t, "block-words"))
	for name, src := range map[string]string{
		"default":       string(domains.All[0].Sweep),
		"goals":         string(domains.All[1].Sweep),
		"lesions":       "models: {full: {goal_noise: [0.1, 1e-9]}, goal-lesioned: {}, plan-lesioned: {}, action-lesioned: {budget_r: [1, 10000]}}",
		"no report":     "models: {full: {}}\nreport: {runs: 0}",
		"the paper's":   "models: {full: {}}\ninference: {method: sips}",
		"other targets": "models: {full: {}}\ninference: {observe: exact, mc_se: 0.01, posterior_se: 1e-3}\nfit: {runs: 2}\nreport: {runs: 30}",
		"another way to infer": "models: {plan-lesioned: {}}\naction_noise_kind: per_action_odds\n" +
			"inference: {method: sips, observe: exact, filters: per_goal, resample: always, resample_threshold: 0, resample_kind: systematic, rejuvenate: goal}\n" +
			"fit: {runs: 2, particles_per_goal: 3}\nreport: {runs: 4, particles_per_goal: 5}",
		"nothing given": "models: {boltzmann: {}}",
		"odd numbers":   "models: {boltzmann: {alpha: [0.1, 1e-9, 1e6, 0.30000000000000004, 123456789e-4], unreachable_value: [0, -0.0, -1e6, -40]}}",
		"everything":    "models: {boltzmann: {alpha: 1, value: [on_policy, optimal]}}\nfit: {runs: 7}\nbootstrap: {resamples: 10, units: both}\nseed: 18446744073709551615",
		"no bootstrap":  "models: {boltzmann: {}}\nbootstrap: {resamples: 0}",
	} {
		c := config(t, src)
		again := config(t, resolved(t, s, c))
		if got, want := settings(t, again), settings(t, c); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
		if again.Fit != c.Fit || again.Report != c.Report || again.Inference != c.Inference || again.Seed != c.Seed || !reflect.DeepEqual(again.Bootstrap, c.Bootstrap) {
			t.Errorf("%s: got %+v, want %+v", name, again, c)
		}
		a, errA := c.ParameterSets()
		b, errB := again.ParameterSets()
		if err := errors.Join(errA, errB); err != nil || (&sweep.Resolved{Config: c, Sets: a}).ID("h", "v") != (&sweep.Resolved{Config: again, Sets: b}).ID("h", "v") {
			t.Errorf("%s: another id, %v", name, err)
		}
	}
}

// Whatever is in the file, what is wrong with it has a place, and what is
// accepted is a grid.
func FuzzLoadSweep(f *testing.F) {
	for _, src := range []string{
		string(domains.All[0].Sweep), "models: {boltzmann: {alpha: [1, 2]}}\n", "models: &a {boltzmann: *a}", "<<: {}", "? [a]\n: b",
		"models: {full: {}}\nfit: {particles_per_goal: 5}\n", "models: {full: {}}\ninference: {method: sips, mc_se: 0.1}\n",
		"models: {boltzmann: {alpha: !!str 1}}", "models: {[boltzmann]: 1}", "- a", "\x00", "\xff", "a: |\n  b", "models:\n\t- 1", "{", "---\n---\n", "models: !!binary aGk=",
	} {
		f.Add([]byte(src))
	}
	place := regexp.MustCompile(`^sweep\.yaml:\d+:\d+: .`)
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := domains.LoadSweep("sweep.yaml", src)
		if err == nil {
			if _, err := codec.Config(m); err != nil {
				t.Errorf("accepted, but %v", err)
			}
			return
		}
		for line := range strings.SplitSeq(err.Error(), "\n") {
			if !place.MatchString(line) && !strings.Contains(line, "parameter sets are more than") {
				t.Errorf("no place: %q", line)
			}
		}
	})
}

// The default grids are the paper's, in its numbers, by model.
func TestPublishedGrids(t *testing.T) {
	want := map[string]map[string]int{
		"block-words":     {"full": 48, "goal-lesioned": 24, "plan-lesioned": 6, "action-lesioned": 16, "boltzmann": 7},
		"doors-keys-gems": {"full": 24, "plan-lesioned": 3, "action-lesioned": 8, "boltzmann": 7},
	}
	for i := range domains.All {
		d := &domains.All[i]
		c := config(t, string(d.Sweep))
		sets, err := c.ParameterSets()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for k := range sets {
			got[sets[k].Model]++
		}
		if !reflect.DeepEqual(got, want[d.Name]) {
			t.Errorf("%s: %v, want %v", d.Name, got, want[d.Name])
		}
		if c.Fit != sweep.MarginalFit || c.Report != sweep.MarginalReport || c.Inference != sweep.MarginalInference ||
			!reflect.DeepEqual(c.Bootstrap, sweep.DefaultBootstrap) {
			t.Errorf("%s: %+v", d.Name, c)
		}
		// Whatever the paper fitted is a point of its grid.
		for name := range got {
			m, _ := model.ByName(name)
			set := typical(d, &m)
			if d.Corruptions == nil {
				set.GoalNoise = model.Setting{} // there is no such axis, and no other value than 0
			}
			if !slices.Contains(sets, *set) {
				t.Errorf("%s: %s is not in the grid", d.Name, set)
			}
		}
		// Goals that are never confused have no noise, in every set.
		if d.Corruptions == nil {
			for k := range sets {
				if sets[k].GoalNoise.Number != 0 {
					t.Errorf("%s: %s", d.Name, &sets[k])
				}
			}
		}
	}
}

// A budget is a whole number of nodes; the error has its place.
func TestWholeBudgets(t *testing.T) {
	for src, want := range map[string]string{
		"models:\n  full:\n    budget_r: [2, 2.5]\n":                         `sweep.yaml:3:19: budget_r is "2.5", not a whole number`,
		"models:\n  full:\n    budget_r: 0\n":                                "sweep.yaml:3:15: budget_r is 0; it must be greater than or equal to 1 and less than or equal to 10000",
		"models:\n  full:\n    budget_r: 10001\n":                            "sweep.yaml:3:15: budget_r is 10001; it must be greater than or equal to 1 and less than or equal to 10000",
		"models: {full: {}}\ninference:\n  filters: joint\n":                 `sweep.yaml:3:12: filters does not apply to the method marginal; leave it out, or choose the method sips`,
		"models: {full: {}}\nreport: {particles_per_goal: 5}\n":              `sweep.yaml:2:30: marginal inference has no particles; leave particles_per_goal out, or choose the method sips`,
		"models: {full: {}}\nfit: {runs: 1}\n":                               `sweep.yaml:2:13: marginal inference needs 2 runs at least, to know its error`,
		"models: {full: {}}\ninference: {mc_se: 0}\n":                        `sweep.yaml:2:20: mc_se is 0; it must be greater than 0 and less than or equal to 1`,
		"models: {full: {}}\ninference: {method: sips, posterior_se: 0.1}\n": `sweep.yaml:2:41: posterior_se does not apply to the method sips; leave it out, or choose the method marginal`,
		"models: {full: {}}\ninference: {method: exact}\n":                   `sweep.yaml:2:21: method is "exact"; it can be marginal, sips`,
		"models:\n  plan-lesioned: {budget_r: 2}\n":                          `sweep.yaml:2:19: model "plan-lesioned" has no axis "budget_r"; it has goal_noise, action_noise`,
		"models:\n  goal-lesioned: {goal_noise: 0.1}\n":                      `sweep.yaml:2:19: model "goal-lesioned" has no axis "goal_noise"; it has budget_r, budget_q, search_noise, action_noise`,
	} {
		if _, err := domains.LoadSweep("sweep.yaml", []byte(src)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
