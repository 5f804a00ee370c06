package study_test

import (
	"fmt"
	"testing/fstest"

	"foible.dev/foible/core/internal/house"
	"foible.dev/foible/core/study"
)

// A study is read from its files. Everything that is wrong is found at once, with its place.
func Example() {
	source := house.Source
	st, findings := study.Read(house.Files(), source)
	if len(findings) > 0 {
		fmt.Println(findings)
		return
	}
	s := &st.Stimuli[0]
	for i, step := range s.JudgementSteps {
		fmt.Printf("after %d actions: kitchen %.2f, garden %.2f, by %d participants\n", step, s.Human.Mean[i][0], s.Human.Mean[i][1], s.Human.N[i])
	}

	files := house.Files()
	files["stimuli.csv"] = &fstest.MapFile{Data: []byte("stimulus,goals,judgement_steps\n1,kitchen cellar,0 9\n")}
	_, findings = study.Read(files, source)
	fmt.Println(findings[0])

	// Output:
	// after 0 actions: kitchen 0.55, garden 0.45, by 2 participants
	// after 1 actions: kitchen 0.85, garden 0.15, by 2 participants
	// after 3 actions: kitchen 0.15, garden 0.85, by 2 participants
	// responses.csv:3:9: error: stimulus 1: goal "garden" is none of its goals (kitchen cellar) (and in 1 more row)
}
