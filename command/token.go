package command

import (
	"errors"
	"fmt"
	"time"

	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/core/words"
)

// tokens finds the tokens of a coordinator's data directory.
func tokens(data string) (*access.Tokens, error) {
	t, err := access.OpenTokens(data)
	switch {
	case errors.Is(err, access.ErrNone):
		return nil, fmt.Errorf("the directory %s has no tokens; a coordinator makes them when it first starts there: name its directory with --data", words.Quoted(data))
	case err != nil:
		return nil, fmt.Errorf("tokens of %s: %w", words.Quoted(data), err)
	}
	return t, nil
}

func tokenKind(s string) (access.Kind, error) {
	kind, err := access.ParseKind(s)
	if err != nil {
		return "", &UsageError{err}
	}
	return kind, nil
}

// ShowToken prints the token with which workers, or users, join, or writes it to a file.
func ShowToken(term *Terminal, data, kind, out string) error {
	k, err := tokenKind(kind)
	if err != nil {
		return err
	}
	t, err := tokens(data)
	if err != nil {
		return err
	}
	token, err := t.Show(k)
	if err != nil {
		return err
	}
	return printToken(term, token, out)
}

// printToken prints a token, or writes it to a file; "": it is printed.
func printToken(term *Terminal, token access.Token, out string) error {
	return printSecret(term, []byte(token.Reveal()+"\n"), out)
}

// ListTokens prints what is known of the tokens, which is not the tokens.
func ListTokens(term *Terminal, data string) error {
	t, err := tokens(data)
	if err != nil {
		return err
	}
	all, err := t.List()
	if err != nil {
		return err
	}
	table := newTable("Token", "For", "Made", "Ends")
	for i := range all {
		r := &all[i]
		whom := string(r.Kind) + "s"
		if r.ReadOnly {
			whom += ", to read only"
		}
		ends := "never"
		switch {
		case r.Expired(time.Now()):
			ends = "has ended"
		case !r.Expires.IsZero():
			ends = r.Expires.Local().Format(time.DateTime)
		}
		table.add(r.ID, whom, r.Created.Local().Format(time.DateTime), ends)
	}
	term.table(table)
	return nil
}

// CreateTokenOptions say what a new token is for.
type CreateTokenOptions struct {
	Data, Kind string
	Expires    time.Duration // 0: never
	ReadOnly   bool
	Out        string // file for the token; "": it is printed
}

// CreateToken prints a new token.
func CreateToken(term *Terminal, o CreateTokenOptions) error {
	kind, err := tokenKind(o.Kind)
	switch {
	case err != nil:
		return err
	case o.Expires < 0:
		return usagef("--expires %v: must be a time to come", o.Expires)
	case o.ReadOnly && kind != access.User:
		return usagef("--read-only is for tokens of users")
	}
	t, err := tokens(o.Data)
	if err != nil {
		return err
	}
	token, err := t.Create(kind, o.Expires, o.ReadOnly)
	if err != nil {
		return err
	}
	if err := printToken(term, token, o.Out); err != nil {
		return err
	}
	term.say("It is kept nowhere else; `foible token list` names it, `foible token revoke` ends it.")
	return nil
}

// RotateTokenOptions say which tokens to replace.
type RotateTokenOptions struct {
	Data, Kind string
	KeepOld    time.Duration
	Out        string // file for the token; "": it is printed
}

// RotateToken prints a new token to join with.
func RotateToken(term *Terminal, o RotateTokenOptions) error {
	kind, err := tokenKind(o.Kind)
	if err != nil {
		return err
	}
	if o.KeepOld < 0 {
		return usagef("--keep-old %v: must be at least 0s", o.KeepOld)
	}
	t, err := tokens(o.Data)
	if err != nil {
		return err
	}
	token, err := t.Rotate(kind, o.KeepOld)
	if err != nil {
		return err
	}
	if err := printToken(term, token, o.Out); err != nil {
		return err
	}
	if o.KeepOld > 0 {
		term.say("The one before is good for %v more.", o.KeepOld)
	}
	return nil
}

// RevokeToken ends a token.
func RevokeToken(term *Terminal, data, id string) error {
	t, err := tokens(data)
	if err != nil {
		return err
	}
	return t.Revoke(id)
}
