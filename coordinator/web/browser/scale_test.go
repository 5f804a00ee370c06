package browser_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/core/hashing"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/domains"
	"foible.dev/foible/internal/await"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
	"foible.dev/foible/worker"
)

// made answers jobs with made-up posteriors, which it scores rightly, but for one score job that is held.
type made struct {
	shapes map[string]*sweep.Shape // by stimulus
	score  worker.Executor
	held   int32 // a job's number
	free   chan struct{}
}

// Execute implements worker.Executor.
func (m made) Execute(ctx context.Context, job *foiblev1.Assign) (*foiblev1.JobResult, error) {
	if work := job.GetInfer(); work != nil {
		procedure, sets, err := codec.ReadInferJob(work)
		if err != nil {
			return nil, err
		}
		hasher := sweep.NewCellHash(job.GetStudyHash(), work.GetStimulus(), job.GetSeed(), procedure)
		cells, hashes := make([]result.Cell, len(sets)), []byte(nil)
		for i := range sets {
			hashes = hasher.Append(hashes, &sets[i])
			cells[i] = madeUp(hashes[len(hashes)-hashing.HashSize:], m.shapes[work.GetStimulus()], &sets[i], &procedure)
		}
		return &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Infer{Infer: codec.InferResult(cells, hashes)}}, nil
	}
	if job.GetJob() == m.held {
		select {
		case <-m.free:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return m.score.Execute(ctx, job)
}

// madeUp is a cell whose probabilities come from its hash.
func madeUp(hash []byte, shape *sweep.Shape, set *model.ParameterSet, p *sweep.Procedure) result.Cell {
	rng := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(hash), binary.LittleEndian.Uint64(hash[8:])))
	rows := func(n int, number func() float64) [][]float64 {
		all := make([][]float64, n)
		for i := range all {
			for range shape.Goals {
				all[i] = append(all[i], number())
			}
		}
		return all
	}
	zero := func() float64 { return 0 }
	cell := result.Cell{Posterior: rows(shape.Actions+1, func() float64 { return 0.1 + rng.Float64() })}
	for _, row := range cell.Posterior {
		sum := 0.0
		for _, x := range row {
			sum += x
		}
		for i := range row {
			row[i] /= sum
		}
	}
	if set.Model == "boltzmann" {
		cell.UnreachableFrom = slices.Repeat([]int{-1}, shape.Goals)
	} else {
		cell.SE, cell.LogEvidence = rows(shape.Actions+1, zero), rows(shape.Actions+1, zero)
		cell.Evidence, cell.Samples = make([]float64, shape.Actions+1), 64
		for range p.Runs {
			var run [][]float64
			for _, step := range shape.JudgementSteps {
				run = append(run, cell.Posterior[step])
			}
			cell.Runs.Add(run)
		}
	}
	if p.Detail == sweep.DetailJudged {
		cell.Judge(shape.JudgementSteps)
	}
	return cell
}

// grid has 100,000 parameter sets of the full model and 7 of Boltzmann's.
func grid() map[string]*foiblev1.ModelConfig {
	tenths := func(first, step float64) []float64 {
		values := make([]float64, 10)
		for i := range values {
			values[i] = math.Round(1e6*(first+float64(i)*step)) / 1e6
		}
		return values
	}
	return map[string]*foiblev1.ModelConfig{
		"full": {
			GoalNoise: tenths(0.02, 0.02), BudgetR: []int32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, BudgetQ: tenths(0.5, 0.05),
			SearchNoise: tenths(0.02, 0.1), ActionNoise: tenths(0.02, 0.03),
		},
		"boltzmann": {},
	}
}

// firstStimuli is a study with only the first stimuli of another, and their judgements.
func firstStimuli(t *testing.T, fsys fs.FS, n int) *domains.Study {
	t.Helper()
	files := fstest.MapFS{}
	err := fs.WalkDir(fsys, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, path)
		files[path] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(files["stimuli.csv"].Data), "\n")
	kept := lines[:n+1]
	files["stimuli.csv"].Data = []byte(strings.Join(kept, ""))
	var judged []string
	for i, line := range strings.SplitAfter(string(files["responses.csv"].Data), "\n") {
		id, _, _ := strings.Cut(line, ",")
		if i == 0 || slices.ContainsFunc(kept, func(s string) bool { return strings.HasPrefix(s, id+",") }) {
			judged = append(judged, line)
		}
	}
	files["responses.csv"].Data = []byte(strings.Join(judged, ""))
	study, findings := domains.Load(files)
	if study == nil {
		t.Fatal(findings)
	}
	return study
}

// pretend starts a worker that makes numbers up.
func (c *cluster) pretend(version string, do worker.Executor) {
	c.t.Helper()
	conn := c.dialAs(access.Worker)
	cfg := worker.DefaultConfig()
	cfg.Conn, cfg.Executor, cfg.Slots, cfg.Version, cfg.Host, cfg.DrainTimeout = conn, do, 2, version, "pretender", 0
	w, err := worker.New(cfg)
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	c.t.Cleanup(func() {
		cancel()
		if err, ok := await.Try(c.t, done, "the worker to stop"); ok && err != nil {
			c.t.Error(err)
		}
	})
}

// painted is how long after its beginning a page was painted first.
func (b *tab) painted(url string) time.Duration {
	b.t.Helper()
	b.open(url)
	b.wait("paint", "performance.getEntriesByName('first-contentful-paint').length === 1")
	ms := evaluate[float64](b, "performance.getEntriesByName('first-contentful-paint')[0].startTime")
	return time.Duration(ms * float64(time.Millisecond))
}

// took measures how long after a deed a part of the page has changed and been painted.
func (b *tab) took(part string, deed func()) time.Duration {
	b.t.Helper()
	b.script(fmt.Sprintf("window.changed = new Promise(done => new MutationObserver((_, o) => { o.disconnect(); requestAnimationFrame(() => setTimeout(() => done(Date.now()))) }).observe(document.getElementById(%q), {childList: true}))", part))
	began := time.Now()
	deed()
	at := time.UnixMilli(evaluate[int64](b, "window.changed"))
	return at.Sub(began)
}

// The page of a sweep with 100,000 parameter sets is whole, also when nobody has looked at it before, and follows the sweep.
// It says how long that takes: on a machine that does nothing else, the first paint came within a second, and a change
// of the sweep was on the page 200 ms later.
func TestManyParameterSets(t *testing.T) {
	if testing.Short() {
		t.Skip("100,000 parameter sets take half a minute, and this is a short run")
	}
	b := newTab(t)
	c := newCluster(t)
	b.login(c)
	study := firstStimuli(t, domains.All[0].Sample, 2)
	conn := c.dialAs(access.User)
	store(t, conn, study)
	sweeps, none := foiblev1.NewSweepServiceClient(conn), int32(0)
	response, err := sweeps.CreateSweep(t.Context(), &foiblev1.CreateSweepRequest{
		StudyHash: study.Hash, StudyName: study.Name, Stimuli: study.Shapes(),
		Config: &foiblev1.SweepConfig{Models: grid(), Report: &foiblev1.StageConfig{}, Bootstrap: &foiblev1.BootstrapConfig{Resamples: &none}},
	})
	if err != nil {
		t.Fatal(err)
	}
	m := response.GetSweep()
	last := int32(m.GetProgress().GetJobs() - 1)
	free := make(chan struct{})
	shapes := map[string]*sweep.Shape{}
	all := codec.Shapes(study.Shapes())
	for i := range all {
		shapes[all[i].Stimulus] = &all[i]
	}
	science := worker.NewScience(foiblev1.NewStudyServiceClient(c.dialAs(access.Worker)))
	c.pretend(m.GetVersion(), made{shapes, science, last, free})
	for d := await.Begin(); m.GetProgress().GetJobsDone() < int64(last); time.Sleep(200 * time.Millisecond) {
		got, err := sweeps.GetSweep(t.Context(), &foiblev1.GetSweepRequest{SweepId: m.GetSweepId()})
		if err != nil {
			t.Fatal(m.GetProgress(), err)
		}
		if got.GetSweep().GetProgress().GetJobsDone() > m.GetProgress().GetJobsDone() {
			d.Extend()
		}
		d.Check(t, "all jobs but the last to be done", m.GetProgress())
		m = got.GetSweep()
	}

	page := c.url + "/sweeps/" + m.GetSweepId()
	cold := b.painted(page)
	b.wait("all fits but those of the last job", "/^1 to 50 of (9\\d|100),\\d{3} parameter sets\\./.test(document.querySelector('#fits .note').textContent)")
	warm := b.painted(page)
	time.Sleep(3 * time.Second) // the stream's first look at everything is over
	t.Logf("first paint %v when nobody has looked before, %v after that", cold, warm)

	var updates []time.Duration
	for i := range 10 {
		updates = append(updates, b.took("state", func() {
			var err error
			if i%2 == 0 {
				_, err = sweeps.PauseSweep(t.Context(), &foiblev1.PauseSweepRequest{SweepId: m.GetSweepId()})
			} else {
				_, err = sweeps.ResumeSweep(t.Context(), &foiblev1.ResumeSweepRequest{SweepId: m.GetSweepId()})
			}
			if err != nil {
				t.Error(err)
			}
		}))
		time.Sleep(700 * time.Millisecond)
	}
	slices.Sort(updates)
	median, worst := updates[len(updates)/2], updates[len(updates)-1]
	t.Logf("update from the coordinator to the screen: median %v, worst %v", median, worst)

	sorted := b.took("fits", func() { b.script("document.getElementById('by-rmse').click()") })
	t.Logf("sorted by another column in %v", sorted)
	if spots := evaluate[int](b, "document.querySelectorAll('.spots a').length"); spots < 200 || spots > 250 {
		t.Errorf("%d places in the plot", spots)
	}
	b.picture("many")
	close(free)
	b.wait("the end", "document.querySelector('.badge').textContent === 'done' && document.querySelector('#fits .note').textContent.includes('100,007 parameter sets')")
}
