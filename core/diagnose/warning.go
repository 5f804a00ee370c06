// Package diagnose finds what a sweep's fits have to be warned of, with the evidence: settings
// that are statistically indistinguishable, a best one on the edge of its grid, Monte-Carlo errors too
// large for what is compared. Read [Warner] first.
package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/random"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/stats"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/words"
)

// Warning is something to know of a sweep's fits before they are believed.
type Warning struct {
	Kind  string
	Model string // "" of all
	Text  string // with the evidence; a sentence, without a full stop
	Edges []Edge // of the grid, on which the best lies
}

// Edge is that of an axis, and a value to go on with beyond it.
type Edge struct {
	Axis   string
	Beyond model.Setting
}

// Kinds of warnings.
const (
	FlatWarning      = "flat"      // the settings of a model are statistically indistinguishable
	TieWarning       = "tie"       // some of them are statistically indistinguishable from the best
	EdgeWarning      = "edge"      // the best lies on the edge of the grid
	ErrorWarning     = "error"     // r is less sure than was asked for
	RiseWarning      = "rise"      // r would be higher with more runs
	UnequalWarning   = "unequal"   // the models, or settings, compared had unequal runs or particles
	GapWarning       = "gap"       // the Monte-Carlo error is larger than the difference between the best two models
	UndefinedWarning = "undefined" // the best of a model has no posterior somewhere
	PointsWarning    = "points"    // settings, or models, are of different points
	DeadWarning      = "dead"      // goals have become impossible
	CategoryWarning  = "category"  // a category has few points
	FewWarning       = "few"       // a statistic is not given, of too few units
)

// fewPoints in a category: its r says little.
const fewPoints = 5

// mostRuns bounds the pseudo-values kept of a setting.
const mostRuns = 64

// mostValues bounds those kept of a model.
const mostValues = 1 << 23

// Warner finds what a sweep's fits have to be warned of: NewWarner, Add for each
// parameter set in the plan's order, Warnings. All follows from what is added and the seed.
type Warner struct {
	plan     *sweep.Plan
	config   *sweep.Config
	study    *study.Study
	scorer   *score.Scorer
	standing *sweep.Standing
	of       map[string]*settings // by model
}

// settings are those of a model that have an r.
type settings struct {
	index    []int       // in the plan, ascending
	r, se    []float64   // by which each ranks; set by rivals
	values   [][]float64 // pseudo-values of the fit stage; nil where there are none, or too many
	rounds   map[int][]roundR
	chosen   *sweep.Gathered // the best, as it was chosen; nil if there is none
	reported *sweep.Gathered // the best, as it is reported
	best     int             // place of the best in index; set by rivals
	unsure   bool            // the Monte-Carlo error of one is not known; set by rivals
}

// roundR is the r of a setting after a round of topping up.
type roundR struct {
	round int
	r     float64
}

// NewWarner is ready for the parameter sets of a plan.
func NewWarner(st *study.Study, p *sweep.Plan, c *sweep.Config) (*Warner, error) {
	scorer, err := score.NewScorer(st, sweep.Bootstrap{}, c.Seed)
	if err != nil {
		return nil, err
	}
	w := &Warner{plan: p, config: c, study: st, scorer: scorer, standing: sweep.NewStanding(scorer.Points()), of: map[string]*settings{}}
	for _, m := range p.Models() {
		w.of[m.Name] = &settings{rounds: map[int][]roundR{}}
	}
	return w, nil
}

// Add takes a parameter set as [sweep.Gather] visits it.
func (w *Warner) Add(g *sweep.Gathered) {
	s := w.of[g.Set.Model]
	if s == nil || g.Fit == nil {
		return
	}
	if g.Stage == sweep.ReportStage {
		if g.Fit.Overall.Defined {
			s.reported = g.Copy()
			w.standing.Report(g.Set.Model, g.Index, g.Fit)
		}
		return
	}
	before, _ := w.standing.Place(g.Index)
	best := w.standing.Add(g.Set.Model, g.Index, g.Round, g.Fit)
	if !g.Fit.Overall.Defined {
		return
	}
	at, topped := slices.BinarySearch(s.index, g.Index)
	switch {
	case topped:
		if now, _ := w.standing.Place(g.Index); now.Round == g.Round { // else an earlier fit stands
			if s.rounds[at] == nil {
				s.rounds[at] = []roundR{{before.Round, before.PearsonR}}
			}
			s.rounds[at] = append(s.rounds[at], roundR{g.Round, g.Fit.Overall.PearsonR})
		}
	case g.Round > 0: // its fit has failed
		return
	default:
		s.index = append(s.index, g.Index)
		s.values = append(s.values, w.values(g, len(s.values)))
	}
	if best {
		kept := g.Copy()
		s.chosen, s.reported = kept, kept
	}
}

// rivals are the settings that are compared with the best: those over the same points.
func (w *Warner) rivals(s *settings) *settings {
	out := &settings{rounds: map[int][]roundR{}, chosen: s.chosen, reported: s.reported}
	for k, i := range s.index {
		if !w.standing.Rival(i, s.chosen.Index) {
			continue
		}
		if i == s.chosen.Index {
			out.best = len(out.index)
		}
		if of := s.rounds[k]; of != nil {
			out.rounds[len(out.index)] = of
		}
		place, _ := w.standing.Place(i)
		out.index, out.values = append(out.index, i), append(out.values, s.values[k])
		out.r, out.se = append(out.r, place.PearsonR), append(out.se, place.MCSE)
		out.unsure = out.unsure || place.MCSEUnknown
	}
	return out
}

// values are the pseudo-values of a parameter set, unless there are too many already.
func (w *Warner) values(g *sweep.Gathered, sets int) []float64 {
	predictions := make([]result.Prediction, len(g.Cells))
	for i, cell := range g.Cells {
		if cell == nil {
			return nil
		}
		if n := cell.Runs.Len(); n > mostRuns || (sets+1)*n > mostValues {
			return nil
		}
		predictions[i] = w.plan.Stimuli[i].Predict(cell)
	}
	return w.scorer.PseudoValues(predictions)
}

// Warnings of what has been added: by model in the order of [model.Models], and then
// those of all.
func (w *Warner) Warnings() []Warning {
	var all []Warning
	for i := range model.Models {
		m := &model.Models[i]
		s := w.of[m.Name]
		if s == nil || s.chosen == nil {
			continue
		}
		all = append(all, w.setAside(m, s)...)
		s = w.rivals(s)
		flat, tied := w.ties(m, s)
		all = append(all, tied...)
		if !flat { // where they are all alike, where the best lies is chance
			all = append(all, w.edges(m, s)...)
		}
		all = append(all, w.unequalSettings(m, s)...)
		all = append(all, w.outcomes(m, s)...)
	}
	return slices.Concat(all, w.points(), w.gap(), w.unequal(), w.categories(), w.few())
}

// ties says whether the settings of a model differ, and if not, or not
// all, which may be the best.
func (w *Warner) ties(m *model.Model, s *settings) (flat bool, all []Warning) {
	n := len(s.r)
	if n < 2 {
		return false, nil
	}
	if s.unsure {
		return false, []Warning{{Kind: ErrorWarning, Model: m.Name, Text: fmt.Sprintf(
			"%s: whether its %s settings differ by more than chance is not known, since a single run has no Monte-Carlo error; --runs 2 or more tells", m.Name, words.Thousands(n))}}
	}
	if slices.Min(s.r) == slices.Max(s.r) && slices.Max(s.se) == 0 {
		return true, []Warning{{Kind: FlatWarning, Model: m.Name, Text: fmt.Sprintf(
			"%s: these settings are statistically indistinguishable: all %s have the same r, %s", m.Name, words.Thousands(n), decimal(s.r[0]))}}
	}
	if m.Exact {
		return false, nil
	}
	p, how := w.alike(m, s)
	ties := stats.Ties(s.r, s.se, random.TieStream(w.config.Seed, m.Name, s.lastRound()))
	switch {
	case p > flatLevel:
		return true, []Warning{{Kind: FlatWarning, Model: m.Name, Text: fmt.Sprintf(
			"%s: these settings are statistically indistinguishable: the r of %s settings, %s to %s, differ no more than repeats of one do (p = %.2g, %s). %s",
			m.Name, words.Thousands(n), decimal(slices.Min(s.r)), decimal(slices.Max(s.r)), p, how, w.list(s, ties))}}
	case len(ties) > 1:
		return false, []Warning{{Kind: TieWarning, Model: m.Name, Text: fmt.Sprintf(
			"%s: the best of %s settings, r = %s with a Monte-Carlo error of %s, is statistically indistinguishable from others%s. %s%s",
			m.Name, words.Thousands(n), decimal(s.r[s.best]), decimal(s.se[s.best]), w.despite(s), w.list(s, ties), w.fewer(s, ties))}}
	}
	return false, nil
}

// lastRound is the last round of topping up that a setting has had.
func (s *settings) lastRound() int {
	last := 0
	for _, of := range s.rounds {
		last = max(last, of[len(of)-1].round)
	}
	return last
}

// despite says what topping up has not helped.
func (w *Warner) despite(s *settings) string {
	if round := s.lastRound(); round > 0 {
		return ", though they had " + w.times(round)
	}
	return ""
}

// fewer says of how many ties r is of fewer runs than that of the best.
func (w *Warner) fewer(s *settings, ties []stats.Tie) string {
	n := 0
	for _, t := range ties {
		if s.lastRoundOf(t.Index) < s.chosen.Round {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %s of them had fewer than the best, and noise lowers r", words.Thousands(n))
}

// unequalSettings finds those that had fewer runs than the best, and of as many no smaller r.
func (w *Warner) unequalSettings(m *model.Model, s *settings) []Warning {
	best := s.rounds[s.best]
	var others []string
	for k, i := range s.index {
		round, last := 0, s.lastRoundOf(k)
		if best == nil || last >= s.chosen.Round {
			continue
		}
		r := 0.0 // of the best, of no more runs
		for _, of := range best {
			if of.round <= last {
				round, r = of.round, of.r
			}
		}
		if round == last && s.r[k] >= r {
			others = append(others, fmt.Sprintf("#%d %s (%s, the best then %s)", i+1, w.plan.Sets[i].Settings(), decimal(s.r[k]), decimal(r)))
		}
	}
	if others == nil {
		return nil
	}
	return []Warning{{Kind: UnequalWarning, Model: m.Name, Text: fmt.Sprintf(
		"%s: the best setting had %s, and with no more than they had it was no better than %s; noise lowers r, so that they may be as good: %s gives all of them as many",
		m.Name, w.times(s.chosen.Round), few(others), w.forAll(s.chosen.Round))}}
}

// times is what settings have had after a round of topping up.
func (w *Warner) times(round int) string {
	return fmt.Sprintf("%d times the runs of the fit stage", w.plan.Times(round))
}

// forAll are the flags that give all settings what those of a round have had.
func (w *Warner) forAll(round int) string {
	p := w.plan.ProcedureOf(w.config, round)
	if p.Method == sweep.Marginal {
		return fmt.Sprintf("--runs %d --mc-se %.2g --posterior-se %.2g", p.Runs, p.MCSE, p.PosteriorSE)
	}
	return fmt.Sprintf("--runs %d", p.Runs)
}

// lastRoundOf a setting.
func (s *settings) lastRoundOf(at int) int {
	if of := s.rounds[at]; of != nil {
		return of[len(of)-1].round
	}
	return 0
}

// alike tests whether settings differ no more than repeats of one, and says how.
func (w *Warner) alike(m *model.Model, s *settings) (p float64, how string) {
	runs := mostRuns
	for _, v := range s.values {
		runs = min(runs, len(v))
	}
	if runs < 2 || !arrangements(len(s.r), runs) {
		return stats.AlikeByErrors(s.r, s.se), "chi-squared test by the Monte-Carlo errors"
	}
	p, permutations := stats.Alike(s.values, w.levels(m, s), random.WarningStream(w.config.Seed, "flat", m.Name))
	return p, fmt.Sprintf("permutation F test over %s, %s", words.Count(runs, "run"), words.Count(permutations, "permutation"))
}

// levels are, of each axis of several values, the number of each setting's value.
func (w *Warner) levels(m *model.Model, s *settings) [][]int {
	var all [][]int
	for _, name := range m.Axes {
		axis := model.FindAxis(name)
		at := map[model.Setting]int{}
		level := make([]int, len(s.index))
		for k, i := range s.index {
			v := *axis.Of(&w.plan.Sets[i])
			if !has(at, v) {
				at[v] = len(at)
			}
			level[k] = at[v]
		}
		if len(at) > 1 {
			all = append(all, level)
		}
	}
	return all
}

// mostListed settings are named.
const mostListed = 5

func (w *Warner) list(s *settings, ties []stats.Tie) string {
	var b strings.Builder
	noun := "One setting is"
	if len(ties) > 1 {
		noun = words.Thousands(len(ties)) + " settings are"
	}
	fmt.Fprintf(&b, "%s the best with a probability of %g by the Monte-Carlo errors: ", noun, stats.TieLevel)
	for k, t := range ties {
		if k == mostListed {
			fmt.Fprintf(&b, ", and %s more", words.Thousands(len(ties)-k))
			break
		}
		if k > 0 {
			b.WriteString(", ")
		}
		i := s.index[t.Index]
		fmt.Fprintf(&b, "#%d %s (%.2f)", i+1, w.plan.Sets[i].Settings(), t.Probability)
	}
	return b.String()
}

// edges finds axes on which the best setting has the least or the greatest value,
// and could have one beyond.
func (w *Warner) edges(m *model.Model, s *settings) []Warning {
	rs := func(yield func(*model.ParameterSet, float64) bool) {
		for k, i := range s.index {
			if !yield(&w.plan.Sets[i], s.r[k]) {
				return
			}
		}
	}
	var edges []Edge
	var evidence []string
	best := &w.plan.Sets[s.index[s.best]]
	for _, p := range Profiles(*m, rs) {
		axis := model.FindAxis(p.Axis)
		if len(axis.Words) > 0 {
			continue
		}
		last := len(p.Values) - 1
		at := slices.Index(p.Values, *axis.Of(best))
		edge, next := "smallest", 1
		if at == last {
			edge, next = "greatest", last-1
		}
		if at != 0 && at != last {
			continue
		}
		beyond, ok := axis.Beyond(p.Values[at].Number, p.Values[next].Number)
		if !ok {
			continue
		}
		edges = append(edges, Edge{Axis: p.Axis, Beyond: model.Setting{Number: beyond}})
		evidence = append(evidence, fmt.Sprintf("%s=%s, the %s of %d values (r is at most %s, at %s %s)",
			p.Axis, p.Values[at], edge, len(p.Values), decimal(p.Best[at]), p.Values[next], decimal(p.Best[next])))
	}
	if edges == nil {
		return nil
	}
	return []Warning{{
		Kind: EdgeWarning, Model: m.Name, Edges: edges,
		Text: m.Name + ": the best setting lies on the edge of the grid, and r may be higher beyond: " + strings.Join(evidence, "; "),
	}}
}

// outcomes says of the best setting, as it is reported, what makes its r doubtful.
func (w *Warner) outcomes(m *model.Model, s *settings) []Warning {
	var all []Warning
	warn := func(kind, format string, args ...any) {
		all = append(all, Warning{Kind: kind, Model: m.Name, Text: m.Name + ": " + fmt.Sprintf(format, args...)})
	}
	g := s.reported
	if g.Fit.MCSEUnknown {
		warn(ErrorWarning, "the Monte-Carlo error of the best r is not known, since a stimulus has a single run: what differs may differ by chance; --runs 2 or more tells")
	}
	if asked := w.config.Inference.MCSE; !m.Exact && w.config.Inference.Method == sweep.Marginal && g.Fit.MCSE > asked {
		warn(ErrorWarning, "the Monte-Carlo error of the best r, %s, is larger than the %v asked for", decimal(g.Fit.MCSE), asked)
	}
	if text, ok := w.rises(m, g); ok {
		warn(RiseWarning, "%s", text)
	}
	all = append(all, w.undefined(m, g)...)
	var dead []string
	for i, cell := range g.Cells {
		if cell == nil {
			continue
		}
		st := &w.study.Stimuli[i]
		if !m.Exact && cell.Undefined == nil && possible(cell) < len(st.Goals) {
			dead = append(dead, fmt.Sprintf("%s (%d of %d goals left)", st.ID, possible(cell), len(st.Goals)))
		}
	}
	if len(dead) > 0 {
		warn(DeadWarning, "with the best setting goals become impossible on %s of %s, where people may still believe in them: %s", words.Thousands(len(dead)), words.Count(len(g.Cells), "stimulus"), few(dead))
	}
	return all
}

// undefined says on which stimuli the best setting, as it is reported, has no posterior from
// some step on, and which points it lacks for that.
func (w *Warner) undefined(m *model.Model, g *sweep.Gathered) []Warning {
	var stimuli []string
	reason := ""
	for i, cell := range g.Cells {
		if cell != nil && cell.Undefined != nil {
			stimuli = append(stimuli, w.study.Stimuli[i].ID)
			if reason == "" {
				reason = cell.Undefined.Reason
				if cell.Failed() {
					reason = "it could not be computed: " + reason
				}
			}
		}
	}
	lacks := w.standing.Points() - g.Fit.Overall.N
	if stimuli == nil && lacks == 0 {
		return nil
	}
	text := m.Name + ": the best setting has no posterior "
	if stimuli == nil {
		text += "at some points, "
	} else {
		text += fmt.Sprintf("to the end on %s of %s (%s; first reason: %s), ", words.Thousands(len(stimuli)), words.Count(len(g.Cells), "stimulus"), few(stimuli), reason)
	}
	chosen, _ := w.standing.Place(g.Index)
	switch {
	case lacks == 0:
		text += "but wherever people judged"
	case chosen.Complete:
		text += fmt.Sprintf("so that %s of %s are not in its r as it is reported", words.Thousands(lacks), words.Count(w.standing.Points(), "point"))
	default:
		text += fmt.Sprintf("so that %s of %s are not in its r; no setting of the model has a posterior at all points", words.Thousands(lacks), words.Count(w.standing.Points(), "point"))
	}
	return []Warning{{Kind: UndefinedWarning, Model: m.Name, Text: text}}
}

// placed is the fit by which a parameter set ranks; the zero value without one.
func placed(s *sweep.Standing, set int) sweep.Place {
	p, _ := s.Place(set)
	return p
}

// setAside says how many settings of a model are not compared with the best, since they are
// of other points.
func (w *Warner) setAside(m *model.Model, s *settings) []Warning {
	n, highest := 0, -1
	for _, i := range s.index {
		if w.standing.Rival(i, s.chosen.Index) {
			continue
		}
		if n++; highest < 0 || placed(w.standing, i).PearsonR > placed(w.standing, highest).PearsonR {
			highest = i
		}
	}
	if n == 0 {
		return nil
	}
	chosen, other := placed(w.standing, s.chosen.Index), placed(w.standing, highest)
	has := "all " + words.Thousands(w.standing.Points())
	if !chosen.Complete {
		has = fmt.Sprintf("%s of %s", words.Thousands(chosen.N), words.Thousands(w.standing.Points()))
	}
	text := fmt.Sprintf("%s: %s of %s are not compared with the best, which has a posterior at %s points, since theirs are not the same",
		m.Name, words.Thousands(n), words.Count(len(s.index), "setting"), has)
	if other.PearsonR > chosen.PearsonR {
		text += fmt.Sprintf("; #%d %s has the higher r, %s, but over %s", highest+1, w.plan.Sets[highest].Settings(), decimal(other.PearsonR), words.Count(other.N, "point"))
	}
	return []Warning{{Kind: PointsWarning, Model: m.Name, Text: text}}
}

// points says that the best of the models, as they are reported, are of different points.
func (w *Warner) points() []Warning {
	var texts []string
	var predictions [][]result.Prediction
	most := 0
	for i := range model.Models {
		s := w.of[model.Models[i].Name]
		if s == nil || s.reported == nil {
			continue
		}
		of, ok := w.plan.Predictions(s.reported)
		if !ok {
			return nil // a cell is missing; the sweep is incomplete, which is said elsewhere
		}
		predictions = append(predictions, of)
		n := s.reported.Fit.Overall.N
		texts, most = append(texts, fmt.Sprintf("%s has %s", model.Models[i].Name, words.Thousands(n))), max(most, n)
	}
	common := w.scorer.Common(predictions)
	if len(texts) < 2 || common == most {
		return nil
	}
	return []Warning{{Kind: PointsWarning, Text: fmt.Sprintf(
		"the best settings of the models are not of the same points: of %s, %s; their r are not to be compared, each difference between two models is over the points that both have, and all have %s in common",
		words.Thousands(w.standing.Points()), strings.Join(texts, ", "), words.Thousands(common))}}
}

// few are the first of a list, and how many more.
func few(xs []string) string {
	if len(xs) > mostListed {
		return fmt.Sprintf("%s and %s more", strings.Join(xs[:mostListed], ", "), words.Thousands(len(xs)-mostListed))
	}
	return strings.Join(xs, ", ")
}

// possible is the number of goals that have not died by the last row.
func possible(c *result.Cell) int {
	n, last := 0, len(c.Posterior)-1
	if last < 0 {
		return 0
	}
	for goal, p := range c.Posterior[last] {
		if last < len(c.LogEvidence) && !math.IsInf(c.LogEvidence[last][goal], -1) || c.LogEvidence == nil && p > 0 {
			n++
		}
	}
	return n
}

// gap compares the best two models, as they are reported, over the points that both have.
func (w *Warner) gap() []Warning {
	var all []*sweep.Gathered
	for i := range model.Models {
		if s := w.of[model.Models[i].Name]; s != nil && s.reported != nil {
			all = append(all, s.reported)
		}
	}
	if len(all) < 2 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b *sweep.Gathered) int {
		return cmp.Or(cmp.Compare(b.Fit.Overall.N, a.Fit.Overall.N), cmp.Compare(b.Fit.Overall.PearsonR, a.Fit.Overall.PearsonR))
	})
	first, second := all[0], all[1]
	a, b := first.Fit, second.Fit
	if a.MCSEUnknown || b.MCSEUnknown {
		return nil
	}
	difference := a.Overall.PearsonR - b.Overall.PearsonR
	if min(a.Overall.N, b.Overall.N) < w.standing.Points() {
		x, known := w.plan.Predictions(first)
		y, alsoKnown := w.plan.Predictions(second)
		if !known || !alsoKnown {
			return nil
		}
		d, err := w.scorer.Compare(x, y)
		if err != nil || !d.PearsonR.Defined {
			return nil
		}
		if difference = d.PearsonR.Value; difference < 0 {
			first, second, difference = second, first, -difference
		}
	}
	se := math.Sqrt(float64(a.MCSE*a.MCSE) + float64(b.MCSE*b.MCSE))
	if se > difference {
		return []Warning{{Kind: GapWarning, Text: fmt.Sprintf(
			"which model is the best is not known: r of %s is %s above that of %s, and the Monte-Carlo error of the difference is %s; more runs, or a smaller mc_se, would tell",
			first.Set.Model, decimal(difference), second.Set.Model, decimal(se))}}
	}
	return nil
}

// unequal finds models with more computed than others, as they are
// reported. A sweep gives all models of a stage the same; it comes about where the
// report stage has no result of one, or where there is none and one was topped up.
func (w *Warner) unequal() []Warning {
	var sizes []sweep.Stage
	var texts []string
	for i := range model.Models {
		s := w.of[model.Models[i].Name]
		if s == nil || s.reported == nil || model.Models[i].Exact {
			continue
		}
		size := w.config.Procedure(s.reported.Stage).Stage
		for _, cell := range s.reported.Cells {
			if cell != nil {
				size.Runs = max(size.Runs, cell.Runs.Len())
			}
		}
		text := model.Models[i].Name + " " + words.Count(size.Runs, "run")
		if size.ParticlesPerGoal > 0 {
			text += " of " + words.Count(size.ParticlesPerGoal, "particle") + " a goal"
		}
		sizes, texts = append(sizes, size), append(texts, text)
	}
	if len(slices.Compact(sizes)) < 2 {
		return nil
	}
	return []Warning{{Kind: UnequalWarning, Text: "the models compared had unequal runs, and with fewer runs r is lower: " + strings.Join(texts, ", ")}}
}

// categories finds those of few points, by the fit that has the most there.
func (w *Warner) categories() []Warning {
	if len(w.scorer.Categories) < 2 {
		return nil
	}
	var all []Warning
	for k, category := range w.scorer.Categories {
		n, seen := 0, false
		for i := range model.Models {
			if s := w.of[model.Models[i].Name]; s != nil && s.reported != nil && k < len(s.reported.Fit.ByCategory) {
				n, seen = max(n, s.reported.Fit.ByCategory[k].N), true
			}
		}
		if seen && n < fewPoints {
			all = append(all, Warning{Kind: CategoryWarning, Text: fmt.Sprintf("category %q has %s: its r says little", category, words.Count(n, "point"))})
		}
	}
	return all
}

// few says which statistics are not given.
func (w *Warner) few() []Warning {
	names := map[string]string{
		score.Reliability: "the reliability of the means and the ceiling on r", score.FewForFolds: "cross-validation", score.FewForComparison: "the comparison of models by participants",
	}
	var all []string
	for _, f := range score.TooFew(w.study, w.config.Bootstrap) {
		name, ok := names[f.What]
		if !ok {
			name = "intervals by " + f.What
		}
		all = append(all, fmt.Sprintf("%s (%s)", name, f.Reason))
	}
	if all == nil {
		return nil
	}
	return []Warning{{Kind: FewWarning, Text: "not given, for want of units: " + strings.Join(all, "; ")}}
}

// decimal is a number as people read it.
func decimal(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "not known"
	}
	if x != 0 && math.Abs(x) < 0.01 {
		return strconv.FormatFloat(x, 'g', 2, 64)
	}
	return strconv.FormatFloat(x, 'f', 3, 64)
}

// flatLevel is the chance that settings which are all the same are found to differ.
const flatLevel = 0.05

// arrangements reports whether a number of settings and runs have enough permutations for
// [stats.Alike] to tell anything apart.
func arrangements(settings, runs int) bool {
	enough := 2 / flatLevel
	ways := 1.0
	for range runs - 1 {
		for k := 2; k <= settings && ways < enough; k++ {
			ways *= float64(k)
		}
	}
	return ways >= enough
}
