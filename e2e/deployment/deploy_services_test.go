//go:build linux

package deployment_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"foible.dev/foible/e2e/harness"
)

// resolve makes names known on a host.
func resolveOn(t *testing.T, h harness.Host, names map[string]string) {
	t.Helper()
	dir := filepath.Join("/etc/netns", string(h)) // what is in it takes the place of what is in /etc
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = os.RemoveAll(dir)
		_ = os.Remove("/etc/netns") // if there is no other
	})
	hosts := "127.0.0.1 localhost\n"
	for name, address := range names {
		hosts += address + " " + name + "\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "hosts"), []byte(hosts), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The services of compose.yaml, one process each, find each other, and workers have their token alone.
func TestCompose(t *testing.T) {
	text, err := os.ReadFile("deploy/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var compose struct {
		Services map[string]struct {
			Command     []string
			Environment map[string]string
			Volumes     []string
		}
	}
	if err := yaml.Unmarshal(text, &compose); err != nil {
		t.Fatal(err)
	}
	if got := compose.Services["worker"].Volumes; !slices.Equal(got, []string{"token:/token:ro"}) {
		t.Errorf("a worker has the volumes %v", got)
	}
	for name, s := range compose.Services {
		if name != "coordinator" && slices.Contains(s.Volumes, "data:/data") {
			t.Errorf("%s can write to the coordinator's volume", name)
		}
	}

	h, dir := harness.NewNetwork(t).Hub, t.TempDir()
	resolveOn(t, h, map[string]string{"coordinator": "127.0.0.1"})
	for _, volume := range []string{"data", "token"} {
		if err := os.Mkdir(filepath.Join(dir, volume), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	mounted := strings.NewReplacer("=/data", "="+filepath.Join(dir, "data"), "=/token", "="+filepath.Join(dir, "token"))
	// command is what a service runs, with its environment, where volumes are directories.
	command := func(name string) (args []string) {
		s := compose.Services[name]
		for key, value := range s.Environment {
			args = append(args, mounted.Replace(key+"="+value))
		}
		for _, arg := range s.Command {
			args = append(args, mounted.Replace(arg))
		}
		return args
	}
	h.Start(t, dir, command("coordinator")...).Says("listening")
	h.Succeed(t, dir, command("worker-token")...)
	entries, err := os.ReadDir(filepath.Join(dir, "token"))
	if err != nil || len(entries) != 1 || len(harness.Exposed(t, filepath.Join(dir, "token"))) > 0 {
		t.Errorf("a worker's volume has %v, of which others can read %v", entries, harness.Exposed(t, filepath.Join(dir, "token")))
	}
	h.Start(t, dir, command("worker")...).Says("connected")
	h.Succeed(t, dir, command("worker-token")...) // again, as after a rotation
}

// The NATS servers of the manifests, three processes with the certificate that Foible makes, speak TLS to each other and to
// the coordinator, and to nobody without it.
func TestNATSOfKubernetesSpeaksTLS(t *testing.T) {
	h, dir := harness.NewNetwork(t).Hub, t.TempDir()
	names := map[string]string{}
	for i := range 3 {
		names[fmt.Sprintf("foible-nats-%d.foible-nats", i)] = fmt.Sprintf("127.0.0.%d", 11+i)
	}
	resolveOn(t, h, names)
	if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bin", "kubectl"), []byte("#!/bin/sh\necho 'kind: Nothing'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	harness.Succeed(t, dir, "cluster", "kubernetes", "render", "--image", "foible:1", "--nats", "--secrets", "--out", "manifests.yaml")
	secret := secretOf(t, filepath.Join(dir, "manifests.yaml"), "foible-nats")
	for mount, files := range map[string][]string{"tls": {"ca.crt", "tls.crt", "tls.key"}, "nats": {"login", "ca.crt"}} {
		for _, name := range files {
			path := filepath.Join(dir, mount, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, secret[name], 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	server := filepath.Join(dir, "nats-server")
	if out, err := exec.Command("go", "build", "-o", server, "github.com/nats-io/nats-server/v2").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for i := range 3 {
		startNATS(t, h, server, dir, i, string(secret["password"]))
	}

	_, c := readManifest(t, "deploy/kubernetes/nats/coordinator.yaml")
	var args []string
	for _, arg := range c.Args {
		arg = strings.Replace(arg, "--data=/data", "--data=foible-kubernetes", 1)
		args = append(args, strings.Replace(arg, "=/nats/", "="+dir+"/nats/", 1))
	}
	coordinator := h.Start(t, dir, args...)
	coordinator.Says("listening")
	if said := coordinator.Stderr.String(); strings.Contains(said, "not encrypted") || !strings.Contains(said, "connected to NATS") {
		t.Errorf("the coordinator says\n%s", said)
	}
	flags := []string{"--coordinator", "127.0.0.1:7410", "--token-file", "foible-kubernetes"}
	h.Start(t, dir, append([]string{"worker", "--slots", "1"}, flags...)...).Says("connected")
	h.Succeed(t, dir, slices.Concat([]string{"submit", "--wait"}, harness.ShortSweep, flags)...)

	pair, err := tls.X509KeyPair(secret["tls.crt"], secret["tls.key"])
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(secret["ca.crt"])
	for name, address := range names {
		if info := firstLineOn(t, h, address+":4222"); !strings.Contains(info, `"tls_required":true`) {
			t.Errorf("%s asks for no TLS: %s", name, info)
		}
		if err := handshakeOn(t, h, address+":6222", &tls.Config{ServerName: name, RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}); err != nil {
			t.Errorf("to other servers, %s: %v", name, err)
		}
	}
	plain := slices.Clone(args)
	for i, arg := range plain {
		plain[i] = strings.NewReplacer("--listen=:7410", "--listen=:7510", "127.0.0.1:7411", "127.0.0.1:7511", "=:7412", "=:7512", "--data=foible-kubernetes", "--data=other").Replace(arg)
		if strings.HasPrefix(arg, "--nats-ca=") {
			plain[i] = "--nats-ca=" + filepath.Join(dir, "foible-kubernetes", "access", "ca.crt") // another authority
		}
	}
	stranger := h.Do(t, dir, plain...)
	if stranger.Code != 1 || !strings.Contains(stranger.Stderr, "name its authority by --nats-ca") {
		t.Errorf("with another authority: exit code %d\n%s", stranger.Code, stranger.Stderr)
	}
}

// secretOf are the files of a Secret among manifests.
func secretOf(t *testing.T, path, name string) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for documents := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var secret struct {
			Kind     string
			Metadata struct{ Name string }
			Data     map[string]string
		}
		if err := documents.Decode(&secret); errors.Is(err, io.EOF) {
			t.Fatalf("%s has no Secret %s", path, name)
		} else if err != nil {
			t.Fatal(err)
		}
		if secret.Kind != "Secret" || secret.Metadata.Name != name {
			continue
		}
		files := map[string][]byte{}
		for key, value := range secret.Data {
			if files[key], err = base64.StdEncoding.DecodeString(value); err != nil {
				t.Fatal(err)
			}
		}
		return files
	}
}

// startNATS starts server i as the manifests do, but at an address of its own.
func startNATS(t *testing.T, h harness.Host, program, dir string, i int, password string) {
	t.Helper()
	_, c := readManifest(t, "deploy/kubernetes/nats/nats.yaml")
	conf, err := os.ReadFile("deploy/kubernetes/nats/nats.conf")
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("foible-nats-%d", i)
	path := filepath.Join(dir, name+".conf")
	text := strings.NewReplacer(`"0.0.0.0:`, fmt.Sprintf(`"127.0.0.%d:`, 11+i), `"/tls/`, `"`+dir+"/tls/", "store_dir: /data", "store_dir: "+filepath.Join(dir, name)).Replace(string(conf))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := h.Command(program, strings.Replace(c.Args[0], "/etc/nats/nats.conf", path, 1))
	var said harness.Output
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.Env = append(os.Environ(), "NAME="+name, "PASSWORD="+password)
	for _, e := range c.Env {
		if e.Name == "ROUTES" {
			cmd.Env = append(cmd.Env, "ROUTES="+strings.ReplaceAll(e.Value, "$(PASSWORD)", password))
		}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s said\n%s", name, said.String())
		}
	})
}

// handshake speaks TLS to a server.
func handshakeOn(t *testing.T, h harness.Host, address string, config *tls.Config) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := dialOn(ctx, h, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	return tls.Client(conn, config).HandshakeContext(ctx)
}

// firstLine is what a server says first.
func firstLineOn(t *testing.T, h harness.Host, address string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := dialOn(ctx, h, "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		t.Fatalf("%s: %v", address, err)
	}
	return line
}
