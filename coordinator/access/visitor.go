package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"slices"
	"time"
)

// Refusals of a visitor's token.
var (
	ErrUnknown = errors.New("the token is not one of this coordinator's, or not any more; `foible token show user` prints one where the coordinator runs")
	ErrExpired = errors.New("the token has ended; `foible token show user` prints the one of today where the coordinator runs")
	ErrWorker  = errors.New("the token is for workers; `foible token show user` prints one for users where the coordinator runs")
)

// Admit finds the record of a user's token that was shown outside of gRPC, as Reveal writes it.
func (k *Keeper) Admit(text string) (*Record, error) {
	token, err := ParseToken(text)
	if err != nil {
		return nil, errNoToken
	}
	all, err := k.records.get()
	if err != nil {
		return nil, err
	}
	switch r := find(all, token.secret); {
	case r == nil:
		return nil, ErrUnknown
	case r.Expired(time.Now()):
		return nil, ErrExpired
	case r.Kind != User:
		return nil, ErrWorker
	default:
		return r, nil
	}
}

// Current is the record of a user's token that has not ended, by its hash.
func (k *Keeper) Current(hash string) (*Record, bool) {
	all, err := k.records.get()
	if err != nil {
		return nil, false
	}
	i := slices.IndexFunc(all, func(r Record) bool { return r.Hash == hash && r.Kind == User && !r.Expired(time.Now()) })
	if i < 0 {
		return nil, false
	}
	return &all[i], true
}

// Key is a secret of the coordinator for one purpose: the same after a restart, and of all coordinators of one authority.
func (k *Keeper) Key(purpose string) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(k.key)
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, der)
	mac.Write([]byte("foible: " + purpose))
	return mac.Sum(nil), nil
}

// TLS is the encryption of the coordinator, with its certificate.
func (k *Keeper) TLS() *tls.Config { return k.tls.Clone() }
