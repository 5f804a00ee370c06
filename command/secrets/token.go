// Package secrets has the token commands, and keeps files that hold secrets
// from other users of the machine. Read [CheckPrivate] first.
package secrets

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/terminal"
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
		return "", &cli.UsageError{Err: err}
	}
	return kind, nil
}

// ShowToken prints the token with which workers, or users, join, or writes it to a file.
func ShowToken(term *terminal.Terminal, data, kind, out string) error {
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
func printToken(term *terminal.Terminal, token access.Token, out string) error {
	return PrintSecret(term, []byte(token.Reveal()+"\n"), out)
}

// ListTokens prints what is known of the tokens, which is not the tokens.
func ListTokens(term *terminal.Terminal, data string) error {
	t, err := tokens(data)
	if err != nil {
		return err
	}
	all, err := t.List()
	if err != nil {
		return err
	}
	table := terminal.NewTable("Token", "For", "Made", "Ends")
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
		table.Add(r.ID, whom, r.Created.Local().Format(time.DateTime), ends)
	}
	term.PrintTable(table)
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
func CreateToken(term *terminal.Terminal, o CreateTokenOptions) error {
	kind, err := tokenKind(o.Kind)
	switch {
	case err != nil:
		return err
	case o.Expires < 0:
		return cli.Usagef("--expires %v: must be a time to come", o.Expires)
	case o.ReadOnly && kind != access.User:
		return cli.Usagef("--read-only is for tokens of users")
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
	term.Say("It is kept nowhere else; `foible token list` names it, `foible token revoke` ends it.")
	return nil
}

// RotateTokenOptions say which tokens to replace.
type RotateTokenOptions struct {
	Data, Kind string
	KeepOld    time.Duration
	Out        string // file for the token; "": it is printed
}

// RotateToken prints a new token to join with.
func RotateToken(term *terminal.Terminal, o RotateTokenOptions) error {
	kind, err := tokenKind(o.Kind)
	if err != nil {
		return err
	}
	if o.KeepOld < 0 {
		return cli.Usagef("--keep-old %v: must be at least 0s", o.KeepOld)
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
		term.Say("The one before is good for %v more.", o.KeepOld)
	}
	return nil
}

// RevokeToken ends a token.
func RevokeToken(term *terminal.Terminal, data, id string) error {
	t, err := tokens(data)
	if err != nil {
		return err
	}
	return t.Revoke(id)
}

// NewToken returns the command token.
func NewToken(term *terminal.Terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "token",
		Short: "Show, create, rotate and revoke the tokens of a coordinator",
		Long: `Token works on the data directory of a coordinator, which takes up the changes whether or not it is running.

A token says what its owner may do: a worker's token runs jobs, a user's submits and follows sweeps. It also says which
coordinator its owner trusts. Whoever has it can use it: give it in a file that only its owner can read, or in FOIBLE_TOKEN.`,
		GroupID: cli.GroupCluster, Args: cli.UnknownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newTokenShow(term), newTokenList(term), newTokenCreate(term), newTokenRotate(term), newTokenRevoke(term))
	return c
}

const ofCoordinator = "of the coordinator"

// kindArgument is worker or user.
func kindArgument(c *cobra.Command) {
	c.Args = cli.ExactlyOne("say who it is for")
	c.ValidArgs = []string{"worker", "user"}
}

// tokenOutFlag is where a token is written to.
func tokenOutFlag(c *cobra.Command, out *string) {
	c.Flags().StringVar(out, "out", "", "`file` for the token, which only you can read (default: it is printed)")
}

func newTokenShow(term *terminal.Terminal) *cobra.Command {
	var data, out string
	c := &cobra.Command{
		Use:     "show worker|user",
		Short:   "Print the token with which workers, or users, join",
		Example: "  foible token show user --out user.token",
		RunE:    func(_ *cobra.Command, args []string) error { return ShowToken(term, data, args[0], out) },
	}
	kindArgument(c)
	tokenOutFlag(c, &out)
	cli.DataFlag(c, &data, ofCoordinator)
	return c
}

func newTokenList(term *terminal.Terminal) *cobra.Command {
	var data string
	c := &cobra.Command{
		Use:   "list",
		Short: "List the tokens, without their secrets",
		Args:  cli.AtMost(0),
		RunE:  func(*cobra.Command, []string) error { return ListTokens(term, data) },
	}
	cli.DataFlag(c, &data, ofCoordinator)
	return c
}

func newTokenCreate(term *terminal.Terminal) *cobra.Command {
	var o CreateTokenOptions
	c := &cobra.Command{
		Use:     "create worker|user",
		Short:   "Create a token and print it",
		Example: "  foible token create user --expires 24h --read-only --out guest.token",
		RunE: func(_ *cobra.Command, args []string) error {
			o.Kind = args[0]
			return CreateToken(term, o)
		},
	}
	kindArgument(c)
	cli.DataFlag(c, &o.Data, ofCoordinator)
	tokenOutFlag(c, &o.Out)
	c.Flags().DurationVar(&o.Expires, "expires", 0, "`time` after which it ends (default: never)")
	c.Flags().BoolVar(&o.ReadOnly, "read-only", false, "let a user look, and change nothing")
	return c
}

func newTokenRotate(term *terminal.Terminal) *cobra.Command {
	var o RotateTokenOptions
	c := &cobra.Command{
		Use:   "rotate worker|user",
		Short: "Replace the token with which workers, or users, join",
		Long:  "Rotate makes and prints the token with which workers, or users, join from now on. Those that have the one before are\ncut off when it ends; workers that read it from a file take the new one from there.",
		RunE: func(_ *cobra.Command, args []string) error {
			o.Kind = args[0]
			return RotateToken(term, o)
		},
	}
	kindArgument(c)
	cli.DataFlag(c, &o.Data, ofCoordinator)
	tokenOutFlag(c, &o.Out)
	c.Flags().DurationVar(&o.KeepOld, "keep-old", 0, "`time` that the one before stays good")
	return c
}

func newTokenRevoke(term *terminal.Terminal) *cobra.Command {
	var data string
	c := &cobra.Command{
		Use:   "revoke TOKEN",
		Short: "Revoke a token",
		Args:  cli.ExactlyOne("name a token as `foible token list` does"),
		RunE:  func(_ *cobra.Command, args []string) error { return RevokeToken(term, data, args[0]) },
	}
	cli.DataFlag(c, &data, ofCoordinator)
	return c
}
