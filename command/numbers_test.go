package command

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Numbers that may be none are written by the package words: a verb for numbers in what these files print would write NaN.
func TestNumbersAreWrittenByWords(t *testing.T) {
	number := regexp.MustCompile(`%[-+0-9.]*[efgG]`)
	for _, name := range []string{
		"compare.go", "results/collect.go", "results/warnings.go", "fit/recover.go", "sweeps/submit.go", "sweeps/status.go", "sweeps/results.go",
		"follow/screen.go", "follow/describe.go", "stimulus/posterior_table.go", "stimulus/infer.go", "stimulus/simulate.go",
	} {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(source), "\n") {
			if verb := number.FindString(line); verb != "" && !strings.Contains(line, "ResampleThreshold") && !strings.Contains(line, "%.3g\", x)") {
				t.Errorf("%s:%d: %s", name, i+1, strings.TrimSpace(line))
			}
		}
	}
}
