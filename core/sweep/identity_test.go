package sweep_test

import (
	"encoding/hex"
	"fmt"
	"testing"

	"foible/core/sweep"
)

func boltzmann(alpha float64) sweep.ParameterSet {
	s := sweep.ParameterSet{Model: "boltzmann"}
	s.Set("alpha", sweep.Setting{Number: alpha})
	s.Set("value", sweep.Setting{Word: "optimal"})
	s.Set("unreachable_value", sweep.Setting{Number: -1000})
	return s
}

// distinct fails on a name that is there already.
type distinct struct {
	t    *testing.T
	seen map[string]string
}

func (d *distinct) add(what string, hash []byte) {
	d.t.Helper()
	if d.seen == nil {
		d.seen = map[string]string{}
	}
	if other, ok := d.seen[string(hash)]; ok {
		d.t.Errorf("%s and %s are one", what, other)
	}
	d.seen[string(hash)] = what
}

// Every worker of every version must find the same hash, so these are fixed.
func TestHashesDoNotChange(t *testing.T) {
	set := boltzmann(0.5)
	if got := hex.EncodeToString(sweep.CellHash("study", "1-1", 2021, 1, &set)[:8]); got != "5bb1310d18bc0064" {
		t.Errorf("cell hash %s", got)
	}
	c := sweep.Config{Runs: 1, Bootstrap: sweep.DefaultBootstrap, Seed: 2021}
	if got := c.ID("study", "v1", []sweep.ParameterSet{set}); got != "054bc34b89" {
		t.Errorf("id %s", got)
	}
	if got := fmt.Sprint(sweep.RunStream(2021, &set, "1-1", 0).Uint64()); got != "8883038976103920692" {
		t.Errorf("first draw of a run %s", got)
	}
	if got := fmt.Sprint(sweep.BootstrapStream(2021, "participants").Uint64()); got != "8944426427455769728" {
		t.Errorf("first draw of a bootstrap %s", got)
	}
}

func TestHash(t *testing.T) {
	d := distinct{t: t}
	b := func(s string) []byte { return []byte(s) }
	d.add("nothing", sweep.Hash())
	d.add("one empty", sweep.Hash(b("")))
	d.add("ab", sweep.Hash(b("ab")))
	d.add("a|b", sweep.Hash(b("a"), b("b")))
	d.add("|ab", sweep.Hash(b(""), b("ab")))
}

func TestCellHash(t *testing.T) {
	half, one := boltzmann(0.5), boltzmann(1)
	d := distinct{t: t}
	d.add("this", sweep.CellHash("study", "1-1", 1, 2, &half))
	d.add("other study", sweep.CellHash("studies", "1-1", 1, 2, &half))
	d.add("other stimulus", sweep.CellHash("study", "1-2", 1, 2, &half))
	d.add("other seed", sweep.CellHash("study", "1-1", 2, 2, &half))
	d.add("other runs", sweep.CellHash("study", "1-1", 1, 1, &half))
	d.add("other parameters", sweep.CellHash("study", "1-1", 1, 2, &one))
}

func TestScoreHash(t *testing.T) {
	half, one := boltzmann(0.5), boltzmann(1)
	b := sweep.Bootstrap{Resamples: 10, Units: []string{"stimuli"}}
	scored := []sweep.Prediction{{Rows: [][]float64{{0.25, 0.75}}}, {Rows: [][]float64{{1, 0}}}}
	d := distinct{t: t}
	d.add("this", sweep.ScoreHash("study", 1, b, &half, scored))
	d.add("other study", sweep.ScoreHash("studies", 1, b, &half, scored))
	d.add("other seed", sweep.ScoreHash("study", 2, b, &half, scored))
	d.add("other resamples", sweep.ScoreHash("study", 1, sweep.Bootstrap{Resamples: 11, Units: b.Units}, &half, scored))
	d.add("other units", sweep.ScoreHash("study", 1, sweep.Bootstrap{Resamples: 10, Units: []string{"both"}}, &half, scored))
	d.add("other parameters", sweep.ScoreHash("study", 1, b, &one, scored))
	for name, other := range map[string][]sweep.Prediction{
		"other probability": {{Rows: [][]float64{{0.25, 0.75}}}, {Rows: [][]float64{{0, 1}}}},
		"other stimulus":    {{Rows: [][]float64{{0.25, 0.75}, {1, 0}}}, {}},
		"undefined":         {{Rows: [][]float64{{0.25, 0.75}}}, {Rows: [][]float64{{1, 0}}, Undefined: true}},
	} {
		d.add(name, sweep.ScoreHash("study", 1, b, &half, other))
	}
}

func TestID(t *testing.T) {
	sets := []sweep.ParameterSet{boltzmann(0.5), boltzmann(1)}
	c := sweep.Config{Runs: 1, Bootstrap: sweep.Bootstrap{Resamples: 10, Units: []string{"stimuli"}}, Seed: 1}
	d := distinct{t: t}
	d.add("this", []byte(c.ID("study", "v1", sets)))
	d.add("other study", []byte(c.ID("studies", "v1", sets)))
	d.add("other version", []byte(c.ID("study", "v2", sets)))
	d.add("fewer sets", []byte(c.ID("study", "v1", sets[:1])))
	d.add("other order", []byte(c.ID("study", "v1", []sweep.ParameterSet{sets[1], sets[0]})))
	seed, runs, resamples, units := c, c, c, c
	seed.Seed, runs.Runs, resamples.Bootstrap.Resamples, units.Bootstrap.Units = 2, 2, 11, []string{"both"}
	d.add("other seed", []byte(seed.ID("study", "v1", sets)))
	d.add("other runs", []byte(runs.ID("study", "v1", sets)))
	d.add("other resamples", []byte(resamples.ID("study", "v1", sets)))
	d.add("other units", []byte(units.ID("study", "v1", sets)))

	again := c
	again.Models = []sweep.ModelGrid{{Model: "boltzmann"}} // how the sets were asked for plays no part
	if again.ID("study", "v1", sets) != c.ID("study", "v1", sets) {
		t.Error("the same sweep has two ids")
	}
}

// A stream is one for (seed, parameters, stimulus, run) and depends on nothing
// else; no two of them, nor of the bootstrap, begin alike.
func TestStreams(t *testing.T) {
	d := distinct{t: t}
	start := func(name string, draw func() uint64) {
		d.add(name, fmt.Appendf(nil, "%d %d", draw(), draw()))
	}
	for seed := range uint64(3) {
		for _, alpha := range []float64{0.5, 1} {
			set := boltzmann(alpha)
			for _, stimulus := range []string{"1-1", "1-11", "1-2"} {
				for run := range 12 {
					start(fmt.Sprint(seed, " ", &set, " ", stimulus, " ", run), sweep.RunStream(seed, &set, stimulus, run).Uint64)
				}
			}
		}
		for _, unit := range sweep.DefaultBootstrap.Units {
			start(fmt.Sprint(seed, " ", unit), sweep.BootstrapStream(seed, unit).Uint64)
		}
	}
	set, equal := boltzmann(1), boltzmann(1)
	a, b := sweep.RunStream(7, &set, "x", 3), sweep.RunStream(7, &equal, "x", 3)
	for range 100 {
		if a.Uint64() != b.Uint64() {
			t.Fatal("the same stream differs")
		}
	}
}

func TestGetSet(t *testing.T) {
	set := boltzmann(0.1)
	for axis, want := range map[string]string{"alpha": "0.1", "value": "optimal", "unreachable_value": "-1000"} {
		if v, ok := set.Get(axis); !ok || v.String() != want {
			t.Errorf("%s: %v, %v", axis, v, ok)
		}
	}
	withModel(t, sweep.Model{Name: "dull", Axes: []string{"alpha"}})
	set.Model = "dull"
	if v, ok := set.Get("value"); ok {
		t.Errorf("an axis that the model has not: %v", v)
	}
	if set.String() != "dull alpha=0.1" {
		t.Error(set.String())
	}
	defer func() {
		if recover() == nil {
			t.Error("an axis that does not exist was set")
		}
	}()
	set.Set("beta", sweep.Setting{})
}
