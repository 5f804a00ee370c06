package kubectl_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
	"time"

	"foible.dev/foible/command/cluster/kubernetes/kubectl"
)

// leaf is the certificate among files, which must be good for servers and clients of all names.
func leaf(t *testing.T, files map[string][]byte, at time.Time) *x509.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair(files["tls.crt"], files["tls.key"])
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(files["ca.crt"]) {
		t.Fatal("no authority")
	}
	for _, name := range kubectl.NATSNames {
		for _, use := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
			if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{use}}); err != nil {
				t.Errorf("%s, use %d: %v", name, use, err)
			}
		}
	}
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "foible-coordinator", CurrentTime: at}); err == nil {
		t.Error("it is good for a coordinator too")
	}
	return pair.Leaf
}

func TestCertificates(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "nats")
	now := time.Now()
	first, renewed, err := kubectl.Certificates(dir, now)
	if err != nil || renewed || len(first) != 3 {
		t.Fatalf("%d files, renewed %v, %v", len(first), renewed, err)
	}
	was := leaf(t, first, now)
	again, renewed, err := kubectl.Certificates(dir, now.AddDate(3, 0, 0))
	if err != nil || renewed || !bytes.Equal(again["tls.crt"], first["tls.crt"]) || !bytes.Equal(again["tls.key"], first["tls.key"]) {
		t.Errorf("after three years: renewed %v, %v", renewed, err)
	}
	later := now.AddDate(4, 0, 0)
	next, renewed, err := kubectl.Certificates(dir, later)
	if err != nil || !renewed || !bytes.Equal(next["ca.crt"], first["ca.crt"]) {
		t.Fatalf("after four years: renewed %v, %v", renewed, err)
	}
	if is := leaf(t, next, later.AddDate(4, 0, 0)); is.Equal(was) {
		t.Error("it is the same certificate")
	}

	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 4 {
		t.Errorf("%d files: %v", len(entries), err)
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", entry.Name(), info.Mode())
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "tls.key"), []byte("what is this?"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := kubectl.Certificates(dir, now); err == nil {
		t.Error("a key that is none is taken")
	}
}
