package browser_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"foible.dev/foible/internal/await"
)

// Environment of the tests.
const (
	mustEnv        = "FOIBLE_BROWSER"     // a missing browser is a failure
	screenshotsEnv = "FOIBLE_SCREENSHOTS" // directory of the pictures that the tests take
	axeEnv         = "FOIBLE_AXE"         // axe.min.js of the npm package axe-core
)

var programDir string // "" before the program is built

// program is the path of foible, built once.
var program = sync.OnceValues(func() (string, error) {
	var err error
	if programDir, err = os.MkdirTemp("", "foible-browser-"); err != nil {
		return "", err
	}
	path := filepath.Join(programDir, "foible")
	build := exec.Command("go", "build", "-o", path, ".")
	build.Dir = filepath.Join("..", "..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if programDir != "" {
		_ = os.RemoveAll(programDir)
	}
	os.Exit(code)
}

// process is a foible that runs.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	out *output
}

// output is what a process has written, which grows.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// start runs foible in a directory until the test ends.
func start(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t, exec.Command(path, args...), &output{}}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, p.out, p.out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			t.Logf("foible %s:\n%s", strings.Join(args, " "), p.out)
		}
	})
	return p
}

// stop interrupts the process, and waits.
func (p *process) stop() {
	if p.cmd.ProcessState != nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(await.Patience, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	_ = p.cmd.Wait()
}

// says waits until the process has written what matches, and returns the first group.
func (p *process) says(pattern string) string {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(await.Patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if m := re.FindStringSubmatch(p.out.String()); m != nil {
			return m[len(m)-1]
		}
	}
	p.t.Fatalf("it has not said %s:\n%s", pattern, p.out)
	return ""
}

// foible runs a command to its end, and returns what it prints.
func foible(t *testing.T, dir string, args ...string) string {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		t.Fatalf("foible %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// cluster is a coordinator with its dashboard.
type cluster struct {
	t       *testing.T
	dir     string
	address string // of gRPC
	url     string // of the dashboard
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, dir: t.TempDir()}
	p := start(t, c.dir, "coordinator", "--listen", "127.0.0.1:0", "--web", "127.0.0.1:0")
	c.url = p.says(`dashboard: url=(\S+)`)
	c.address = p.says(`listening: address=(\S+)`)
	return c
}

// do runs a command against the coordinator.
func (c *cluster) do(command string, args ...string) string {
	c.t.Helper()
	return foible(c.t, c.dir, append([]string{command, "--coordinator", c.address}, args...)...)
}

func (c *cluster) work(slots int) *process {
	return start(c.t, c.dir, "worker", "--coordinator", c.address, "--slots", fmt.Sprint(slots))
}

// tab is a browser's.
type tab struct {
	t   *testing.T
	ctx context.Context
}

// newTab opens a browser; the test is skipped where there is none, unless there must be one.
func newTab(t *testing.T) *tab {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		if os.Getenv(mustEnv) != "" {
			t.Fatal("there is no Chromium, and " + mustEnv + " is set")
		}
		t.Skip("there is no Chromium: the dashboard is not tried in a browser; `apt-get install chromium` gives one")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("hide-scrollbars", true),
		chromedp.Env("LANG=en_GB.UTF-8", "TZ=UTC"))
	if os.Geteuid() == 0 { // as in a container, which is the sandbox
		options = append(options, chromedp.NoSandbox)
	}
	allocated, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocated)
	t.Cleanup(cancel)
	b := &tab{t, ctx}
	if err := chromedp.Do(ctx); err != nil { // the browser lives as long as the context that it is started with
		t.Fatalf("start %s: %v", path, err)
	}
	b.look(1280, "light")
	return b
}

// failed ends the test, with a picture.
func (b *tab) failed(what string, err error) {
	b.t.Helper()
	b.picture("failure-" + b.t.Name())
	b.t.Fatalf("%s: %v\n%s", what, err, b.text("main"))
}

// run does actions.
func (b *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, await.Patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.failed("in the browser", err)
	}
}

// evaluate is what an expression comes to.
func evaluate[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, await.Patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.failed(expression, err)
	}
	return v
}

// script runs a statement in the page.
func (b *tab) script(statement string) {
	b.t.Helper()
	evaluate[bool](b, "(() => { "+statement+" })(), true")
}

// look sets the width of the window and the colour scheme.
func (b *tab) look(width int64, scheme string) {
	b.t.Helper()
	height, phone := int64(900), width < 600
	if phone {
		height = 740
	}
	_, err := chromedp.Call(b.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: phone})
	if err == nil {
		_, err = chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
	}
	if err != nil {
		b.failed("look", err)
	}
}

// text is that of an element; "" if it is not there.
func (b *tab) text(selector string) string {
	ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
	defer cancel()
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string](fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector)))
	return text
}

// wait waits until an expression is true.
func (b *tab) wait(what, expression string) {
	b.t.Helper()
	for deadline := time.Now().Add(await.Patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression))
		cancel()
		if err == nil && is { // between two pages there is nothing to ask
			return
		}
	}
	b.failed(fmt.Sprintf("waited %v", await.Patience), errors.New(what))
}

// open loads a page.
func (b *tab) open(url string) {
	b.t.Helper()
	b.run(chromedp.Navigate(url), chromedp.WaitReady(chromedp.CSS("main")))
}

// press clicks on a link or button, and waits for the page that it leads to.
func (b *tab) press(selector string) {
	b.t.Helper()
	b.script("window.before = true")
	b.run(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
	b.wait("the page behind "+selector, "window.before === undefined && document.readyState === 'complete'")
}

// picture writes a picture of the whole page, if pictures are wanted.
func (b *tab) picture(name string) {
	dir := os.Getenv(screenshotsEnv)
	if dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(b.ctx, await.Patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, strings.ReplaceAll(name, "/", "-")+".png"), png, 0o644))
	}
	if err != nil {
		b.t.Logf("picture %s: %v", name, err)
	}
}

// front writes a picture of the upper part of the page, as the documentation has it, if pictures are wanted.
func (b *tab) front(name string, height float64) {
	dir := os.Getenv(screenshotsEnv)
	if dir == "" {
		return
	}
	beyond := true
	got, err := chromedp.Call(b.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Clip: &page.Viewport{Width: 1280, Height: height, Scale: 1}, CaptureBeyondViewport: &beyond,
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), got.Data, 0o644)
	}
	if err != nil {
		b.t.Logf("picture %s: %v", name, err)
	}
}

// login pastes the user's token.
func (b *tab) login(c *cluster) {
	b.t.Helper()
	b.open(c.url)
	token := foible(b.t, c.dir, "token", "show", "user")
	b.run(chromedp.SendKeys(chromedp.CSS("#token"), token, chromedp.NodeVisible))
	b.press("form button")
	if got := b.text("h1"); got != "Sweeps" {
		b.failed("log in", errors.New(got))
	}
}
