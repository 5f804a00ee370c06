package command

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/terminal"
)

// docs runs foible docs on a terminal of a width; 0: where there is none.
func docs(t *testing.T, columns int, args ...string) (string, error) {
	t.Helper()
	var out, errs strings.Builder
	c := newDocs(&terminal.Terminal{Out: &out, Err: &errs, Columns: columns})
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(args)
	err := c.Execute()
	if errs.Len() > 0 {
		t.Errorf("docs %q printed %q as an error", args, errs.String())
	}
	return out.String(), err
}

func TestDocs(t *testing.T) {
	for _, test := range []struct {
		args  string
		has   []string
		hasNo []string
	}{
		{"", []string{"\n  study ", "\n  sweep ", "\nTables that `foible fit` writes:\n  fits ", "\n  settings "}, []string{"mc_se"}},
		{"study", []string{"study.yaml: ", "\nresponses\n", "\nobservation.fluent_noise\n"}, []string{"study.responses", "mc_se"}},
		{"sweep.yaml", []string{"\nmodels.NAME.alpha\n  number, or a list; above 0; "}, []string{"participants_linked"}},
		{"study.responses", []string{"study.responses\n  text\n  "}, []string{"means"}},
		{"responses", []string{"study.responses\n"}, []string{"means"}},
		{"bootstrap", []string{"sweep.bootstrap\n", "sweep.bootstrap.resamples\n"}, []string{"seed"}},
		{"mc_se", []string{"sweep.inference.mc_se\n", "\n\nmc_se\n  column of fits.csv, posteriors.csv, inference.csv, comparison.csv; number\n"}, nil},
		{"MC_SE", []string{"sweep.inference.mc_se\n"}, nil},
		{"fits.pearson_r", []string{"pearson_r\n  column of fits.csv; number\n"}, []string{"recovery"}},
		{"fits.csv", []string{"fits.csv: A row is a parameter set in a stage.\n`foible fit` writes it.\n", "\ncomplete\n  text\n"}, []string{"spearman"}},
		{"fits.parquet", []string{"fits.csv: "}, nil},
		// A table and a key.
		{"inference", []string{"inference.csv: ", "\nsweep.inference\n", "\nsweep.inference.method\n"}, []string{"study."}},
	} {
		got, err := docs(t, 0, strings.Fields(test.args)...)
		if err != nil {
			t.Errorf("docs %s: %v", test.args, err)
		}
		for _, want := range test.has {
			if !strings.Contains(got, want) {
				t.Errorf("docs %s does not print %q:\n%s", test.args, want, got)
			}
		}
		for _, other := range test.hasNo {
			if strings.Contains(got, other) {
				t.Errorf("docs %s prints %q:\n%s", test.args, other, got)
			}
		}
	}
}

func TestDocsCalledWrongly(t *testing.T) {
	for args, want := range map[string]string{
		"mcse":        "there is no key, column or file \"mcse\"; did you mean \"mc_se\"?; `foible docs` lists the files",
		"study.respo": "there is no key, column or file \"study.respo\"; did you mean \"study.responses\"?; `foible docs` lists the files",
		"xyzzyxyzzy":  "there is no key, column or file \"xyzzyxyzzy\"; `foible docs` lists the files",
		".":           "there is no key, column or file \".\"; `foible docs` lists the files",
		"a b":         "unexpected argument \"b\": write `foible docs [FIELD]`",
	} {
		got, err := docs(t, 0, strings.Fields(args)...)
		var usage *cli.UsageError
		if !errors.As(err, &usage) || err.Error() != want || got != "" {
			t.Errorf("docs %s: error %v, output %q; want %s", args, err, got, want)
		}
	}
	if got, err := docs(t, 0, ""); err == nil {
		t.Errorf("docs of an empty name prints %q", got)
	}
}

// On a terminal, texts fit it; what they say is the same.
func TestDocsFitTheTerminal(t *testing.T) {
	for _, topic := range []string{"", "study", "sweep", "recovery_axes"} {
		piped, err := docs(t, 0, strings.Fields(topic)...)
		if err != nil {
			t.Fatal(err)
		}
		for _, columns := range []int{60, 100} {
			got, err := docs(t, columns, strings.Fields(topic)...)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(piped), " ") {
				t.Errorf("docs %s in %d columns does not say the same as elsewhere:\n%s", topic, columns, got)
			}
			for line := range strings.Lines(got) {
				line = strings.TrimSuffix(line, "\n")
				if n := utf8.RuneCountInString(line); n > columns && strings.Contains(strings.TrimSpace(line), " ") && !strings.Contains(line, "`") {
					t.Errorf("docs %s in %d columns has a line of %d: %s", topic, columns, n, line)
				}
			}
		}
	}
}
