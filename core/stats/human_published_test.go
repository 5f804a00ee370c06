package stats

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// summary is that of resampled values.
type summary struct{ Mean, SD, Low, High float64 }

// comparison of models, in the order of its name.
type comparison struct {
	Frequency, Exceedance, Protected []float64
	OmnibusRisk                      float64 `json:"omnibus_risk"`
}

// golden is testdata/human.json, which testdata/human.py made with NumPy and SciPy.
type golden struct {
	Stimuli, Points, Participants, Splits, Resamples int
	SplitHalf                                        struct{ R, SD, Reliability, Ceiling float64 } `json:"split_half"`
	Scores                                           map[string]map[string]float64
	Bootstrap, Differences                           map[string]map[string]summary
	Likelihoods                                      map[string]struct {
		Sum, Lapse float64
		First      []float64
	}
	Comparisons map[string]comparison
}

func readGolden(t *testing.T) golden {
	t.Helper()
	text, err := os.ReadFile("testdata/human.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// goldenPeople are the people of Block Words with their answers normalised, their
// goals by stimulus, and the two predictions of testdata/human.py.
func goldenPeople(t *testing.T) (h Human, goals []int, models map[string][][]float64) {
	t.Helper()
	h, keys := blockWords(t)
	models = map[string][][]float64{}
	for s := range h.Stimuli {
		// keys come step by step, the goals of a step together.
		n := 1
		for n < len(keys[s]) && keys[s][n][1] == keys[s][0][1] {
			n++
		}
		goals = append(goals, n)
		r := &h.Stimuli[s]
		clear(r.Mean)
		for _, row := range r.Values {
			for first := 0; first < len(row); first += n {
				normalise(row[first : first+n])
			}
			for p, v := range row {
				r.Mean[p] += v / float64(len(r.Values))
			}
		}
		sharp, late := make([]float64, len(r.Mean)), make([]float64, len(r.Mean))
		for p, v := range r.Mean {
			sharp[p] = v * v
			late[p] = 1 / float64(n)
			if p >= n {
				late[p] = r.Mean[p-n]
			}
		}
		for first := 0; first < len(sharp); first += n {
			normalise(sharp[first : first+n])
		}
		models["sharp"], models["late"] = append(models["sharp"], sharp), append(models["late"], late)
	}
	return h, goals, models
}

func normalise(xs []float64) {
	var sum float64
	for _, x := range xs {
		sum += x
	}
	for i := range xs {
		xs[i] /= sum
	}
}

func flat(rows [][]float64) []float64 {
	var all []float64
	for _, row := range rows {
		all = append(all, row...)
	}
	return all
}

func (h Human) means() [][]float64 {
	var all [][]float64
	for _, r := range h.Stimuli {
		all = append(all, r.Mean)
	}
	return all
}

// cut is a row of points as [step][goal].
func cut(row []float64, goals int) [][]float64 {
	var steps [][]float64
	for ; len(row) > 0; row = row[goals:] {
		steps = append(steps, row[:goals])
	}
	return steps
}

// near compares with a golden value.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.12g, want %.12g within %.2g", what, got, want, tolerance)
	}
}

// The halves of the published people agree as NumPy finds: r near .92, reliability
// .96, ceiling on r .98. The mean of n splits has a standard error of sd / sqrt(n);
// the tolerance is four of those of the difference.
func TestPublishedSplitHalf(t *testing.T) {
	want := readGolden(t)
	h, _, _ := goldenPeople(t)
	const splits = 1000
	got, ok, err := SplitHalf(h, splits, rand.New(rand.NewPCG(2021, 1)))
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	se := want.SplitHalf.SD * math.Sqrt(1/float64(splits)+1/float64(want.Splits))
	near(t, "split-half r", got.Half, want.SplitHalf.R, 4*se)
	near(t, "reliability", got.Means, want.SplitHalf.Reliability, 4*se)
	near(t, "ceiling", got.Ceiling, want.SplitHalf.Ceiling, 4*se)
	near(t, "split-half r", got.Half, .92, .005)
	near(t, "reliability", got.Means, .96, .005)
	near(t, "ceiling", got.Ceiling, .98, .005)
}

func TestPublishedScores(t *testing.T) {
	want := readGolden(t)
	h, goals, models := goldenPeople(t)
	if len(h.Stimuli) != want.Stimuli || len(flat(h.means())) != want.Points {
		t.Fatalf("%d stimuli of %d points, want %d of %d", len(h.Stimuli), len(flat(h.means())), want.Stimuli, want.Points)
	}
	for name, model := range models {
		x, y := flat(model), flat(h.means())
		got := map[string]float64{"rmse": RMSE(x, y)}
		got["pearson_r"], _ = Pearson(x, y)
		got["spearman"], _ = Spearman(x, y)
		got["concordance"], _ = Concordance(x, y)
		var apart, divergent, n float64
		for s := range model {
			people := cut(h.Stimuli[s].Mean, goals[s])
			for j, row := range cut(model[s], goals[s]) {
				apart += TotalVariation(row, people[j])
				divergent += JensenShannon(row, people[j])
				n++
			}
		}
		got["total_variation"], got["jensen_shannon"] = apart/n, divergent/n
		for score, value := range want.Scores[name] {
			tolerance := 1e-10
			if score == "jensen_shannon" { // the root of what rounding leaves of 0
				tolerance = 1e-8
			}
			near(t, name+": "+score, got[score], value, tolerance)
		}
	}
}

// Intervals of r, and of differences on the same resamples, are NumPy's. Of n
// resamples the bound of a 95 % interval has a standard error of about
// 2.7 sd / sqrt(n), the mean of sd / sqrt(n); the tolerance is four of those of the
// difference, and 6 % of sd where their distribution is skewed.
//
// The crossed interval is the widest. Resampling participants adds their noise
// once more, which lowers every r: less that shift, it contains the two others.
func TestPublishedPaired(t *testing.T) {
	want := readGolden(t)
	h, _, models := goldenPeople(t)
	resamples := 4000
	if testing.Short() {
		resamples = 1500
	}
	bounds, shift := map[string]map[Unit][2]float64{"sharp": {}, "late": {}}, map[string]map[Unit]float64{"sharp": {}, "late": {}}
	for _, unit := range []Unit{ByParticipants, ByStimuli, Crossed} {
		b, err := NewBootstrap(h, unit, resamples, rand.New(rand.NewPCG(2021, uint64(unit))))
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, xs []float64, of summary) (low, high float64) {
			t.Helper()
			low, high, ok := Interval(xs, 0.95)
			if !ok || len(xs) != resamples {
				t.Fatalf("%s by %v: %d values", what, unit, len(xs))
			}
			se := of.SD * math.Sqrt(1/float64(resamples)+1/float64(want.Resamples))
			near(t, what+" by "+unit.String()+": mean", Mean(xs), of.Mean, 4*se)
			near(t, what+" by "+unit.String()+": low", low, of.Low, 4*2.7*se+.06*of.SD)
			near(t, what+" by "+unit.String()+": high", high, of.High, 4*2.7*se+.06*of.SD)
			return low, high
		}
		of := want.Bootstrap[unit.String()]
		for name, model := range models {
			rs := b.Pearson(model)
			low, high := check("r of "+name, rs, of[name])
			r, _ := Pearson(flat(model), flat(h.means()))
			bounds[name][unit], shift[name][unit] = [2]float64{low, high}, Mean(rs)-r
		}
		differences := want.Differences[unit.String()]
		check("difference of r", b.Difference(models["sharp"], models["late"]), differences["pearson_r"])
		errors, others := b.RMSE(models["sharp"]), b.RMSE(models["late"])
		for k := range errors {
			errors[k] -= others[k]
		}
		check("difference of RMSE", errors, differences["rmse"])
	}
	for name := range models {
		both := bounds[name][Crossed]
		for _, unit := range []Unit{ByParticipants, ByStimuli} {
			one, slack := bounds[name][unit], .1*(both[1]-both[0])
			if both[1]-both[0] < one[1]-one[0]-slack {
				t.Errorf("%s: by both %v, narrower than by %v %v", name, both, unit, one)
			}
			moved := shift[name][unit] - shift[name][Crossed]
			if both[0]+moved > one[0]+slack || both[1]+moved < one[1]-slack {
				t.Errorf("%s: by both %v, moved by %.4f, does not contain that by %v, %v", name, both, moved, unit, one)
			}
		}
	}
}

// Log likelihoods of 270 participants are those of SciPy's adaptive integrals, to 1e-5.
func TestPublishedLikelihoods(t *testing.T) {
	want := readGolden(t)
	h, goals, models := goldenPeople(t)
	logs := make([][]float64, 0, want.Participants) // sharp, late, chance
	lapse := map[string]float64{}
	for s, r := range h.Stimuli {
		for _, row := range r.Values {
			answers := cut(row, goals[s])
			var one []float64
			for _, name := range []string{"sharp", "late"} {
				log, rate := LogLikelihood(answers, cut(models[name][s], goals[s]))
				one = append(one, log)
				lapse[name] += rate / float64(want.Participants)
			}
			logs = append(logs, append(one, ChanceLogLikelihood(answers)))
		}
	}
	if len(logs) != want.Participants {
		t.Fatalf("%d participants, want %d", len(logs), want.Participants)
	}
	for k, name := range []string{"sharp", "late", "chance"} {
		var sum float64
		for i := range logs {
			sum += logs[i][k]
			if first := want.Likelihoods[name].First; i < len(first) {
				near(t, name+": log likelihood", logs[i][k], first[i], 1e-5)
			}
		}
		near(t, name+": sum of log likelihoods", sum, want.Likelihoods[name].Sum, 1e-3)
		near(t, name+": lapse", lapse[name], want.Likelihoods[name].Lapse, 1e-5)
	}
	for name, of := range map[string][][]float64{
		"sharp, late":                       firstModels(logs, 2),
		"sharp, late, chance":               logs,
		"the first 12, sharp, late, chance": logs[:12],
	} {
		got, want := CompareRandomEffects(of), want.Comparisons[name]
		near(t, name+": omnibus risk", got.OmnibusRisk, want.OmnibusRisk, 1e-6)
		for k := range want.Frequency {
			near(t, name+": frequency", got.Frequency[k], want.Frequency[k], 1e-6)
			near(t, name+": exceedance", got.Exceedance[k], want.Exceedance[k], 1e-6)
			near(t, name+": protected exceedance", got.Protected[k], want.Protected[k], 1e-6)
		}
	}
}

func firstModels(logs [][]float64, n int) [][]float64 {
	var all [][]float64
	for _, row := range logs {
		all = append(all, row[:n])
	}
	return all
}
