//go:build linux

package deployment_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
	"golang.org/x/sys/unix"

	"foible.dev/foible/e2e/harness"
)

// manifest is what the tests read of a Deployment or a StatefulSet.
type manifest struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		Template struct {
			Metadata struct{ Annotations map[string]string }
			Spec     struct{ Containers []container }
		}
	}
}

type container struct {
	Name  string
	Args  []string
	Env   []struct{ Name, Value string }
	Ports []struct {
		Name          string
		ContainerPort string `yaml:"containerPort"`
	}
}

// readManifest finds the Deployment or StatefulSet in a file, and its first container.
func readManifest(t *testing.T, path string) (*manifest, *container) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for documents := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var m manifest
		err := documents.Decode(&m)
		if errors.Is(err, io.EOF) {
			t.Fatalf("%s has neither a Deployment nor a StatefulSet", path)
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if m.Kind == "Deployment" || m.Kind == "StatefulSet" {
			return &m, &m.Spec.Template.Spec.Containers[0]
		}
	}
}

func (c *container) port(name string) string {
	for _, p := range c.Ports {
		if p.Name == name {
			return p.ContainerPort
		}
	}
	return ""
}

// flag is the value of a flag among the arguments.
func (c *container) flag(name string) string {
	for _, arg := range c.Args {
		if value, ok := strings.CutPrefix(arg, "--"+name+"="); ok {
			return value
		}
	}
	return ""
}

// get fetches a page from within a host.
func getOn(ctx context.Context, h harness.Host, url string) (code int, body string, err error) {
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		return dialOn(ctx, h, network, address)
	}}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	answer, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), err
}

// dial makes a connection from within a host.
func dialOn(ctx context.Context, h harness.Host, network, address string) (conn net.Conn, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread, which is in another namespace, ends with the goroutine
		var namespace *os.File
		if namespace, err = os.Open(filepath.Join("/run/netns", string(h))); err != nil {
			return
		}
		defer namespace.Close()
		if err = unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET); err != nil {
			return
		}
		conn, err = new(net.Dialer).DialContext(ctx, network, address)
	}()
	<-done
	return conn, err
}

// A coordinator with the arguments of the manifest serves the dashboard and its metrics at the ports that the manifest
// and the documentation name.
func TestManifestPorts(t *testing.T) {
	m, c := readManifest(t, "deploy/kubernetes/base/coordinator.yaml")
	_, withNATS := readManifest(t, "deploy/kubernetes/nats/coordinator.yaml")
	w, worker := readManifest(t, "deploy/kubernetes/base/worker.yaml")
	for _, flag := range []string{"listen", "web", "metrics"} {
		if a, b := c.flag(flag), withNATS.flag(flag); a != b || a == "" {
			t.Errorf("--%s is %q, and with NATS servers %q", flag, a, b)
		}
	}
	for name, pod := range map[string]struct {
		m *manifest
		c *container
	}{"coordinator": {m, c}, "worker": {w, worker}} {
		if announced := pod.m.Spec.Template.Metadata.Annotations["prometheus.io/port"]; announced != pod.c.port("metrics") || ":"+announced != pod.c.flag("metrics") {
			t.Errorf("%s: Prometheus is told port %s, the container's port is %s, and the program's --metrics %s", name, announced, pod.c.port("metrics"), pod.c.flag("metrics"))
		}
	}
	page, err := os.ReadFile(clusterPage)
	if err != nil {
		t.Fatal(err)
	}
	forwarded := regexp.MustCompile(`port-forward (service|statefulset)/foible-coordinator (\d+)`).FindAllStringSubmatch(string(page), -1)
	if len(forwarded) != 2 || forwarded[0][2] != "7410" {
		t.Fatalf("%s forwards %q, not the coordinator and then the dashboard", clusterPage, forwarded)
	}

	dir, h := t.TempDir(), harness.NewNetwork(t).Hub
	args := slices.Clone(c.Args)
	args[slices.Index(args, "--data=/data")] = "--data=" + filepath.Join(dir, "data") // where the volume is mounted
	h.Start(t, dir, args...).Says(`listening`)
	code, body, err := getOn(t.Context(), h, "http://127.0.0.1:"+forwarded[1][2]+"/")
	if err != nil || code != http.StatusOK || !strings.Contains(body, "Log in") {
		t.Errorf("the dashboard through port %s: %v, %d\n%s", forwarded[1][2], err, code, body)
	}
	code, body, err = getOn(t.Context(), h, "http://127.0.0.1:"+c.port("metrics")+"/metrics")
	if err != nil || code != http.StatusOK || !strings.Contains(body, "\nfoible_") {
		t.Errorf("metrics through port %s: %v, %d\n%s", c.port("metrics"), err, code, body)
	}
	h.Succeed(t, dir, "list", "--coordinator", "127.0.0.1:"+forwarded[0][2], "--token-file", "data")
}

// clusterPage has the commands for clusters.
const clusterPage = "docs/cluster.md"

// documents are those that have commands to be copied.
func documents(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("there are no pages in docs: %v", err)
	}
	return append([]string{"README.md", "deploy/README.md", "deploy/compose.yaml"}, pages...)
}

// documented are the calls of foible in a document: lines of indented blocks, and what stands between backticks.
func documented(t *testing.T, path string) [][]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var commands [][]string
	add := func(command string) {
		fields := shellWords(command)
		if len(fields) > 3 && fields[0] == "sudo" && fields[1] == "-u" { // and the user's name
			fields = fields[3:]
		}
		if len(fields) > 1 && fields[0] == "foible" {
			commands = append(commands, fields)
		}
	}
	for line := range strings.Lines(string(text)) {
		if command, ok := strings.CutPrefix(line, "    "); ok && strings.Contains(command, "foible ") && filepath.Ext(path) == ".md" {
			for part := range strings.SplitSeq(command, "&&") {
				add(part)
			}
		}
	}
	for _, m := range regexp.MustCompile("`(foible [^`]*)`").FindAllStringSubmatch(string(text), -1) {
		add(m[1])
	}
	return commands
}

// shellWords are the words of a command up to a comment, a redirection, a pipe or an ampersand.
func shellWords(command string) []string {
	var found []string
	for _, m := range regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`).FindAllString(command, -1) {
		if strings.ContainsAny(m[:1], "#>|&;") {
			break
		}
		found = append(found, strings.NewReplacer("'", "", `"`, "").Replace(m))
	}
	return found
}

// Every command in the documents is one that the program has, with flags that it has, and addresses that are each what
// the program takes for that purpose.
func TestDocumentedCommands(t *testing.T) {
	ports := map[string][]string{"--listen": {"7410"}, "--web": {"7411"}, "--metrics": {"7412", "7413"}}
	checked := 0
	for _, path := range documents(t) {
		for _, command := range documented(t, path) {
			checked++
			said := harness.Do(t, t.TempDir(), append(slices.Clone(command[1:]), "--help")...)
			if said.Code != 0 {
				t.Errorf("%s: %s: %s", path, strings.Join(command, " "), said.Stderr)
				continue
			}
			usage := regexp.MustCompile(`(?m)^Usage:\n  (foible(?: [a-z]+)*)`).FindStringSubmatch(said.Stdout)
			if usage == nil {
				t.Errorf("%s: %s: its help has no usage:\n%s", path, strings.Join(command, " "), said.Stdout)
				continue
			}
			rest := command[min(len(strings.Fields(usage[1])), len(command)):]
			if strings.Contains(said.Stdout, " [command]\n") && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
				t.Errorf("%s: %s: there is no such command", path, strings.Join(command, " "))
			}
			for i, word := range command {
				flag, value, joined := strings.Cut(word, "=")
				if !joined && i+1 < len(command) {
					value = command[i+1]
				}
				if _, port, err := net.SplitHostPort(value); err == nil && ports[flag] != nil && !slices.Contains(ports[flag], port) {
					t.Errorf("%s: %s: port %s is not for %s", path, strings.Join(command, " "), port, flag)
				}
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d commands were found", checked)
	}
	t.Logf("%d commands", checked)
	for _, command := range []string{"coordinator", "worker"} {
		help := harness.Succeed(t, t.TempDir(), command, "--help").Stdout
		if m := regexp.MustCompile(`--metrics host:port .*127\.0\.0\.1:(\d+)`).FindStringSubmatch(help); m == nil || m[1] != "7412" {
			t.Errorf("help of %s proposes %q for the metrics", command, m)
		}
	}
}

// Each of a coordinator's addresses is its own: one that is named twice, or is taken and was asked for, is an error.
func TestDistinctAddresses(t *testing.T) {
	dir := t.TempDir()
	for args, want := range map[string]string{
		"--metrics 127.0.0.1:7411":                                     "--web 127.0.0.1:7411 and --metrics 127.0.0.1:7411 are the same address",
		"--metrics :7411 --metrics-public":                             "--web 127.0.0.1:7411 and --metrics :7411 are the same address",
		"--metrics localhost:7500 --web 127.0.0.1:7500":                "--web 127.0.0.1:7500 and --metrics localhost:7500 are the same address",
		"--listen 0.0.0.0:7500 --web 127.0.0.1:7500":                   "--listen 0.0.0.0:7500 and --web 127.0.0.1:7500 are the same address",
		"--listen 127.0.0.1:7500 --metrics 127.0.0.1:7500 --web off":   "--listen 127.0.0.1:7500 and --metrics 127.0.0.1:7500 are the same address",
		"--listen [::1]:7500 --metrics [::]:7500 --metrics-public":     "--listen [::1]:7500 and --metrics [::]:7500 are the same address",
		"--listen 10.0.0.1:7500 --web HOST:7500 --metrics host:7500":   "--web HOST:7500 and --metrics host:7500 are the same address",
		"--listen 127.0.0.1:7411":                                      "--listen 127.0.0.1:7411 and --web 127.0.0.1:7411 are the same address",
		"--web 7411":                                                   `--web "7411": write it as host:port, e.g. 127.0.0.1:7411`,
		"--listen 7410":                                                `--listen "7410": write it as host:port, e.g. 127.0.0.1:7410`,
		"--insecure --web :7411":                                       `--web ":7411": --insecure is for addresses of one machine, such as 127.0.0.1:7411;`,
		"--listen 127.0.0.1:0 --web 127.0.0.1:7411 --metrics 127.1:99": `--metrics "127.1:99": who reaches that address`,
	} {
		got := harness.Do(t, dir, append([]string{"coordinator"}, strings.Fields(args)...)...)
		if got.Code != 2 || !strings.HasPrefix(got.Stderr, "foible: "+want) {
			t.Errorf("foible coordinator %s: exit code %d\n%s", args, got.Code, got.Stderr)
		}
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	at := taken.Addr().String()
	for flag, args := range map[string][]string{
		"--web":     {"--listen", "127.0.0.1:0", "--web", at},
		"--metrics": {"--listen", "127.0.0.1:0", "--web", "127.0.0.1:0", "--metrics", at},
		"--listen":  {"--listen", at, "--web", "127.0.0.1:0"},
	} {
		got := harness.Do(t, dir, append([]string{"coordinator"}, args...)...)
		if got.Code != 1 || !strings.Contains(got.Stderr, "the address "+at+" is taken") || !strings.Contains(got.Stderr, flag) {
			t.Errorf("%s %s: exit code %d\n%s", flag, at, got.Code, got.Stderr)
		}
	}
}

// No document writes a token to a file by the shell, which others could read then.
func TestTokensAreNotRedirected(t *testing.T) {
	for _, path := range append(documents(t), "deploy/kubernetes/e2e.sh", "deploy/Dockerfile") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if regexp.MustCompile(`(token (show|create|rotate)|--secrets)[^>]*>\s*[^/&\s"]`).MatchString(line) {
				t.Errorf("%s: %s", path, line)
			}
		}
	}
}

// Every file and directory of deploy that a document names is there.
func TestDocumentedFiles(t *testing.T) {
	named := regexp.MustCompile(`deploy/[A-Za-z0-9_/.@*-]*[A-Za-z0-9]|\]\([a-z][A-Za-z0-9_/.-]*\)`)
	for _, path := range documents(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range named.FindAllString(string(text), -1) {
			if link, ok := strings.CutPrefix(name, "]("); ok {
				name = filepath.Join(filepath.Dir(path), strings.TrimSuffix(link, ")"))
			}
			if found, err := filepath.Glob(name); err != nil || len(found) == 0 {
				t.Errorf("%s names %s, which is not there", path, name)
			}
		}
	}
}

// block is the indented block of the page on clusters below a heading.
func block(t *testing.T, heading string) string {
	t.Helper()
	text, err := os.ReadFile(clusterPage)
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("%s has no %s", clusterPage, heading)
	}
	var lines []string
	for line := range strings.Lines(after) {
		if command, ok := strings.CutPrefix(line, "    "); ok {
			lines = append(lines, command)
		} else if len(lines) > 0 {
			break
		}
	}
	return strings.Join(lines, "")
}

// The commands of the page on clusters for Slurm and Kubernetes work as they stand there, one after the other, in an empty
// directory. Slurm, kubectl and docker are made up; for Kubernetes, a coordinator runs where the forwarded port leads.
func TestDocumentedCommandsWork(t *testing.T) {
	n := harness.NewNetwork(t)
	dir := t.TempDir()
	harness.SlurmQueue(t, dir)
	for name, script := range map[string]string{"kubectl": "cat >/dev/null", "docker": ""} {
		if err := os.WriteFile(filepath.Join(dir, "bin", name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", filepath.Dir(harness.Foible)+":"+os.Getenv("PATH"))
	h := n.Hub
	shell := func(text string) {
		t.Helper()
		cmd := h.Command("bash", "-e", "-c", text)
		cmd.Dir = dir
		cmd.Env = slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "FOIBLE_") })
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s\n%v\n%s", text, err, out)
		}
	}
	shell("foible sample my-study")
	t.Cleanup(func() { h.Do(t, dir, "cluster", "slurm", "stop", "--dir", "my-sweep") })
	shell(block(t, "Slurm"))
	if found, err := filepath.Glob(filepath.Join(dir, "my-sweep", "address")); err != nil || len(found) == 0 {
		t.Error("there is no my-sweep/address")
	}
	page, err := os.ReadFile(clusterPage)
	if err != nil {
		t.Fatal(err)
	}
	flags := regexp.MustCompile("`(--coordinator-file \\S+ --token-file [^`]+)`").FindStringSubmatch(string(page))
	if flags == nil {
		t.Fatal(clusterPage + " does not say how other commands find a sweep under Slurm")
	}
	shell("foible status " + flags[1])

	// apply makes the directory; the coordinator then has what the pod has.
	commands := strings.SplitAfter(block(t, "Kubernetes"), "\n")
	submit := slices.IndexFunc(commands, func(line string) bool { return strings.HasPrefix(line, "foible submit") })
	shell(strings.Join(commands[:submit], ""))
	_, c := readManifest(t, "deploy/kubernetes/base/coordinator.yaml")
	args := slices.Clone(c.Args)
	args[slices.Index(args, "--data=/data")] = "--data=foible-kubernetes"
	h.Start(t, dir, args...).Says("listening")
	shell(strings.Join(commands[submit:], ""))
}
