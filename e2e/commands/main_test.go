//go:build unix

package commands_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"foible.dev/foible/e2e/harness"
)

// wrongWays are commands that end with an error, of which nothing else is said. CLOSED is an address where nothing listens, OPEN one of a server that
// does not answer.
var wrongWays = []struct {
	args string // split at spaces; _ stands for one within an argument
	code int
	want string // of standard error
}{
	{"nonsense", 2, "there is no command \"nonsense\" (see `foible --help`)"},
	{"fitt", 2, "there is no command \"fitt\"; did you mean `foible fit`? (see `foible --help`)"},
	{"fit --nonsense", 2, "there is no flag --nonsense (see `foible fit --help`)"},
	{"fit -z", 2, "there is no flag -z (see `foible fit --help`)"},
	{"fit one two", 2, "unexpected argument \"two\": write `foible fit [STUDY]` (see `foible fit --help`)"},
	{"fit --web 127.0.0.1:7411", 2, "--web takes its address behind a =: write --web=127.0.0.1:7411 (see `foible fit --help`)"},
	{"fit --modle full", 2, "there is no flag --modle; did you mean --model? (see `foible fit --help`)"},
	{"fit -models full", 2, "there is no flag -models; did you mean --models? (see `foible fit --help`)"},
	{"infer --modles full", 2, "there is no flag --modles; did you mean --models? (see `foible infer --help`)"},
	{"fit nothing", 1, "there is no directory nothing: name one that holds study.yaml, or a sample: doors-keys-gems, block-words"},
	{"fit block-word", 1, "there is no directory block-word: name one that holds study.yaml, or a sample: doors-keys-gems, block-words; did you mean \"block-words\"?"},
	{"fit a_file/study", 1, "cannot read the study 'a file/study': not a directory"},
	{"fit a_file", 1, "'a file' is a file: name the directory that holds study.yaml"},
	{"fit .", 1, "the directory . holds no study.yaml; `foible sample DIR` writes a study to start from"},
	{"fit --models nonsense", 2, "--models: unknown model \"nonsense\"; it can be full, goal-lesioned, plan-lesioned, action-lesioned, boltzmann (see `foible fit --help`)"},
	{"fit --model bolzmann", 2, "--models: unknown model \"bolzmann\"; it can be full, goal-lesioned, plan-lesioned, action-lesioned, boltzmann; did you mean \"boltzmann\"? (see `foible fit --help`)"},
	{"fit --set alhpa=1", 2, "--set \"alhpa=1\": unknown axis \"alhpa\"; it can be goal_noise, budget_r, budget_q, search_noise, action_noise, alpha, value, unreachable_value; did you mean \"alpha\"? (see `foible fit --help`)"},
	{"fit --method sip", 2, "--method \"sip\": it can be marginal, sips; did you mean \"sips\"? (see `foible fit --help`)"},
	{"fit --set alpha", 2, "--set \"alpha\": write it as axis=value or axis=value,value (see `foible fit --help`)"},
	{"fit --set beta=1", 2, "--set \"beta=1\": unknown axis \"beta\"; it can be goal_noise, budget_r, budget_q, search_noise, action_noise, alpha, value, unreachable_value (see `foible fit --help`)"},
	{"fit --set alpha=a", 2, "--set \"alpha=a\": \"a\" is not a number (see `foible fit --help`)"},
	{"fit --models full --set alpha=1", 2, "--set \"alpha=1\": none of the sweep's models has the axis alpha (see `foible fit --help`)"},
	{"fit --particles -1", 2, "--particles -1: must be 1 to 10000000 (see `foible fit --help`)"},
	{"fit --preset best", 2, "--preset \"best\": it can be published (see `foible fit --help`)"},
	{"fit --sweep nothing.yaml", 1, "--sweep nothing.yaml: no such file or directory"},
	{"fit --sweep sweep.yaml", 1, "sweep.yaml:1:29: alpha is the text \"1\"; write the number without quotes"},
	{"fit --workers -1", 2, "--workers -1: must be 1 to 1024 (see `foible fit --help`)"},
	{"fit --workers 0", 2, "--workers 0: must be at least 1; without the flag it is the default (see `foible fit --help`)"},
	{"estimate --runs 0", 2, "--runs 0: must be at least 1; without the flag it is the default (see `foible estimate --help`)"},
	{"fit --mc-se 0", 2, "--mc-se 0: must be above 0; without the flag it is the default (see `foible fit --help`)"},
	{"worker --slots 0", 2, "--slots 0: must be at least 1; without the flag it is the default (see `foible worker --help`)"},
	{"fit --workers two", 2, "--workers \"two\": must be a whole number (see `foible fit --help`)"},
	{"fit --out a_file", 1, "cannot write to the directory 'a file': not a directory; name another with --out"},
	{"fit --log-level loud", 2, "--log-level \"loud\": it can be trace, debug, info, warn, error (see `foible fit --help`)"},
	{"infer", 2, "name a study and a stimulus, as in `foible infer STUDY STIMULUS`; the samples are doors-keys-gems, block-words (see `foible infer --help`)"},
	{"infer doors-keys-gems", 2, "name a stimulus of doors-keys-gems-sample: 1-1, 1-2, 2-1, 2-2, 3-1, 3-2, 4-1, 4-2 (see `foible infer --help`)"},
	{"infer doors-keys-gems 1-1 again", 2, "unexpected argument \"again\": write `foible infer STUDY STIMULUS` (see `foible infer --help`)"},
	{"infer doors-keys-gems 1-1 --resample-threshold low", 2, "--resample-threshold \"low\": must be a number (see `foible infer --help`)"},
	{"recover one two", 2, "unexpected argument \"two\": write `foible recover [STUDY]` (see `foible recover --help`)"},
	{"recover --plans mine", 2, "--plans \"mine\": it can be simulated, study (see `foible recover --help`)"},
	{"recover --plans study --trajectories 3", 2, "--trajectories are of simulated plans: leave them out, or --plans study (see `foible recover --help`)"},
	{"recover --participants 5,few", 2, "--participants \"5,few\": must be whole numbers, as in 5,20 (see `foible recover --help`)"},
	{"recover --participants 5,0", 2, "--participants 0: must be 1 to 10000 (see `foible recover --help`)"},
	{"recover --concentration 0", 2, "--concentration 0: must be above 0, and at most 1e+06 (see `foible recover --help`)"},
	{"recover --coordinator a:1", 2, "--coordinator is of a coordinator elsewhere: say --submit too, to give it the work (see `foible recover --help`)"},
	{"recover --submit --workers 2", 2, "--workers are those of this process; with --submit, those of the coordinator do the work (see `foible recover --help`)"},
	{"recover --out a_file", 1, "cannot write to the directory 'a file': not a directory; name another with --out"},
	{"recover --token-file user.token --submit --coordinator CLOSED", 1, "no coordinator answers at CLOSED; start one with `foible coordinator --listen CLOSED`, or say where it is with --coordinator"},
	{"simulate doors-keys-gems 1-1 --goal gem4", 2, "--goal \"gem4\": stimulus 1-1 has the goals gem1, gem2, gem3 (see `foible simulate --help`)"},
	{"simulate doors-keys-gems 1-1 --goal gme1", 2, "--goal \"gme1\": stimulus 1-1 has the goals gem1, gem2, gem3; did you mean \"gem1\"? (see `foible simulate --help`)"},
	{"infer doors-keys-gems 01-1", 1, "doors-keys-gems-sample has no stimulus \"01-1\"; it has 1-1, 1-2, 2-1, 2-2, 3-1, 3-2, 4-1, 4-2; did you mean \"1-1\"?"},
	{"simulate doors-keys-gems 1-1 --out a_file", 1, "cannot write to the directory 'a file': not a directory; name another with --out"},
	{"sample", 2, "name the directory to write, as in `foible sample DIR` (see `foible sample --help`)"},
	{"sample broken", 1, "broken is not empty; name a new directory"},
	{"sample a_file", 1, "cannot write to 'a file': not a directory; name a new directory"},
	{"sample new --domain chess", 2, "--domain \"chess\": it can be doors-keys-gems, block-words (see `foible sample --help`)"},
	{"coordinator --insecure --listen 0.0.0.0:1", 2, "--listen \"0.0.0.0:1\": --insecure is for addresses of one machine, such as 127.0.0.1:7410; leave it out (see `foible coordinator --help`)"},
	{"coordinator --tls-cert site.crt", 2, "--tls-cert and --tls-key belong together; name both files (see `foible coordinator --help`)"},
	{"coordinator --tls-cert nothing --tls-key nothing", 1, "--tls-cert and --tls-key: open nothing: no such file or directory; name the files, in PEM, of a certificate and of its key"},
	{"coordinator --insecure --tls-cert site.crt --tls-key site.key", 2, "--insecure is without certificates; leave it or --tls-cert out (see `foible coordinator --help`)"},
	{"coordinator --data a_file", 1, "cannot write to the directory 'a file': not a directory; name another with --data"},
	{"coordinator --nats-login login", 2, "flags that begin with --nats- are about the servers of --nats; name these (see `foible coordinator --help`)"},
	{"coordinator --nats http://a:1", 2, "--nats \"http://a:1\": write it as nats://host:4222 or tls://host:4222 (see `foible coordinator --help`)"},
	{"coordinator --nats nats://me:secret@a:4222", 2, "--nats: what stands on a command line can be seen by all; write name and password into a file, and name that with --nats-login (see `foible coordinator --help`)"},
	{"coordinator --nats a:4222 --nats-creds x --nats-login y", 2, "--nats-creds and --nats-login are two ways to log in; leave one out (see `foible coordinator --help`)"},
	{"coordinator --nats a:4222 --nats-cert x", 2, "--nats-cert and --nats-key belong together; name both files (see `foible coordinator --help`)"},
	{"coordinator --nats a:4222 --nats-ca nothing", 1, "--nats-ca nothing: no such file or directory; name a file of certificates in PEM"},
	{"coordinator --nats a:4222 --nats-login nothing", 1, "--nats-login nothing: no such file or directory; name the file with what the NATS servers ask for"},
	{"worker --coordinator 127.0.0.1:7410,nonsense", 2, "--coordinator \"nonsense\": write it as host:port, e.g. 127.0.0.1:7410 (see `foible worker --help`)"},
	{"coordinator --job-deadline 1ms", 2, "--job-deadline 1ms: must be at least 1s, or 0 for one by what jobs take (see `foible coordinator --help`)"},
	{"coordinator --lease soon", 2, "--lease \"soon\": must be a time such as 30s or 5m (see `foible coordinator --help`)"},
	{"worker --coordinator nonsense", 2, "--coordinator \"nonsense\": write it as host:port, e.g. 127.0.0.1:7410 (see `foible worker --help`)"},
	{"worker --insecure --coordinator example.org:7410", 2, "--coordinator \"example.org:7410\": --insecure is for addresses of one machine, such as 127.0.0.1:7410; leave it out (see `foible worker --help`)"},
	{"worker --coordinator CLOSED", 1, "no coordinator answers at CLOSED; start one with `foible coordinator --listen CLOSED`, or say where it is with --coordinator"},
	{"worker --coordinator OPEN", 1, "no token for the coordinator at OPEN; where it runs, `foible token show worker` prints one: name a file with that, or the coordinator's data directory, with --token-file"},
	{"worker --token-file a_file", 1, "--token-file 'a file': it is not a token, which is foible-worker-SECRET-HASH or foible-user-SECRET-HASH; `foible token show worker` or `foible token show user` prints one where the coordinator runs; name the file that holds the token, or the coordinator's data directory"},
	{"worker --token-file user.token", 1, "the token in user.token is for a user, and this is a command for a worker; `foible token show worker` prints the right one where the coordinator runs"},
	{"status --token-file user.token --tls-ca a_file", 1, "--tls-ca 'a file': it holds no certificate in PEM; name a file of certificates in PEM, or say `system` for those that this machine trusts"},
	{"status --token=foible-user-secret", 2, "there is no flag --token; did you mean --token-file? (see `foible status --help`)"},
	{"token nonsense", 2, "there is no command \"nonsense\" (see `foible token --help`)"},
	{"token lst", 2, "there is no command \"lst\"; did you mean `foible token list`? (see `foible token --help`)"},
	{"token show", 2, "say who it is for, as in `foible token show worker|user` (see `foible token show --help`)"},
	{"token show root", 2, "there are no tokens for \"root\"; they are for a worker or a user (see `foible token show --help`)"},
	{"token show user", 1, "the directory foible-data has no tokens; a coordinator makes them when it first starts there: name its directory with --data"},
	{"token create worker --read-only", 2, "--read-only is for tokens of users (see `foible token create --help`)"},
	{"token rotate worker user", 2, "unexpected argument \"user\": write `foible token rotate worker|user` (see `foible token rotate --help`)"},
	{"docs mcse", 2, "there is no key, column or file \"mcse\"; did you mean \"mc_se\"?; `foible docs` lists the files (see `foible docs --help`)"},
	{"docs a b", 2, "unexpected argument \"b\": write `foible docs [FIELD]` (see `foible docs --help`)"},
	{"results", 2, "name a sweep of those that `foible list` lists, as in `foible results SWEEP` (see `foible results --help`)"},
	{"report a", 2, "name the output directories of two sweeps or more (see `foible report --help`)"},
	{"report a b", 1, "there is no a: name output directories of `foible fit` or `foible results`; `foible results SWEEP --out DIR` writes one"},
	{"pause", 2, "name a sweep of those that `foible list` lists, as in `foible pause SWEEP` (see `foible pause --help`)"},
	{"extend a", 2, "say which values to add with --set axis=value,value (see `foible extend --help`)"},
	{"priority a", 2, "name a sweep and its priority, as in `foible priority SWEEP N` (see `foible priority --help`)"},
	{"priority a high", 2, "priority \"high\": must be a whole number from 1 to 1000 (see `foible priority --help`)"},
	{"submit --priority -1", 2, "--priority -1: must be 1 to 1000 (see `foible submit --help`)"},
	{"status --token-file user.token --coordinator CLOSED", 1, "no coordinator answers at CLOSED; start one with `foible coordinator --listen CLOSED`, or say where it is with --coordinator"},
	{"submit --token-file user.token --coordinator CLOSED", 1, "no coordinator answers at CLOSED; start one with `foible coordinator --listen CLOSED`, or say where it is with --coordinator"},
}

// Every message is one line that says what is wrong and what to do.
func TestWrongWays(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"worker.token": "foible-worker-" + harness.MadeUpToken, "user.token": "foible-user-" + harness.MadeUpToken,
		"a file": "not a study", "sweep.yaml": "models: {boltzmann: {alpha: \"1\"}}\n", "broken/study.yaml": "name: broken\ndomain: chess\nstimulli: stimuli.csv\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string]string{
		"status": "no coordinator answers at ", "worker": "no coordinator answers at ", "status --insecure": "no coordinator without encryption answers at ",
	} {
		closed := harness.FreeAddress(t)
		if got := harness.Do(t, dir, append(strings.Fields(args), "--coordinator", closed)...); got.Code != 1 || !strings.HasPrefix(got.Stderr, "foible: "+want+closed) {
			t.Errorf("foible %s: %d %s", args, got.Code, got.Stderr)
		}
	}
	closed := harness.FreeAddress(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	addresses := strings.NewReplacer("CLOSED", closed, "OPEN", listener.Addr().String())
	for _, c := range wrongWays {
		args := strings.Split(addresses.Replace(c.args), " ")
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "_", " ")
		}
		got := harness.Do(t, dir, args...)
		if want := "foible: " + addresses.Replace(c.want) + "\n"; got.Stderr != want || got.Code != c.code || got.Stdout != "" {
			t.Errorf("foible %s:\ngot  %d %s%s\nwant %d %s", c.args, got.Code, got.Stdout, got.Stderr, c.code, want)
		}
	}

	t.Run("check says everything", func(t *testing.T) {
		got := harness.Do(t, dir, "check", "broken", "--sweep", "sweep.yaml")
		if got.Code != 1 || got.Stderr != "" {
			t.Errorf("exit code %d, standard error %q", got.Code, got.Stderr)
		}
		for _, want := range []string{"study.yaml:3:1: error: unknown key \"stimulli\"", "sweep.yaml:1:29: ", "2 errors, 0 warnings, 1 note"} {
			if !strings.Contains(got.Stdout, want) {
				t.Errorf("it does not say %q:\n%s", want, got.Stdout)
			}
		}
	})
	t.Run("a worker without a coordinator", func(t *testing.T) {
		w := harness.Start(t, dir, "worker", "--token-file", "worker.token", "--coordinator", closed)
		w.Says("no coordinator answers; trying until one does")
		time.Sleep(time.Second)
		if lines := strings.Count(w.Stderr.String(), "\n"); lines != 1 {
			t.Errorf("it says so in %d lines:\n%s", lines, w.Stderr.String())
		}
		w.Signal(syscall.SIGTERM)
		if code := w.Wait(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
}

// What a sample says to do can be done, also where a path has to be quoted.
func TestSample(t *testing.T) {
	dir := t.TempDir()
	said := harness.Succeed(t, dir, "sample", "my study", "--domain", "block-words").Stdout
	if !strings.Contains(said, "`foible fit 'my study'`") {
		t.Errorf("it said %q", said)
	}
	if got := harness.Succeed(t, dir, "check", "my study").Stdout; !strings.Contains(got, "\n0 errors, 0 warnings, ") {
		t.Errorf("check said %q", got)
	}
	fit := []string{"fit", "my study", "--models", "boltzmann,plan-lesioned", "--set", "alpha=1", "--set", "action_noise=0.1", "--method", "sips", "--particles", "5", "--runs", "2", "--out", "my fit"}
	first := harness.Succeed(t, dir, fit...)
	again := harness.Succeed(t, dir, fit...)
	if !strings.Contains(again.Stderr, "has been fitted before") || again.Stdout != first.Stdout {
		t.Errorf("the second time it said\n%s%s", again.Stderr, again.Stdout)
	}
	for _, want := range []string{"\nplan-lesioned  #", "\nboltzmann      #3 alpha=1 ", "Wrote tables and figures to 'my fit'"} {
		if !strings.Contains(first.Stdout, want) {
			t.Errorf("it did not say %q:\n%s", want, first.Stdout)
		}
	}

	// The domain that was written is the one that is used.
	if err := os.WriteFile(filepath.Join(dir, "my study", "domain.pddl"), []byte("(define (domain d)"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := harness.Do(t, dir, "check", "my study"); got.Code != 1 || !strings.Contains(got.Stdout, "domain.pddl:1:1: error: ") {
		t.Errorf("check of a broken domain: exit code %d\n%s", got.Code, got.Stdout)
	}
}

// --model and --models are one flag, also twice, and --version is `foible version`.
func TestNamesOfFlags(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"check", "--models", "boltzmann"},
		{"check", "--model", "boltzmann"},
		{"infer", "doors-keys-gems", "1-1", "--models", "boltzmann", "--out", "i"},
		{"infer", "doors-keys-gems", "1-1", "--model", "boltzmann", "--out", "i"},
		{"simulate", "doors-keys-gems", "1-1", "--models", "boltzmann", "--n", "1", "--out", "s"},
	} {
		got := harness.Succeed(t, dir, args...).Stdout
		if args[0] != "check" && strings.Contains(got, "full") {
			t.Errorf("foible %s took another model:\n%s", strings.Join(args, " "), got)
		}
		if args[0] == "check" && !strings.Contains(got, "exact inference") {
			t.Errorf("foible %s:\n%s", strings.Join(args, " "), got)
		}
	}
	if help := harness.Succeed(t, dir, "fit", "--help").Stdout; !strings.Contains(help, "--models ") || strings.Contains(help, "--model ") {
		t.Errorf("the help has both names:\n%s", help)
	}
	if got, want := harness.Succeed(t, dir, "--version").Stdout, harness.Succeed(t, dir, "version").Stdout; got != want {
		t.Errorf("--version prints %q, version %q", got, want)
	}
}

// A directory that cannot be read is not taken for one without a study.
func TestPermissionDenied(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("the superuser may read everything")
	}
	dir := t.TempDir()
	harness.Succeed(t, dir, "sample", "locked")
	if err := os.Chmod(filepath.Join(dir, "locked"), 0o000); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(filepath.Join(dir, "locked"), 0o755) }()
	if got := harness.Do(t, dir, "check", "locked"); got.Code != 1 || got.Stderr != "foible: cannot read locked/study.yaml: permission denied\n" {
		t.Errorf("check: %d %s", got.Code, got.Stderr)
	}
}
