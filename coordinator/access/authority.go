package access

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

const (
	authorityFile = "ca.crt"
	keyFile       = "ca.key"
)

const (
	authorityLife   = 20 * 365 * 24 * time.Hour
	certificateLife = 90 * 24 * time.Hour
	renewBefore     = certificateLife / 3
	clockSkew       = 24 * time.Hour // certificates are good for clocks that are so slow
)

// authority signs the certificate of one coordinator, and nothing else.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	names       []string // of hosts, or addresses, in the coordinator's certificate

	mu     sync.Mutex       // guards issued
	issued *tls.Certificate // with its leaf
}

// openAuthority reads the authority of a directory, or makes one. The caller holds the lock.
func openAuthority(dir string, names []string) (*authority, error) {
	a := &authority{names: names}
	certificatePath, keyPath := filepath.Join(dir, authorityFile), filepath.Join(dir, keyFile)
	var err error
	if a.key, err = readKey(keyPath); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(certificatePath); err == nil {
			return nil, fmt.Errorf("%s is missing next to %s; put it back, or remove the directory to begin anew: then all tokens are void", keyPath, authorityFile)
		}
		if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return nil, err
		}
		text, err := x509.MarshalPKCS8PrivateKey(a.key)
		if err != nil {
			return nil, err
		}
		if err := writePEM(keyPath, "PRIVATE KEY", text); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	a.certificate, err = readCertificate(certificatePath)
	if errors.Is(err, fs.ErrNotExist) { // also if it was interrupted after the key, which is what tokens name
		return a, a.certify(certificatePath)
	}
	if err == nil && !a.key.PublicKey.Equal(a.certificate.PublicKey) {
		err = fmt.Errorf("%s is not the certificate of %s; put back the two that belong together", certificatePath, keyFile)
	}
	return a, err
}

// certify makes the authority's own certificate.
func (a *authority) certify(path string) error {
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial(),
		Subject:      pkix.Name{CommonName: "Foible coordinator's authority"},
		NotBefore:    now.Add(-clockSkew), NotAfter: now.Add(authorityLife),
		KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true, MaxPathLenZero: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		return err
	}
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		return err
	}
	return writePEM(path, "CERTIFICATE", der)
}

// get is the coordinator's certificate of the moment, with the authority's
// behind it. It lives only in memory, and is replaced long before it expires.
func (a *authority) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	if a.issued != nil && now.Before(a.issued.Leaf.NotAfter.Add(-renewBefore)) {
		return a.issued, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial(),
		Subject:      pkix.Name{CommonName: "Foible coordinator"},
		NotBefore:    now.Add(-clockSkew), NotAfter: now.Add(certificateLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range a.names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	a.issued = &tls.Certificate{Certificate: [][]byte{der, a.certificate.Raw}, PrivateKey: key, Leaf: leaf}
	return a.issued, nil
}

// Names are those by which a coordinator that listens at an address may be
// known, for clients that go by names.
func Names(address string) []string {
	names := []string{"localhost", "127.0.0.1", "::1"}
	if host, err := os.Hostname(); err == nil && host != "" {
		names = append(names, host)
	}
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && host != "" && (ip == nil || !ip.IsUnspecified()) {
		names = append(names, host)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func serial() *big.Int {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // it never fails
	b[0] = b[0]&0x7f | 1
	return new(big.Int).SetBytes(b)
}

func writePEM(path, kind string, der []byte) error {
	return writeFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func readPEM(path, kind string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != kind {
		return nil, fmt.Errorf("%s has no %s in PEM; put it back from a copy", path, kind)
	}
	return block.Bytes, nil
}

func readCertificate(path string) (*x509.Certificate, error) {
	der, err := readPEM(path, "CERTIFICATE")
	if err != nil {
		return nil, err
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func readKey(path string) (*ecdsa.PrivateKey, error) {
	der, err := readPEM(path, "PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	k, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s: a key of another kind, %T", path, key)
	}
	return k, nil
}
