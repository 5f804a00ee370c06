package stimulus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/input"
	"foible.dev/foible/command/output"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/core/inference"
	"foible.dev/foible/core/model"
	"foible.dev/foible/core/random"
	"foible.dev/foible/core/result"
	"foible.dev/foible/core/study"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/core/tabular"
	"foible.dev/foible/core/words"
)

// SimulateOptions say which agent to let act, how often and for how long.
type SimulateOptions struct {
	StimulusChoice
	Goal  string // of the stimulus's; "": its true goal
	N     int    // trajectories
	Steps int    // at most, of each
	Out   string // output directory; "": named after study, stimulus and goal
	// Overwrite: what the directory holds of others.
	Overwrite bool
}

// Simulate lets an agent act, and writes what it did as plans in which its
// mistakes are marked.
func Simulate(ctx context.Context, term *terminal.Terminal, o SimulateOptions) error {
	switch {
	case o.N < 1 || o.N > input.MaxTrajectories:
		return cli.Usagef("--n %d: must be 1 to %d", o.N, input.MaxTrajectories)
	case o.Steps < 1 || o.Steps > input.MaxSteps:
		return cli.Usagef("--steps %d: must be 1 to %d", o.Steps, input.MaxSteps)
	case len(o.Models) > 1:
		return cli.Usagef("--model: one model only")
	}
	c, err := resolve(term, &o.StimulusChoice)
	if err != nil {
		return err
	}
	goal, err := goalOf(c.stimulus, o.Goal)
	if err != nil {
		return err
	}
	ready, err := c.study.Ready(c.stimulus.ID)
	if err != nil {
		return err
	}
	if o.Out == "" {
		o.Out = "foible-" + c.study.Name + "-" + fileName(c.stimulus.ID) + "-" + fileName(c.stimulus.Goals[goal].Name) + "-simulated"
	}
	s := simulation{chosen: c, o: &o, goal: c.stimulus.Goals[goal].Name}
	about := "goal " + s.goal + ", stimulus " + c.stimulus.ID + " of " + c.study.Name
	of := output.Owner{Command: "simulate", Of: about, About: about}
	if err := output.Free(o.Out, of, o.Overwrite); err != nil {
		return err
	}
	if err := output.Write(o.Out, of, nil, func(out *output.Dir) error {
		s.out = out
		for i := range o.N {
			rng := random.RunStream(c.seed, "simulate "+s.goal, &c.sets[0], c.stimulus.ID, i)
			t, err := ready.Simulate(ctx, &inference.Simulation{Set: &c.sets[0], Inference: o.Inference, Goal: goal, Steps: o.Steps}, rng)
			if err != nil {
				return cli.Interrupted(ctx, err)
			}
			if err := s.write(i, t); err != nil {
				return err
			}
		}
		return s.writeTable()
	}); err != nil {
		return err
	}
	describe(term, c)
	s.print(term)
	return nil
}

// goalOf finds a goal by its name; "" is the true goal.
func goalOf(st *study.Stimulus, name string) (int, error) {
	names := make([]string, len(st.Goals))
	for i := range st.Goals {
		names[i] = st.Goals[i].Name
	}
	if name == "" {
		if st.TrueGoal < 0 {
			return 0, cli.Usagef("name a goal with --goal: %s", strings.Join(names, ", "))
		}
		return st.TrueGoal, nil
	}
	i := slices.IndexFunc(names, func(g string) bool { return strings.EqualFold(g, name) })
	if i < 0 {
		return 0, cli.Usagef("--goal %q: stimulus %s has the goals %s", name, st.ID, words.Options(name, names))
	}
	return i, nil
}

// simulation is what has been simulated so far.
type simulation struct {
	*chosen
	o       *SimulateOptions
	out     tabular.Output
	goal    string
	tallies []inference.Tally
	acts    []int // steps, by trajectory
	reached []bool
}

// bounded reports whether the agent is a boundedly rational one.
func (s *simulation) bounded() bool { return s.sets[0].Model != "boltzmann" }

// file is the name of a trajectory's plan, with at least three digits.
func (s *simulation) file(i int) string {
	digits := max(3, len(strconv.Itoa(s.o.N)))
	return fmt.Sprintf("%s-%0*d.plan", fileName(s.goal), digits, i+1)
}

func (s *simulation) create(name string, content func(io.Writer) error) error {
	f, err := s.out.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(content(f), f.Close())
}

// write writes a trajectory, below comments that name its study, stimulus and goal.
func (s *simulation) write(i int, t *inference.Trajectory) error {
	tally := t.Tally()
	s.tallies = append(s.tallies, tally)
	s.acts = append(s.acts, len(t.Acts))
	s.reached = append(s.reached, t.Reached)
	return s.create(s.file(i), func(w io.Writer) error {
		end := "goal reached"
		if !t.Reached {
			end = "goal not reached"
		}
		_, err := fmt.Fprintf(w, "; %s, stimulus %s, goal %s, trajectory %d of seed %d\n; %s%s\n; %s, %s\n%s",
			s.study.Name, s.stimulus.ID, s.goal, i+1, s.seed, s.sets[0].String(), s.kind(),
			words.Count(tally.Actions, "action"), end, t.Plan())
		return err
	})
}

// kind is what action_noise means, where there is some.
func (s *simulation) kind() string {
	if _, ok := s.sets[0].Get("action_noise"); !ok {
		return ""
	}
	return " (" + kindText(s.o.Inference) + ")"
}

// writeTable writes a row a trajectory. Counts that the model cannot have, or that are not known, are empty.
func (s *simulation) writeTable() error {
	return tabular.Write(s.out, "trajectories", func(row func(...any) error) error {
		for i, t := range s.tallies {
			values := []any{s.goal, i + 1, s.file(i), t.Actions, s.acts[i], nil, nil, nil, nil, nil, nil, nil, strconv.FormatBool(s.reached[i])}
			if s.bounded() {
				values[5], values[6], values[7], values[8] = t.Stays, t.Slips, t.Confusions, t.Plans
				if paths, known := t.Paths.Get(); known {
					values[9], values[10] = paths.Detours, paths.DeadEnds
				}
			} else {
				values[11] = t.Worse
			}
			if err := row(values...); err != nil {
				return err
			}
		}
		return nil
	})
}

// print sums up.
func (s *simulation) print(e *terminal.Terminal) {
	set := &s.sets[0]
	fmt.Fprintln(e.Out)
	e.Print("%s%s", set, s.kind())
	if budget := budgetText(set); budget != "" {
		e.Print("  %s", budget)
	}
	e.Print("  at most %s, seed %d", words.Count(s.o.Steps, "step"), s.seed)
	fmt.Fprintln(e.Out)
	var lengths []int
	var sum inference.Tally
	var paths inference.PathTally
	steps, unknown := 0, false
	for i, t := range s.tallies {
		steps += s.acts[i]
		sum.Stays += t.Stays
		sum.Slips += t.Slips
		sum.Confusions += t.Confusions
		sum.Plans += t.Plans
		of, known := t.Paths.Get()
		paths.Detours += of.Detours
		paths.DeadEnds += of.DeadEnds
		unknown = unknown || !known
		sum.Worse += t.Worse
		if s.reached[i] {
			lengths = append(lengths, t.Actions)
		}
	}
	reached := fmt.Sprintf("%s of %s reached %s", words.Thousands(len(lengths)), input.Trajectories(len(s.tallies)), s.goal)
	if slices.Sort(lengths); len(lengths) > 0 {
		reached += fmt.Sprintf(", in %s to %s, median %s", words.Thousands(lengths[0]), words.Count(lengths[len(lengths)-1], "action"), words.Thousands(lengths[len(lengths)/2]))
	}
	e.Print("%s", reached)
	if s.bounded() {
		e.Print("In %s: %s, %s, stayed put %s", words.Count(steps, "step"), words.Count(sum.Slips, "slip"), words.Count(sum.Confusions, "confusion"), words.Count(sum.Stays, "time"))
		if unknown {
			e.Print("How many of %s lead out of the way or into a dead end is %s can be reached", words.Count(sum.Plans, "plan"), result.PathsUnknown)
		} else {
			e.Print("Of %s: %s out of the way, %s into a dead end", words.Count(sum.Plans, "plan"), words.Thousands(paths.Detours), words.Thousands(paths.DeadEnds))
		}
	} else {
		e.Print("In %s: %s not the most probable", words.Count(steps, "step"), words.Thousands(sum.Worse))
	}
	last := ""
	if n := len(s.tallies); n > 1 {
		last = " to " + s.file(n-1)
	}
	e.Print("Wrote %s%s and trajectories.csv to %s", s.file(0), last, words.Quoted(s.o.Out))
}

// NewSimulate returns the command simulate.
func NewSimulate(term *terminal.Terminal) *cobra.Command {
	o := SimulateOptions{
		StimulusChoice: StimulusChoice{Models: []string{"full"}, Inference: sweep.MarginalInference},
		N:              10, Steps: 200,
	}
	c := &cobra.Command{
		Use:   "simulate STUDY STIMULUS",
		Short: "Simulate an agent that makes mistakes in one stimulus",
		Long: `Simulate writes what an agent does with a goal as plans, one file a trajectory, in which slips, confused goals and
plans that lead out of the way are marked as comments, and a table of them. A trajectory ends when the goal is reached.
An axis that is not set has the value that the 2021 paper fitted for the domain and the model, or else the middle one of
its default grid; what was used is printed. Equal seeds give equal trajectories, however many there are.`,
		Example: "  foible simulate doors-keys-gems 3-1 --goal gem2\n  foible simulate my-study 1-2 --model boltzmann --set alpha=1 --n 100 --out runs",
		GroupID: cli.GroupLocal, Args: stimulusOfStudy(&o.StimulusChoice), ValidArgsFunction: stimuli,
		RunE: func(c *cobra.Command, _ []string) error { return Simulate(c.Context(), term, o) },
	}
	stimulusFlags(c, &o.StimulusChoice)
	c.Flags().StringVar(&o.Models[0], "model", o.Models[0], "`name` of the model: "+strings.Join(model.Names(), ", "))
	cli.Alias(c, "model", "models")
	input.CompleteModels(c, "model")
	c.Flags().StringVar(&o.Goal, "goal", "", "`name` of the agent's goal (default: the stimulus's true goal)")
	c.Flags().IntVar(&o.N, "n", o.N, "`number` of trajectories")
	c.Flags().IntVar(&o.Steps, "steps", o.Steps, "`number` of steps after which a trajectory ends anyway")
	wordFlag(c, ActionNoiseKind, &o.Inference)
	c.Flags().StringVar(&o.Out, "out", "", "output `directory` (default: foible-NAME-STIMULUS-GOAL-simulated, by the study's name)")
	cli.OverwriteFlag(c, &o.Overwrite)
	return c
}
