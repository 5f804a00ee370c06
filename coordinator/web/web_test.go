package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/protobuf/types/known/timestamppb"

	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/coordinator/service"
	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/internal/await"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// fake is a coordinator with one sweep, of ten parameter sets of Boltzmann's in chunks of four, on two stimuli.
type fake struct {
	mu      sync.Mutex // guards what follows
	state   foiblev1.SweepState
	done    int64
	changed chan struct{}
	did     []string
	chunks  map[sweep.Chunk]int // how often the fits of each were read
}

const (
	theSweep = "study-0123456789"

	running   = foiblev1.SweepState_SWEEP_STATE_RUNNING
	paused    = foiblev1.SweepState_SWEEP_STATE_PAUSED
	cancelled = foiblev1.SweepState_SWEEP_STATE_CANCELLED
)

func newFake() *fake {
	return &fake{state: running, changed: make(chan struct{}), chunks: map[sweep.Chunk]int{}}
}

func (f *fake) message() *foiblev1.Sweep {
	return &foiblev1.Sweep{
		SweepId: theSweep, StudyName: "study", StudyHash: "hash", State: f.state, CreateTime: timestamppb.New(time.Unix(1e9, 0)),
		Config:   &foiblev1.SweepConfig{Models: map[string]*foiblev1.ModelConfig{"boltzmann": {Alpha: alphas()}}},
		Progress: &foiblev1.Progress{Cells: 20, CellsDone: f.done, Jobs: 9, Retries: 3, Duplicates: 2, WorkerSeconds: 7200},
	}
}

func alphas() []float64 { return []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10} }

func (f *fake) Sweep(_ context.Context, id string) (*foiblev1.Sweep, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id != theSweep {
		return nil, fmt.Errorf("sweep %s: %w", id, service.ErrNotFound)
	}
	return f.message(), nil
}

func (f *fake) ListSweeps(ctx context.Context) ([]*foiblev1.Sweep, error) {
	m, err := f.Sweep(ctx, theSweep)
	return []*foiblev1.Sweep{m}, err
}

// change does something to the sweep.
func (f *fake) change(what string, state foiblev1.SweepState) (*foiblev1.Sweep, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state != running && f.state != paused {
		return nil, fmt.Errorf("%w: it has ended", service.ErrPrecondition)
	}
	f.did, f.state = append(f.did, what), state
	close(f.changed)
	f.changed = make(chan struct{})
	return f.message(), nil
}

func (f *fake) PauseSweep(context.Context, string) (*foiblev1.Sweep, error) {
	return f.change("pause", paused)
}

func (f *fake) ResumeSweep(context.Context, string) (*foiblev1.Sweep, error) {
	return f.change("resume", running)
}

func (f *fake) CancelSweep(context.Context, string) (*foiblev1.Sweep, error) {
	return f.change("cancel", cancelled)
}

func (f *fake) RetrySweep(context.Context, string) (*foiblev1.Sweep, *foiblev1.Retried, error) {
	m, err := f.change("retry", running)
	return m, &foiblev1.Retried{Jobs: 1}, err
}

func (f *fake) ExtendSweep(_ context.Context, m *foiblev1.ExtendSweepRequest) (*foiblev1.Sweep, bool, error) {
	s, err := f.change("extend "+m.String(), running)
	return s, false, err
}

func (f *fake) Inside(context.Context, string) (*Inside, error) {
	in := &Inside{
		Config:   sweep.Config{Models: []sweep.ModelGrid{{Model: "boltzmann", Axes: map[string][]model.Setting{"alpha": make([]model.Setting, 10)}}}},
		Stimuli:  []sweep.Shape{{Stimulus: "1-1", JudgementSteps: []int{0, 1}}, {Stimulus: "a/b"}},
		Coverage: []sweep.Coverage{{Model: "boltzmann", Sets: 10, Done: []int{10, 7}}},
		Scored:   []sweep.Chunk{0, 2},
	}
	for i, alpha := range alphas() {
		in.Config.Models[0].Axes["alpha"][i].Number = alpha
		set := model.ParameterSet{Model: "boltzmann"}
		set.Set("alpha", model.Setting{Number: alpha})
		set.Set("value", model.Setting{Word: "optimal"})
		set.Set("unreachable_value", model.Setting{Number: -1000})
		in.Sets = append(in.Sets, set)
	}
	in.Failures = []Failure{{Job: 5, Stage: sweep.FitStage, Stimulus: "a/b", Sets: in.Sets[4:8], Reason: "<script>alert(1)</script>"}, {Job: 7, Score: true, Sets: in.Sets[4:8], Reason: "no posterior"}}
	return in, nil
}

// ChunkFits gives the set with alpha the r alpha / 20.
func (f *fake) ChunkFits(ctx context.Context, id string, chunk sweep.Chunk) (sweep.Job, []result.Fit, error) {
	f.mu.Lock()
	f.chunks[chunk]++
	f.mu.Unlock()
	in, err := f.Inside(ctx, id)
	job := sweep.Job{Stage: sweep.FitStage, Score: true, Chunk: chunk, First: 4 * int(chunk)}
	job.Sets = in.Sets[job.First:min(job.First+4, 10)]
	var fits []result.Fit
	for _, alpha := range alphas()[job.First : job.First+len(job.Sets)] {
		fits = append(fits, result.Fit{Overall: result.Correlation{N: 12, PearsonR: alpha / 20, Defined: true}})
	}
	return job, fits, err
}

func (f *fake) Cell(context.Context, string, int, int) (*result.Cell, error) {
	return &result.Cell{Posterior: [][]float64{{0.25, 0.75}, {0.1, 0.9}}}, nil
}

func (f *fake) Study(context.Context, string) ([]byte, error) { return []byte("bundle"), nil }

func (f *fake) Changes(string) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed
}

func (f *fake) Workers() []Worker {
	return []Worker{
		{Host: "node<1>", Slots: 4, Joined: time.Now(), Heard: time.Now(), Done: 12, Lost: 1, Jobs: []Job{{Sweep: theSweep, Number: 3, Since: time.Now()}}},
		{Host: "node2", Slots: 1, Joined: time.Now(), Heard: time.Now().Add(-time.Minute)},
		{Host: "node3", Slots: 1, Joined: time.Now(), Heard: time.Now(), Slow: true, Overdue: 17},
		{Host: "gone", Slots: 1, Left: time.Now()},
	}
}

func (f *fake) Elsewhere() int { return 2 }

// open is a study of two goals and two steps.
func open([]byte) (*Study, error) {
	return &Study{Title: "A study", Story: func(stimulus string) (figure.Story, error) {
		return figure.Story{
			Title:  "A study: " + stimulus,
			Goals:  []figure.StoryGoal{{Name: "gem1", Colour: "#0072b2", True: true}, {Name: "gem2", Colour: "#e69f00"}},
			Scenes: []figure.Scene{{Step: 0, Human: []float64{0.5, 0.5}}, {Step: 1, Action: "(up)", Human: []float64{0.2, 0.8}}},
		}, nil
	}}, nil
}

// rig is a dashboard that is served, and its visitor.
type rig struct {
	t      *testing.T
	fake   *fake
	server *Server
	tokens *access.Tokens // nil: there are none
	log    *bytes.Buffer  // read it after the server has stopped
	stop   func()
	client *http.Client // keeps cookies, follows nothing
}

// newRig starts a dashboard, with tokens unless adjust takes Access away.
func newRig(t *testing.T, adjust func(*Config)) *rig {
	t.Helper()
	dir := t.TempDir()
	keeper, err := access.Open(access.Config{DataDir: dir, Limits: access.DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := access.OpenTokens(dir)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, fake: newFake(), tokens: tokens, log: &bytes.Buffer{}}
	cfg := Config{Listener: listener, Plain: true, Access: keeper, Open: open, Limits: DefaultLimits(), Logger: hclog.New(&hclog.LoggerOptions{Output: r.log, Level: hclog.Trace})}
	if adjust != nil {
		adjust(&cfg)
	}
	if r.server, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- r.server.Run(ctx, r.fake) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err, ok := await.Try(t, stopped, "the server to stop", r.log.String); ok && err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(r.stop)
	r.client = r.visitor()
	return r
}

// visitor is a browser without cookies.
func (r *rig) visitor() *http.Client {
	jar, _ := cookiejar.New(nil) // it never fails
	transport := &http.Transport{}
	r.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Jar: jar, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// answer is what came back.
type answer struct {
	*http.Response
	body string
}

func (r *rig) do(client *http.Client, request *http.Request) answer {
	r.t.Helper()
	response, err := client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return answer{response, string(body)}
}

func (r *rig) get(path string) answer {
	r.t.Helper()
	request, _ := http.NewRequest(http.MethodGet, r.server.URL()+path, nil)
	return r.do(r.client, request)
}

func (r *rig) post(path string, form url.Values) answer {
	r.t.Helper()
	request, _ := http.NewRequest(http.MethodPost, r.server.URL()+path, strings.NewReader(form.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r.do(r.client, request)
}

// token makes one.
func (r *rig) token(kind access.Kind, life time.Duration, readOnly bool) string {
	r.t.Helper()
	token, err := r.tokens.Create(kind, life, readOnly)
	if err != nil {
		r.t.Fatal(err)
	}
	return token.Reveal()
}

// login pastes a token for users.
func (r *rig) login(readOnly bool) (token string) {
	r.t.Helper()
	token = r.token(access.User, 0, readOnly)
	if got := r.post("/login", url.Values{"token": {token}}); got.StatusCode != http.StatusSeeOther {
		r.t.Fatal(got.Status, got.body)
	}
	return token
}

// csrf is what forms of the session have.
func (r *rig) csrf() string {
	r.t.Helper()
	_, after, found := strings.Cut(r.get("/").body, `name="csrf" value="`)
	if !found {
		r.t.Fatal("the page has no form")
	}
	value, _, _ := strings.Cut(after, `"`)
	return value
}

func (r *rig) did() string {
	r.fake.mu.Lock()
	defer r.fake.mu.Unlock()
	return strings.Join(r.fake.did, ",")
}

// addresses are pages that a visitor may look at.
var addresses = []string{
	"/", "/workers", "/share", "/sweeps/" + theSweep, "/sweeps/" + theSweep + "/pause", "/sweeps/" + theSweep + "/extend",
	"/sweeps/" + theSweep + "/stimuli/1-1", "/sweeps/" + theSweep + "/stimuli/a%2Fb",
}

// files are what a visitor may fetch.
var fetched = map[string]string{
	"/sweeps/" + theSweep + "/figures/sensitivity.svg?v=x":             "image/svg+xml",
	"/sweeps/" + theSweep + "/figures/sensitivity.pdf":                 "application/pdf",
	"/sweeps/" + theSweep + "/figures/sensitivity.csv":                 "text/csv; charset=utf-8",
	"/sweeps/" + theSweep + "/figures/coverage.svg":                    "image/svg+xml",
	"/sweeps/" + theSweep + "/figures/coverage.csv":                    "text/csv; charset=utf-8",
	"/sweeps/" + theSweep + "/stimuli/a%2Fb/figures/storyboard.pdf":    "application/pdf",
	"/sweeps/" + theSweep + "/stimuli/1-1/figures/storyboard.csv":      "text/csv; charset=utf-8",
	"/sweeps/" + theSweep + "/stimuli/1-1/figures/scene-1.svg?v=begin": "image/svg+xml",
}

func TestPages(t *testing.T) {
	r := newRig(t, nil)
	r.login(false)
	for _, path := range addresses {
		got := r.get(path)
		if got.StatusCode != http.StatusOK || !strings.Contains(got.body, "</html>") {
			t.Errorf("%s: %s\n%s", path, got.Status, got.body)
		}
		for _, inline := range []string{"<script>", "<style", " style=", " onclick=", "javascript:", "http://", "https://"} {
			if strings.Contains(got.body, inline) {
				t.Errorf("%s has %s", path, inline)
			}
		}
	}
	for path, kind := range fetched {
		got := r.get(path)
		if got.StatusCode != http.StatusOK || got.Header.Get("Content-Type") != kind || got.Header.Get("Content-Security-Policy") != drawingPolicy {
			t.Errorf("%s: %s, %s, %s", path, got.Status, got.Header.Get("Content-Type"), got.Header.Get("Content-Security-Policy"))
		}
	}
	for _, path := range []string{
		"/nothing", "/sweeps/other", "/sweeps/" + theSweep + "/stimuli/other", "/sweeps/" + theSweep + "/explode", "/static/other.js",
		"/sweeps/" + theSweep + "/figures/sensitivity.exe", "/sweeps/" + theSweep + "/figures/profile-full.svg", "/sweeps/" + theSweep + "/stimuli/1-1/figures/scene-9.svg",
	} {
		if got := r.get(path); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, got.Status)
		}
	}
	got := r.get("/sweeps/" + theSweep).body
	for _, want := range []string{
		"A study", "<dt>Retries</dt><dd>3</dd>", "<dt>Duplicates</dt><dd>2</dd>", `2.00 <span class="unit">core-hours</span>`,
		"&lt;script&gt;alert(1)&lt;/script&gt;", "foible infer study a/b --model boltzmann --set alpha=5 --set value=optimal --set unreachable_value=-1000 --seed 0",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the sweep's page has no %s", want)
		}
	}
	if got := r.get("/workers").body; !strings.Contains(got, "node&lt;1&gt;") || !strings.Contains(got, "silent") || !strings.Contains(got, `<span class="badge slow">slow</span>`) || !strings.Contains(got, `<td class="right">17</td>`) || !strings.Contains(got, "Left of late") || !strings.Contains(got, "2 more workers") {
		t.Error(got)
	}
}

// Every answer has the headers that keep a page to itself.
func TestHeaders(t *testing.T) {
	r := newRig(t, nil)
	check := func(path string) {
		h := r.get(path).Header
		for key, want := range map[string]string{
			"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			if h.Get(key) != want {
				t.Errorf("%s: %s is %q, want %q", path, key, h.Get(key), want)
			}
		}
		policy := h.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'") || policy != drawingPolicy && strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
			t.Errorf("%s: %s", path, policy)
		}
	}
	for _, path := range []string{"/login", "/", "/enter", "/static/script.js", "/nothing"} {
		check(path)
	}
	r.login(false)
	for _, path := range addresses {
		check(path)
	}
}

// Where TLS is spoken, it is the coordinator's, and cookies are for it alone.
func TestTLS(t *testing.T) {
	r := newRig(t, func(cfg *Config) { cfg.Plain = false })
	client := r.visitor()
	client.Transport.(*http.Transport).TLSClientConfig = insecureTLS()
	r.client = client
	token := r.token(access.User, 0, false)
	got := r.post("/login", url.Values{"token": {token}})
	cookie := got.Header.Get("Set-Cookie")
	if got.StatusCode != http.StatusSeeOther || !strings.HasPrefix(cookie, "__Host-foible-") || !strings.Contains(cookie, "; Secure") {
		t.Errorf("%s, %s", got.Status, cookie)
	}
	if got := r.get("/"); got.StatusCode != http.StatusOK {
		t.Error(got.Status)
	}
	if plain, err := http.Get(strings.Replace(r.server.URL(), "https:", "http:", 1)); err == nil && plain.StatusCode != http.StatusBadRequest {
		t.Errorf("without encryption: %s", plain.Status)
	}
}

// Each chunk that has been scored is read once, whoever looks how often.
func TestChunksAreReadOnce(t *testing.T) {
	r := newRig(t, nil)
	r.login(false)
	path := "/sweeps/" + theSweep + "?filter=r%3E0"
	await.Until(t, "the page of all six parameter sets", func() bool { return strings.Contains(r.get(path).body, "1 to 6 of 6 parameter sets.") })
	for range 3 {
		r.get(path)
	}
	r.fake.mu.Lock()
	defer r.fake.mu.Unlock()
	if got := fmt.Sprint(r.fake.chunks); got != "map[0:1 2:1]" {
		t.Errorf("chunks were read so often: %s", got)
	}
}

func TestTable(t *testing.T) {
	r := newRig(t, nil)
	r.login(false)
	path := "/sweeps/" + theSweep + "/figures/sensitivity.csv"
	const want = `model,parameter_set,goal_noise,budget_r,budget_q,search_noise,action_noise,alpha,value,unreachable_value,n,complete,pearson_r,ci_low,ci_high,mc_se,rmse
boltzmann,1,,,,,,1,optimal,-1000,12,yes,0.05,,,0,0
`
	await.Until(t, "a table of seven lines", func() bool { return strings.Count(r.get(path).body, "\n") == 7 }, func() string { return r.get(path).body })
	got := r.get(path)
	if !strings.HasPrefix(got.body, want) || got.Header.Get("Content-Disposition") != `attachment; filename="`+theSweep+`-sensitivity.csv"` {
		t.Errorf("%s\n%s", got.Header.Get("Content-Disposition"), got.body)
	}
}
