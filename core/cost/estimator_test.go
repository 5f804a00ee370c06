package cost_test

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"foible.dev/foible/core/cost"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
)

var epoch = time.Date(2021, 7, 26, 9, 0, 0, 0, time.UTC)

// world is a made-up cluster that does a made-up sweep, in made-up time. What things cost is drawn, and not told the
// estimator.
type world struct {
	rng      *rand.Rand
	plan     *sweep.Plan
	config   *sweep.Config
	progress *sweep.Progress
	eta      *cost.Estimator
	now      float64 // seconds
	events   events
	queue    []int
	workers  map[uint64]*machine
	next     uint64

	cell     map[string]float64 // seconds, by model
	stimulus []float64
	table    float64
	report   float64
	score    float64
	noise    float64
	lease    float64 // seconds until it is seen that a worker has gone
	change   float64 // seconds between two changes of the workers
}

type machine struct {
	slots, free int
	speed       float64
	tables      map[string]bool
	jobs        map[int]bool
}

type event struct {
	at float64
	do func()
}

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

func (w *world) in(seconds float64, do func()) { heap.Push(&w.events, event{w.now + seconds, do}) }

func (w *world) clock() time.Time { return epoch.Add(time.Duration(w.now * float64(time.Second))) }

// about is a factor of median 1 whose logarithm has the standard deviation.
func (w *world) about(sd float64) float64 { return math.Exp(sd * w.rng.NormFloat64()) }

// newWorld draws a sweep and a cluster, the workers of which come and go unless it is calm.
func newWorld(t *testing.T, seed uint64, calm bool) *world {
	t.Helper()
	w := &world{rng: rand.New(rand.NewPCG(seed, 7)), workers: map[uint64]*machine{}, cell: map[string]float64{}}
	w.config = &sweep.Config{Inference: sweep.MarginalInference, Fit: sweep.MarginalFit, Report: sweep.MarginalReport}
	if w.rng.IntN(3) == 0 {
		w.config.Inference, w.config.Fit, w.config.Report = sweep.PaperInference, sweep.PaperFit, sweep.PaperReport
	}
	if w.rng.IntN(5) == 0 {
		w.config.Report = sweep.Stage{}
	}
	const cell = 1.
	sets := w.drawSets(cell)
	shapes := make([]sweep.Shape, 4+w.rng.IntN(20))
	for i := range shapes {
		shapes[i] = sweep.Shape{Stimulus: fmt.Sprint(i), Goals: 3, Actions: 5 + w.rng.IntN(25), JudgementSteps: []int{2, 5}}
		w.stimulus = append(w.stimulus, float64(shapes[i].Actions)*w.about(0.3))
	}
	slots := 2 << w.rng.IntN(6)
	cells := max(1, sweep.CellsPerJob(len(sets), shapes, w.config.Fit.Runs, max(8, slots))>>w.rng.IntN(4))
	plan, err := sweep.NewPlan(sets, shapes, cells, w.config.Report.Runs > 0)
	if err != nil {
		t.Fatal(err)
	}
	w.plan, w.progress, w.eta = plan, sweep.NewProgress(plan), cost.NewEstimator(plan, w.config, epoch)
	w.table = cell * 15 * w.about(0.7)
	w.report, w.score, w.noise = w.about(0.4), 0.001*w.about(1), 0.1+0.3*w.rng.Float64()
	if w.config.Inference.Method == sweep.SIPS {
		w.report *= 10. * 100 / (5 * 60)
	}
	for job := range plan.FitJobs() {
		w.queue = append(w.queue, job)
	}
	// About how long the sweep takes, for the times at which workers come and go.
	faster := w.work() / float64(plan.FitJobs()) / (5 * w.about(0.7)) // so that a job takes some seconds
	for name := range w.cell {
		w.cell[name] /= faster
	}
	w.table /= faster
	usual := w.work() / float64(slots)
	w.lease, w.change = 5, usual/(0.5+3*w.rng.Float64())
	for have := 0; have < slots; {
		n := min(slots-have, 1<<w.rng.IntN(4))
		w.in(0.05*usual*w.rng.Float64(), func() { w.join(n) })
		have += n
	}
	if !calm {
		w.in(w.change*w.rng.ExpFloat64(), func() { w.churn(slots) })
	}
	return w
}

// drawSets draws the parameter sets of some models, and what a cell of each model costs: about as much as given.
func (w *world) drawSets(cell float64) (sets []model.ParameterSet) {
	values := func(most int) []model.Setting {
		all := make([]model.Setting, 1+w.rng.IntN(most))
		for i := range all {
			all[i].Number = float64(i+1) / 20
		}
		return all
	}
	for _, m := range model.Models {
		if w.rng.IntN(3) == 0 && len(sets) > 0 {
			continue
		}
		w.cell[m.Name] = cell * w.about(0.5)
		if m.Exact {
			w.cell[m.Name] /= 10
		}
		of := []model.ParameterSet{{Model: m.Name}}
		for _, axis := range m.Axes[:min(len(m.Axes), 5)] {
			if axis == "value" || axis == "unreachable_value" {
				continue
			}
			var more []model.ParameterSet
			for _, set := range of {
				for _, value := range values(4) {
					set.Set(axis, value)
					more = append(more, set)
				}
			}
			of = more
		}
		sets = append(sets, of...)
	}
	return sets
}

// churn lets a worker come or go, now and again and again, in a cluster meant to have a number of slots.
func (w *world) churn(slots int) {
	if ids := w.ids(); w.rng.IntN(2) == 0 && len(ids) > 0 {
		w.leave(ids[w.rng.IntN(len(ids))])
	} else {
		w.join(1 << w.rng.IntN(4))
	}
	if len(w.workers) == 0 {
		w.in(w.lease, func() { w.join(max(1, slots/2)) })
	}
	w.in(w.change*w.rng.ExpFloat64(), func() { w.churn(slots) })
}

func (w *world) ids() []uint64 {
	ids := make([]uint64, 0, len(w.workers))
	for id := range w.workers {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (w *world) join(n int) {
	w.next++
	w.workers[w.next] = &machine{slots: n, free: n, speed: w.about(0.2), tables: map[string]bool{}, jobs: map[int]bool{}}
	w.eta.Joined(w.clock(), w.next, n)
	w.deal()
}

// leave takes a worker away; a while later others are given what it had.
func (w *world) leave(id uint64) {
	m := w.workers[id]
	delete(w.workers, id)
	w.eta.Left(w.clock(), id)
	lost := make([]int, 0, len(m.jobs))
	for job := range m.jobs {
		lost = append(lost, job)
	}
	slices.Sort(lost)
	clear(m.jobs)
	w.in(w.lease, func() {
		for _, job := range lost {
			w.eta.Dropped(w.clock(), job, id)
			w.queue = append(w.queue, job)
		}
		w.deal()
	})
}

func (w *world) deal() {
	for _, id := range w.ids() {
		for m := w.workers[id]; m.free > 0 && len(w.queue) > 0; {
			job := w.queue[0]
			w.queue = w.queue[1:]
			m.free--
			m.jobs[job] = true
			w.eta.Begun(w.clock(), job, id)
			w.in(w.seconds(job, m), func() { w.end(job, id, m) })
		}
	}
}

// work is about the seconds of all jobs, the tables made once.
func (w *world) work() (seconds float64) {
	m := &machine{speed: 1, tables: map[string]bool{}}
	for job := range w.plan.FitJobs() {
		seconds += w.seconds(job, m)
	}
	return seconds
}

// seconds is how long a job takes on a machine.
func (w *world) seconds(number int, m *machine) float64 {
	job := w.plan.Job(number)
	var took float64
	for i := range job.Sets {
		set := &job.Sets[i]
		if job.Score {
			took += w.score
			continue
		}
		took += w.cell[set.Model]
		named, _ := model.ByName(set.Model)
		table := fmt.Sprint(job.Stage, job.Stimulus, set.SearchNoise)
		if w.config.Inference.Method == sweep.Marginal && !named.Exact && !m.tables[table] {
			m.tables[table] = true
			took += w.table
		}
	}
	if !job.Score {
		took *= w.stimulus[job.Stimulus]
		if job.Stage == sweep.ReportStage {
			took *= w.report
		}
	}
	return took * w.about(w.noise) / m.speed
}

func (w *world) end(number int, id uint64, m *machine) {
	if !m.jobs[number] { // the machine has gone
		return
	}
	delete(m.jobs, number)
	m.free++
	if w.rng.IntN(50) == 0 { // it failed, and is tried again
		w.eta.Dropped(w.clock(), number, id)
		w.queue = append(w.queue, number)
		w.deal()
		return
	}
	_, ready := w.progress.Add(number)
	if w.progress.Fitted() && w.plan.Chosen() == nil {
		w.plan.Choose(standingOf(w.plan, func(i int) *result.Fit {
			return &result.Fit{Overall: result.Correlation{Defined: true, PearsonR: float64(i*7919%101) / 101}}
		}))
	}
	w.eta.Done(w.clock(), number, id)
	w.queue = append(ready, w.queue...) // as the queue does
	w.deal()
}

// said is a range, from when until when it stood.
type said struct {
	at, until, low, high float64
	ok                   bool
	early                bool // before a fifth of the cells was done
}

// run does the sweep, and returns when it ended and what was said.
func (w *world) run() (end float64, all []said) {
	for !w.progress.Complete() {
		e := heap.Pop(&w.events).(event)
		if len(all) > 0 {
			all[len(all)-1].until = e.at
		}
		w.now = e.at
		e.do()
		if !w.progress.Complete() {
			low, high, ok := w.eta.Range(w.clock())
			early := 5*w.progress.CellsDone() < w.plan.Cells()
			all = append(all, said{w.now, w.now, w.now + low.Seconds(), w.now + high.Seconds(), ok, early})
		}
	}
	return w.now, all
}

// Over made-up sweeps with uneven jobs, retries, lost leases and, three times in four, workers that come and go, from a
// fifth of the cells on: the end lies in the range at least 80 % of the time, and half of the time the range is at most
// 1.75 times as wide as what is left.
func TestRange(t *testing.T) {
	const sweeps = 100
	var total, within, stated float64 // parts of the time of a sweep, of all
	var widths []width
	for seed := range uint64(sweeps) {
		w := newWorld(t, seed, seed%4 == 3)
		end, all := w.run()
		var in, of float64
		for _, s := range all {
			time := (s.until - s.at) / end
			if s.early {
				continue
			}
			total += time
			if !s.ok {
				continue
			}
			of += time
			if s.low <= end && end <= s.high {
				in += time
			}
			widths = append(widths, width{(s.high - s.low) / (end - s.at), time})
		}
		within, stated = within+in, stated+of
		t.Logf("sweep %2d: %6d cells, %5d jobs, %2d stimuli, %8.1f s; within %3.0f %%", seed, w.plan.Cells(), w.plan.Jobs(), len(w.plan.Stimuli), end, 100*in/of)
	}
	slices.SortFunc(widths, func(a, b width) int { return cmp.Compare(a.of, b.of) })
	quantile := func(q float64) float64 {
		var sum float64
		for _, w := range widths {
			if sum += w.time; sum >= q*stated {
				return w.of
			}
		}
		return math.Inf(1)
	}
	t.Logf("stated %.1f %% of the time, within %.1f %% of that; width %.2f of what is left (median; %.2f and %.2f at the quartiles)",
		100*stated/total, 100*within/stated, quantile(0.5), quantile(0.25), quantile(0.75))
	if within < cost.Level*stated {
		t.Errorf("the end lies in the range %.1f %% of the time", 100*within/stated)
	}
	if stated < 0.95*total {
		t.Errorf("a range is stated %.1f %% of the time", 100*stated/total)
	}
	if median := quantile(0.5); median > 1.75 {
		t.Errorf("the range is %.2f as wide as what is left", median)
	}
}

// Before a fifth of the cells is done, an end is stated only when enough has been seen: it lies in the range nearly as
// often, and is hardly ever twice as late as the range has it.
func TestRangeAtFirst(t *testing.T) {
	const sweeps = 200
	var total, stated, within, first, firstWithin, wrong float64
	for seed := range uint64(sweeps) {
		w := newWorld(t, seed+1000, seed%4 == 3)
		end, all := w.run()
		begun := false
		for _, s := range all {
			if !s.early {
				break
			}
			time := (s.until - s.at) / end
			total += time
			if !s.ok {
				continue
			}
			in := s.low <= end && end <= s.high
			if !begun {
				begun = true
				first++
				if in {
					firstWithin++
				}
				if end-s.at > 2*(s.high-s.at) {
					wrong++
				}
			}
			stated += time
			if in {
				within += time
			}
		}
	}
	if firstWithin < 0.7*first || within < 0.75*stated {
		t.Errorf("of the first ranges %.1f %% hold the end, and %.1f %% of the early ones", 100*firstWithin/first, 100*within/stated)
	}
	if wrong > 0.06*first {
		t.Errorf("%.1f %% of the first ranges are by a factor of two too early", 100*wrong/first)
	}
	if stated < 0.45*total {
		t.Errorf("a range is stated %.1f %% of the time", 100*stated/total)
	}
	t.Logf("early: stated %.1f %% of the time, within %.1f %% of that; of %.0f first ranges %.1f %% hold the end, and %.1f %% are by a factor of two too early",
		100*stated/total, 100*within/stated, first, 100*firstWithin/first, 100*wrong/first)
}

// width of a range, as a part of what is left, and how long it was stated.
type width struct{ of, time float64 }

// plain is a sweep of one exact model: 20 parameter sets on 4 stimuli, a cell a job, and a report.
func plain(t *testing.T) (*sweep.Plan, *cost.Estimator) {
	t.Helper()
	sets := make([]model.ParameterSet, 20)
	for i := range sets {
		sets[i].Model = "boltzmann"
		sets[i].Set("alpha", model.Setting{Number: float64(i + 1)})
	}
	shapes := make([]sweep.Shape, 4)
	for i := range shapes {
		shapes[i] = sweep.Shape{Stimulus: fmt.Sprint(i), Goals: 2, Actions: 3, JudgementSteps: []int{3}}
	}
	plan, err := sweep.NewPlan(sets, shapes, 1, true)
	if err != nil {
		t.Fatal(err)
	}
	return plan, cost.NewEstimator(plan, &sweep.Config{Inference: sweep.MarginalInference, Report: sweep.MarginalReport}, epoch)
}

// after is a time so many seconds after the first.
func after(seconds float64) time.Time {
	return epoch.Add(time.Duration(seconds * float64(time.Second)))
}

// A range is stated when there is something to go by, and not otherwise.
func TestNotKnown(t *testing.T) {
	_, e := plain(t)
	known := func(at float64, want bool, why string) {
		t.Helper()
		if _, _, ok := e.Range(after(at)); ok != want {
			t.Errorf("%s: stated %v", why, ok)
		}
	}
	known(0, false, "no worker")
	e.Joined(after(0), 1, 1)
	known(0, false, "no job")
	e.Begun(after(0), 0, 1)
	known(1, false, "no job seen to its end")
	e.Done(after(1), 0, 1)
	known(1, false, "one job of many seen, which may be a quick one")
	for job := 1; job < 4; job++ {
		e.Begun(after(1), job, 1)
		e.Done(after(2), job, 1)
	}
	known(2, true, "four jobs seen")
	e.Running(after(2), false)
	known(3, false, "paused")
	e.Running(after(4), true)
	known(4, true, "resumed")
	e.Left(after(5), 1)
	known(5, false, "no worker any more")
	e.Elsewhere(after(6), 8)
	known(6, true, "workers of another coordinator")
}

// One slot that takes a second a job, and never has to wait: what is left is what the jobs take, and the report's.
func TestSteady(t *testing.T) {
	plan, e := plain(t)
	e.Joined(epoch, 1, 1)
	now := 0.
	do := func(job int, seconds float64) {
		e.Begun(after(now), job, 1)
		now += seconds
		e.Done(after(now), job, 1)
	}
	check := func(left float64) {
		t.Helper()
		low, high, ok := e.Range(after(now))
		if !ok || low.Seconds() > left || high.Seconds() < left || high-low > time.Duration(1.75*left*float64(time.Second)) {
			t.Errorf("at %v s: %v to %v, where %v s are left", now, low, high, left)
		}
	}
	for job := range plan.FitJobs() {
		do(job, 1)
		if job%len(plan.Stimuli) == len(plan.Stimuli)-1 {
			do(plan.ScoreJob(plan.Job(job).Chunk), 0.01)
		}
		if job >= 10 {
			check(float64(plan.FitJobs()-job-1) + 4)
		}
	}
	plan.Choose(standingOf(plan, func(i int) *result.Fit { return &result.Fit{Overall: result.Correlation{Defined: true}} }))
	for i, job := range plan.ReportJobs() {
		if i > 0 {
			check(4 - float64(i))
		}
		do(job, 1)
	}
	do(plan.Jobs()-1, 0.01)
	if low, high, ok := e.Range(after(now)); !ok || low != 0 || high != 0 {
		t.Errorf("at the end: %v to %v", low, high)
	}
	if rate := e.Rate(after(now)); rate < 0.9 || rate > 1.1 {
		t.Errorf("%v cells a second", rate)
	}
}

// What was recorded before, or by another coordinator, is not left; it says nothing of how long jobs take.
func TestKnown(t *testing.T) {
	plan, e := plain(t)
	e.Joined(epoch, 1, 1)
	for job := 4; job < plan.FitJobs(); job++ {
		if job%2 == 0 {
			e.Known(job)
		} else {
			e.Done(after(0), job, 0)
		}
	}
	for chunk := range plan.RoundChunks(0) {
		if chunk > 0 {
			e.Known(plan.ScoreJob(chunk))
		}
	}
	e.Begun(after(0), 0, 1)
	e.Done(after(10), 0, 1)
	low, high, ok := e.Range(after(10))
	if !ok || low > 70*time.Second || high < 70*time.Second || high > 200*time.Second {
		t.Errorf("%v to %v, where seven jobs of ten seconds are left", low, high)
	}
}

// Of a sweep that is taken up in its report, the report's jobs are what there is to go by.
func TestTakenUpInReport(t *testing.T) {
	plan, e := plain(t)
	for job := range plan.FitJobs() {
		e.Known(job)
	}
	for chunk := range plan.RoundChunks(0) {
		e.Known(plan.ScoreJob(chunk))
	}
	plan.Choose(standingOf(plan, func(i int) *result.Fit { return &result.Fit{Overall: result.Correlation{Defined: true}} }))
	e.Joined(epoch, 1, 1)
	for i, job := range plan.ReportJobs() {
		if _, _, ok := e.Range(after(float64(10 * i))); ok != (i > 0) {
			t.Errorf("after %d jobs, stated %v", i, ok)
		}
		e.Begun(after(float64(10*i)), job, 1)
		e.Done(after(float64(10*i+10)), job, 1)
		left := time.Duration(10*(len(plan.Stimuli)-1-i)) * time.Second
		if low, high, _ := e.Range(after(float64(10*i + 10))); low > left+10*time.Millisecond || high < left {
			t.Errorf("after %d jobs, %v to %v, where %v are left", i+1, low, high, left)
		}
	}
}

// A worker that goes takes with it what it was doing, and a job that fails is done again.
func TestWaste(t *testing.T) {
	plan, e := plain(t)
	e.Joined(epoch, 1, 4)
	now := 0.
	for job := range 40 {
		e.Begun(after(now), job, 1)
		e.Dropped(after(now+1), job, 1)
		e.Begun(after(now+1), job, 1)
		now += 2
		e.Done(after(now), job, 1)
	}
	// One job at a time, of which every other is in vain, whatever the slots.
	left := 2 * float64(plan.FitJobs()-40+4)
	if low, high, ok := e.Range(after(now)); !ok || low.Seconds() > left || high.Seconds() < left {
		t.Errorf("%v to %v, where %v s are left", low, high, left)
	}
	e.Begun(after(now), 40, 1)
	e.Left(after(now), 1)
	e.Joined(after(now), 2, 4)
	e.Begun(after(now), 40, 2)
	e.Done(after(now+1), 40, 2)
}

// Rounds of topping up add to the range before they are known, and nothing once they are known to be empty; what
// contenders are left counts for as many times the work.
func TestTopUp(t *testing.T) {
	in, fit, report := sweep.DefaultsOf(sweep.SIPS)
	noises := make([]model.Setting, 40)
	for i := range noises {
		noises[i].Number = float64(i+1) / 50
	}
	c := sweep.Config{Inference: in, Fit: fit, Report: report, Models: []sweep.ModelGrid{{Model: "plan-lesioned", Axes: map[string][]model.Setting{"action_noise": noises}}}}
	c.Report.Runs = 0
	none, clear, alike := toppedUpHigh(t, c, 1, 1), toppedUpHigh(t, c, 4, 1), toppedUpHigh(t, c, 4, 20)
	if !(none[0] < clear[0]) || clear[0] != alike[0] {
		t.Errorf("half-way at most %v s are left without topping up, %v and %v with", none[0], clear[0], alike[0])
	}
	if none[1] != 0 || !(clear[1] < alike[1]) {
		t.Errorf("after the fit stage %v s are left, %v if the best is clear, %v if it is not", none[1], clear[1], alike[1])
	}
	if clear[2] != 0 || alike[2] < 20*4/4*2 || alike[2] > 3*20*4/4*2 { // 20 settings of four times the work, on two stimuli
		t.Errorf("after the first round %v s are left if the best is clear, %v if it is not", clear[2], alike[2])
	}
}

// toppedUpHigh is the upper end of the range after half of the fit stage, after all of it with a number of contenders, and
// after the first round of topping up.
func toppedUpHigh(t *testing.T, c sweep.Config, topUp, contenders int) (at []float64) {
	t.Helper()
	c.TopUp = topUp
	resolved, err := c.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := resolved.Plan([]sweep.Shape{{Stimulus: "a", Goals: 3, Actions: 9}, {Stimulus: "b", Goals: 3, Actions: 9}}, 4)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(0, 0)
	e := cost.NewEstimator(plan, &c, now)
	e.Joined(now, 1, 1)
	do := func(job int, seconds float64) {
		e.Begun(now, job, 1)
		now = now.Add(time.Duration(seconds * float64(time.Second)))
		e.Done(now, job, 1)
	}
	see := func() {
		_, high, ok := e.Range(now)
		if !ok {
			t.Fatal("nothing can be said")
		}
		at = append(at, high.Seconds())
	}
	r := func(i int) *result.Fit {
		f := &result.Fit{Overall: result.Correlation{Defined: true}, MCSE: .01}
		if i < contenders {
			f.Overall.PearsonR = .9
		}
		return f
	}
	for job := range plan.FitJobs() {
		if job == plan.FitJobs()/2 {
			see()
		}
		do(job, 1)
	}
	for chunk := range plan.RoundChunks(0) {
		do(plan.ScoreJob(chunk), .001)
	}
	plan.Choose(standingOf(plan, r))
	see()
	if plan.TopUps() == 0 {
		return at
	}
	for _, job := range plan.RoundJobs(1) {
		if j := plan.Job(job); len(j.Sets) > 0 {
			do(job, 2*float64(len(j.Sets))/4)
		} else {
			e.Done(now, job, 0)
		}
	}
	for round := 1; round <= plan.TopUps(); round++ {
		for !plan.Known(round) {
			plan.Choose(standingOf(plan, r))
		}
	}
	see()
	return at
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

// Two sweeps share two slots, job by job: what one is told of the other makes its range that of the time that it takes
// beside it. With a rival that takes long, all takes twice as long; with one that is soon done, what that takes comes on top.
func TestRivals(t *testing.T) {
	for _, test := range []struct {
		rivals []cost.Rival
		longer float64
	}{
		{nil, 1},
		{[]cost.Rival{{Jobs: 1, JobTime: 1, Work: math.Inf(1)}}, 2},
		{[]cost.Rival{{Jobs: 1, JobTime: 1, Work: 1e6}}, 2},
		{[]cost.Rival{{Jobs: 1, JobTime: 1, Work: 18}}, 1.25}, // of 72 s that are left
		{[]cost.Rival{{Jobs: 2, Work: math.Inf(1)}}, 3},
		{[]cost.Rival{{Jobs: 1, JobTime: 3, Work: math.Inf(1)}}, 4},
		{[]cost.Rival{{Jobs: 1, JobTime: 1, Work: math.Inf(1)}, {Jobs: 1, JobTime: 1, Work: math.Inf(1)}}, 3},
	} {
		alone, _ := rivalled(t, nil)
		low, high := rivalled(t, test.rivals)
		middle := math.Sqrt(low * high)
		if by := middle / alone; by < 0.9*test.longer || by > 1.25*test.longer {
			t.Errorf("%+v: it takes %.2f times as long, want %.2f", test.rivals, by, test.longer)
		}
	}
}

// rivalled is the range of a sweep, a tenth of which is done, in seconds; alone the middle of it twice.
func rivalled(t *testing.T, rivals []cost.Rival) (low, high float64) {
	t.Helper()
	plan, e := plain(t)
	e.Joined(epoch, 1, 2)
	for job := range plan.FitJobs() / 10 {
		e.Begun(after(float64(job)), job, 1)
		e.Done(after(float64(job+1)), job, 1)
	}
	now := after(float64(plan.FitJobs() / 10))
	e.Compete(now, rivals)
	l, h, ok := e.Range(now)
	if !ok {
		t.Fatal("nothing is stated")
	}
	if rivals == nil {
		middle := math.Sqrt(l.Seconds() * h.Seconds())
		return middle, middle
	}
	return l.Seconds(), h.Seconds()
}

// A sweep that had half of the slots because of a rival is not taken to leave the other half unused: when the rival ends,
// it has all.
func TestShareIsNotWaste(t *testing.T) {
	plan, e := plain(t)
	e.Joined(epoch, 1, 2)
	e.Compete(epoch, []cost.Rival{{Jobs: 1, JobTime: 1, Work: math.Inf(1)}})
	for job := range plan.FitJobs() / 2 { // in one of two slots
		e.Begun(after(float64(job)), job, 1)
		e.Done(after(float64(job+1)), job, 1)
	}
	now := after(float64(plan.FitJobs() / 2))
	seconds := func() float64 {
		low, high, ok := e.Range(now)
		if !ok {
			t.Fatal("nothing is stated")
		}
		return math.Sqrt(low.Seconds() * high.Seconds())
	}
	beside := seconds()
	e.Compete(now, nil)
	if alone := seconds(); beside/alone < 1.8 || beside/alone > 2.4 {
		t.Errorf("beside a rival it takes %.1f s, alone %.1f s", beside, alone)
	}
	left := float64(plan.FitJobs()/2+len(plan.Stimuli)) / 2
	if alone := seconds(); alone < 0.7*left || alone > 1.5*left {
		t.Errorf("alone it takes %.1f s, want about %.1f s", alone, left)
	}
}
