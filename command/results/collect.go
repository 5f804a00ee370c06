// Package results writes the tables, figures and report of a sweep from what a
// coordinator has recorded, and prints each model's best parameter set and the
// warnings. Read [Writer] first.
package results

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/status"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/input"
	"foible.dev/foible/command/output"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/report/fit"
	"foible.dev/foible/core/report/recovery"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
	"foible.dev/foible/domains"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Owner is that of the results of a sweep, whether fit or results writes them.
func Owner(id string) output.Owner {
	return output.Owner{Command: "fit", Of: id, About: "the sweep " + id}
}

// DefaultDir is the output directory of a study's sweep unless another is named.
func DefaultDir(s *domains.Study) string { return "foible-" + s.Name }

// Writer are the results of a sweep, and where to write them.
type Writer struct {
	Client    *connect.Client
	Sweep     *foiblev1.Sweep
	Study     *domains.Study
	Dir       string
	Partial   bool                                // the sweep may not be done
	Recovered *recovery.Recovered                 // for the report; nil: no recovery
	Beyond    Beyond                              // the command that extends the sweep's grid
	Create    func(path string) (*os.File, error) // opens files; nil: os.Create
}

// Write gathers the results, writes the report, and prints each model's best parameter set and its warnings.
func (w *Writer) Write(ctx context.Context, term *terminal.Terminal) error {
	m, s := w.Sweep, w.Study
	plan, config, err := connect.PlanOf(m)
	if err != nil {
		return err
	}
	r, err := w.writeReport(ctx, plan, &config.Config)
	if err != nil {
		return err
	}
	printFailures(term, r.Failures())
	fitted := summarize(term, r, s)
	PrintWarnings(term, r.Warnings(), &config.Config, w.Beyond)
	term.Print("Wrote tables and figures to %s; open %s first.", words.Quoted(w.Dir), words.Quoted(filepath.Join(w.Dir, "report.html")))
	if m.GetState() == foiblev1.SweepState_SWEEP_STATE_FAILED {
		if p := m.GetProgress(); p.GetJobsFailed() == 0 && p.GetCellsFailed() > 0 {
			return fmt.Errorf("%s could not be computed, %s says which and why", words.Count(int(p.GetCellsFailed()), "cell"), words.Quoted(filepath.Join(w.Dir, FailuresFile)))
		}
		return fmt.Errorf("some parameter sets have no fit, %s says why", words.Quoted(filepath.Join(w.Dir, FailuresFile)))
	}
	if !fitted && input.HasJudgements(s) && !w.Partial {
		return errors.New("no parameter set has a correlation with the judgements: the models or the people say the same everywhere, or no parameter set has a posterior")
	}
	return nil
}

// writeReport gathers the results and writes the tables and figures.
func (w *Writer) writeReport(ctx context.Context, plan *sweep.Plan, config *sweep.Config) (r *fit.Report, err error) {
	m, s := w.Sweep, w.Study
	inputs, err := FileHashes(s.Bundle)
	if err != nil {
		return nil, err
	}
	err = output.Write(w.Dir, Owner(m.GetSweepId()), w.Create, func(out *output.Dir) error {
		if r, err = fit.New(out, s.Study, plan, *config, fit.Manifest{
			SweepID: m.GetSweepId(), StudyHash: s.Hash, Inputs: inputs, Version: m.GetVersion(),
			Complete: m.GetState() == foiblev1.SweepState_SWEEP_STATE_SUCCEEDED,
			Created:  m.GetCreateTime().AsTime().UTC().Format(time.RFC3339),
		}); err != nil {
			return err
		}
		r.Story = func(st *study.Stimulus) (figure.Story, error) { return input.Story(s, st, st.JudgementSteps) }
		r.Recovered = w.Recovered
		gather := sweep.NewGather(plan, r.Add)
		gather.Check(s.Hash, config)
		if err := Export(ctx, w.Client, Selection{m.GetSweepId(), w.Partial}, plan, gather); err != nil {
			return ExplainPlan(m, err)
		}
		return r.Close()
	})
	return r, err
}

// Selection says what to export.
type Selection struct {
	Sweep   string // id
	partial bool   // the sweep may not be done
}

// Export gathers the recorded results of a sweep: while some are gathered, the next are received and read.
func Export(ctx context.Context, c *connect.Client, from Selection, plan *sweep.Plan, gather *sweep.Gather) error {
	known := *plan                     // while it is gathered, the plan learns what comes after
	err := c.Again(ctx, func() error { // what comes twice is gathered once
		group, ctx := errgroup.WithContext(ctx)
		received, read := make(chan *foiblev1.ExportResultsResponse, ahead), make(chan outcome, ahead)
		group.Go(func() error {
			defer close(received)
			stream, err := c.Sweeps.ExportResults(ctx, &foiblev1.ExportResultsRequest{SweepId: from.Sweep, Partial: from.partial})
			for err == nil {
				var result *foiblev1.ExportResultsResponse
				if result, err = stream.Recv(); err == nil {
					err = send(ctx, received, result)
				}
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		})
		group.Go(func() error {
			defer close(read)
			for result := range received {
				job := int(result.GetJob())
				of, err := codec.Outcome(result.GetResult(), &known, job)
				if err != nil {
					return fmt.Errorf("job %d: %w", job, err)
				}
				if err := send(ctx, read, outcome{job, of}); err != nil {
					return err
				}
			}
			return nil
		})
		group.Go(func() error {
			for o := range read {
				if err := gather.Add(o.job, o.of); err != nil {
					return err
				}
			}
			return nil
		})
		return group.Wait()
	})
	if err != nil {
		return c.Explain(err)
	}
	return gather.Close()
}

// ExplainPlan says what to do about results that this version plans otherwise than the one that made them.
func ExplainPlan(m *foiblev1.Sweep, err error) error {
	if errors.Is(err, sweep.ErrOtherPlan) {
		return fmt.Errorf("%s was made by version %s of Foible, which splits sweeps into other jobs than this one, %s, and whose results this one cannot read; use that version, or submit the study again (%w)",
			m.GetSweepId(), m.GetVersion(), cli.Version(), err)
	}
	return err
}

// ReadRecovery reads a recovery of a study; nil where none is named.
func ReadRecovery(dir string, s *domains.Study) (*recovery.Recovered, error) {
	if dir == "" {
		return nil, nil
	}
	recovered, err := recovery.Read(words.Quoted(dir), cli.ResultsDir(dir), s.Hash)
	if err != nil {
		return nil, fmt.Errorf("--recovery: %w", err)
	}
	return recovered, nil
}

// RecoveryFlag adds --recovery.
func RecoveryFlag(c *cobra.Command, dir *string) {
	c.Flags().StringVar(dir, "recovery", "", "output `directory` of foible recover for the same study, to be shown in report.html")
}

// FailuresFile is the table of failures in an output directory.
const FailuresFile = "failures.csv"

// ahead is how many results may be received, and read, before they are gathered.
const ahead = 4

// outcome is what a job came to.
type outcome struct {
	job int
	of  sweep.Outcome
}

// send waits until there is room for something, or ctx ends.
func send[T any](ctx context.Context, to chan<- T, what T) error {
	select {
	case to <- what:
		return nil
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
}

// summarize prints the best parameter set of each model. It says whether there is any.
func summarize(term *terminal.Terminal, r *fit.Report, s *domains.Study) (fitted bool) {
	if s.Simulated != "" {
		term.Print("The participants of %s are simulated.", s.Name)
	}
	best := r.Best()
	if len(best) == 0 {
		if input.HasJudgements(s) {
			term.Print("No parameter set has a defined correlation with the judgements.")
		} else {
			term.Print("There are no human judgements to compare with; posteriors.csv has what the models infer.")
		}
		return false
	}
	t := terminal.NewTable("Model", "Best parameter set↓", "r", "MC SE", "95% interval", "RMSE", "n")
	for _, b := range best {
		interval := ""
		if len(b.Fit.Intervals) > 0 {
			in := b.Fit.Intervals[0]
			interval = words.Interval(in.Low, in.High, 3, false) + " by " + in.Unit
		}
		t.Add(b.Set.Model, fmt.Sprintf("#%d %s", b.Number, b.Set.Settings()), rText(&b.Fit.Overall), errorText(&b), interval, words.Fixed(b.Fit.Overall.RMSE, 3), pointsText(b.Fit.Overall.N, b.Points))
	}
	term.PrintTable(t)
	term.Print("MC SE: Monte-Carlo standard error of r")
	printDifferences(term, r.Differences(), best[0].Points)
	printBestOfRecovery(term, best, s)
	for _, b := range best {
		if len(b.Fit.Intervals) > 0 && b.Fit.Intervals[0].High < b.Fit.Overall.PearsonR {
			term.Print("An interval by participants may lie below r: the means of resampled people are noisier than those of all people.")
			break
		}
	}
	return true
}

// printFailures says why there are cells without a result.
func printFailures(term *terminal.Terminal, all []fit.Failure) {
	for _, f := range all {
		term.Print("%s", f.String())
	}
}

// errorText is the Monte-Carlo error of an r, if there is one and it is known.
func errorText(b *fit.Best) string {
	if m, _ := model.ByName(b.Set.Model); m.Exact {
		return "exact"
	}
	if b.Fit.MCSEUnknown {
		return "not known"
	}
	return words.Error(b.Fit.MCSE)
}

// rText is an r, if it is defined.
func rText(c *result.Correlation) string {
	if !c.Defined {
		return "undefined"
	}
	return words.Fixed(c.PearsonR, 3)
}

// pointsText is the number of points of a correlation, with the number of all points where it lacks some.
func pointsText(n, all int) string {
	if n == all {
		return words.Thousands(n)
	}
	return fmt.Sprintf("%s of %s", words.Thousands(n), words.Thousands(all))
}

// differences prints how much better the first model is than each of the others, and over how many of the points if
// not all.
func printDifferences(term *terminal.Terminal, all []fit.Difference, points int) {
	if len(all) == 0 {
		return
	}
	t := terminal.NewTable("", "", "", "", "")
	intervals := false
	for _, d := range all {
		if d.Model != all[0].Model || !d.PearsonR.Defined {
			continue
		}
		row := []string{d.Model + " - " + d.Other, words.Signed(d.PearsonR.Value, 3)}
		if d.N < points {
			row[1] += " over " + pointsText(d.N, points) + " points"
		}
		for _, in := range d.PearsonR.Intervals {
			row = append(row, words.Interval(in.Low, in.High, 3, true)+" by "+in.Unit)
			intervals = true
		}
		t.Add(row...)
	}
	if intervals {
		term.Print("Difference in r, with 95%% intervals of both models on the same resamples:")
	} else {
		term.Print("Difference in r:")
	}
	term.PrintTable(t)
}

// recovery says how far the best parameters are from those that simulated the judgements.
func printBestOfRecovery(term *terminal.Terminal, best []fit.Best, s *domains.Study) {
	if s.Generating == nil {
		return
	}
	for _, b := range best {
		if b.Set.Model != s.Generating.Model {
			continue
		}
		var off []string
		m, _ := model.ByName(b.Set.Model)
		for _, axis := range m.Axes {
			made, _ := s.Generating.Get(axis)
			found, _ := b.Set.Get(axis)
			if made != found {
				off = append(off, fmt.Sprintf("%s is %s, was %s", axis, found, made))
			}
		}
		if len(off) == 0 {
			term.Print("The best %s parameters are those that simulated the judgements.", b.Set.Model)
			return
		}
		term.Print("The judgements were simulated by %s. The fit is off: %s.", s.Generating, strings.Join(off, "; "))
		return
	}
	term.Print("The judgements were simulated by %s, which is not in this sweep.", s.Generating)
}

// FileHashes are SHA-256 of each file of a bundle.
func FileHashes(bundle []byte) (map[string]string, error) {
	archive, err := zip.NewReader(bytes.NewReader(bundle), int64(len(bundle)))
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, f := range archive.File {
		content, err := fs.ReadFile(archive, f.Name)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(content)
		all[f.Name] = hex.EncodeToString(sum[:])
	}
	return all, nil
}
