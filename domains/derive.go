package domains

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"strconv"
	"strings"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/recovery"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Derive makes a study of simulated trajectories on the problems of this one,
// without judgements. Its stimuli.csv says of each which agent acted: the model
// as category, and the settings in columns of their own.
func (s *Study) Derive(stimuli []recovery.Stimulus, simulated string) (*Study, error) {
	archive, err := zip.NewReader(bytes.NewReader(s.Bundle), int64(len(s.Bundle)))
	if err != nil {
		return nil, err
	}
	src, err := fs.ReadFile(archive, studyFile)
	if err != nil {
		return nil, err
	}
	spec := &foiblev1.Study{}
	if errs := decode(studyFile, src, spec); errs != nil {
		return nil, findings(errs).Err()
	}
	table, err := s.stimuliTable(stimuli)
	if err != nil {
		return nil, err
	}
	files := []file{{studyFile, derivedSpec(spec, simulated)}, {"stimuli.csv", table}}
	if name := spec.GetDomainPddl(); name != "" {
		pddl, err := fs.ReadFile(archive, path.Clean(name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{"domain.pddl", pddl})
	}
	for i := range stimuli {
		of := &stimuli[i]
		problem, err := fs.ReadFile(archive, path.Clean(strings.ReplaceAll(spec.GetProblems(), "{stimulus}", s.Stimuli[of.Source].ID)))
		if err != nil {
			return nil, err
		}
		files = append(files, file{"problems/" + of.ID + ".pddl", problem}, file{"plans/" + of.ID + ".plan", []byte(of.Plan)})
	}
	bundle, err := zipped(files)
	if err != nil {
		return nil, err
	}
	return Open(bundle)
}

// derivedSpec is the study.yaml of a derived study.
func derivedSpec(of *foiblev1.Study, simulated string) []byte {
	const suffix, longest = "-recovery", 60
	name := strings.TrimRight(of.GetName()[:min(len(of.GetName()), longest-len(suffix))], "-") + suffix
	title := of.GetTitle()
	if title == "" {
		title = of.GetName()
	}
	var b bytes.Buffer
	for _, field := range [][2]string{
		{"name", name},
		{"title", strconv.Quote(title + ", simulated trajectories")},
		{"domain", of.GetDomain()},
		{"stimuli", "stimuli.csv"},
		{"problems", "problems/{stimulus}.pddl"},
		{"plans", "plans/{stimulus}.plan"},
		{"simulated", strconv.Quote(simulated)},
	} {
		fmt.Fprintf(&b, "%s: %s\n", field[0], field[1])
	}
	if of.GetDomainPddl() != "" {
		fmt.Fprintln(&b, "domain_pddl: domain.pddl")
	}
	if o := of.GetObservation(); o != nil {
		fmt.Fprintf(&b, "observation: {predicate_noise: %v, fluent_noise: %v}\n", o.GetPredicateNoise(), o.GetFluentNoise())
	}
	return b.Bytes()
}

func (s *Study) stimuliTable(stimuli []recovery.Stimulus) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	header := []string{"stimulus", "category", "goals", "true_goal", "judgement_steps", "problem", "reached_goal"}
	for _, axis := range model.Axes {
		header = append(header, axis.Name)
	}
	rows := [][]string{header}
	for i := range stimuli {
		of := &stimuli[i]
		from := &s.Stimuli[of.Source]
		var goals, steps []string
		for _, g := range from.Goals {
			goals = append(goals, g.Name)
		}
		for _, step := range of.JudgementSteps {
			steps = append(steps, strconv.Itoa(step))
		}
		row := []string{
			of.ID, of.Agent.Model, strings.Join(goals, " "), from.Goals[of.Goal].Name, strings.Join(steps, " "),
			from.ID, strconv.FormatBool(of.Reached),
		}
		for _, axis := range model.Axes {
			text := ""
			if v, ok := of.Agent.Get(axis.Name); ok {
				text = v.String()
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	err := w.WriteAll(rows)
	return b.Bytes(), err
}

type file struct {
	name    string
	content []byte
}

func zipped(files []file) ([]byte, error) {
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for _, f := range files {
		w, err := archive.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Store})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return b.Bytes(), err
}

// Files are those of the study's bundle, in its order.
func (s *Study) Files() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		archive, err := zip.NewReader(bytes.NewReader(s.Bundle), int64(len(s.Bundle)))
		if err != nil {
			panic(err) // it has been opened
		}
		for _, f := range archive.File {
			content, err := fs.ReadFile(archive, f.Name)
			if err != nil {
				panic(err)
			}
			if !yield(f.Name, content) {
				return
			}
		}
	}
}
