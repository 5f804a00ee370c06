//go:build unix

package harness

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"foible.dev/foible/internal/await"
)

// SweepCells are the cells of SweepArgs, a sweep of a few seconds on one core: of an exact model and of one that is sampled: twelve parameter sets and one on
// eight stimuli, and the best of each once more for the report.
const (
	FitCells    = (12 + 1) * 8
	ReportCells = 2 * 8
	SweepCells  = FitCells + ReportCells
)

var SweepArgs = []string{
	"block-words", "--models", "boltzmann,full", "--mc-se", "0.1", "--posterior-se", "0.2", "--runs", "2",
	"--set", "alpha=0.25,0.5,0.75,1,1.25,1.5,1.75,2,2.5,3,4,8", "--set", "value=on_policy",
	"--set", "goal_noise=0.1", "--set", "budget_r=2", "--set", "budget_q=0.5", "--set", "search_noise=0.1", "--set", "action_noise=0.1",
}

// Cluster is a coordinator with its workers.
type Cluster struct {
	T           *testing.T
	Host        Host
	Dir         string
	Args        []string // of the coordinator
	Flags       []string // by which others find it and are let in
	Coordinator *Process
}

func NewCluster(t *testing.T, dir, data, lease string) *Cluster {
	address := FreeAddress(t)
	c := &Cluster{T: t, Dir: dir, Flags: []string{"--coordinator", address, "--token-file", data}}
	c.Args = []string{"coordinator", "--listen", address, "--data", data, "--lease", lease}
	c.Start()
	return c
}

func (c *Cluster) Start() {
	c.T.Helper()
	c.Coordinator = c.Host.Start(c.T, c.Dir, c.Args...)
	c.Coordinator.Says("listening")
}

func (c *Cluster) Worker() *Process {
	c.T.Helper()
	return c.WorkerOn(c.Host)
}

func (c *Cluster) WorkerOn(h Host) *Process {
	c.T.Helper()
	p := h.Start(c.T, c.Dir, append([]string{"worker", "--slots", "1", "--log-level", "debug"}, c.Flags...)...)
	p.Says("connected")
	return p
}

func (c *Cluster) Do(args ...string) Call {
	c.T.Helper()
	return c.Host.Succeed(c.T, c.Dir, append(args, c.Flags...)...)
}

func (c *Cluster) Submit() string {
	c.T.Helper()
	return strings.TrimSpace(c.Do(append([]string{"submit"}, SweepArgs...)...).Stdout)
}

var statusLine = regexp.MustCompile(`: ([a-z ]+), (\d+) of (\d+) cells done\n`)

// Progress asks how many cells are done, and in which state the sweep is.
func (c *Cluster) Progress(id string) (done int, state string) {
	c.T.Helper()
	said := c.Do("status", id).Stdout
	m := statusLine.FindStringSubmatch(said)
	if m == nil || m[3] != fmt.Sprint(SweepCells) {
		c.T.Fatalf("status says\n%s", said)
	}
	done, _ = strconv.Atoi(m[2])
	return done, m[1]
}

// WaitFor waits until a number of cells are done; for all of them, until they have been compared with people.
func (c *Cluster) WaitFor(id string, cells int) {
	c.T.Helper()
	for deadline := time.Now().Add(await.Patience); ; time.Sleep(50 * time.Millisecond) {
		done, state := c.Progress(id)
		switch {
		case cells < SweepCells && done == SweepCells:
			c.T.Fatal("the sweep is too short for this test")
		case cells < SweepCells && done >= cells, state == "succeeded":
			return
		case time.Now().After(deadline):
			c.T.Fatalf("%d cells are done, not %d; the coordinator says\n%s", done, cells, c.Coordinator.Stderr.String())
		}
	}
}

func FreeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

var created = regexp.MustCompile(`"created": "[^"]+"`)

// Outputs reads an output directory, without what is hidden and without the time of creation.
func Outputs(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch hidden := strings.HasPrefix(d.Name(), "."); {
		case hidden && d.IsDir():
			return fs.SkipDir
		case hidden, d.IsDir():
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(created.FindAllString(files["manifest.json"], -1)) != 1 {
		t.Fatalf("manifest.json has no time of creation:\n%s", files["manifest.json"])
	}
	files["manifest.json"] = created.ReplaceAllString(files["manifest.json"], "")
	for _, name := range []string{"fits.csv", "fits_by_category.csv", "fits_by_stimulus.csv", "posteriors.csv", "degeneracy.csv", "intervals.csv", "sweep.yaml", "report.html", "fits.parquet", "posteriors.parquet", "tables/fits.tex", "figures/sensitivity.svg", "figures/sensitivity.pdf"} {
		if files[name] == "" {
			t.Errorf("%s has no %s", dir, name)
		}
	}
	return files
}

// SameOutputs compares two output directories, byte by byte.
func SameOutputs(t *testing.T, want, got string) {
	t.Helper()
	wanted, found := Outputs(t, want), Outputs(t, got)
	if len(found) != len(wanted) {
		t.Errorf("%s: %d files, not %d", got, len(found), len(wanted))
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if found[name] != wanted[name] {
			t.Errorf("%s: %s differs", got, name)
		}
	}
}

// ShortSweep is a sweep of a second.
var ShortSweep = []string{"doors-keys-gems", "--models", "boltzmann", "--set", "alpha=0.5,1"}

func Get(t *testing.T, url string) string {
	t.Helper()
	code, body := GetAs(t, url, "")
	if code != http.StatusOK {
		t.Fatalf("%s: %d", url, code)
	}
	return body
}

// GetAs fetches a page under the name of a host; "" is that of the URL.
func GetAs(t *testing.T, url, host string) (code int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = host
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	return answer.StatusCode, string(text)
}
