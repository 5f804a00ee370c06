package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/tabular"
	"foible.dev/foible/core/words"
	"foible.dev/foible/proto/reference"
)

// topic is a file that users write, or a table that a command writes.
type topic struct {
	name    string // study, sweep, or the name of the table
	file    string
	writer  string // the command that writes it; "" if the user does
	about   string // a sentence without a full stop
	entries []docEntry
}

// docEntry is a key of a file, or a column of a table.
type docEntry struct {
	path  string // within its topic
	value string // what it can be, in words
	about string
}

// topics are all topics: files first, then tables in the order of docs/tables.md.
func topics() ([]topic, error) {
	documents, err := reference.Documents()
	if err != nil {
		return nil, err
	}
	var all []topic
	for _, d := range documents {
		t := topic{name: strings.TrimSuffix(d.Name, ".yaml"), file: d.Name, about: strings.TrimSuffix(d.About, ".")}
		for _, f := range d.Fields {
			value := f.Type
			if f.Rules != "" {
				value += "; " + f.Rules
			}
			t.entries = append(t.entries, docEntry{f.Path, value, f.About})
		}
		all = append(all, t)
	}
	for _, table := range tabular.Tables {
		t := topic{name: table.Name, file: table.Name + ".csv", writer: table.Command, about: "A row is " + table.About}
		for _, column := range table.Columns {
			kind, about := tabular.Describe(column)
			t.entries = append(t.entries, docEntry{column, kind, about})
		}
		all = append(all, t)
	}
	return all, nil
}

// newDocs is the command that prints what a key or a column means.
func newDocs(e *terminal.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "docs [FIELD]",
		Short: "Print the meaning of a key of study.yaml or sweep.yaml, or of a column of a table",
		Long: `Docs prints what a key of study.yaml or sweep.yaml means and which values it can have, or what a column of a table means.
FIELD is the name of a key, with the keys above it or without; the name of a column; or the name of a file, for all that
it holds. Without FIELD the files are listed.`,
		Example: "  foible docs\n  foible docs study\n  foible docs sweep.inference.method\n  foible docs mc_se\n  foible docs fits.csv",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return &cli.UsageError{Err: fmt.Errorf("unexpected argument %q: write `foible %s`", args[1], c.Use)}
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			all, err := topics()
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			return docNames(all), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := topics()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				listTopics(e, all)
				return nil
			}
			return printDocs(e, all, args[0])
		},
	}
}

// listTopics prints a line for each topic.
func listTopics(term *terminal.Terminal, all []topic) {
	width := 0
	for i := range all {
		width = max(width, len(all[i].name))
	}
	writer := "none"
	for i := range all {
		t := &all[i]
		if t.writer != writer {
			if writer = t.writer; writer == "" {
				fmt.Fprintln(term.Out, "Files that you write:")
			} else {
				fmt.Fprintf(term.Out, "\nTables that `foible %s` writes:\n", writer)
			}
		}
		name := fmt.Sprintf("  %-*s  ", width, t.name)
		about := t.about
		if columns := term.Width(term.Out); columns > 2*len(name) {
			about = strings.ReplaceAll(terminal.Wrapped(about, columns-len(name), 0), "\n", "\n"+strings.Repeat(" ", len(name)))
		}
		fmt.Fprintln(term.Out, name+about)
	}
	fmt.Fprintln(term.Out)
	terminal.PrintDoc(term, "`foible docs study` prints all keys of study.yaml, `foible docs fits` all columns of fits.csv, and `foible docs budget_r` whatever has this name.", 0)
}

// printDocs prints what is called by a name.
func printDocs(term *terminal.Terminal, all []topic, asked string) error {
	name := strings.ToLower(asked)
	for _, ending := range []string{".yaml", ".csv", ".parquet"} {
		name = strings.TrimSuffix(name, ending)
	}
	printed := false
	for i := range all {
		if all[i].name == name {
			printTopic(term, &all[i])
			printed = true
		}
	}
	keys, columns := find(all, name)
	if printed { // what only stands within the topic is not meant
		keys = slices.DeleteFunc(keys, func(d docEntry) bool { return strings.HasPrefix(d.path, name+".") })
	}
	for _, d := range append(keys, columns...) {
		if printed {
			fmt.Fprintln(term.Out)
		}
		printEntry(term, d)
		printed = true
	}
	if !printed {
		return &cli.UsageError{Err: fmt.Errorf("there is no key, column or file %q%s; `foible docs` lists the files", asked, words.DidYouMean(name, docNames(all)))}
	}
	return nil
}

// find returns the keys and columns that are called by a name, and the keys below them, each with its full name. Columns
// of one name have one meaning, and come once, with the tables that have them.
func find(all []topic, name string) (keys, columns []docEntry) {
	var files []string
	for i := range all {
		t := &all[i]
		for _, d := range t.entries {
			full := t.name + "." + d.path
			at := "." + strings.ToLower(full) + "."
			switch {
			case t.writer == "" && strings.Contains(at, "."+name+"."): // itself, or a key above
				keys = append(keys, docEntry{full, d.value, d.about})
			case t.writer != "" && strings.HasSuffix(at, "."+name+"."):
				files = append(files, t.file)
				columns = []docEntry{{d.path, fmt.Sprintf("column of %s; %s", strings.Join(files, ", "), d.value), d.about}}
			}
		}
	}
	return keys, columns
}

func printTopic(term *terminal.Terminal, t *topic) {
	terminal.PrintDoc(term, t.file+": "+t.about+".", 2)
	if t.writer != "" {
		terminal.PrintDoc(term, fmt.Sprintf("`foible %s` writes it.", t.writer), 0)
	}
	for _, d := range t.entries {
		fmt.Fprintln(term.Out)
		printEntry(term, d)
	}
}

func printEntry(term *terminal.Terminal, d docEntry) {
	fmt.Fprintln(term.Out, d.path)
	terminal.PrintDoc(term, "  "+d.value, 2)
	terminal.PrintDoc(term, "  "+d.about, 2)
}

// docNames are all names that something has: full names of keys and their last parts, columns and topics.
func docNames(all []topic) []string {
	var names []string
	for i := range all {
		t := &all[i]
		names = append(names, t.name)
		for _, d := range t.entries {
			names = append(names, d.path[strings.LastIndex(d.path, ".")+1:])
			if t.writer == "" {
				names = append(names, t.name+"."+d.path)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
