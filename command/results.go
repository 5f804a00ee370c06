package command

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"foible/core/report"
	"foible/core/sweep"
	"foible/domains"
	"foible/proto/codec"
	foiblev1 "foible/proto/foible/v1"
)

// Results writes what a sweep has come to into a directory.
func (e *Env) Results(ctx context.Context, address, id, dir string, partial bool) error {
	c, err := dial(address)
	if err != nil {
		return err
	}
	defer c.close()
	got, err := c.sweeps.GetSweep(ctx, &foiblev1.GetSweepRequest{SweepId: id})
	if err != nil {
		return c.explain(err)
	}
	s, err := c.study(ctx, got.GetSweep().GetStudyHash())
	if err != nil {
		return err
	}
	if dir == "" {
		dir = defaultOut(s)
	}
	return e.collect(ctx, c, got.GetSweep(), s, dir, partial)
}

func defaultOut(s *domains.Study) string { return "foible-" + s.Name }

// collect gathers the results of a sweep, writes the report, and prints each model's best parameter set.
func (e *Env) collect(ctx context.Context, c *client, m *foiblev1.Sweep, s *domains.Study, dir string, partial bool) error {
	config, err := codec.Config(m.GetConfig())
	if err != nil {
		return err
	}
	sets, err := config.ParameterSets()
	if err != nil {
		return err
	}
	plan, err := sweep.NewPlan(sets, codec.Shapes(m.GetStimuli()), int(m.GetCellsPerJob()))
	if err != nil {
		return err
	}
	inputs, err := hashes(s.Bundle)
	if err != nil {
		return err
	}
	r, err := report.New(directory(dir), s.Study, plan, config, report.Manifest{
		SweepID: m.GetSweepId(), StudyHash: s.Hash, Inputs: inputs, Version: m.GetVersion(),
		Complete: m.GetState() == foiblev1.SweepState_SWEEP_STATE_SUCCEEDED,
		Created:  m.GetCreateTime().AsTime().UTC().Format(time.RFC3339),
	})
	if err != nil {
		return err
	}
	gather := sweep.NewGather(plan, r.Add)
	stream, err := c.sweeps.ExportResults(ctx, &foiblev1.ExportResultsRequest{SweepId: m.GetSweepId(), Partial: partial})
	if err != nil {
		return c.explain(err)
	}
	for {
		result, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return c.explain(err)
		}
		outcome, err := codec.Outcome(result.GetResult(), plan, int(result.GetJob()))
		if err != nil {
			return fmt.Errorf("job %d: %w", result.GetJob(), err)
		}
		if err := gather.Add(int(result.GetJob()), outcome); err != nil {
			return err
		}
	}
	if err := gather.Close(); err != nil {
		return err
	}
	if err := r.Close(); err != nil {
		return err
	}
	e.summarize(r, s)
	fmt.Fprintf(e.Out, "Wrote %s: fits.csv, posteriors.csv and more; see figures/sensitivity.svg first.\n", dir)
	if m.GetState() == foiblev1.SweepState_SWEEP_STATE_FAILED {
		return fmt.Errorf("some jobs failed, see %s: %s", filepath.Join(dir, "failures.csv"), first(m.GetProgress().GetFailures()))
	}
	return nil
}

func first(reasons []string) string {
	if len(reasons) == 0 {
		return "no reason is known"
	}
	return reasons[0]
}

// summarize prints the best parameter set of each model.
func (e *Env) summarize(r *report.Report, s *domains.Study) {
	fits, numbers := r.Best()
	if s.Simulated != "" {
		fmt.Fprintf(e.Out, "The participants of %s are simulated.\n", s.Name)
	}
	w := tabwriter.NewWriter(e.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "Model\tBest parameter set\tr\t95% interval\tRMSE\tn")
	for i, f := range fits {
		interval := ""
		if len(f.Intervals) > 0 {
			in := f.Intervals[0]
			interval = fmt.Sprintf("[%.3f, %.3f] by %s", in.Low, in.High, in.Unit)
		}
		fmt.Fprintf(w, "%s\t#%d %s\t%.3f\t%s\t%.3f\t%d\n", f.Set.Model, numbers[i], f.Set.Settings(), f.Overall.PearsonR, interval, f.Overall.RMSE, f.Overall.N)
	}
	_ = w.Flush()
	if len(fits) == 0 {
		fmt.Fprintln(e.Out, "No parameter set has a defined correlation.")
	}
}

// hashes are SHA-256 of each file of a bundle.
func hashes(bundle []byte) (map[string]string, error) {
	archive, err := zip.NewReader(bytes.NewReader(bundle), int64(len(bundle)))
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, f := range archive.File {
		content, err := f.Open()
		if err != nil {
			return nil, err
		}
		h := sha256.New()
		if _, err := io.Copy(h, content); err != nil {
			return nil, err
		}
		all[f.Name] = hex.EncodeToString(h.Sum(nil))
	}
	return all, nil
}

// directory is a report's output below a directory. A file appears under its name when it is complete.
type directory string

// Create implements [report.Output].
func (d directory) Create(name string) (io.WriteCloser, error) {
	path := filepath.Join(string(d), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(path + ".part")
	if err != nil {
		return nil, err
	}
	return &part{File: f, path: path}, nil
}

type part struct {
	*os.File
	path string
}

// Close gives the file its name.
func (p *part) Close() error {
	if err := p.File.Close(); err != nil {
		return err
	}
	return os.Rename(p.Name(), p.path)
}
