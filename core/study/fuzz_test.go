package study_test

import (
	"math"
	"testing"

	"foible.dev/foible/core/study"
)

// Whatever is in the tables, findings point into them, and judgements are
// distributions.
func FuzzRead(f *testing.F) {
	stimuli := records{
		{"stimulus", "category", "goals", "true_goal", "judgement_steps"},
		{"one", "plain", "red green", "red", "0 1"},
	}
	responses := records{
		{"stimulus", "participant", "step", "goal", "probability", "exclude"},
		{"one", "p1", "0", "red", "0.5", ""},
		{"one", "p1", "0", "green", "0.49", ""},
		{"one", "p2", "0", "green", "NaN", "bored"},
	}
	for _, spelling := range spellings {
		f.Add([]byte(spelling.write(stimuli)), []byte(spelling.write(responses)), []byte(lampsMeans))
	}
	f.Add([]byte(lampsStimuli), []byte(lampsSelections), []byte("stimulus,step,goal,probability\none,0,red,+1e-400\n"))
	f.Fuzz(func(t *testing.T, stimuli, responses, means []byte) {
		files := lamps()
		files["stimuli.csv"], files["responses.csv"], files["means.csv"] = string(stimuli), string(responses), string(means)
		for _, source := range [][2]string{{"responses.csv", ""}, {"", "means.csv"}, {"responses.csv", "means.csv"}} {
			src := lampsSource()
			src.Responses, src.Means = source[0], source[1]
			s, findings := study.Read(folder(files), src)
			for _, finding := range findings {
				if finding.Pos.Line < 0 || finding.Pos.Line > 0 && finding.Pos.Column < 1 || finding.Message == "" {
					t.Errorf("finding %+v", finding)
				}
			}
			if s == nil {
				if findings.Err() == nil {
					t.Error("neither a study nor an error")
				}
				continue
			}
			for _, stimulus := range s.Stimuli {
				everyVectorSumsToOne(t, stimulus)
				for _, se := range stimulus.Human.SE {
					for _, x := range se {
						if math.IsNaN(x) || x < 0 {
							t.Errorf("standard error %v", x)
						}
					}
				}
			}
		}
	})
}
