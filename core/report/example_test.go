package report_test

import (
	"fmt"
	"io"
	"os"

	"foible.dev/foible/core/tabular"
)

// console is an Output that prints its files.
type console struct{}

func (console) Create(name string) (io.WriteCloser, error) {
	fmt.Println(name)
	return keptOpen{os.Stdout}, nil
}

type keptOpen struct{ io.Writer }

func (keptOpen) Close() error { return nil }

// The tables have fixed columns, each with one meaning. What is not known is an empty field.
func Example() {
	kind, about := tabular.Describe("spearman")
	fmt.Printf("spearman: %s, %s\n", kind, about)

	err := tabular.Write(console{}, "scores", func(row func(values ...any) error) error {
		return row("report", "full", 3, 6, .94, nil, 3, .1, .12)
	})
	if err != nil {
		fmt.Println(err)
	}

	// Output:
	// spearman: number, Spearman's rank correlation of the model with the mean judgements
	// scores.csv
	// stage,model,parameter_set,n,spearman,concordance,judgements,total_variation,jensen_shannon
	// report,full,3,6,0.94,,3,0.1,0.12
}
