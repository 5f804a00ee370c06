package codec_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"foible.dev/foible/core/hashing"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/optional"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

var atMost = regexp.MustCompile(`at most ([\d,]+)$`)

// What is said to be the most runs of a cell that fit is so: a cell with all that a cell can have fits, and one with a few
// runs more does not.
func TestCellsFit(t *testing.T) {
	for _, shape := range []sweep.Shape{
		{Stimulus: "s", Goals: 3, Actions: 2000, JudgementSteps: numbers(0, 2001)},
		{Stimulus: "s", Goals: 40, Actions: 300, JudgementSteps: numbers(100, 150)},
	} {
		for _, method := range []string{sweep.SIPS, sweep.Marginal} {
			for _, stage := range []string{sweep.FitStage, sweep.ReportStage} {
				for _, detail := range []string{"", sweep.DetailJudged} {
					c := sweep.Config{Seed: 1}
					c.Inference, c.Fit, c.Report = sweep.DefaultsOf(method)
					c.Fit.Runs, c.Report.Runs = 2, 2
					if stage == sweep.FitStage {
						c.Fit.Runs = 100_000
					} else {
						c.Report.Runs = 100_000
					}
					sets := []model.ParameterSet{{Model: "full"}}
					if detail != "" { // of a sweep that is large enough
						if stage == sweep.ReportStage {
							continue
						}
						sets = make([]model.ParameterSet, sweep.MaxDetailedCells+1)
						for i := range sets {
							sets[i].Model = "full"
						}
					}
					plan, err := (&sweep.Resolved{Config: c, Sets: sets}).Plan([]sweep.Shape{shape}, 1)
					if err != nil {
						t.Fatal(err)
					}
					name := fmt.Sprintf("%d goals, %s, %s %s", shape.Goals, method, stage, detail)
					said := atMost.FindStringSubmatch(plan.CheckSizes(&c).Error())
					if said == nil {
						t.Errorf("%s: %v", name, plan.CheckSizes(&c))
						continue
					}
					most, _ := strconv.Atoi(strings.ReplaceAll(said[1], ",", ""))
					p := plan.Procedure(&c, stage)
					if size := proto.Size(largest(&shape, &p, most)); size > sweep.MaxResultBytes || size < sweep.MaxResultBytes*9/10 {
						t.Errorf("%s: %d runs have %d bytes, of %d that there may be", name, most, size, sweep.MaxResultBytes)
					}
					if size := proto.Size(largest(&shape, &p, most+most/8+2)); size <= sweep.MaxResultBytes {
						t.Errorf("%s: %d runs are refused, though they have %d bytes", name, most+most/8+2, size)
					}
				}
			}
		}
	}
}

func numbers(from, n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = from + i
	}
	return all
}

// largest is the result of a job with one cell that has all that it can have.
func largest(s *sweep.Shape, p *sweep.Procedure, runs int) *foiblev1.JobResult {
	row := func(n int) []float64 {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = 1 / float64(n)
		}
		return xs
	}
	rows := func(n int) (all [][]float64) {
		for range n {
			all = append(all, row(s.Goals))
		}
		return all
	}
	steps := s.Actions + 1
	c := result.Cell{Posterior: rows(steps), SE: rows(steps), Samples: 1 << 30}
	c.Evidence = row(steps)
	if p.Method == sweep.SIPS {
		c.ESS, c.Alive, c.FailedRuns = row(steps), row(steps), 1<<30
	} else {
		c.LogEvidence = rows(steps)
	}
	for range s.Goals {
		c.UnreachableFrom = append(c.UnreachableFrom, -1)
	}
	for range runs {
		c.Runs.Add(rows(len(s.JudgementSteps)))
	}
	if p.Detail == sweep.DetailMistakes {
		some := make([]result.Estimate, s.Actions)
		c.Mistakes = &result.Mistakes{Confused: some, Slip: some, OffPath: optional.Known(some)}
	}
	if p.Detail == sweep.DetailJudged {
		c.Judge(s.JudgementSteps)
	}
	return &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Infer{Infer: codec.InferResult([]result.Cell{c}, make([]byte, hashing.HashSize))}}
}
