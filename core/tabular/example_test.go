package tabular_test

import (
	"fmt"
	"io"
	"os"

	"foible.dev/foible/core/tabular"
)

// console is an output that prints its files.
type console struct{}

func (console) Create(name string) (io.WriteCloser, error) {
	fmt.Printf("%s:\n", name)
	return keptOpen{os.Stdout}, nil
}

type keptOpen struct{ io.Writer }

func (keptOpen) Close() error { return nil }

// A table has the columns that its declaration names. What is nil is an empty field, and a text is in quotes
// where a CSV needs them.
func Example() {
	err := tabular.Write(console{}, "settings", func(row func(values ...any) error) error {
		if err := row("inference method", "first", "marginal"); err != nil {
			return err
		}
		return row("bootstrap units", "first, again", nil)
	})
	if err != nil {
		fmt.Println(err)
	}
	kind, about := tabular.Describe("pearson_r")
	fmt.Printf("pearson_r is a %s: %s\n", kind, about)
	// Output:
	// settings.csv:
	// setting,sweep,set_to
	// inference method,first,marginal
	// bootstrap units,"first, again",
	// pearson_r is a number: Pearson's r of the model with the mean judgements; empty where it is undefined
}
