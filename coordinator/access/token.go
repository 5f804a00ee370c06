// Package access decides who may call a coordinator, and how clients know that
// it is theirs: tokens, the certificates behind them, and limits on what a
// stranger can use up. Read [Token] first, then [Keeper] for a coordinator and
// [Client] for who dials it.
//
// A coordinator makes a certificate authority of its own. A token names it by
// its hash, so whoever has a token trusts that coordinator, under whatever name
// or address it is reached, and no other; the token in turn is what the
// coordinator trusts. A worker's token opens what workers call and a user's
// what users call.
package access

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Kind says who a token is for.
type Kind string

// The kinds of token.
const (
	Worker Kind = "worker"
	User   Kind = "user"
)

// ParseKind reads a kind as a user wrote it.
func ParseKind(s string) (Kind, error) {
	switch k := Kind(s); k {
	case Worker, User:
		return k, nil
	}
	return "", fmt.Errorf("there are no tokens for %q; they are for a %s or a %s", s, Worker, User)
}

// Token is what a worker or a user shows to a coordinator, and knows it by. It
// prints without its secret; Reveal is for those who are to have it.
type Token struct {
	Kind   Kind
	secret string
	// Pin is the hash of the coordinator's authority.
	Pin Pin
}

// Pin is SHA-256 of an authority's public key, as in its certificate.
type Pin [sha256.Size]byte

func pinOf(c *x509.Certificate) Pin { return sha256.Sum256(c.RawSubjectPublicKeyInfo) }

// secretBytes is the size of a secret: too many to guess, so a plain hash of it can be kept.
const secretBytes = 20

var base = base32.StdEncoding.WithPadding(base32.NoPadding)

func newToken(kind Kind, pin Pin) Token {
	secret := make([]byte, secretBytes)
	_, _ = rand.Read(secret) // it never fails
	return Token{Kind: kind, secret: strings.ToLower(base.EncodeToString(secret)), Pin: pin}
}

var errNoToken = errors.New("it is not a token, which is foible-worker-SECRET-HASH or foible-user-SECRET-HASH; `foible token show worker` or `foible token show user` prints one where the coordinator runs")

// ParseToken reads a token as Reveal wrote it. An error does not repeat it.
func ParseToken(text string) (Token, error) {
	parts := strings.Split(strings.TrimSpace(text), "-")
	if len(parts) != 4 || parts[0] != "foible" {
		return Token{}, errNoToken
	}
	kind, err := ParseKind(parts[1])
	if err != nil {
		return Token{}, errNoToken
	}
	secret, err := base.DecodeString(strings.ToUpper(parts[2]))
	if err != nil || len(secret) != secretBytes {
		return Token{}, errNoToken
	}
	pin, err := hex.DecodeString(parts[3])
	if err != nil || len(pin) != len(Pin{}) {
		return Token{}, errNoToken
	}
	return Token{Kind: kind, secret: strings.ToLower(parts[2]), Pin: Pin(pin)}, nil
}

// Reveal is the token as text, to be kept where only its owner can read it.
func (t Token) Reveal() string {
	return fmt.Sprintf("foible-%s-%s-%s", t.Kind, t.secret, hex.EncodeToString(t.Pin[:]))
}

// String is the token without its secret.
func (t Token) String() string { return fmt.Sprintf("foible-%s-...", t.Kind) }

// GoString is the token without its secret.
func (t Token) GoString() string { return t.String() }

// hash is what a coordinator keeps of a secret.
func hash(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }
