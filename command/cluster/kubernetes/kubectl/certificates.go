package kubectl

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
	"os"
	"path/filepath"
	"slices"
	"time"
)

// NATSNames are the names by which NATS servers are dialled, by coordinators and by each other.
var NATSNames = []string{"foible-nats-0.foible-nats", "foible-nats-1.foible-nats", "foible-nats-2.foible-nats"}

// How long certificates of NATS servers are good. The servers read them when they start.
const (
	authorityLife   = 20 * 365 * 24 * time.Hour
	certificateLife = 5 * 365 * 24 * time.Hour
	renewBefore     = certificateLife / 3
	clockSkew       = 24 * time.Hour // they are good for clocks that are so slow
)

// Files of certificates, in PEM.
const (
	authorityFile    = "ca.crt"
	authorityKeyFile = "ca.key"
	certificateFile  = "tls.crt"
	keyFile          = "tls.key"
)

// Certificates returns the certificate of NATS servers, its key and the authority that signs it, as files of a Secret:
// tls.crt, tls.key and ca.crt. They are kept in a directory, which is made if it is not there. The certificate is renewed
// when less than a third of its time is left; then renewed is true, and the servers must be started again. The authority
// stays, so that servers with the old and the new one trust each other; its key leaves the directory in no Secret.
func Certificates(dir string, now time.Time) (files map[string][]byte, renewed bool, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, false, err
	}
	authority, err := tls.LoadX509KeyPair(filepath.Join(dir, authorityFile), filepath.Join(dir, authorityKeyFile))
	if errors.Is(err, fs.ErrNotExist) {
		authority, err = issue(dir, authorityFile, authorityKeyFile, nil, &x509.Certificate{
			Subject:   pkix.Name{CommonName: "Authority of Foible's NATS servers"},
			NotBefore: now.Add(-clockSkew), NotAfter: now.Add(authorityLife),
			KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true, MaxPathLenZero: true,
		})
	}
	if err != nil {
		return nil, false, fmt.Errorf("authority of NATS servers in %s: %w", dir, err)
	}
	server, err := tls.LoadX509KeyPair(filepath.Join(dir, certificateFile), filepath.Join(dir, keyFile))
	there := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, fmt.Errorf("certificate of NATS servers in %s: %w", dir, err)
	}
	if !there || now.After(server.Leaf.NotAfter.Add(-renewBefore)) || !slices.Equal(server.Leaf.DNSNames, NATSNames) || server.Leaf.CheckSignatureFrom(authority.Leaf) != nil {
		if _, err = issue(dir, certificateFile, keyFile, &authority, &x509.Certificate{
			Subject:   pkix.Name{CommonName: "NATS server of Foible"},
			NotBefore: now.Add(-clockSkew), NotAfter: now.Add(certificateLife),
			KeyUsage: x509.KeyUsageDigitalSignature, DNSNames: NATSNames,
			// Servers dial each other, and show the certificate then too.
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		}); err != nil {
			return nil, false, fmt.Errorf("certificate of NATS servers in %s: %w", dir, err)
		}
		renewed = there
	}
	files = map[string][]byte{}
	for _, name := range []string{authorityFile, certificateFile, keyFile} {
		if files[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			return nil, false, err
		}
	}
	return files, renewed, nil
}

// issue makes a key and a certificate of it, signed by an authority or, if that is nil, by itself, and writes both down,
// the key first.
func issue(dir, certificateFile, keyFile string, authority *tls.Certificate, template *x509.Certificate) (tls.Certificate, error) {
	none := tls.Certificate{}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return none, err
	}
	serial := make([]byte, 16)
	_, _ = rand.Read(serial) // it never fails
	serial[0] = serial[0]&0x7f | 1
	template.SerialNumber = new(big.Int).SetBytes(serial)
	signer, parent := any(key), template
	if authority != nil {
		signer, parent = authority.PrivateKey, authority.Leaf
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return none, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return none, err
	}
	certificatePEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
	for _, f := range []struct {
		name string
		text []byte
	}{{keyFile, keyPEM}, {certificateFile, certificatePEM}} {
		part := filepath.Join(dir, f.name+".part")
		if err := os.WriteFile(part, f.text, 0o600); err != nil {
			return none, err
		}
		if err := os.Rename(part, filepath.Join(dir, f.name)); err != nil {
			return none, err
		}
	}
	return tls.X509KeyPair(certificatePEM, keyPEM)
}
