//go:build unix

package clusters_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"

	"foible.dev/foible/e2e/harness"
	"foible.dev/foible/internal/await"
)

// observedCluster is a coordinator and a worker with metrics; more are flags of both.
func observedCluster(t *testing.T, more ...string) (c *harness.Cluster, scrapes []func() string) {
	t.Helper()
	address, dir := harness.FreeAddress(t), t.TempDir()
	c = &harness.Cluster{T: t, Dir: dir, Flags: []string{"--coordinator", address, "--token-file", "data"}}
	c.Args = []string{"coordinator", "--listen", address, "--data", "data", "--metrics", "127.0.0.1:0"}
	c.Args = append(c.Args, more...)
	c.Start()
	w := harness.Start(t, dir, slices.Concat([]string{"worker", "--slots", "2", "--metrics", "127.0.0.1:0"}, more, c.Flags)...)
	for _, p := range []*harness.Process{c.Coordinator, w} {
		p.Says(`metrics are served: url=\S+`)
		url := regexp.MustCompile(`metrics are served: url=(\S+)`).FindStringSubmatch(p.Stderr.String())[1]
		scrapes = append(scrapes, func() string { return harness.Get(t, url) })
	}
	w.Says("connected")
	return c, scrapes
}

// Metrics are kept from pages of other sites, whose names may lead to this machine; with --metrics-public, whoever reaches
// the address may call it by any name, as Prometheus does by that of a Kubernetes service.
func TestMetricsHosts(t *testing.T) {
	dir := t.TempDir()
	address := harness.FreeAddress(t)
	harness.Start(t, dir, "coordinator", "--listen", address, "--data", "data", "--web", "off").Says("listening")
	for _, public := range []bool{false, true} {
		args := []string{"worker", "--coordinator", address, "--token-file", "data", "--metrics", "127.0.0.1:0"}
		if public {
			args = append(args, "--metrics-public")
		}
		w := harness.Start(t, dir, args...)
		url := saidOf(t, w, `metrics are served: url=(\S+)`)
		for host, own := range map[string]bool{
			"": true, "localhost": true, "localhost:7412": true, "127.0.0.1:1": true, "[::1]:7412": true, "[::1]": true, "10.0.0.7:7412": true,
			"example.org": false, "example.org:7412": false, "localhost.example.org": false, "foible-coordinator.foible.svc:7412": false, "worker:7412": false,
		} {
			want := http.StatusOK
			if !own && !public {
				want = http.StatusMisdirectedRequest
			}
			code, body := harness.GetAs(t, url, host)
			if code != want || strings.Contains(body, "\ngo_goroutines ") != (want == http.StatusOK) {
				t.Errorf("host %q, public %v: %d, want %d\n%.300s", host, public, code, want, body)
			}
		}
	}
}

var (
	grouping  = regexp.MustCompile(`(by|without) \([^)]*\)`)
	selectors = regexp.MustCompile(`\{[^}]*\}`)
	metric    = regexp.MustCompile(`\b(foible|grpc|process|go)_[a-z0-9_]+`)
)

// Every metric that the dashboard asks for is served by a coordinator or a worker.
func TestGrafanaDashboard(t *testing.T) {
	content, err := os.ReadFile("deploy/grafana/foible.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(content, &dashboard); err != nil {
		t.Fatal(err)
	}
	c, scrapes := observedCluster(t)
	id := strings.TrimSpace(c.Do(append([]string{"submit", "--wait"}, harness.ShortSweep...)...).Stdout)
	// A sweep that has not ended, with one job done, has what sweeps have.
	paused := c.Submit()
	c.WaitFor(paused, 1)
	text := scrapes[0]()
	await.Until(t, "a forecast among the metrics", func() bool {
		text = scrapes[0]()
		return strings.Contains(text, "\nfoible_sweep_eta_seconds{")
	}, func() string { return text })
	c.Do("cancel", paused)
	if strings.Contains(text, id) {
		t.Errorf("there are metrics of %s, which has ended", id)
	}
	text += scrapes[1]()
	asked := 0
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			names := metric.FindAllString(selectors.ReplaceAllString(grouping.ReplaceAllString(target.Expr, ""), ""), -1)
			if len(names) == 0 {
				t.Errorf("%s: %q asks for no metric", panel.Title, target.Expr)
			}
			for _, name := range names {
				asked++
				if !regexp.MustCompile(`(?m)^` + name + `[{ ]`).MatchString(text) {
					t.Errorf("%s: there is no metric %s", panel.Title, name)
				}
			}
		}
	}
	if asked < 20 {
		t.Errorf("the dashboard asks for %d metrics", asked)
	}
}

// receiver takes traces as a collector does.
type receiver struct {
	collector.UnimplementedTraceServiceServer

	mu    sync.Mutex
	spans map[string][]*tracev1.Span // by service
}

// Export implements the collector's service.
func (r *receiver) Export(_ context.Context, m *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range m.GetResourceSpans() {
		service := ""
		for _, a := range of.GetResource().GetAttributes() {
			if a.GetKey() == "service.name" {
				service = a.GetValue().GetStringValue()
			}
		}
		for _, scope := range of.GetScopeSpans() {
			r.spans[service] = append(r.spans[service], scope.GetSpans()...)
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// Each job is a span of the coordinator, with one of the worker below it.
func TestTraces(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{spans: map[string][]*tracev1.Span{}}
	server := grpc.NewServer()
	collector.RegisterTraceServiceServer(server, r)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)

	c, _ := observedCluster(t, "--otel-endpoint", "http://"+listener.Addr().String())
	id := strings.TrimSpace(c.Do(append([]string{"submit", "--wait"}, harness.ShortSweep...)...).Stdout)
	jobs := 0
	var status struct{ Jobs int }
	if err := json.Unmarshal([]byte(c.Do("status", "--json", id).Stdout), &status); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(await.Patience); ; time.Sleep(100 * time.Millisecond) {
		parents := map[string]string{} // of spans of the worker
		given := map[string]bool{}     // spans of the coordinator
		calls := 0
		r.mu.Lock()
		for service, spans := range r.spans {
			for _, s := range spans {
				switch {
				case service == "foible-coordinator" && s.GetName() == "job":
					given[string(s.GetSpanId())] = true
				case service == "foible-worker" && strings.HasPrefix(s.GetName(), "execute "):
					parents[string(s.GetSpanId())] = string(s.GetParentSpanId())
				case strings.HasPrefix(s.GetName(), "foible.v1."):
					calls++
				}
			}
		}
		r.mu.Unlock()
		jobs = 0
		for _, parent := range parents {
			if given[parent] {
				jobs++
			}
		}
		if jobs == status.Jobs && calls > 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d jobs have spans, and %d calls", jobs, status.Jobs, calls)
		}
	}
}

// Who waits for the end of a sweep can have others told of it; that this fails changes nothing.
func TestNotify(t *testing.T) {
	type told struct {
		Sweep, State string
		Best         []struct{ Model, Settings string }
	}
	posted := make(chan told, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m told
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: %v", r.Method, r.Header.Get("Content-Type"), err)
		}
		posted <- m
		if r.URL.Path == "/broken" {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	t.Cleanup(server.Close)

	c, _ := observedCluster(t)
	id := strings.TrimSpace(c.Do(append([]string{"submit", "--wait", "--notify", server.URL + "/hook"}, harness.ShortSweep...)...).Stdout)
	if m := await.Value(t, posted, "the notice of the sweep's end"); m.Sweep != id || m.State != "succeeded" || len(m.Best) == 0 || m.Best[0].Model != "boltzmann" {
		t.Errorf("posted %+v", m)
	}
	if said := c.Do("watch", id, "--notify", server.URL+"/broken").Stderr; !strings.Contains(said, "Warning: --notify: "+server.URL+"/broken answers 418 I'm a teapot") {
		t.Errorf("it said\n%s", said)
	}
	c.Do("watch", id, "--notify", `cat > told.json; echo "$FOIBLE_SWEEP $FOIBLE_STATE" > told.txt`)
	content, err := os.ReadFile(filepath.Join(c.Dir, "told.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m told
	if err := json.Unmarshal(content, &m); err != nil || m.Sweep != id {
		t.Errorf("%v: %s", err, content)
	}
	if said, err := os.ReadFile(filepath.Join(c.Dir, "told.txt")); err != nil || string(said) != id+" succeeded\n" {
		t.Errorf("%v: %s", err, said)
	}
	if said := c.Do("watch", id, "--notify", "exit 3").Stderr; !strings.Contains(said, "Warning: --notify: `exit 3`: exit status 3") {
		t.Errorf("it said\n%s", said)
	}
	fitted := harness.Succeed(t, c.Dir, slices.Concat([]string{"fit", "--out", "fitted", "--notify", "cat > fitted.json"}, harness.ShortSweep)...)
	content, err = os.ReadFile(filepath.Join(c.Dir, "fitted.json"))
	if err != nil {
		t.Fatalf("%v\n%s", err, fitted.Stderr)
	}
	if m = (told{}); json.Unmarshal(content, &m) != nil || m.State != "succeeded" || len(m.Best) == 0 {
		t.Errorf("fit told %s", content)
	}
	for args, want := range map[string]string{
		"submit --notify true":         "--notify is done by who waits for the end: say --wait too, or watch the sweep with `foible watch --notify`",
		"watch a --notify https://":    "--notify \"https://\": write a URL as https://host/path",
		"worker --metrics :7411":       "--metrics \":7411\": who reaches that address can read the metrics, without a token; add --metrics-public if that is meant, or write 127.0.0.1",
		"worker --metrics 7411":        "--metrics \"7411\": write it as host:port, e.g. 127.0.0.1:7412",
		"worker --otel-endpoint a:1":   "--otel-endpoint \"a:1\": write it as http://host:4317, or https:// with TLS",
		"coordinator --log-format xml": "--log-format \"xml\": it can be text, json",
	} {
		if got := harness.Do(t, c.Dir, strings.Fields(args)...); got.Code != 2 || !strings.HasPrefix(got.Stderr, "foible: "+want) {
			t.Errorf("foible %s: %d %s", args, got.Code, got.Stderr)
		}
	}
}

// All that a daemon logs as JSON is JSON.
func TestLogFormat(t *testing.T) {
	c := &harness.Cluster{T: t, Dir: t.TempDir()}
	address := harness.FreeAddress(t)
	c.Flags = []string{"--coordinator", address, "--token-file", "data"}
	c.Args = []string{"coordinator", "--listen", address, "--data", "data", "--log-format", "json", "--log-level", "debug"}
	c.Coordinator = harness.Start(t, c.Dir, c.Args...)
	c.Coordinator.Says("listening")
	w := harness.Start(t, c.Dir, append([]string{"worker", "--log-format", "json", "--log-level", "debug"}, c.Flags...)...)
	c.Do(append([]string{"submit", "--wait"}, harness.ShortSweep...)...)
	for _, p := range []*harness.Process{w, c.Coordinator} {
		p.Signal(syscall.SIGTERM)
		if code := p.Wait(); code != 0 {
			t.Errorf("%s: exit code %d", p.Name, code)
		}
		for line := range strings.Lines(p.Stderr.String()) {
			var entry map[string]any
			if err := json.Unmarshal([]byte(line), &entry); err != nil || entry["@message"] == nil || entry["@level"] == nil {
				t.Errorf("%s: %v: %s", p.Name, err, line)
			}
		}
	}
}

// terminal is a process on a terminal of 100 columns and 40 rows.
type terminal struct {
	t      *testing.T
	cmd    *exec.Cmd
	screen *os.File
	drawn  *harness.Output
	read   chan struct{} // closed when all that it has drawn is read
}

// startTerminal starts foible in a directory, with the environment variable TERM.
func startTerminal(t *testing.T, dir, term string, args ...string) *terminal {
	t.Helper()
	cmd := harness.Host("").Command(harness.Foible, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TERM="+term, "NO_COLOR=1")
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 100})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	s := &terminal{t, cmd, screen, &harness.Output{}, make(chan struct{})}
	go func() {
		defer close(s.read)
		_, _ = io.Copy(s.drawn, screen) // ends with an error when the process does
	}()
	return s
}

// shows waits until something is drawn.
func (s *terminal) shows(what string) {
	s.t.Helper()
	await.Until(s.t, fmt.Sprintf("%q to be drawn", what), func() bool { return strings.Contains(s.drawn.String(), what) },
		func() string { return fmt.Sprintf("%q", s.drawn.String()) })
}

func (s *terminal) press(key string) {
	s.t.Helper()
	if _, err := s.screen.WriteString(key); err != nil {
		s.t.Fatal(err)
	}
}

// wait is the process's exit code, once it has ended.
func (s *terminal) wait() int {
	s.t.Helper()
	await.Value(s.t, s.read, fmt.Sprintf("%v to end", s.cmd.Args), func() string { return fmt.Sprintf("%q", s.drawn.String()) })
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

// On a terminal, watch redraws a view and reads keys; with TERM=dumb it does neither.
func TestWatchTerminal(t *testing.T) {
	c, _ := observedCluster(t)
	id := c.Submit()
	terminal := func(term string, args ...string) *terminal { return startTerminal(t, c.Dir, term, args...) }
	watch := append([]string{"watch", id}, c.Flags...)
	screen := terminal("xterm-256color", watch...)
	screen.shows("Sweep " + id)
	screen.shows("p pauses it")
	screen.press("p")
	screen.shows("Pause the sweep?")
	screen.press("y")
	await.Until(t, "the sweep to be paused", func() bool {
		_, state := c.Progress(id)
		return state == "paused"
	})
	screen.shows("resumes")
	screen.press("q")
	if code := screen.wait(); code != 130 {
		t.Errorf("quit with exit code %d:\n%s", code, screen.drawn.String())
	}
	if regexp.MustCompile(`\x1b\[3[0-9]`).MatchString(screen.drawn.String()) {
		t.Errorf("there are colours in spite of NO_COLOR:\n%q", screen.drawn.String())
	}
	c.Do("cancel", id)
	screen = terminal("dumb", watch...)
	if code := screen.wait(); code != 4 {
		t.Errorf("exit code %d of a cancelled sweep:\n%s", code, screen.drawn.String())
	}
	if strings.Contains(screen.drawn.String(), "\x1b") || !strings.Contains(screen.drawn.String(), "cells ") {
		t.Errorf("a dumb terminal got\n%q", screen.drawn.String())
	}

	screen = terminal("xterm-256color", append([]string{"fit", "--out", "fitted"}, harness.SweepArgs...)...)
	screen.shows("q stops; the same command goes on from here")
	screen.press("q")
	if code := screen.wait(); code != 130 {
		t.Errorf("fit: exit code %d", code)
	}
	screen.shows("Stopped; nothing recorded is lost.")
}

// What `foible status --json` prints is what its help says.
func TestStatusJSON(t *testing.T) {
	c, _ := observedCluster(t)
	id := strings.TrimSpace(c.Do(append([]string{"submit", "--wait"}, harness.ShortSweep...)...).Stdout)
	var status map[string]any
	if err := json.Unmarshal([]byte(c.Do("status", "--json", id).Stdout), &status); err != nil {
		t.Fatal(err)
	}
	help := harness.Succeed(t, c.Dir, "status", "--help").Stdout
	for name := range status {
		if !regexp.MustCompile(`(?m)^  ` + name + ` +\S`).MatchString(help) {
			t.Errorf("the help of status does not say what %s is", name)
		}
	}
	for _, part := range []string{"stages", "models", "stimuli"} {
		done, cells := 0., 0.
		for _, p := range status[part].([]any) {
			done += p.(map[string]any)["cells_done"].(float64)
			cells += p.(map[string]any)["cells"].(float64)
		}
		if done != status["cells_done"] || cells != status["cells"] || done != cells {
			t.Errorf("%s: %v of %v cells are done; of the sweep, %v of %v", part, done, cells, status["cells_done"], status["cells"])
		}
	}
	if best := fmt.Sprint(status["best"]); !strings.Contains(best, "boltzmann") {
		t.Errorf("best: %s", best)
	}
}

// On a terminal nothing is wider than it is; piped, a message is one line.
func TestTerminalWidth(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"check", "doors-keys-gems"},
		append([]string{"fit", "--out", "fitted"}, harness.ShortSweep...),
		{"infer", "doors-keys-gems", "1-1", "--models", "full"},
		{"infer", "doors-keys-gems"}, // an error
	} {
		s := startTerminal(t, dir, "dumb", args...)
		s.wait()
		wrapped := false
		for line := range strings.Lines(strings.ReplaceAll(s.drawn.String(), "\r\n", "\n")) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 100 {
				t.Errorf("foible %s: a line of %d characters: %s", strings.Join(args, " "), n, line)
			}
			wrapped = wrapped || strings.HasPrefix(line, "  ")
		}
		if !wrapped {
			t.Errorf("foible %s: nothing is wrapped, so this tests nothing:\n%s", strings.Join(args, " "), s.drawn.String())
		}
	}
	if got := harness.Succeed(t, dir, "check", "doors-keys-gems").Stdout; !strings.Contains(got, "note: stimuli: 8 (control 2, action-mistake 2, plan-mistake-backtracking 2, plan-mistake-failure 2)\n") ||
		!regexp.MustCompile(`(?m)^note: no people: simulated, .{200,}$`).MatchString(got) {
		t.Errorf("piped:\n%s", got)
	}
}
