package domains

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"foible.dev/foible/core/files"
	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Study is a study with the domain it is of.
type Study struct {
	*study.Study
	Domain *Domain
	// Generating are the parameters of the observers that simulated the
	// responses; nil where people answered, or the study does not say.
	Generating *model.ParameterSet
	// Bundle is a zip archive of study.yaml and all the files that it names:
	// equal files, equal bytes.
	Bundle []byte
	// Hash is SHA-256 of Bundle, 64 hexadecimal digits.
	Hash string
}

// Load reads a study directory. The findings say everything that is wrong with
// it; the study is nil if one of them is an error.
func Load(fsys fs.FS) (*Study, study.Findings) {
	s, found := Draft(fsys)
	if found.Err() != nil {
		return nil, found
	}
	return s, found
}

// Draft reads a study directory as [Load] does, and gives what could be read of a study
// with errors, to be checked further: such a study has no bundle. It is nil if nothing could.
func Draft(fsys fs.FS) (*Study, study.Findings) {
	if _, limited := fsys.(*files.FS); !limited {
		fsys = files.Limited(fsys, files.StudyLimits())
	}
	src, err := files.Read(fsys, studyFile, MaxYAMLBytes)
	if err != nil {
		return nil, study.Findings{{Pos: pddl.Pos{File: studyFile}, Message: "cannot be read: " + reason(err)}}
	}
	spec := &foiblev1.Study{}
	if errs := decode(studyFile, src, spec); errs != nil {
		return nil, append(findings(errs), study.Finding{
			Severity: study.Note, Pos: pddl.Pos{File: studyFile}, Message: "the files that it names were not looked at",
		})
	}
	where := positions(src)
	domain, ok := ByName(spec.GetDomain())
	if !ok {
		return nil, study.Findings{{Pos: where("domain"), Message: fmt.Sprintf("unknown domain %q; there are %s", spec.GetDomain(), words.Options(spec.GetDomain(), Names()))}}
	}
	var generating *model.ParameterSet
	var own study.Findings
	if m := spec.GetGeneratingParameters(); m != nil {
		set, err := codec.ReadParameterSet(m)
		if err != nil {
			own = study.Findings{{Pos: where("generating_parameters"), Message: "generating_parameters: " + err.Error()}}
		}
		generating = &set
	}
	read, found := study.Read(fsys, study.Source{
		Name: spec.GetName(), Title: spec.GetTitle(), Domain: spec.GetDomain(), Simulated: spec.GetSimulated(),
		DomainPDDL: spec.GetDomainPddl(), Stimuli: spec.GetStimuli(), Problems: spec.GetProblems(), Plans: spec.GetPlans(),
		Responses: spec.GetResponses(), Means: spec.GetMeans(), ParticipantsLinked: spec.GetParticipantsLinked(),
		Observation: study.Observation{PredicateNoise: spec.GetObservation().GetPredicateNoise(), FluentNoise: spec.GetObservation().GetFluentNoise()},
		BuiltinPDDL: domain.PDDL, Goal: domain.Goal, Where: where,
	})
	found = study.Merge(found, own)
	if read == nil {
		return nil, found
	}
	if found.Err() != nil {
		return &Study{Study: read, Domain: domain}, found
	}
	bundle, err := pack(fsys, spec, read)
	if err != nil {
		return nil, append(found, study.Finding{Message: err.Error()})
	}
	sum := sha256.Sum256(bundle)
	return &Study{Study: read, Domain: domain, Generating: generating, Bundle: bundle, Hash: hex.EncodeToString(sum[:])}, found
}

const studyFile = "study.yaml"

// MaxYAMLBytes bounds study.yaml and sweep.yaml.
const MaxYAMLBytes = 1 << 20

// Open loads a study from its bundle.
func Open(bundle []byte) (*Study, error) {
	fsys, err := files.Bundle(bundle, files.StudyLimits())
	if err != nil {
		return nil, err
	}
	s, found := Load(fsys)
	return s, found.Err()
}

// Shapes are the stimuli of the study in a bundle.
func Shapes(bundle []byte) ([]*foiblev1.StimulusShape, error) {
	s, err := Open(bundle)
	if err != nil {
		return nil, err
	}
	return s.Shapes(), nil
}

// Scorer compares predictions with the judgements of the study in a bundle. It holds nothing else of the study.
func Scorer(bundle []byte, b sweep.Bootstrap, seed uint64) (*score.Scorer, error) {
	s, err := Open(bundle)
	if err != nil {
		return nil, err
	}
	judged := &study.Study{Stimuli: make([]study.Stimulus, len(s.Stimuli)), ParticipantsLinked: s.ParticipantsLinked}
	for i := range s.Stimuli {
		of := &s.Stimuli[i]
		judged.Stimuli[i] = study.Stimulus{
			ID: of.ID, Category: of.Category, Goals: make([]study.Goal, len(of.Goals)), JudgementSteps: of.JudgementSteps,
			Human: of.Human,
		}
	}
	return score.NewScorer(judged, b, seed)
}

// pack archives the files of a study in the order of their names.
func pack(fsys fs.FS, spec *foiblev1.Study, s *study.Study) ([]byte, error) {
	names := []string{studyFile}
	for _, name := range []string{spec.GetDomainPddl(), spec.GetStimuli(), spec.GetResponses(), spec.GetMeans()} {
		if name != "" {
			names = append(names, path.Clean(name))
		}
	}
	for i := range s.Stimuli {
		for _, pattern := range []string{spec.GetProblems(), spec.GetPlans()} {
			names = append(names, path.Clean(strings.ReplaceAll(pattern, "{stimulus}", s.Stimuli[i].ID)))
		}
	}
	slices.Sort(names)
	return files.Pack(fsys, slices.Compact(names))
}

// Ready makes a stimulus ready for inference.
func (s *Study) Ready(stimulus string) (*inference.Stimulus, error) {
	i := slices.IndexFunc(s.Stimuli, func(st study.Stimulus) bool { return st.ID == stimulus })
	if i < 0 {
		return nil, fmt.Errorf("the study has no stimulus %q", stimulus)
	}
	return s.ready(&s.Stimuli[i]), nil
}

func (s *Study) ready(st *study.Stimulus) *inference.Stimulus {
	return inference.New(st, inference.Domain{
		Heuristics:      s.Domain.Heuristics,
		Admissible:      s.Domain.Admissible,
		Goal:            s.Domain.Goal,
		Corruptions:     s.Domain.Corruptions,
		CorruptionCount: s.Domain.CorruptionCount,
		PredicateNoise:  s.Observation.PredicateNoise,
		FluentNoise:     s.Observation.FluentNoise,
	})
}

// Shapes is what a coordinator needs to know of the stimuli.
func (s *Study) Shapes() []*foiblev1.StimulusShape {
	shapes := make([]*foiblev1.StimulusShape, len(s.Stimuli))
	for i := range s.Stimuli {
		st := &s.Stimuli[i]
		shapes[i] = &foiblev1.StimulusShape{Stimulus: st.ID, Goals: int32(len(st.Goals)), Actions: int32(len(st.Plan))}
		for _, step := range st.JudgementSteps {
			shapes[i].JudgementSteps = append(shapes[i].JudgementSteps, int32(step))
		}
		judged := int32(0)
		for _, row := range st.Human.Mean {
			judged += int32(len(row)) // none where nobody answered
		}
		shapes[i].JudgedPoints = &judged
	}
	return shapes
}

// LoadSweep reads a sweep.yaml. The error joins everything that is wrong with
// it, one a line, each with its place.
func LoadSweep(file string, src []byte) (*foiblev1.SweepConfig, error) {
	m := &foiblev1.SweepConfig{}
	errs := decode(file, src, m)
	if errs == nil {
		errs = checkModels(file, src)
	}
	if errs != nil {
		joined := make([]error, len(errs))
		for i, err := range errs {
			joined[i] = err
		}
		return nil, errors.Join(joined...)
	}
	if _, err := codec.Config(m); err != nil {
		return nil, inSweep(file, src, err)
	}
	return m, nil
}

// checkModels finds models that do not exist, axes that a model has not, and
// values that an axis cannot have.
func checkModels(file string, src []byte) []*pddl.Error {
	l := lint{file: file}
	for name, models := range keys(src) {
		if name.Value != "models" {
			continue
		}
		for key, axes := range pairs(models) {
			m, ok := model.ByName(key.Value)
			if !ok {
				l.report(key, "unknown model %q; there are %s", key.Value, words.Options(key.Value, model.Names()))
				continue
			}
			for name, values := range pairs(axes) {
				if !slices.Contains(m.Axes, name.Value) {
					l.report(name, "model %q has no axis %q; it has %s", m.Name, name.Value, words.Options(name.Value, m.Axes))
					continue
				}
				axis, _ := model.AxisByName(name.Value)
				l.axis(&axis, values)
			}
		}
	}
	return l.errors
}

// axis checks the value of an axis, or each of a list.
func (l *lint) axis(axis *model.Axis, n *yaml.Node) {
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			l.axis(axis, item)
		}
		return
	}
	setting := model.Setting{Word: n.Value}
	if len(axis.Words) == 0 {
		setting.Word = ""
		setting.Number, _ = strconv.ParseFloat(n.Value, 64)
	}
	if err := axis.Check(setting); err != nil {
		l.report(n, "%v", err)
	}
}

// positions finds the value of a key of study.yaml.
func positions(src []byte) func(field string) pddl.Pos {
	places := map[string]pddl.Pos{}
	for key, value := range keys(src) {
		places[key.Value] = pddl.Pos{File: studyFile, Line: value.Line, Column: value.Column}
	}
	return func(field string) pddl.Pos {
		if p, ok := places[field]; ok {
			return p
		}
		return pddl.Pos{File: studyFile}
	}
}

// findings are errors as findings.
func findings(errs []*pddl.Error) study.Findings {
	out := make(study.Findings, len(errs))
	for i, err := range errs {
		out[i] = study.Finding{Severity: study.Error, Pos: err.Pos, Message: err.Message}
	}
	return out
}

// reason is an error of a file without the path, which the message has already.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
