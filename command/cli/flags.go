package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"foible.dev/foible/core/words"
)

// Alias makes a flag known by another name too, which the help leaves out.
func Alias(c *cobra.Command, name, other string) {
	f := *c.Flags().Lookup(name)
	f.Name, f.Hidden = other, true
	c.Flags().AddFlag(&f)
}

// Complete gives a shell the values of a flag.
func Complete(c *cobra.Command, flag string, values ...string) {
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // no such flag
	}
}

// DataFlag adds --data, the data directory of a coordinator.
func DataFlag(c *cobra.Command, data *string, what string) {
	c.Flags().StringVar(data, "data", DefaultData, "`directory` "+what)
}

// OutFlag adds --out and --overwrite.
func OutFlag(c *cobra.Command, out *string, overwrite *bool) {
	c.Flags().StringVar(out, "out", "", "output `directory` (default: foible-NAME, by the study's name)")
	OverwriteFlag(c, overwrite)
}

// OverwriteFlag adds --overwrite.
func OverwriteFlag(c *cobra.Command, overwrite *bool) {
	c.Flags().BoolVar(overwrite, "overwrite", false, "replace the output of another command or sweep in the output directory; files that no foible command wrote are kept")
}

// JSONFlag adds --json.
func JSONFlag(c *cobra.Command, asJSON *bool) {
	c.Flags().BoolVar(asJSON, "json", false, "print JSON, for scripts")
}

// flagNames are the flags of a command.
func flagNames(c *cobra.Command) []string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// ExplainFlag says in plain words what is wrong with a flag of a command.
func ExplainFlag(c *cobra.Command, err error) error {
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
		name, dashes := unknown.GetSpecifiedName(), "--"
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			if name, _, _ := strings.Cut(short, "="); c.Flags().Lookup(name) != nil {
				return fmt.Errorf("there is no flag -%s; did you mean --%[1]s?", name)
			}
			dashes = "-"
		} else if near := words.Nearest(name, flagNames(c)); near != "" {
			return fmt.Errorf("there is no flag --%s; did you mean --%s?", name, near)
		}
		return fmt.Errorf("there is no flag %s%s", dashes, name)
	}
	if invalid := (*pflag.InvalidValueError)(nil); errors.As(err, &invalid) {
		want := invalid.Unwrap().Error()
		switch invalid.GetFlag().Value.Type() {
		case "int":
			want = "must be a whole number"
		case "intSlice":
			want = "must be whole numbers, as in 5,20"
		case "float64":
			want = "must be a number"
		case "duration":
			want = "must be a time such as 30s or 5m"
		case "bool":
			want = "can be true or false"
		}
		return fmt.Errorf("--%s %q: %s", invalid.GetFlag().Name, invalid.GetValue(), want)
	}
	if missing := (*pflag.ValueRequiredError)(nil); errors.As(err, &missing) {
		return fmt.Errorf("--%s needs a value", missing.GetFlag().Name)
	}
	return err
}

// positive are the flags of numbers whose default is another number than 0.
var positive = []string{"workers", "slots", "runs", "particles", "top-up", "mc-se", "posterior-se", "priority"}

// RefuseZero refuses 0 where it was given for a number: the commands take it for no number given.
func RefuseZero(c *cobra.Command) error {
	for _, name := range positive {
		f := c.Flags().Lookup(name)
		if f == nil || !f.Changed || f.Value.String() != "0" {
			continue
		}
		least := "at least 1"
		if f.Value.Type() == "float64" {
			least = "above 0"
		}
		return Usagef("--%s 0: must be %s; without the flag it is the default", name, least)
	}
	return nil
}

// Groups of commands, in the order of the help.
const (
	GroupLocal   = "here"
	GroupCluster = "cluster"
)

// DefaultData is the directory in which a coordinator keeps its data by default.
const DefaultData = "foible-data"
