package recovery

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/report"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
)

// Recovered is what a recovery wrote, for the report of a sweep of the same study.
type Recovered struct {
	manifest Manifest
	drawn    map[string]string // figures as SVG, by name
}

// Read reads the output directory of a recovery of the study with a hash; name
// is what the directory is called.
func Read(name string, files fs.FS, studyHash string) (*Recovered, error) {
	r := &Recovered{drawn: map[string]string{}}
	text, err := fs.ReadFile(files, "manifest.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no manifest.json: name the output directory of `foible recover`", name)
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &r.manifest); err != nil {
		return nil, fmt.Errorf("%s: manifest.json: %w", name, err)
	}
	switch m := &r.manifest; {
	case m.FitSweep == "" || len(m.Participants) == 0:
		return nil, fmt.Errorf("%s is of no recovery: name the output directory of `foible recover`", name)
	case m.StudyHash != studyHash:
		return nil, fmt.Errorf("%s is a recovery of another study, or of this one before it was changed: run `foible recover` again", name)
	}
	figures := []string{"confusion"}
	for _, m := range model.Models {
		if r.manifest.Parameters[m.Name] > 0 {
			figures = append(figures, "recovery-"+m.Name)
		}
	}
	for _, figure := range figures {
		svg, err := fs.ReadFile(files, "figures/"+figure+".svg")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if text := string(svg); strings.HasPrefix(text, "<svg ") && !strings.Contains(text, "<script") {
			r.drawn[figure] = text
			continue
		}
		return nil, fmt.Errorf("%s: figures/%s.svg is no figure of `foible recover`", name, figure)
	}
	return r, nil
}

// Section is what the page of a fit says of a recovery.
type Section struct {
	About    string
	Findings []string
	Plates   []*report.Plate
}

// Section puts a recovery on the page of a fit that has parameter sets of some models: its figures get
// numbers of the page, and what it builds on is cited there before the last citation.
func (r *Recovered) Section(p *report.Page, swept []sweep.ModelSets) *Section {
	m := &r.manifest
	plans := "the study's own plans"
	if m.Plans != "study" {
		plans = fmt.Sprintf("plans of simulated agents, %d on each problem of the study", m.Trajectories)
	}
	s := &Section{
		About: fmt.Sprintf("Participants were simulated who judge %s as known parameter sets do, and all models were fitted to them: %s a model, the most with %s a stimulus, on whose fits the following is based (Foible %s, sweeps %s and %s).",
			plans, words.Count(m.Datasets, "dataset"), words.Count(m.Participants[len(m.Participants)-1], "participant"), m.Version, m.TruthSweep, m.FitSweep),
		Findings: m.Recovered,
	}
	var other []string
	for _, model := range swept {
		if n := m.Parameters[model.Name]; n != model.End-model.First {
			other = append(other, fmt.Sprintf("%s (%s there, %s here)", model.Name, words.Thousands(n), words.Thousands(model.End-model.First)))
		}
	}
	if other != nil {
		s.About += " Its grid was another one: parameter sets of " + words.List(other) + "."
	}
	place := func(name, caption string) {
		s.Plates = append(s.Plates, p.Place(r.drawn[name], caption))
	}
	place("confusion", confusionCaption)
	for _, named := range model.Models {
		if r.drawn["recovery-"+named.Name] != "" {
			place("recovery-"+named.Name, recoveryCaption(named.Name))
		}
	}
	p.Citations = slices.Insert(p.Citations, len(p.Citations)-1, wilsonCollins)
	return s
}

const confusionCaption = "Confusion matrices: P(fitted | true) at each sample size, by the highest r of a model's parameter sets and by the highest r of held-out stimuli."

func recoveryCaption(model string) string {
	return fmt.Sprintf("Fitted against true parameters of %s, of the datasets that it is the true model of.", model)
}
