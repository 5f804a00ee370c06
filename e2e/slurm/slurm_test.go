//go:build linux

package slurm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"foible.dev/foible/e2e/harness"
	"foible.dev/foible/internal/await"
)

// A sweep of two minutes or so on one core.
var slurmSweep = []string{
	"block-words", "--models", "boltzmann,full", "--method", "sips", "--particles", "60", "--runs", "20",
	"--set", "alpha=0.25,0.5,1,2", "--set", "value=on_policy", "--set", "goal_noise=0.1,0.2", "--set", "budget_r=2",
	"--set", "budget_q=0.95", "--set", "search_noise=0.02,0.5",
}

// A sweep under a real Slurm of three nodes has the outputs of `foible fit`,
// byte by byte, whatever becomes of workers, coordinator, a node and Slurm.
func TestSlurm(t *testing.T) {
	if os.Getenv("FOIBLE_SLURM") == "" {
		t.Skip("FOIBLE_SLURM=1 runs this under a Slurm of its own; it must be root, and installs Slurm's packages")
	}
	c := newSlurmCluster(t)
	dir := t.TempDir()
	run := func(name, sub string, test func(*slurmSweepTest)) {
		t.Run(name, func(t *testing.T) {
			c := &slurmSweepTest{slurmCluster: c, t: t, dir: filepath.Join(dir, sub)}
			t.Cleanup(c.clean)
			test(c)
		})
	}
	fit := harness.Start(t, dir, slices.Concat([]string{"fit", "--workers", "1", "--out", "fit"}, slurmSweep)...)

	run("trouble", "trouble", func(c *slurmSweepTest) { c.testTrouble(fit) })
	run("more workers than nodes have space for", "many", func(c *slurmSweepTest) { c.testManyWorkers() })
	run("other options", "other", func(c *slurmSweepTest) { c.testOtherOptions() })
	run("coordinator as a job", "job", func(c *slurmSweepTest) { c.testCoordinatorJob(fit) })
}

// testTrouble: workers, coordinator, a node and Slurm itself fail, and the outputs are those of a fit.
func (c *slurmSweepTest) testTrouble(fit *harness.Process) {
	c.slurm(slices.Concat([]string{"submit", "--dir", "trouble", "--workers", "6", "--time", "30"}, slurmSweep)...)
	c.until("all workers are there", func() bool { return strings.Contains(c.status(), "; 6 workers with 6 slots\n") })
	address := c.read("address")

	// Time is up for one worker, which goes back into the queue; another is preempted, and Slurm puts it back.
	tasks := c.tasks()
	c.command("scancel", "--signal=USR1", "--batch", tasks[0])
	c.command("sbatch", "--partition=high", "--output=/dev/null", "--cpus-per-task=2", "--wrap=sleep 3")
	c.until("a worker has gone back and come again", func() bool {
		return len(c.logs(`going back into the queue(?s:.*)connected`)) == 1
	})
	c.until("a preempted worker has come again", func() bool {
		return len(c.logs(`draining(?s:.*)connected`)) > 1
	})

	c.crash(strings.Fields(c.command("squeue", "--noheader", "--state=RUNNING", "--format=%N"))[0])
	c.kill(c.coordinator())
	c.slurm("restart", "--dir", "trouble")
	if again := c.read("address"); again == address {
		c.t.Errorf("the coordinator has the address %s again", again)
	}
	c.until("workers have found the new coordinator", func() bool {
		return len(c.logs(`connected(?s:.*)connection lost(?s:.*)connected`)) >= 2
	})
	c.crash("slurmctld")
	c.up() // and with it the node
	if m := progressLine.FindStringSubmatch(c.status()); m == nil || m[1] == m[2] {
		c.t.Errorf("the sweep is too short for this test: %s", c.status())
	}
	c.slurm("scale", "4", "--dir", "trouble")
	c.end(fit, filepath.Dir(c.dir))
}

// testManyWorkers: more workers than the nodes have space for wait, and leave when the sweep has ended.
func (c *slurmSweepTest) testManyWorkers() {
	few := []string{"block-words", "--models", "boltzmann", "--set", "value=on_policy", "--set", "alpha=0.25,0.5,1,2,4"}
	c.slurm(slices.Concat([]string{"submit", "--dir", "many", "--workers", "40", "--time", "30"}, few)...)
	c.until("results are there", func() bool { return c.read("results/manifest.json") != "" })
	c.until("no job is left", func() bool { return len(c.tasks()) == 0 })
	c.until("the coordinator has ended", func() bool { return c.coordinator() == 0 })
	c.slurm("scale", "50", "--dir", "many")
	if left := c.tasks(); len(left) > 0 {
		c.t.Errorf("workers were submitted for a sweep that has ended: %v", left)
	}
}

// testOtherOptions: a sweep that is submitted again with other options replaces the workers that wait.
func (c *slurmSweepTest) testOtherOptions() {
	submit := slices.Concat([]string{"submit", "--dir", "other"}, slurmSweep)
	c.slurm(append(submit, "--workers", "30", "--time", "30", "--mem", "100M")...)
	c.until("some run", func() bool { return strings.Contains(c.status(), " running, ") })
	c.slurm(append(submit, "--mem", "300M", "--time", "60")...)
	pending := strings.Fields(c.command("squeue", "--noheader", "--array", "--states=PENDING", "--format=%l/%m"))
	for _, task := range pending {
		if task != "1:00:00/300M" {
			c.t.Errorf("a worker waits with the time and memory %s", task)
		}
	}
	if len(pending) == 0 {
		c.t.Error("no worker waits")
	}
	if all := c.tasks(); len(all) != 30 {
		c.t.Errorf("%d workers, not 30", len(all))
	}
	c.slurm("stop", "--dir", "other")
	c.until("the queue is empty", func() bool { return len(c.tasks()) == 0 })
}

// testCoordinatorJob: the coordinator is a job of Slurm, and goes back into its queue when its time is up.
func (c *slurmSweepTest) testCoordinatorJob(fit *harness.Process) {
	c.slurm(slices.Concat([]string{"submit", "--dir", "job", "--workers", "4", "--coordinator-job"}, slurmSweep)...)
	c.until("workers are there", func() bool { return strings.Contains(c.status(), "; 4 workers with 4 slots\n") })
	address := c.read("address")
	c.command("scancel", "--signal=USR1", "--batch", c.tasks()[0]) // the coordinator came first
	c.until("the coordinator has come again", func() bool { return c.read("address") != address })
	c.until("workers are back", func() bool { return strings.Contains(c.status(), "; 4 workers with 4 slots\n") })

	c.slurm("stop", "--dir", "job")
	c.until("the queue is empty", func() bool { return len(c.tasks()) == 0 })
	if got := c.status(); !strings.Contains(got, ": stopped\n") {
		c.t.Errorf("status says\n%s", got)
	}
	c.slurm("restart", "--dir", "job")
	c.end(fit, filepath.Dir(c.dir))
}

// slurm calls foible cluster slurm in the directory above the sweep's.
func (c *slurmSweepTest) slurm(args ...string) {
	c.t.Helper()
	harness.Succeed(c.t, filepath.Dir(c.dir), append([]string{"cluster", "slurm"}, args...)...)
}

var progressLine = regexp.MustCompile(`, (\d+) of (\d+) cells done\n`)

// slurmCluster is a Slurm of three nodes, all on this machine.
type slurmCluster struct {
	home   string // of its configuration, logs and process ids
	script string // that brings it up
}

func newSlurmCluster(t *testing.T) *slurmCluster {
	data := os.Getenv("FOIBLE_DATA")
	if data == "" {
		data = filepath.Join("..", "shared", "data")
	}
	infra := filepath.Join(data, "..", "infra")
	home, err := os.MkdirTemp("/tmp", "foible-slurm-") // the name of a socket must not be long
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLURM_DIR", home)
	t.Setenv("SLURM_PORT", "27817")
	t.Setenv("SLURM_CONF", filepath.Join(home, "slurm.conf"))
	c := &slurmCluster{home: home, script: filepath.Join(infra, "slurm-up.sh")}
	t.Cleanup(func() { run(t, time.Minute, "bash", filepath.Join(infra, "slurm-down.sh"), "--wipe") })
	run(t, 5*time.Minute, "bash", c.script)
	return c
}

// run runs a program that must succeed.
func run(t *testing.T, limit time.Duration, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// slurmSweepTest is a sweep in that cluster.
type slurmSweepTest struct {
	*slurmCluster
	t   *testing.T
	dir string
}

func (c *slurmSweepTest) up() { run(c.t, time.Minute, "bash", c.script) }

func (c *slurmSweepTest) command(name string, args ...string) string {
	c.t.Helper()
	return run(c.t, 20*time.Second, name, args...)
}

// kill ends a process without notice.
func (c *slurmSweepTest) kill(pid int) {
	c.t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		c.t.Fatal(err)
	}
}

// crash kills the daemon of Slurm, or a node with everything that runs on it.
func (c *slurmSweepTest) crash(name string) {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.home, "pid", name))
	if err != nil {
		c.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.Fields(string(text))[0])
	if err != nil {
		c.t.Fatal(err)
	}
	c.kill(pid)
}

// coordinator finds the process that works on the directory.
func (c *slurmSweepTest) coordinator() int {
	c.t.Helper()
	want := strings.Join([]string{filepath.Join(c.dir, "foible"), "cluster", "slurm", "coordinator", "--dir", c.dir, ""}, "\x00")
	processes, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		c.t.Fatal(err)
	}
	for _, p := range processes {
		if line, err := os.ReadFile(p); err == nil && string(line) == want {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(p)))
			return pid
		}
	}
	return 0
}

func (c *slurmSweepTest) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(c.dir, name))
	return strings.TrimSpace(string(text))
}

func (c *slurmSweepTest) status() string {
	c.t.Helper()
	return harness.Succeed(c.t, c.dir, "cluster", "slurm", "status").Stdout
}

// tasks are the sweep's in the queue, oldest first.
func (c *slurmSweepTest) tasks() []string {
	c.t.Helper()
	return strings.Fields(c.command("squeue", "--noheader", "--array", "--sort=i", "--format=%i"))
}

// logs are those of workers in which a pattern is.
func (c *slurmSweepTest) logs(pattern string) (found []string) {
	c.t.Helper()
	names, err := filepath.Glob(filepath.Join(c.dir, "logs", "worker-*"))
	if err != nil {
		c.t.Fatal(err)
	}
	re := regexp.MustCompile(pattern)
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil && re.Match(text) {
			found = append(found, string(text))
		}
	}
	return found
}

func (c *slurmSweepTest) until(what string, done func() bool) {
	c.t.Helper()
	began := time.Now()
	await.Until(c.t, what, done, func() string { return c.read("logs/coordinator.log") + "\n" + strings.Join(c.logs(""), "\n") })
	c.t.Logf("%s: after %v", what, time.Since(began).Round(100*time.Millisecond))
}

// end waits for the sweep, compares what is in its directory, and sees everything leave.
func (c *slurmSweepTest) end(fit *harness.Process, dir string) {
	c.t.Helper()
	c.until("results are there", func() bool { return c.read("results/manifest.json") != "" })
	c.until("no job is left", func() bool { return len(c.tasks()) == 0 })
	c.until("the coordinator has ended", func() bool { return c.coordinator() == 0 })
	if got := c.status(); !strings.Contains(got, ": ended\n") || !strings.Contains(got, "\nresults: ") {
		c.t.Errorf("status says\n%s", got)
	}
	if code := fit.Wait(); code != 0 {
		c.t.Fatalf("fit: exit code %d", code)
	}
	want, got := harness.Outputs(c.t, filepath.Join(dir, "fit")), harness.Outputs(c.t, filepath.Join(c.dir, "results"))
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			c.t.Errorf("%s differs", name)
		}
	}
	if len(got) != len(want) {
		c.t.Errorf("%d files, not %d", len(got), len(want))
	}
}

// clean leaves nothing behind, also of a test that failed.
func (c *slurmSweepTest) clean() {
	if c.t.Failed() {
		c.t.Logf("%s\n%s", c.read("slurm.json"), c.read("logs/coordinator.log"))
	}
	harness.Do(c.t, c.dir, "cluster", "slurm", "stop")
	if pid := c.coordinator(); pid != 0 {
		c.kill(pid)
	}
}

// longSweep is the submission of a sweep that is too long to end in a test.
var longSweep = []string{"submit", "block-words", "--models", "full", "--method", "sips", "--particles", "20", "--runs", "50", "--dir", "sweep"}

// changedOptions are commands that change the options of a running sweep, one after the other.
var changedOptions = []struct {
	args   []string
	says   []string
	array  string   // of the last submission
	with   []string // which it has
	queued int
}{
	{append(slices.Clone(longSweep), "--mem", "4G"), []string{"--mem 4G instead of 1G", "4 workers that waited with other options: replaced", "2 workers running with the options of before"}, "0-3", []string{"--mem=4G", "--time=60"}, 6},
	{append(slices.Clone(longSweep), "--mem", "4G"), []string{"The sweep is running, with 6 workers"}, "0-3", []string{"--mem=4G"}, 6},
	{longSweep, []string{"The sweep is running, with 6 workers"}, "0-3", []string{"--mem=4G"}, 6},
	{[]string{"scale", "8", "--partition", "high", "--dir", "sweep"}, []string{"with --partition high from now on", "4 workers that waited", "2 workers submitted; there are 8"}, "0-5", []string{"--mem=4G", "--time=60", "--partition=high"}, 8},
	{[]string{"restart", "--time", "2:00:00", "--sbatch-option=--qos=long", "--dir", "sweep"}, []string{"--time 2:00:00 instead of 60, --sbatch-option --qos=long from now on", "6 workers that waited"}, "0-5", []string{"--time=2:00:00", "--qos=long", "--mem=4G"}, 8},
	{append(slices.Clone(longSweep), "--workers", "9", "--cpus-per-worker", "2"), []string{"--cpus-per-worker 2 instead of 1", "6 workers that waited", "Submitted 1 worker to Slurm"}, "0-6", []string{"--cpus-per-task=2", "--time=2:00:00"}, 9},
}

// refusedOptions are commands that would change what a running sweep keeps, or that Slurm refuses.
var refusedOptions = []struct {
	args []string
	want string
}{
	{append(slices.Clone(longSweep), "--partition", "none"), "invalid partition specified: none"},
	{[]string{"scale", "30", "--partition", "none", "--dir", "sweep"}, "invalid partition specified: none"},
	{append(slices.Clone(longSweep), "--workers", "3"), "the sweep is running with 9 workers, more than --workers 3; `foible cluster slurm scale --dir"},
	{append(slices.Clone(longSweep), "--listen", "127.0.0.1:1"), `--listen is 127.0.0.1:1 and was :0, which the sweep in sweep keeps`},
	{append(slices.Clone(longSweep), "--coordinator-job"), "--coordinator-job is true and was false"},
	{append(slices.Clone(longSweep), "--data", "elsewhere"), "--data is "},
	{append(slices.Clone(longSweep), "--sbatch-option=--mem=9G"), `--sbatch-option "--mem=9G": Foible has a flag for that; say --mem`},
	{append(slices.Clone(longSweep), "--sbatch-option=-pfast"), `--sbatch-option "-pfast": Foible has a flag for that; say --partition`},
	{[]string{"scale", "3", "--cpus-per-worker", "0", "--dir", "sweep"}, "--cpus-per-worker 0"},
	{[]string{"restart", "--time", "1", "--dir", "sweep"}, "--time 1: a worker needs at least 5 minutes"},
}

// stubbedSlurm is a directory with a sweep under stubs of Slurm's commands that keep a queue.
type stubbedSlurm struct {
	t   *testing.T
	dir string
}

func (c *stubbedSlurm) slurm(args ...string) harness.Call {
	c.t.Helper()
	return harness.Do(c.t, c.dir, append([]string{"cluster", "slurm"}, args...)...)
}

func (c *stubbedSlurm) submit(args ...string) harness.Call {
	c.t.Helper()
	return c.slurm(slices.Concat(longSweep, args)...)
}

func (c *stubbedSlurm) queue() []string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, "queue"))
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// submitted is the last call of sbatch.
func (c *stubbedSlurm) submitted() string {
	text, _ := os.ReadFile(filepath.Join(c.dir, "calls"))
	all := regexp.MustCompile(`(?m)^sbatch .*$`).FindAllString(string(text), -1)
	return all[len(all)-1]
}

// Options that are given when a sweep is submitted again, scaled or restarted hold from then on: workers that wait are
// replaced. What cannot be changed is refused, and so is what Slurm refuses; then all is as before.
func TestSlurmOptions(t *testing.T) {
	c := &stubbedSlurm{t, t.TempDir()}
	harness.SlurmQueue(t, c.dir)
	t.Cleanup(func() { c.slurm("stop", "--dir", "sweep") })
	if got := c.submit("--workers", "6", "--time", "60", "--mem", "1G"); got.Code != 0 {
		t.Fatalf("%d %s", got.Code, got.Stderr)
	}
	text, _ := os.ReadFile(filepath.Join(c.dir, "queue"))
	begun := strings.Replace(string(text), "PENDING|Priority|", "RUNNING|None|n1", 2)
	if err := os.WriteFile(filepath.Join(c.dir, "queue"), []byte(begun), 0o600); err != nil {
		t.Fatal(err)
	}
	c.changeOptions()
	c.checkStatus()
	last := c.submitted()
	c.refuseOptions()
	c.scaleDown(last)
}

// changeOptions gives other options to the sweep, and checks what is said, submitted and queued.
func (c *stubbedSlurm) changeOptions() {
	c.t.Helper()
	for _, o := range changedOptions {
		got := c.slurm(o.args...)
		if got.Code != 0 {
			c.t.Fatalf("%v: exit code %d\n%s", o.args, got.Code, got.Stderr)
		}
		for _, want := range o.says {
			if !strings.Contains(got.Stderr, want) {
				c.t.Errorf("%v: it does not say %q:\n%s", o.args, want, got.Stderr)
			}
		}
		last := strings.Fields(c.submitted())
		for _, want := range append(o.with, "--array="+o.array) {
			if !slices.Contains(last, want) {
				c.t.Errorf("%v: submitted without %s: %s", o.args, want, last)
			}
		}
		if all := c.queue(); len(all) != o.queued {
			c.t.Errorf("%v: %d in the queue, not %d:\n%s", o.args, len(all), o.queued, strings.Join(all, "\n"))
		}
	}
}

// checkStatus checks what status says, also when workers have left, and that they come again.
func (c *stubbedSlurm) checkStatus() {
	c.t.Helper()
	var status struct {
		Sweep, Directory, State, Coordinator string
		Asked                                int            `json:"workers_asked"`
		Running                              int            `json:"workers_running"`
		Pending                              int            `json:"workers_pending"`
		Reasons                              map[string]int `json:"pending_reasons"`
		Progress                             struct{ Cells int }
	}
	if got := c.slurm("status", "--json", "--dir", "sweep"); json.Unmarshal([]byte(got.Stdout), &status) != nil ||
		!strings.HasPrefix(status.Sweep, "block-words-sample-") || status.State != "running" || !strings.Contains(status.Coordinator, ":") ||
		status.Asked != 9 || status.Running != 2 || status.Pending != 7 || status.Reasons["Priority"] != 7 || status.Progress.Cells == 0 {
		c.t.Errorf("status: exit code %d\n%s%s", got.Code, got.Stdout, got.Stderr)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "queue"), []byte(strings.Join(c.queue()[:5], "\n")+"\n"), 0o600); err != nil { // four are cancelled
		c.t.Fatal(err)
	}
	if got := c.slurm("status", "--dir", "sweep"); !strings.Contains(got.Stderr, "4 workers of 9 left; `foible cluster slurm restart --dir") {
		c.t.Errorf("status with workers that have left says\n%s%s", got.Stdout, got.Stderr)
	}
	if got := c.slurm("restart", "--dir", "sweep"); got.Code != 0 || len(c.queue()) != 9 {
		c.t.Errorf("restart: exit code %d, queue %v\n%s", got.Code, c.queue(), got.Stderr)
	}
}

// refuseOptions gives options that are refused: all is as before.
func (c *stubbedSlurm) refuseOptions() {
	c.t.Helper()
	before := c.queue()
	for _, o := range refusedOptions {
		if got := c.slurm(o.args...); got.Code == 0 || !strings.Contains(got.Stderr, o.want) {
			c.t.Errorf("%v: exit code %d\n%s", o.args, got.Code, got.Stderr)
		}
		if now := c.queue(); !slices.Equal(now, before) {
			c.t.Errorf("%v: the queue was\n%s\nand is\n%s", o.args, before, now)
		}
	}
	if got := c.submit(); !strings.Contains(got.Stderr, "The sweep is running, with 9 workers") {
		c.t.Errorf("after what was refused: %s", got.Stderr)
	}
}

// scaleDown asks for fewer workers, and stops: those that wait leave first. After a stop, all come with the options of last.
func (c *stubbedSlurm) scaleDown(last string) {
	c.t.Helper()
	if got := c.slurm("scale", "2", "--partition", "none", "--dir", "sweep"); got.Code != 1 || len(c.queue()) != 9 {
		c.t.Errorf("scale 2 with what is refused: exit code %d, %d in the queue\n%s", got.Code, len(c.queue()), got.Stderr)
	}
	if got := c.slurm("scale", "2", "--dir", "sweep"); got.Code != 0 || len(c.queue()) != 2 || strings.Contains(strings.Join(c.queue(), " "), "PENDING") {
		c.t.Errorf("scale 2: exit code %d, queue %v\n%s", got.Code, c.queue(), got.Stderr)
	}
	if got := c.slurm("stop", "--dir", "sweep"); got.Code != 0 || len(c.queue()) != 0 {
		c.t.Errorf("stop: exit code %d, queue %v\n%s", got.Code, c.queue(), got.Stderr)
	}
	if got := c.submit(); got.Code != 0 || len(c.queue()) != 2 {
		c.t.Errorf("after a stop: exit code %d, queue %v\n%s", got.Code, c.queue(), got.Stderr)
	}
	options := func(call string) string { // but for names and arrays
		return regexp.MustCompile(`--(job-name|array)=\S+`).ReplaceAllString(call, "")
	}
	if got, want := options(c.submitted()), options(last); got != want {
		c.t.Errorf("after a stop: submitted with\n%s\nnot\n%s", got, want)
	}
}

// opens counts how often files are opened, by anybody, meanwhile.
func opens(t *testing.T, meanwhile time.Duration, paths ...string) int {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for _, path := range paths {
		// A file that is replaced while it is watched would be another; these are not.
		if _, err := unix.InotifyAddWatch(fd, path, unix.IN_OPEN); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(meanwhile)
	buffer := make([]byte, 1<<20)
	n, err := unix.Read(fd, buffer)
	if errors.Is(err, unix.EAGAIN) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return n / unix.SizeofInotifyEvent // events of a watched file have no name
}

// slurmRefusals are submissions that fail, and what is said then.
var slurmRefusals = []struct {
	name, sbatch string
	others       map[string]string
	args         string
	want         string // on standard error
	cancelled    int    // arrays
}{
	{
		name: "rejected", sbatch: "echo 'sbatch: error: invalid partition specified: fast' >&2; echo 'sbatch: error: Batch job submission failed: Invalid partition name specified' >&2; exit 1", args: "--partition fast",
		want:      `foible: sbatch says "sbatch: error: invalid partition specified: fast; sbatch: error: Batch job submission failed: Invalid partition name specified"; ` + "`sinfo` lists the partitions, --partition chooses one (what was begun has been ended again)\n",
		cancelled: 1,
	},
	{
		name: "garbage", sbatch: "echo Submitted batch job 12", want: `foible: sbatch: its answer, "Submitted batch job 12", is no job id; try `, cancelled: 1,
	},
	{name: "silence", sbatch: "", want: `foible: sbatch: its answer, "", is no job id; try `, cancelled: 1},
	{
		name: "second array rejected", sbatch: "[ $n -lt 2 ] && echo $n || { echo 'sbatch: error: QOSMaxSubmitJobPerUserLimit' >&2; exit 1; }", args: "--workers 22",
		others:    map[string]string{"scontrol": "echo 'MaxArraySize            = 11'"},
		want:      `foible: array 2 of 2, with 11 workers: sbatch says "sbatch: error: QOSMaxSubmitJobPerUserLimit"; ask for fewer with --workers, or wait until jobs of yours have ended (what was begun has been ended again)` + "\n",
		cancelled: 2,
	},
	{
		name: "coordinator's job rejected", sbatch: "echo 'sbatch: error: Invalid account or account/partition combination specified' >&2; exit 1", args: "--coordinator-job --account none",
		want: `foible: sbatch says "sbatch: error: Invalid account`, cancelled: 1,
	},
	{
		name: "workers of a coordinator's job rejected", sbatch: "[ $n -lt 2 ] && echo $n || exit 1", args: "--coordinator-job",
		want: "foible: sbatch: exit status 1 (what was begun has been ended again)\n", cancelled: 2,
	},
	{
		name: "no array", others: map[string]string{"scontrol": "echo MaxArraySize = 0"},
		want: "foible: scontrol: MaxArraySize is 0: job arrays are turned off here; ask who runs this cluster to allow them\n",
	},
	{
		name: "no answer", others: map[string]string{"scontrol": "echo 'slurm_load_ctl_conf error: Unable to contact slurm controller (connect failure)' >&2; exit 1"},
		want: `foible: scontrol says "slurm_load_ctl_conf error: Unable to contact slurm controller (connect failure)"; try again when ` + "`sinfo` answers\n",
	},
	{
		name: "no room", others: map[string]string{"sacctmgr": "echo 'lab|lab|2'", "squeue": "echo 1; echo 2"},
		want: "foible: the limit of your jobs in Slurm is 2 (MaxSubmitJobs), and you have 2; wait until some have ended, or cancel some (what was begun has been ended again)\n",
	},
}

// A submission that fails leaves nothing behind, and says what Slurm said and what to do.
func TestSlurmRefusals(t *testing.T) {
	for _, c := range slurmRefusals {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			// Where the coordinator listens, while there is one.
			harness.SlurmStubs(t, dir, `cat "$(dirname "$script")/address" 2>/dev/null >>`+dir+"/addresses\n"+c.sbatch, c.others)
			got := harness.Do(t, dir, append([]string{"cluster", "slurm", "submit", "block-words", "--models", "boltzmann"}, strings.Fields(c.args)...)...)
			if got.Code != 1 || got.Stdout != "" || !strings.HasPrefix(got.Stderr, c.want) {
				t.Errorf("exit code %d\n%s%s\nwant %s", got.Code, got.Stdout, got.Stderr, c.want)
			}
			if _, err := os.Stat(filepath.Join(dir, "foible-slurm-block-words-sample")); err == nil {
				t.Error("its directory is left")
			}
			calls, _ := os.ReadFile(filepath.Join(dir, "calls"))
			for i := range c.cancelled {
				if !regexp.MustCompile(fmt.Sprintf(`(?m)^scancel --name=foible-block-words-sample-[a-z0-9]{6}-%d$`, i+1)).Match(calls) {
					t.Errorf("job %d is not cancelled:\n%s", i+1, calls)
				}
			}
			if submitted := strings.Count(string(calls), "sbatch "); submitted != c.cancelled {
				t.Errorf("%d submitted, %d to be cancelled:\n%s", submitted, c.cancelled, calls)
			}
			addresses, _ := os.ReadFile(filepath.Join(dir, "addresses"))
			for _, address := range strings.Fields(string(addresses)) {
				if conn, err := net.Dial("tcp", address); err == nil {
					_ = conn.Close()
					t.Errorf("the coordinator still listens at %s", address)
				}
			}
		})
	}
	t.Run("no Slurm", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		got := harness.Do(t, t.TempDir(), "cluster", "slurm", "submit")
		if want := "foible: scontrol: exec: \"scontrol\": executable file not found in $PATH; call this where Slurm's commands are on PATH\n"; got.Code != 1 || got.Stderr != want {
			t.Errorf("exit code %d\n%s", got.Code, got.Stderr)
		}
	})
}

// arrayTest is a directory with a sweep under stubs of Slurm's commands, whose arrays are limited.
type arrayTest struct {
	t   *testing.T
	dir string
}

func (c *arrayTest) slurm(args ...string) harness.Call {
	c.t.Helper()
	return harness.Succeed(c.t, c.dir, append([]string{"cluster", "slurm"}, args...)...)
}

// calls are the arguments with which a command was called.
func (c *arrayTest) calls(name string) (found []string) {
	text, _ := os.ReadFile(filepath.Join(c.dir, "calls"))
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			found = append(found, strings.TrimSpace(rest))
		}
	}
	return found
}

// worker starts a worker as Slurm does after a number of restarts.
func (c *arrayTest) worker(restarts string) *harness.Process {
	c.t.Helper()
	for name, value := range map[string]string{"SLURM_JOB_ID": "7", "SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "3", "SLURM_RESTART_COUNT": restarts} {
		c.t.Setenv(name, value)
	}
	w := harness.Start(c.t, c.dir, "cluster", "slurm", "worker", "--dir", "foible-slurm-block-words-sample")
	w.Says("connected")
	return w
}

// Arrays fit the limits of the site; what is submitted can be scaled and stopped.
func TestSlurmArrays(t *testing.T) {
	c := &arrayTest{t, t.TempDir()}
	harness.SlurmStubs(t, c.dir, `echo "$n;here"`, map[string]string{
		"scontrol": "echo 'MaxArraySize            = 11'",
		"sacctmgr": "echo 'lab|other|3'; echo 'lab|lab|27'",
		"squeue":   `case "$*" in *--user=*) echo 1; echo 2;; *) grep -q '^sbatch' ` + c.dir + `/calls && for i in 0 1 2 3; do echo "1_$i|foible-1|PENDING|Priority|"; done; echo "1_4|foible-1|RUNNING|None|n1";; esac`,
	})
	sweep := []string{"submit", "block-words", "--models", "full", "--method", "sips", "--particles", "20", "--runs", "50"} // too long to end here
	submit := slices.Concat(sweep, []string{"--workers", "28", "--time", "60", "--mem", "1G", "--cpus-per-worker", "2", "--sbatch-option=--qos=long"})
	said := c.slurm(submit...)
	if !strings.Contains(said.Stderr, "(MaxSubmitJobs), and you have 2: 25 of 28 workers are submitted.") {
		c.t.Errorf("it said\n%s", said.Stderr)
	}
	c.checkArrays()

	for _, kind := range []string{"worker", "user"} {
		info, err := os.Stat(filepath.Join(c.dir, "foible-slurm-block-words-sample", "access", kind+".token"))
		if err != nil || info.Mode() != 0o600 {
			c.t.Errorf("token of a %s: %v, %v", kind, info, err)
		}
	}

	c.slurm("scale", "3")
	if got := c.calls("scancel"); len(got) != 1 || got[0] != "1_0 1_1" { // of those that have not begun
		c.t.Errorf("scancel was called with %q", got)
	}
	if got := c.slurm("status").Stdout; !strings.Contains(got, "Slurm: 4 pending (Priority), 1 running, of 3 workers asked for\n") {
		c.t.Errorf("status says\n%s", got)
	}
	c.t.Cleanup(func() { harness.Do(c.t, c.dir, "cluster", "slurm", "stop") })
	other := harness.Do(c.t, c.dir, slices.Concat([]string{"cluster", "slurm"}, sweep, []string{"--seed", "1"})...)
	if other.Code != 1 || !strings.Contains(other.Stderr, "is of another sweep, block-words-sample-") {
		c.t.Errorf("another sweep in the same directory: exit code %d\n%s", other.Code, other.Stderr)
	}
	if again := c.slurm(append(sweep, "--workers", "5")...); !strings.Contains(again.Stderr, "The sweep is running, with 5 workers") {
		c.t.Errorf("the same again: it said\n%s", again.Stderr)
	}

	c.checkRequeues()
	stopped := c.worker("")
	c.checkIdleWorkers()

	address, err := os.ReadFile(filepath.Join(c.dir, "foible-slurm-block-words-sample", "address"))
	if err != nil {
		c.t.Fatal(err)
	}
	c.slurm("stop")
	if conn, err := net.Dial("tcp", strings.TrimSpace(string(address))); err == nil {
		_ = conn.Close()
		c.t.Error("the coordinator still listens")
	}
	if code := stopped.Wait(); code != 0 || len(c.calls("scontrol requeue")) != 1 {
		c.t.Errorf("the worker that was stopped: exit code %d\n%s", code, stopped.Stderr.String())
	}
	if late := c.slurm("worker", "--dir", "foible-slurm-block-words-sample").Stderr; !strings.Contains(late, "nothing is left to do: state=stopped") {
		c.t.Errorf("a worker that comes late says\n%s", late)
	}
	if got := c.calls("scancel"); len(got) != 1+3+3 {
		c.t.Errorf("scancel was called with %q", got)
	}
	if got := harness.Do(c.t, c.dir, "cluster", "slurm", "scale", "9"); got.Code != 1 || !strings.Contains(got.Stderr, "has been stopped; `foible cluster slurm restart") {
		c.t.Errorf("scale after stop: exit code %d\n%s", got.Code, got.Stderr)
	}
}

// checkArrays checks the sizes and options of the arrays that were submitted.
func (c *arrayTest) checkArrays() {
	c.t.Helper()
	var arrays []string
	for _, call := range c.calls("sbatch") {
		arrays = append(arrays, regexp.MustCompile(`--array=0-\d+`).FindString(call))
		for _, option := range []string{"--time=60", "--mem=1G", "--cpus-per-task=2", "--qos=long", "--requeue", "--signal=B:USR1@90"} {
			if !slices.Contains(strings.Fields(call), option) {
				c.t.Errorf("no %s: %s", option, call)
			}
		}
	}
	if want := []string{"--array=0-8", "--array=0-7", "--array=0-7"}; !slices.Equal(arrays, want) {
		c.t.Errorf("arrays %v, not %v", arrays, want)
	}
}

// checkRequeues: a worker whose time is up goes back into the queue, but not for ever.
func (c *arrayTest) checkRequeues() {
	c.t.Helper()
	for _, o := range []struct {
		restarts string
		signal   syscall.Signal
		code     int
		requeued bool
	}{{"", syscall.SIGUSR1, 0, true}, {"", syscall.SIGTERM, 0, false}, {"200", syscall.SIGUSR1, 1, false}} {
		before := len(c.calls("scontrol requeue"))
		w := c.worker(o.restarts)
		w.Signal(o.signal)
		if code := w.Wait(); code != o.code {
			c.t.Errorf("%+v: exit code %d\n%s", o, code, w.Stderr.String())
		}
		if requeued := c.calls("scontrol requeue")[before:]; o.requeued != slices.Equal(requeued, []string{"7_3"}) || len(requeued) > 1 {
			c.t.Errorf("%+v: requeued %q", o, requeued)
		}
	}
}

// checkIdleWorkers: while they are connected, workers read nothing of the directory; only the coordinator looks at the
// state, once a second.
func (c *arrayTest) checkIdleWorkers() {
	c.t.Helper()
	for range 4 {
		c.worker("")
	}
	watched := filepath.Join(c.dir, "foible-slurm-block-words-sample")
	const seconds = 5
	if opened := opens(c.t, seconds*time.Second, filepath.Join(watched, "state")); opened > seconds+2 {
		c.t.Errorf("the state was opened %d times within %d s, by more than the coordinator", opened, seconds)
	}
	if opened := opens(c.t, seconds*time.Second, filepath.Join(watched, "address"), filepath.Join(watched, "slurm.json")); opened > 0 {
		c.t.Errorf("address and record were opened %d times", opened)
	}
}
