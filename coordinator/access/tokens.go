package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"

	"foible.dev/foible/core/files"
	"foible.dev/foible/internal/replace"
)

// Record is what a coordinator keeps of a token: enough to know it again.
type Record struct {
	// ID names the token where its secret must not be seen.
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	// Join marks the token that `foible token show` prints, and those that it has replaced.
	Join bool `json:"join,omitempty"`
	// ReadOnly tokens change nothing.
	ReadOnly bool      `json:"read_only,omitempty"`
	Hash     string    `json:"hash"` // of the secret, in hexadecimal
	Created  time.Time `json:"created"`
	// Expires is when it ends; zero: never.
	Expires time.Time `json:"expires,omitzero"`
}

// Expired says whether the token has ended.
func (r *Record) Expired(now time.Time) bool { return !r.Expires.IsZero() && !now.Before(r.Expires) }

// end makes the token end at a time, unless it ends before.
func (r *Record) end(at time.Time) {
	if r.Expires.IsZero() || at.Before(r.Expires) {
		r.Expires = at
	}
}

// remembered is how long an expired token is known as such.
const remembered = 7 * 24 * time.Hour

// Dir is where a coordinator with that data directory keeps authority and tokens.
func Dir(dataDir string) string { return filepath.Join(dataDir, "access") }

// TokenFile holds the token with which workers, or users, join the coordinator with that data directory.
func TokenFile(dataDir string, kind Kind) string {
	return filepath.Join(Dir(dataDir), string(kind)+".token")
}

// KeyFile holds the key of the authority of the coordinator with that data directory.
func KeyFile(dataDir string) string { return filepath.Join(Dir(dataDir), keyFile) }

// Tokens are those of one coordinator, on disk. Several processes may change
// them at once; a running coordinator sees what was changed.
type Tokens struct {
	dataDir string
	pin     Pin
}

// ErrNone is of a data directory in which no coordinator has made tokens.
var ErrNone = errors.New("no coordinator has been started on it")

// OpenTokens finds the tokens of a data directory.
func OpenTokens(dataDir string) (*Tokens, error) {
	ca, err := readCertificate(filepath.Join(Dir(dataDir), authorityFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	return &Tokens{dataDir: dataDir, pin: pinOf(ca)}, nil
}

func (t *Tokens) file() string { return filepath.Join(Dir(t.dataDir), "tokens.json") }

type tokensFile struct {
	Tokens []Record `json:"tokens"`
}

// List returns the tokens, oldest first.
func (t *Tokens) List() ([]Record, error) {
	text, err := os.ReadFile(t.file())
	if err != nil {
		return nil, err
	}
	var all tokensFile
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", t.file(), err)
	}
	for _, r := range all.Tokens {
		if sum, err := hex.DecodeString(r.Hash); err != nil || len(sum) != sha256.Size {
			return nil, fmt.Errorf("%s: token %q has no hash", t.file(), r.ID)
		}
	}
	return all.Tokens, nil
}

// change replaces the tokens by what edit makes of them.
func (t *Tokens) change(edit func([]Record) ([]Record, error)) error {
	unlock, err := lock(Dir(t.dataDir))
	if err != nil {
		return err
	}
	defer unlock()
	all, err := t.List()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if all, err = edit(all); err != nil {
		return err
	}
	long := time.Now().Add(-remembered)
	all = slices.DeleteFunc(all, func(r Record) bool { return r.Expired(long) })
	text, err := json.MarshalIndent(tokensFile{all}, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(t.file(), append(text, '\n'))
}

// Show returns the token with which workers, or users, join.
func (t *Tokens) Show(kind Kind) (Token, error) {
	token, unreadable := ReadToken(TokenFile(t.dataDir, kind))
	all, err := t.List()
	if err != nil {
		return Token{}, err
	}
	if r := find(all, token.secret); unreadable != nil || r == nil || r.Kind != kind || r.Expired(time.Now()) || token.Pin != t.pin {
		return Token{}, fmt.Errorf("the token in %s is missing or not valid; make another with `foible token rotate %s`", TokenFile(t.dataDir, kind), kind)
	}
	return token, nil
}

// Create makes a token in addition to the one that Show returns. Its secret is kept
// nowhere. A lifetime of 0 has no end.
func (t *Tokens) Create(kind Kind, lifetime time.Duration, readOnly bool) (Token, error) {
	token := newToken(kind, t.pin)
	err := t.change(func(all []Record) ([]Record, error) {
		r := record(token)
		r.ReadOnly = readOnly
		if lifetime > 0 {
			r.Expires = r.Created.Add(lifetime)
		}
		return append(all, r), nil
	})
	return token, err
}

// Rotate makes a new token for workers, or users, to join. Those that it
// replaces are good for keepOld longer.
func (t *Tokens) Rotate(kind Kind, keepOld time.Duration) (Token, error) {
	token := newToken(kind, t.pin)
	err := t.change(func(all []Record) ([]Record, error) {
		now := time.Now()
		for i := range all {
			if all[i].Join && all[i].Kind == kind {
				all[i].end(now.Add(keepOld))
			}
		}
		return t.join(all, token)
	})
	return token, err
}

// join adds a token for workers, or users, to join.
func (t *Tokens) join(all []Record, token Token) ([]Record, error) {
	r := record(token)
	r.Join = true
	// The file goes first: should the rest fail, Show says that it is not valid.
	return append(all, r), writeFile(TokenFile(t.dataDir, token.Kind), []byte(token.Reveal()+"\n"))
}

// provide makes a token for workers, or users, to join, unless there has been one.
func (t *Tokens) provide(kind Kind) error {
	made := func(all []Record) bool {
		return slices.ContainsFunc(all, func(r Record) bool { return r.Join && r.Kind == kind })
	}
	all, err := t.List()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if made(all) {
		return nil
	}
	return t.change(func(all []Record) ([]Record, error) {
		if made(all) { // by another coordinator meanwhile
			return all, nil
		}
		return t.join(all, newToken(kind, t.pin))
	})
}

// Revoke ends a token at once.
func (t *Tokens) Revoke(id string) error {
	return t.change(func(all []Record) ([]Record, error) {
		i := slices.IndexFunc(all, func(r Record) bool { return r.ID == id })
		if i < 0 {
			return nil, fmt.Errorf("there is no token %q; `foible token list` lists those that there are", id)
		}
		all[i].end(time.Now())
		return all, nil
	})
}

func record(t Token) Record {
	sum := hash(t.secret)
	text := hex.EncodeToString(sum[:])
	return Record{ID: text[:8], Kind: t.Kind, Hash: text, Created: time.Now().UTC().Truncate(time.Second)}
}

// find returns the record of a secret, or nil. How long it takes does not depend on the secret.
func find(all []Record, secret string) *Record {
	given := hash(secret)
	var found *Record
	for i := range all {
		kept, err := hex.DecodeString(all[i].Hash)
		if err == nil && subtle.ConstantTimeCompare(kept, given[:]) == 1 {
			found = &all[i]
		}
	}
	return found
}

// ReadToken reads a token from a file.
func ReadToken(path string) (Token, error) {
	text, err := readFile(path)
	if err != nil {
		return Token{}, err
	}
	return ParseToken(string(text))
}

// maxFileBytes bounds the files that a user names.
const maxFileBytes = 4 << 20

// readFile reads a regular file. The error says what is wrong without its name.
func readFile(path string) ([]byte, error) {
	return files.Read(os.DirFS(filepath.Dir(path)), filepath.Base(path), maxFileBytes)
}

// lock makes others who change the directory wait.
func lock(dir string) (unlock func(), err error) {
	l := flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))
	if err := l.Lock(); err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return func() { _ = l.Unlock() }, nil
}

// writeFile replaces a file at once by another that only its owner can read.
func writeFile(path string, content []byte) error { return replace.Content(path, 0o600, content) }
