package score

import (
	"testing"

	"foible.dev/foible/core/study"
)

// judged is a stimulus of two goals that everybody judges alike, but for noise
// at step 1, which is as much for every other person and against the rest.
func judged(id, category string, people int, noise float64) study.Stimulus {
	st := study.Stimulus{ID: id, Category: category, Goals: make([]study.Goal, 2), JudgementSteps: []int{0, 1}}
	st.Human.Mean = [][]float64{{0.25, 0.75}, {0.5, 0.5}}
	for i := range people {
		p := 0.5 + noise*float64(1-i%2*2)
		st.Human.Participants = append(st.Human.Participants, string(rune('a'+i)))
		st.Human.Responses = append(st.Human.Responses, [][]float64{{0.25, 0.75}, {p, 1 - p}})
	}
	return st
}

func TestCeilings(t *testing.T) {
	st := &study.Study{Stimuli: []study.Stimulus{judged("a", "alike", 6, 0), judged("b", "noisy", 6, 0.3)}}
	c, err := NewCeilings(st, 7)
	if err != nil {
		t.Fatal(err)
	}
	alike, noisy := c.ByCategory["alike"].Ceiling, c.ByCategory["noisy"].Ceiling
	if alike < 0.999999 || alike > 1.000001 || !(noisy < c.All.Ceiling && c.All.Ceiling < alike) {
		t.Errorf("ceilings %+v", c)
	}
	again, err := NewCeilings(st, 7)
	if err != nil || again.All != c.All || again.ByCategory["noisy"].Ceiling != noisy {
		t.Errorf("again %+v, %v", again, err)
	}
}

// Where a stimulus has means alone there is no ceiling of what it is in.
func TestCeilingsOfMeans(t *testing.T) {
	means := judged("b", "means", 0, 0)
	c, err := NewCeilings(&study.Study{Stimuli: []study.Stimulus{judged("a", "alike", 6, 0.1), means}}, 7)
	if err != nil || c.All.Ceiling != 0 || c.ByCategory["means"].Ceiling != 0 || c.ByCategory["alike"].Ceiling == 0 {
		t.Errorf("ceilings %+v, %v", c, err)
	}
}
