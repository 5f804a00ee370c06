package fit_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/optional"
	"foible.dev/foible/core/report/fit"
	"foible.dev/foible/core/report/internal/reporttest"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/sweep/sweeptest"
)

// staged is a sweep of two models, one of them sampled, with a report stage.
func staged() sweep.Config {
	c := reporttest.Config("optimal", "heuristic")
	c.Report = sweep.Stage{Runs: 6, ParticlesPerGoal: 8}
	c.Models = append(c.Models, sweep.ModelGrid{Model: "plan-lesioned", Axes: map[string][]model.Setting{
		"goal_noise": {{Number: 0}}, "action_noise": {{Number: 0.25}, {Number: 0.125}},
	}})
	return c
}

// sampledOutcome is what a job of the staged sweep comes to. The second set of
// the sampled model is its best: r is 0.5 and, in the report, 0.375.
func sampledOutcome(st *sweep.Plan, number int) sweep.Outcome {
	job := st.Job(number)
	var o sweep.Outcome
	for i, set := range job.Sets {
		exact := set.Model == "boltzmann"
		if job.Score {
			r := []float64{0.25, 0.5, 0.125, 0.75}[job.Index(i)]
			f := result.Fit{Overall: result.Correlation{N: 7, PearsonR: r, Defined: true, RMSE: 0.5}}
			if job.Stage == sweep.ReportStage {
				f.Overall.PearsonR -= 0.125
			}
			if !exact {
				f.MCSE = 0.0625
			}
			o.Fits = append(o.Fits, f)
			continue
		}
		c := reporttest.Cell("optimal", job.Stimulus)
		if !exact {
			c.UnreachableFrom = nil
			for step := range c.Posterior {
				c.SE = append(c.SE, slices.Repeat([]float64{0.03125}, len(c.Posterior[step])))
				c.ESS = append(c.ESS, 10-float64(step))
				c.Alive = append(c.Alive, 2-0.5*float64(step))
				c.Evidence = append(c.Evidence, -1.5*float64(step))
			}
			c.FailedRuns = 1
			if job.Stimulus == 1 && job.Stage == sweep.FitStage {
				c.Undefined = &result.Undefined{Step: 1, Reason: "all weights vanished, at step 1"}
				c.Posterior, c.SE, c.ESS, c.Alive, c.Evidence = c.Posterior[:1], c.SE[:1], c.ESS[:1], c.Alive[:1], c.Evidence[:1]
			}
		}
		o.Cells = append(o.Cells, c)
	}
	return o
}

// stagedReport is the report of the staged sweep, whose results come in any order.
func stagedReport(t *testing.T, rng *rand.Rand, cellsPerJob int, without func(sweep.Job) bool) (*reporttest.Folder, *fit.Report) {
	t.Helper()
	c := staged()
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	plans := make([]*sweep.Plan, 2) // the coordinator's, and ours
	for i := range plans {
		if plans[i], err = sweep.NewPlan(sets, reporttest.Shapes(), cellsPerJob, true); err != nil {
			t.Fatal(err)
		}
	}
	plans[0].Choose(standingOf(plans[0], func(i int) *result.Fit {
		return &sampledOutcome(plans[0], plans[0].ScoreJob(sweep.Chunk(i/cellsPerJob))).Fits[i%cellsPerJob]
	}))
	out := &reporttest.Folder{}
	r, err := fit.New(out, reporttest.Tiny(), plans[1], c, fit.Manifest{SweepID: "abc", Complete: true})
	if err != nil {
		t.Fatal(err)
	}
	gather := sweep.NewGather(plans[1], r.Add)
	for _, number := range rng.Perm(plans[0].Jobs()) {
		if without != nil && without(plans[0].Job(number)) {
			continue
		}
		if err := gather.Add(number, sampledOutcome(plans[0], number)); err != nil {
			t.Fatal(err)
		}
	}
	if err := gather.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return out, r
}

func TestStages(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	out, r := stagedReport(t, rng, 1, nil)
	reporttest.SameTable(t, out, "fits.csv", `
stage,model,parameter_set,goal_noise,budget_r,budget_q,search_noise,action_noise,alpha,value,unreachable_value,runs,particles_per_goal,samples,n,pearson_r,ci_low,ci_high,mc_se,rmse,ci_unit,undefined_stimuli,complete
fit,plan-lesioned,1,0,,,,0.25,,,,3,4,,7,0.25,,,0.0625,0.5,,0,yes
fit,plan-lesioned,2,0,,,,0.125,,,,3,4,,7,0.5,,,0.0625,0.5,,0,yes
fit,boltzmann,3,,,,,,0.5,optimal,-1000,1,,,7,0.125,,,0,0.5,,0,yes
fit,boltzmann,4,,,,,,0.5,heuristic,-1000,1,,,7,0.75,,,0,0.5,,0,yes
report,plan-lesioned,2,0,,,,0.125,,,,6,8,,7,0.375,,,0.0625,0.5,,0,yes
report,boltzmann,4,,,,,,0.5,heuristic,-1000,1,,,7,0.625,,,0,0.5,,0,yes
`)
	reporttest.SameTable(t, out, "degeneracy.csv", `
stage,model,parameter_set,stimulus,runs,failed_runs,least_ess,least_goals_alive,log_evidence,outcome
fit,plan-lesioned,1,a,3,1,8,1,-3,
fit,plan-lesioned,1,b,3,1,10,2,0,"all weights vanished, at step 1"
fit,plan-lesioned,2,a,3,1,8,1,-3,
fit,plan-lesioned,2,b,3,1,10,2,0,"all weights vanished, at step 1"
report,plan-lesioned,2,a,6,1,8,1,-3,
report,plan-lesioned,2,b,6,1,9,1.5,-1.5,
`)
	best := r.Best()
	if len(best) != 2 || best[0].Set.Model != "plan-lesioned" || best[1].Set.Model != "boltzmann" {
		t.Fatalf("best %+v", best)
	}
	for i, want := range []fit.Best{{Number: 2, Fitted: 0.5}, {Number: 4, Fitted: 0.75}} {
		if b := best[i]; b.Number != want.Number || b.Fitted != want.Fitted || b.Fit.Overall.PearsonR != want.Fitted-0.125 {
			t.Errorf("best %+v, want %+v", b, want)
		}
	}
	if m := manifest(t, out); m.Cells != 4*2+2*2 || !m.Complete || m.Parameters["plan-lesioned"] != 2 || m.Parameters["boltzmann"] != 2 {
		t.Errorf("%+v", m)
	}
	// The Monte-Carlo error stands beside each probability of the sampled model alone.
	stages, models, errors := reporttest.Column(t, out, "posteriors.csv", "stage"), reporttest.Column(t, out, "posteriors.csv", "model"), reporttest.Column(t, out, "posteriors.csv", "mc_se")
	seen := map[string]int{}
	for i := range stages {
		seen[stages[i]+" "+models[i]+" "+errors[i]]++
	}
	for row, want := range map[string]int{
		"fit plan-lesioned 0.03125": 2 * (3*2 + 3), "fit plan-lesioned ": 2, "fit boltzmann 0": 2 * (3*2 + 2*3),
		"report plan-lesioned 0.03125": 3*2 + 2*3, "report boltzmann 0": 3*2 + 2*3,
	} {
		if seen[row] != want {
			t.Errorf("%d rows of %q, want %d: %v", seen[row], row, want, seen)
		}
	}
	for name, f := range out.Files {
		if header, _, _ := strings.Cut(f.String(), ","); strings.HasSuffix(name, ".csv") && header != "stage" && name != "reliability.csv" {
			t.Errorf("%s begins with column %s", name, header)
		}
	}
	// Neither the order of results nor the cut into jobs can be seen.
	for range 5 {
		for _, cells := range []int{1, 2, 4} {
			again, _ := stagedReport(t, rng, cells, nil)
			for name := range out.Files {
				if again.Text(name) != out.Text(name) {
					t.Errorf("%d cells a job: %s differs", cells, name)
				}
			}
		}
	}
}

// marginalOutcome is what a job of a marginal sweep comes to: a goal of the first
// stimulus dies in the fit stage, the report has mistakes.
func marginalOutcome(p *sweep.Plan, number int) sweep.Outcome {
	o := sampledOutcome(p, number)
	job := p.Job(number)
	for i := range o.Cells {
		c := &o.Cells[i]
		if job.Sets[i].Model == "boltzmann" {
			continue
		}
		c.ESS, c.Alive, c.FailedRuns = nil, nil, 0
		c.Samples = 100 + job.Stimulus
		for _, row := range c.Posterior {
			c.LogEvidence = append(c.LogEvidence, slices.Repeat([]float64{-2}, len(row)))
		}
		if job.Stage == sweep.ReportStage {
			c.Mistakes = &result.Mistakes{}
			var offPath []result.Estimate
			for k := range len(c.Posterior) - 1 {
				p := 0.25 * float64(k+1)
				c.Mistakes.Confused = append(c.Mistakes.Confused, result.Estimate{Probability: p, SE: 0.5})
				c.Mistakes.Slip = append(c.Mistakes.Slip, result.Estimate{Probability: 1 - p})
				offPath = append(offPath, result.Estimate{})
			}
			if job.Stimulus == 0 { // not known of the other one
				c.Mistakes.OffPath = optional.Known(offPath)
			}
		} else if job.Stimulus == 0 {
			c.LogEvidence[len(c.LogEvidence)-1][0] = math.Inf(-1)
		}
	}
	return o
}

func TestMarginal(t *testing.T) {
	c := staged()
	c.Inference, c.Fit, c.Report = sweep.DefaultsOf(sweep.Marginal)
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sweep.NewPlan(sets, reporttest.Shapes(), 4, true)
	if err != nil {
		t.Fatal(err)
	}
	plan.Choose(standingOf(plan, func(i int) *result.Fit { return &marginalOutcome(plan, plan.ScoreJob(0)).Fits[i] }))
	out := &reporttest.Folder{}
	r, err := fit.New(out, reporttest.Tiny(), plan, c, fit.Manifest{Complete: true})
	if err != nil {
		t.Fatal(err)
	}
	gather := sweep.NewGather(plan, r.Add)
	for number := range plan.Jobs() {
		if err := gather.Add(number, marginalOutcome(plan, number)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(gather.Close(), r.Close()); err != nil {
		t.Fatal(err)
	}
	reporttest.SameTable(t, out, "mistakes.csv", `
stage,model,parameter_set,stimulus,step,goal_confused,goal_confused_se,slip,slip_se,plan_off_path,plan_off_path_se
report,plan-lesioned,2,a,1,0.25,0.5,0.75,0,0,0
report,plan-lesioned,2,a,2,0.5,0.5,0.5,0,0,0
report,plan-lesioned,2,b,1,0.25,0.5,0.75,0,,
`)
	reporttest.SameTable(t, out, "degeneracy.csv", `
stage,model,parameter_set,stimulus,runs,failed_runs,least_ess,least_goals_alive,log_evidence,outcome
fit,plan-lesioned,1,a,4,0,,1,-3,
fit,plan-lesioned,1,b,4,0,,3,0,"all weights vanished, at step 1"
fit,plan-lesioned,2,a,4,0,,1,-3,
fit,plan-lesioned,2,b,4,0,,3,0,"all weights vanished, at step 1"
`)
	if got := reporttest.Column(t, out, "fits.csv", "samples"); !slices.Equal(got, []string{"100", "100", "", "", "100", ""}) {
		t.Errorf("samples %q", got)
	}
	if got := reporttest.Column(t, out, "fits.csv", "particles_per_goal"); strings.Join(got, "") != "" {
		t.Errorf("particles %q", got)
	}
	died := map[string]int{}
	for i, evidence := range reporttest.Column(t, out, "posteriors.csv", "goal_log_evidence") {
		died[reporttest.Column(t, out, "posteriors.csv", "model")[i]+evidence]++
	}
	if died["plan-lesioned-2"] == 0 || died["plan-lesioned"] != 2*(1+1) || died["boltzmann-2"] != 0 {
		t.Errorf("evidence %v", died)
	}
	if text := out.Text("sweep.yaml"); strings.Contains(text, "particles") || !strings.Contains(text, "\n  method: marginal\n  observe: exact\n  mc_se: 0.002\n  posterior_se: 0.01\nfit:\n  runs: 4\nreport:\n  runs: 4\n") {
		t.Errorf("sweep.yaml:\n%s", text)
	}
}

// Before the report stage is done, the best are as they were fitted, and the
// report says that it is not complete.
func TestBeforeTheReportStage(t *testing.T) {
	out, r := stagedReport(t, rand.New(rand.NewPCG(3, 3)), 2, func(job sweep.Job) bool { return job.Stage == sweep.ReportStage })
	best := r.Best()
	if len(best) != 2 || best[0].Fit.Overall.PearsonR != 0.5 || best[0].Fitted != 0.5 {
		t.Errorf("best %+v", best)
	}
	if got := slices.Compact(reporttest.Column(t, out, "fits.csv", "stage")); !slices.Equal(got, []string{"fit"}) {
		t.Errorf("stages %v", got)
	}
	if m := manifest(t, out); m.Complete || out.Files["failures.csv"] != nil {
		t.Errorf("%+v", m)
	}
}

// A model of which some axis has three values has a profile.
func TestProfile(t *testing.T) {
	c := reporttest.Config("optimal")
	c.Models[0].Axes["alpha"] = []model.Setting{{Number: 1}, {Number: 0.25}, {Number: 4}}
	c.Models[0].Axes["unreachable_value"] = []model.Setting{{Number: -2}, {Number: -1}}
	out, _ := reporttest.Write(t, reporttest.Tiny(), c, reporttest.Jobs{Cells: 1}, nil)
	for _, name := range []string{"figures/profile-boltzmann.svg", "figures/profile-boltzmann.pdf"} {
		if out.Files[name] != nil {
			t.Errorf("%s though there are no fits", name)
		}
	}
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sweep.NewPlan(sets, reporttest.Shapes(), 1, false)
	if err != nil {
		t.Fatal(err)
	}
	out = &reporttest.Folder{}
	r, err := fit.New(out, reporttest.Tiny(), plan, c, fit.Manifest{Complete: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range sets { // alpha 1, 0.25, 4, each with -2 and -1
		f := &result.Fit{Overall: result.Correlation{N: 7, PearsonR: []float64{0.5, 0.25, 0.75, 0.875, 0, 0}[i], Defined: i < 4}}
		if err := r.Add(&sweep.Gathered{Stage: sweep.FitStage, Index: i, Set: sets[i], Cells: make([]*result.Cell, 2), Fit: f}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	text := out.Text("figures/profile-boltzmann.svg")
	for _, want := range []string{"alpha: 3 values from 0.25 to 4, highest r .88 at 0.25.", "unreachable_value: 2 values from -2 to -1, highest r .88 at -1."} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q: %.900s", want, text)
		}
	}
	if strings.Contains(text, "value: 1 values") {
		t.Error("an axis of one value has a panel")
	}
}

// Contenders have a row a round, and the best is the best of those with the most runs, whatever r it had
// with fewer; manifest, methods and sweep.yaml say what was done.
func TestTopUp(t *testing.T) {
	c := staged()
	c.TopUp = 3
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	plans := make([]*sweep.Plan, 2) // the coordinator's, and ours
	for i := range plans {
		if plans[i], err = (&sweep.Resolved{Config: c, Sets: sets}).Plan(reporttest.Shapes(), 1); err != nil {
			t.Fatal(err)
		}
	}
	out := &reporttest.Folder{}
	r, err := fit.New(out, reporttest.Tiny(), plans[1], c, fit.Manifest{SweepID: "abc", Complete: true})
	if err != nil {
		t.Fatal(err)
	}
	gather := sweep.NewGather(plans[1], r.Add)
	standing := sweep.NewStanding(0)
	add := func(number int) sweep.Outcome {
		t.Helper()
		job, o := plans[0].Job(number), sampledOutcome(plans[0], number)
		for i := range o.Fits {
			if set := job.Index(i); set < 2 && job.Stage != sweep.ReportStage { // a tie of plan-lesioned, of which the first is better with more runs
				o.Fits[i].Overall.PearsonR = [][]float64{{0.4375, 0.5}, {0.5, 0.25}, {0.5, 0.25}}[job.Round][set]
			}
		}
		if err := gather.Add(number, o); err != nil {
			t.Fatal(err)
		}
		return o
	}
	for round := range plans[0].Rounds() {
		for chunk := range plans[0].RoundChunks(round) {
			for i := range plans[0].Stimuli {
				add(plans[0].InferJob(chunk, i))
			}
			job := plans[0].Job(plans[0].ScoreJob(chunk))
			standing.AddJob(&job, add(job.Number).Fits)
		}
		plans[0].Choose(standing)
	}
	if err := errors.Join(gather.Close(), r.Close()); err != nil {
		t.Fatal(err)
	}
	reporttest.SameTable(t, out, "fits.csv", `
stage,model,parameter_set,goal_noise,budget_r,budget_q,search_noise,action_noise,alpha,value,unreachable_value,runs,particles_per_goal,samples,n,pearson_r,ci_low,ci_high,mc_se,rmse,ci_unit,undefined_stimuli,complete
fit,plan-lesioned,1,0,,,,0.25,,,,3,4,,7,0.4375,,,0.0625,0.5,,0,yes
fit,plan-lesioned,2,0,,,,0.125,,,,3,4,,7,0.5,,,0.0625,0.5,,0,yes
fit,boltzmann,3,,,,,,0.5,optimal,-1000,1,,,7,0.125,,,0,0.5,,0,yes
fit,boltzmann,4,,,,,,0.5,heuristic,-1000,1,,,7,0.75,,,0,0.5,,0,yes
top_up,plan-lesioned,1,0,,,,0.25,,,,6,4,,7,0.5,,,0.0625,0.5,,0,yes
top_up,plan-lesioned,2,0,,,,0.125,,,,6,4,,7,0.25,,,0.0625,0.5,,0,yes
report,plan-lesioned,1,0,,,,0.25,,,,6,8,,7,0.125,,,0.0625,0.5,,0,yes
report,boltzmann,4,,,,,,0.5,heuristic,-1000,1,,,7,0.625,,,0,0.5,,0,yes
`)
	if b := r.Best()[0]; b.Number != 1 || b.Fitted != 0.5 || b.Fit.Overall.PearsonR != 0.125 {
		t.Errorf("best %+v", b)
	}
	if m := manifest(t, out); m.Cells != 4*2+2*2+2*2 || len(m.TopUp) != 1 || m.TopUp["plan-lesioned"] != (fit.TopUp{Contenders: 2, Times: 2, Separated: true}) {
		t.Errorf("%+v", m)
	}
	for name, want := range map[string]string{
		"sweep.yaml":  "\ntop_up: 3\n",
		"report.html": "run again with twice the runs, and so on, until one was left or had had 3 times as many; parameters were chosen among those that had the most. These were 2 of 2 parameter sets of plan-lesioned, up to 2 times as many; one was left.",
	} {
		if !strings.Contains(out.Text(name), want) {
			t.Errorf("%s has no %q", name, want)
		}
	}
}

// Whatever cells lack, the report is written, without a number that is none.
func TestCellsThatLackParts(t *testing.T) {
	c := staged()
	c.Inference, c.Fit, c.Report = sweep.DefaultsOf(sweep.Marginal)
	sets, err := c.ParameterSets()
	if err != nil {
		t.Fatal(err)
	}
	for name := range sweeptest.WithoutEach(result.Cell{Mistakes: &result.Mistakes{}}) {
		t.Run(name, func(t *testing.T) {
			plan, err := sweep.NewPlan(sets, reporttest.Shapes(), 4, true)
			if err != nil {
				t.Fatal(err)
			}
			plan.Choose(standingOf(plan, func(i int) *result.Fit { return &marginalOutcome(plan, plan.ScoreJob(0)).Fits[i] }))
			out := &reporttest.Folder{}
			r, err := fit.New(out, reporttest.Tiny(), plan, c, fit.Manifest{Complete: true})
			if err != nil {
				t.Fatal(err)
			}
			gather := sweep.NewGather(plan, r.Add)
			for number := range plan.Jobs() {
				o := marginalOutcome(plan, number)
				for i := range o.Cells {
					if cell, has := sweeptest.WithoutEach(o.Cells[i])[name]; has {
						o.Cells[i] = cell
					}
				}
				if err := gather.Add(number, o); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(gather.Close(), r.Close()); err != nil {
				t.Fatal(err)
			}
			for name, f := range out.Files {
				if !strings.HasSuffix(name, ".pdf") && reporttest.NoNumber.MatchString(f.String()) {
					t.Errorf("%s holds a number that is none:\n%s", name, f.String())
				}
			}
		})
	}
}

// standingOf is that of the parameter sets of the rounds that are known, each of which has one fit, or none (nil).
func standingOf(p *sweep.Plan, fit func(i int) *result.Fit) *sweep.Standing {
	s := sweep.NewStanding(0)
	for round := range p.KnownRounds() {
		for chunk := range p.RoundChunks(round) {
			job := p.Job(p.ScoreJob(chunk))
			for i := range job.Sets {
				if f := fit(job.Index(i)); f != nil {
					s.Add(job.Sets[i].Model, job.Index(i), round, f)
				}
			}
		}
	}
	return s
}
