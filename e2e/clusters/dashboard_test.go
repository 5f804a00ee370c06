//go:build unix

package clusters_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"foible.dev/foible/e2e/harness"
)

// browser keeps cookies, and takes any certificate.
func browser() *http.Client {
	jar, _ := cookiejar.New(nil) // it never fails
	return &http.Client{Jar: jar, Timeout: 30 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
}

// page is what a browser is shown.
func page(t *testing.T, response *http.Response, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// saidOf is the first group of what a process has said.
func saidOf(t *testing.T, p *harness.Process, pattern string) string {
	t.Helper()
	p.Says(pattern)
	return regexp.MustCompile(pattern).FindStringSubmatch(p.Stderr.String())[1]
}

// The dashboard is where the coordinator says, lets users in, and is left out where it cannot be and nobody asked for it.
func TestDashboard(t *testing.T) {
	dir := t.TempDir()
	first := harness.Start(t, dir, "coordinator", "--listen", "127.0.0.1:0", "--web", "127.0.0.1:0")
	at := saidOf(t, first, `dashboard: url=(http://127\.0\.0\.1:\d+)`)
	client := browser()
	response, err := client.Get(at)
	if got := page(t, response, err); !strings.Contains(got, "Log in") {
		t.Error(got)
	}
	token := strings.TrimSpace(harness.Succeed(t, dir, "token", "show", "user").Stdout)
	response, err = client.PostForm(at+"/login", url.Values{"token": {token}})
	if got := page(t, response, err); !strings.Contains(got, "No sweeps yet") {
		t.Error(got)
	}

	taken := strings.TrimPrefix(at, "http://")
	if got := harness.Do(t, dir, "coordinator", "--listen", "127.0.0.1:0", "--data", "other", "--web", taken); got.Code != 1 || !strings.Contains(got.Stderr, "the address "+taken+" is taken, perhaps by another coordinator's dashboard; name another with --web, or `--web off`") {
		t.Errorf("exit code %d\n%s", got.Code, got.Stderr)
	}
	if listener, err := net.Listen("tcp", "127.0.0.1:7411"); err == nil { // else it is taken already
		defer listener.Close()
	}
	without := harness.Start(t, dir, "coordinator", "--listen", "127.0.0.1:0", "--data", "other")
	without.Says(`(?s)no dashboard; name another address with --web.*listening`)
	off := harness.Start(t, dir, "coordinator", "--listen", "127.0.0.1:0", "--data", "third", "--web", "off")
	off.Says("listening")
	if said := off.Stderr.String(); strings.Contains(said, "dashboard") {
		t.Error(said)
	}

	all := harness.Start(t, dir, "coordinator", "--listen", "127.0.0.1:0", "--data", "fourth", "--web", "0.0.0.0:0")
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(saidOf(t, all, `dashboard: url=(https://\S+)`), "https://"))
	response, err = browser().Get("https://127.0.0.1:" + port)
	if got := page(t, response, err); !strings.Contains(got, "Log in") {
		t.Error(got)
	}
	if response, err := browser().Get("http://127.0.0.1:" + port); err == nil && response.StatusCode != http.StatusBadRequest {
		t.Errorf("without encryption: %s", response.Status)
	}
	if got := harness.Do(t, dir, "coordinator", "--insecure", "--web", ":7411"); got.Code != 2 || !strings.Contains(got.Stderr, `--web ":7411": --insecure is for addresses of one machine`) {
		t.Errorf("exit code %d\n%s", got.Code, got.Stderr)
	}
}

// A fit can be watched, by who has its link; the link lets in once.
func TestFitIsWatched(t *testing.T) {
	dir := t.TempDir()
	fit := harness.Start(t, dir, "fit", "--web", "block-words", "--models", "full", "--method", "sips", "--particles", "100", "--runs", "1000")
	link, err := url.Parse(saidOf(t, fit, `with a link that lets in once:\n  (http://127\.0\.0\.1:\d+/enter\?key=\S+)\n`))
	if err != nil {
		t.Fatal(err)
	}
	at := link.Scheme + "://" + link.Host
	client := browser()
	response, err := client.Get(link.String())
	if got := page(t, response, err); !strings.Contains(got, "Open the dashboard") {
		t.Error(got)
	}
	fit.Says("Fitting block-words")
	response, err = client.PostForm(at+"/enter", url.Values{"key": {link.Query().Get("key")}})
	if got := page(t, response, err); !strings.Contains(got, "block-words-sample-") || !strings.Contains(got, "running") {
		t.Error(got)
	}
	response, err = browser().PostForm(at+"/enter", url.Values{"key": {link.Query().Get("key")}})
	if got := page(t, response, err); !strings.Contains(got, "This link has ended") {
		t.Error(got)
	}
	fit.Signal(syscall.SIGINT)
	if code := fit.Wait(); code != 130 {
		t.Errorf("exit code %d\n%s", code, fit.Stderr.String())
	}
	if got := harness.Do(t, dir, "fit", "--web=0.0.0.0:0"); got.Code != 2 || !strings.Contains(got.Stderr, `--web=0.0.0.0:0: it must be an address of this machine, such as 127.0.0.1:7411`) {
		t.Errorf("exit code %d\n%s", got.Code, got.Stderr)
	}
}

// On a terminal the dashboard of a fit stays open after the fit has ended, until it is interrupted.
func TestFitStaysOpen(t *testing.T) {
	dir := t.TempDir()
	fit := startTerminal(t, dir, "xterm-256color", append([]string{"fit", "--web"}, harness.ShortSweep...)...)
	fit.shows("The dashboard stays open")
	link, err := url.Parse(regexp.MustCompile(`http://127\.0\.0\.1:\d+/enter\?key=[\w.-]+`).FindString(fit.drawn.String()))
	if err != nil {
		t.Fatal(err)
	}
	client := browser()
	response, err := client.PostForm(link.Scheme+"://"+link.Host+"/enter", url.Values{"key": {link.Query().Get("key")}})
	if got := page(t, response, err); !strings.Contains(got, "badge done") {
		t.Error(got)
	}
	fit.press("\x03")
	if code := fit.wait(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, fit.drawn.String())
	}
}
