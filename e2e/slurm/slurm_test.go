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
	slurm := func(args ...string) harness.Call {
		t.Helper()
		return harness.Succeed(t, dir, append([]string{"cluster", "slurm"}, args...)...)
	}
	fit := harness.Start(t, dir, slices.Concat([]string{"fit", "--workers", "1", "--out", "fit"}, slurmSweep)...)

	t.Run("trouble", func(t *testing.T) {
		c := &slurmSweepTest{slurmCluster: c, t: t, dir: filepath.Join(dir, "trouble")}
		t.Cleanup(c.clean)
		slurm(slices.Concat([]string{"submit", "--dir", "trouble", "--workers", "6", "--time", "30"}, slurmSweep)...)
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
		slurm("restart", "--dir", "trouble")
		if again := c.read("address"); again == address {
			t.Errorf("the coordinator has the address %s again", again)
		}
		c.until("workers have found the new coordinator", func() bool {
			return len(c.logs(`connected(?s:.*)connection lost(?s:.*)connected`)) >= 2
		})
		c.crash("slurmctld")
		c.up() // and with it the node
		if m := progressLine.FindStringSubmatch(c.status()); m == nil || m[1] == m[2] {
			t.Errorf("the sweep is too short for this test: %s", c.status())
		}
		slurm("scale", "4", "--dir", "trouble")
		c.end(fit, dir)
	})

	t.Run("more workers than nodes have space for", func(t *testing.T) {
		c := &slurmSweepTest{slurmCluster: c, t: t, dir: filepath.Join(dir, "many")}
		t.Cleanup(c.clean)
		few := []string{"block-words", "--models", "boltzmann", "--set", "value=on_policy", "--set", "alpha=0.25,0.5,1,2,4"}
		slurm(slices.Concat([]string{"submit", "--dir", "many", "--workers", "40", "--time", "30"}, few)...)
		c.until("results are there", func() bool { return c.read("results/manifest.json") != "" })
		c.until("no job is left", func() bool { return len(c.tasks()) == 0 })
		c.until("the coordinator has ended", func() bool { return c.coordinator() == 0 })
		slurm("scale", "50", "--dir", "many")
		if left := c.tasks(); len(left) > 0 {
			t.Errorf("workers were submitted for a sweep that has ended: %v", left)
		}
	})

	t.Run("other options", func(t *testing.T) {
		c := &slurmSweepTest{slurmCluster: c, t: t, dir: filepath.Join(dir, "other")}
		t.Cleanup(c.clean)
		submit := slices.Concat([]string{"submit", "--dir", "other"}, slurmSweep)
		slurm(append(submit, "--workers", "30", "--time", "30", "--mem", "100M")...)
		c.until("some run", func() bool { return strings.Contains(c.status(), " running, ") })
		slurm(append(submit, "--mem", "300M", "--time", "60")...)
		pending := strings.Fields(c.command("squeue", "--noheader", "--array", "--states=PENDING", "--format=%l/%m"))
		for _, task := range pending {
			if task != "1:00:00/300M" {
				t.Errorf("a worker waits with the time and memory %s", task)
			}
		}
		if len(pending) == 0 {
			t.Error("no worker waits")
		}
		if all := c.tasks(); len(all) != 30 {
			t.Errorf("%d workers, not 30", len(all))
		}
		slurm("stop", "--dir", "other")
		c.until("the queue is empty", func() bool { return len(c.tasks()) == 0 })
	})

	t.Run("coordinator as a job", func(t *testing.T) {
		c := &slurmSweepTest{slurmCluster: c, t: t, dir: filepath.Join(dir, "job")}
		t.Cleanup(c.clean)
		slurm(slices.Concat([]string{"submit", "--dir", "job", "--workers", "4", "--coordinator-job"}, slurmSweep)...)
		c.until("workers are there", func() bool { return strings.Contains(c.status(), "; 4 workers with 4 slots\n") })
		address := c.read("address")
		c.command("scancel", "--signal=USR1", "--batch", c.tasks()[0]) // the coordinator came first
		c.until("the coordinator has come again", func() bool { return c.read("address") != address })
		c.until("workers are back", func() bool { return strings.Contains(c.status(), "; 4 workers with 4 slots\n") })

		slurm("stop", "--dir", "job")
		c.until("the queue is empty", func() bool { return len(c.tasks()) == 0 })
		if got := c.status(); !strings.Contains(got, ": stopped\n") {
			t.Errorf("status says\n%s", got)
		}
		slurm("restart", "--dir", "job")
		c.end(fit, dir)
	})
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

// Options that are given when a sweep is submitted again, scaled or restarted hold from then on: workers that wait are
// replaced. What cannot be changed is refused, and so is what Slurm refuses; then all is as before.
func TestSlurmOptions(t *testing.T) {
	dir := t.TempDir()
	harness.SlurmQueue(t, dir)
	sweep := []string{"submit", "block-words", "--models", "full", "--method", "sips", "--particles", "20", "--runs", "50", "--dir", "sweep"} // too long to end here
	slurm := func(args ...string) harness.Call {
		t.Helper()
		return harness.Do(t, dir, append([]string{"cluster", "slurm"}, args...)...)
	}
	submit := func(args ...string) harness.Call { return slurm(slices.Concat(sweep, args)...) }
	t.Cleanup(func() { slurm("stop", "--dir", "sweep") })
	queue := func() []string {
		text, err := os.ReadFile(filepath.Join(dir, "queue"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(text))
	}
	submitted := func() string { // the last call of sbatch
		text, _ := os.ReadFile(filepath.Join(dir, "calls"))
		all := regexp.MustCompile(`(?m)^sbatch .*$`).FindAllString(string(text), -1)
		return all[len(all)-1]
	}
	if got := submit("--workers", "6", "--time", "60", "--mem", "1G"); got.Code != 0 {
		t.Fatalf("%d %s", got.Code, got.Stderr)
	}
	text, _ := os.ReadFile(filepath.Join(dir, "queue"))
	begun := strings.Replace(string(text), "PENDING|Priority|", "RUNNING|None|n1", 2)
	if err := os.WriteFile(filepath.Join(dir, "queue"), []byte(begun), 0o600); err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		args   []string
		says   []string
		array  string   // of the last submission
		with   []string // which it has
		queued int
	}{
		{append(sweep, "--mem", "4G"), []string{"--mem 4G instead of 1G", "4 workers that waited with other options: replaced", "2 workers running with the options of before"}, "0-3", []string{"--mem=4G", "--time=60"}, 6},
		{append(sweep, "--mem", "4G"), []string{"The sweep is running, with 6 workers"}, "0-3", []string{"--mem=4G"}, 6},
		{sweep, []string{"The sweep is running, with 6 workers"}, "0-3", []string{"--mem=4G"}, 6},
		{[]string{"scale", "8", "--partition", "high", "--dir", "sweep"}, []string{"with --partition high from now on", "4 workers that waited", "2 workers submitted; there are 8"}, "0-5", []string{"--mem=4G", "--time=60", "--partition=high"}, 8},
		{[]string{"restart", "--time", "2:00:00", "--sbatch-option=--qos=long", "--dir", "sweep"}, []string{"--time 2:00:00 instead of 60, --sbatch-option --qos=long from now on", "6 workers that waited"}, "0-5", []string{"--time=2:00:00", "--qos=long", "--mem=4G"}, 8},
		{append(sweep, "--workers", "9", "--cpus-per-worker", "2"), []string{"--cpus-per-worker 2 instead of 1", "6 workers that waited", "Submitted 1 worker to Slurm"}, "0-6", []string{"--cpus-per-task=2", "--time=2:00:00"}, 9},
	} {
		got := slurm(c.args...)
		if got.Code != 0 {
			t.Fatalf("%v: exit code %d\n%s", c.args, got.Code, got.Stderr)
		}
		for _, want := range c.says {
			if !strings.Contains(got.Stderr, want) {
				t.Errorf("%v: it does not say %q:\n%s", c.args, want, got.Stderr)
			}
		}
		last := strings.Fields(submitted())
		for _, want := range append(c.with, "--array="+c.array) {
			if !slices.Contains(last, want) {
				t.Errorf("%v: submitted without %s: %s", c.args, want, last)
			}
		}
		if all := queue(); len(all) != c.queued {
			t.Errorf("%v: %d in the queue, not %d:\n%s", c.args, len(all), c.queued, strings.Join(all, "\n"))
		}
	}

	var status struct {
		Sweep, Directory, State, Coordinator string
		Asked                                int            `json:"workers_asked"`
		Running                              int            `json:"workers_running"`
		Pending                              int            `json:"workers_pending"`
		Reasons                              map[string]int `json:"pending_reasons"`
		Progress                             struct{ Cells int }
	}
	if got := slurm("status", "--json", "--dir", "sweep"); json.Unmarshal([]byte(got.Stdout), &status) != nil ||
		!strings.HasPrefix(status.Sweep, "block-words-sample-") || status.State != "running" || !strings.Contains(status.Coordinator, ":") ||
		status.Asked != 9 || status.Running != 2 || status.Pending != 7 || status.Reasons["Priority"] != 7 || status.Progress.Cells == 0 {
		t.Errorf("status: exit code %d\n%s%s", got.Code, got.Stdout, got.Stderr)
	}
	if err := os.WriteFile(filepath.Join(dir, "queue"), []byte(strings.Join(queue()[:5], "\n")+"\n"), 0o600); err != nil { // four are cancelled
		t.Fatal(err)
	}
	if got := slurm("status", "--dir", "sweep"); !strings.Contains(got.Stderr, "4 workers of 9 left; `foible cluster slurm restart --dir") {
		t.Errorf("status with workers that have left says\n%s%s", got.Stdout, got.Stderr)
	}
	if got := slurm("restart", "--dir", "sweep"); got.Code != 0 || len(queue()) != 9 {
		t.Errorf("restart: exit code %d, queue %v\n%s", got.Code, queue(), got.Stderr)
	}

	before, last := queue(), submitted()
	for _, c := range []struct {
		args []string
		want string
	}{
		{append(sweep, "--partition", "none"), "invalid partition specified: none"},
		{[]string{"scale", "30", "--partition", "none", "--dir", "sweep"}, "invalid partition specified: none"},
		{append(sweep, "--workers", "3"), "the sweep is running with 9 workers, more than --workers 3; `foible cluster slurm scale --dir"},
		{append(sweep, "--listen", "127.0.0.1:1"), `--listen is 127.0.0.1:1 and was :0, which the sweep in sweep keeps`},
		{append(sweep, "--coordinator-job"), "--coordinator-job is true and was false"},
		{append(sweep, "--data", "elsewhere"), "--data is "},
		{append(sweep, "--sbatch-option=--mem=9G"), `--sbatch-option "--mem=9G": Foible has a flag for that; say --mem`},
		{append(sweep, "--sbatch-option=-pfast"), `--sbatch-option "-pfast": Foible has a flag for that; say --partition`},
		{[]string{"scale", "3", "--cpus-per-worker", "0", "--dir", "sweep"}, "--cpus-per-worker 0"},
		{[]string{"restart", "--time", "1", "--dir", "sweep"}, "--time 1: a worker needs at least 5 minutes"},
	} {
		if got := slurm(c.args...); got.Code == 0 || !strings.Contains(got.Stderr, c.want) {
			t.Errorf("%v: exit code %d\n%s", c.args, got.Code, got.Stderr)
		}
		if now := queue(); !slices.Equal(now, before) {
			t.Errorf("%v: the queue was\n%s\nand is\n%s", c.args, before, now)
		}
	}
	if got := submit(); !strings.Contains(got.Stderr, "The sweep is running, with 9 workers") {
		t.Errorf("after what was refused: %s", got.Stderr)
	}

	// Fewer: those that wait leave first. After a stop, all come with the options of last.
	if got := slurm("scale", "2", "--partition", "none", "--dir", "sweep"); got.Code != 1 || len(queue()) != 9 {
		t.Errorf("scale 2 with what is refused: exit code %d, %d in the queue\n%s", got.Code, len(queue()), got.Stderr)
	}
	if got := slurm("scale", "2", "--dir", "sweep"); got.Code != 0 || len(queue()) != 2 || strings.Contains(strings.Join(queue(), " "), "PENDING") {
		t.Errorf("scale 2: exit code %d, queue %v\n%s", got.Code, queue(), got.Stderr)
	}
	if got := slurm("stop", "--dir", "sweep"); got.Code != 0 || len(queue()) != 0 {
		t.Errorf("stop: exit code %d, queue %v\n%s", got.Code, queue(), got.Stderr)
	}
	if got := submit(); got.Code != 0 || len(queue()) != 2 {
		t.Errorf("after a stop: exit code %d, queue %v\n%s", got.Code, queue(), got.Stderr)
	}
	options := func(call string) string { // but for names and arrays
		return regexp.MustCompile(`--(job-name|array)=\S+`).ReplaceAllString(call, "")
	}
	if got, want := options(submitted()), options(last); got != want {
		t.Errorf("after a stop: submitted with\n%s\nnot\n%s", got, want)
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

// A submission that fails leaves nothing behind, and says what Slurm said and what to do.
func TestSlurmRefusals(t *testing.T) {
	for _, c := range []struct {
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
	} {
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

// Arrays fit the limits of the site; what is submitted can be scaled and stopped.
func TestSlurmArrays(t *testing.T) {
	dir := t.TempDir()
	harness.SlurmStubs(t, dir, `echo "$n;here"`, map[string]string{
		"scontrol": "echo 'MaxArraySize            = 11'",
		"sacctmgr": "echo 'lab|other|3'; echo 'lab|lab|27'",
		"squeue":   `case "$*" in *--user=*) echo 1; echo 2;; *) grep -q '^sbatch' ` + dir + `/calls && for i in 0 1 2 3; do echo "1_$i|foible-1|PENDING|Priority|"; done; echo "1_4|foible-1|RUNNING|None|n1";; esac`,
	})
	slurm := func(args ...string) harness.Call {
		return harness.Succeed(t, dir, append([]string{"cluster", "slurm"}, args...)...)
	}
	calls := func(name string) (found []string) {
		text, _ := os.ReadFile(filepath.Join(dir, "calls"))
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, name+" "); ok {
				found = append(found, strings.TrimSpace(rest))
			}
		}
		return found
	}
	sweep := []string{"submit", "block-words", "--models", "full", "--method", "sips", "--particles", "20", "--runs", "50"} // too long to end here
	submit := slices.Concat(sweep, []string{"--workers", "28", "--time", "60", "--mem", "1G", "--cpus-per-worker", "2", "--sbatch-option=--qos=long"})
	said := slurm(submit...)
	if !strings.Contains(said.Stderr, "(MaxSubmitJobs), and you have 2: 25 of 28 workers are submitted.") {
		t.Errorf("it said\n%s", said.Stderr)
	}
	var arrays []string
	for _, call := range calls("sbatch") {
		arrays = append(arrays, regexp.MustCompile(`--array=0-\d+`).FindString(call))
		for _, option := range []string{"--time=60", "--mem=1G", "--cpus-per-task=2", "--qos=long", "--requeue", "--signal=B:USR1@90"} {
			if !slices.Contains(strings.Fields(call), option) {
				t.Errorf("no %s: %s", option, call)
			}
		}
	}
	if want := []string{"--array=0-8", "--array=0-7", "--array=0-7"}; !slices.Equal(arrays, want) {
		t.Errorf("arrays %v, not %v", arrays, want)
	}

	for _, kind := range []string{"worker", "user"} {
		info, err := os.Stat(filepath.Join(dir, "foible-slurm-block-words-sample", "access", kind+".token"))
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("token of a %s: %v, %v", kind, info, err)
		}
	}

	slurm("scale", "3")
	if got := calls("scancel"); len(got) != 1 || got[0] != "1_0 1_1" { // of those that have not begun
		t.Errorf("scancel was called with %q", got)
	}
	if got := slurm("status").Stdout; !strings.Contains(got, "Slurm: 4 pending (Priority), 1 running, of 3 workers asked for\n") {
		t.Errorf("status says\n%s", got)
	}
	t.Cleanup(func() { harness.Do(t, dir, "cluster", "slurm", "stop") })
	other := harness.Do(t, dir, slices.Concat([]string{"cluster", "slurm"}, sweep, []string{"--seed", "1"})...)
	if other.Code != 1 || !strings.Contains(other.Stderr, "is of another sweep, block-words-sample-") {
		t.Errorf("another sweep in the same directory: exit code %d\n%s", other.Code, other.Stderr)
	}
	if again := slurm(append(sweep, "--workers", "5")...); !strings.Contains(again.Stderr, "The sweep is running, with 5 workers") {
		t.Errorf("the same again: it said\n%s", again.Stderr)
	}

	// A worker whose time is up goes back into the queue, but not for ever.
	worker := func(restarts string) *harness.Process {
		t.Helper()
		for name, value := range map[string]string{"SLURM_JOB_ID": "7", "SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "3", "SLURM_RESTART_COUNT": restarts} {
			t.Setenv(name, value)
		}
		w := harness.Start(t, dir, "cluster", "slurm", "worker", "--dir", "foible-slurm-block-words-sample")
		w.Says("connected")
		return w
	}
	for _, c := range []struct {
		restarts string
		signal   syscall.Signal
		code     int
		requeued bool
	}{{"", syscall.SIGUSR1, 0, true}, {"", syscall.SIGTERM, 0, false}, {"200", syscall.SIGUSR1, 1, false}} {
		before := len(calls("scontrol requeue"))
		w := worker(c.restarts)
		w.Signal(c.signal)
		if code := w.Wait(); code != c.code {
			t.Errorf("%+v: exit code %d\n%s", c, code, w.Stderr.String())
		}
		if requeued := calls("scontrol requeue")[before:]; c.requeued != slices.Equal(requeued, []string{"7_3"}) || len(requeued) > 1 {
			t.Errorf("%+v: requeued %q", c, requeued)
		}
	}
	stopped := worker("")

	// While they are connected, workers read nothing of the directory: only the coordinator looks at the state, once a second.
	for range 4 {
		worker("")
	}
	watched := filepath.Join(dir, "foible-slurm-block-words-sample")
	const seconds = 5
	if opened := opens(t, seconds*time.Second, filepath.Join(watched, "state")); opened > seconds+2 {
		t.Errorf("the state was opened %d times within %d s, by more than the coordinator", opened, seconds)
	}
	if opened := opens(t, seconds*time.Second, filepath.Join(watched, "address"), filepath.Join(watched, "slurm.json")); opened > 0 {
		t.Errorf("address and record were opened %d times", opened)
	}

	address, err := os.ReadFile(filepath.Join(dir, "foible-slurm-block-words-sample", "address"))
	if err != nil {
		t.Fatal(err)
	}
	slurm("stop")
	if conn, err := net.Dial("tcp", strings.TrimSpace(string(address))); err == nil {
		_ = conn.Close()
		t.Error("the coordinator still listens")
	}
	if code := stopped.Wait(); code != 0 || len(calls("scontrol requeue")) != 1 {
		t.Errorf("the worker that was stopped: exit code %d\n%s", code, stopped.Stderr.String())
	}
	if late := slurm("worker", "--dir", "foible-slurm-block-words-sample").Stderr; !strings.Contains(late, "nothing is left to do: state=stopped") {
		t.Errorf("a worker that comes late says\n%s", late)
	}
	if got := calls("scancel"); len(got) != 1+3+3 {
		t.Errorf("scancel was called with %q", got)
	}
	if got := harness.Do(t, dir, "cluster", "slurm", "scale", "9"); got.Code != 1 || !strings.Contains(got.Stderr, "has been stopped; `foible cluster slurm restart") {
		t.Errorf("scale after stop: exit code %d\n%s", got.Code, got.Stderr)
	}
}
