package figure_test

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/optional"
	"foible.dev/foible/core/picture"
)

var update = flag.Bool("update", false, "write the golden figures")

// golden compares a figure with its image in testdata; look at what -update
// writes before accepting it.
func golden(name string, f *figure.Figure) {
	path := filepath.Join("testdata", name+".svg")
	var got bytes.Buffer
	if err := f.WriteSVG(&got); err != nil {
		fmt.Println(err)
		return
	}
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			fmt.Println(err)
			return
		}
	}
	want, err := os.ReadFile(path)
	switch {
	case err != nil:
		fmt.Println(err)
	case !bytes.Equal(got.Bytes(), want):
		fmt.Println(name, "has changed")
	default:
		fmt.Println(name, "as before")
	}
}

func ExampleSensitivity() {
	full := figure.Curve{Model: "full", Chosen: 2}
	for i, r := range []float64{0.84, 0.87, 0.91, 0.80, 0.89} {
		full.Points = append(full.Points, figure.Point{R: r, Low: r - 0.03, High: r + 0.02 - 0.002*float64(i)})
	}
	boltzmann := figure.Curve{Model: "boltzmann", Chosen: 0, Points: []figure.Point{
		{R: 0.76, Low: 0.71, High: 0.79, Label: "alpha 0.5"}, {R: 0.62, Low: 0.57, High: 0.66}, {R: math.NaN()},
	}}
	golden("sensitivity", figure.Sensitivity([]figure.Curve{full, boltzmann}, figure.SensitivityOptions{
		Title: "Block Words", Interval: "95% interval over participants", Ceiling: 0.98,
	}))
	// Output: sensitivity as before
}

func ExampleSensitivity_oneSet() {
	golden("sensitivity-one", figure.Sensitivity([]figure.Curve{
		{Model: "full", Points: []figure.Point{{R: 0.86, Low: 0.83, High: 0.88}}},
		{Model: "plan-lesioned", Points: []figure.Point{{R: 0.80, Low: 0.77, High: 0.83}}},
	}, figure.SensitivityOptions{}))
	// Output: sensitivity-one as before
}

func ExampleSensitivity_empty() {
	golden("sensitivity-empty", figure.Sensitivity(nil, figure.SensitivityOptions{}))
	// Output: sensitivity-empty as before
}

func ExampleScatter() {
	points := []figure.ScatterPoint{
		{Model: 0, Human: 0.05, SE: 0.02, Series: "full"},
		{Model: 0.2, Human: 0.3, SE: 0.05, Series: "full"},
		{Model: 0.5, Human: 0.4, SE: 0.08, Series: "full", MCSE: 0.04},
		{Model: 1, Human: 0.95, SE: 0.03, Series: "full"},
	}
	golden("scatter", figure.Scatter("Full model", []figure.Panel{
		{Category: "all stimuli", Points: points, R: 0.97, Low: 0.93, High: 0.98, N: 4, Ceiling: 0.99},
		{Category: "control", Points: points[:1], R: math.NaN(), N: 1},
		{Category: "plan mistakes", R: math.NaN()},
	}))
	// Output: scatter as before
}

func ExampleTimeCourse() {
	golden("timecourse", figure.TimeCourse("Stimulus 1-1", []figure.CoursePanel{
		{
			Goal: "gem1", True: true,
			Human: []figure.HumanPoint{{Step: 0, Mean: 0.33, SE: 0.02}, {Step: 3, Mean: 0.5, SE: 0.05}, {Step: 6, Mean: 0.9, SE: 0.03}},
			Models: []figure.Course{
				{Model: "full", Probability: []float64{0.33, 0.4, 0.4, 0.6, 0.8, 0.85, 0.95}},
				{Model: "boltzmann", Probability: []float64{0.33, 0.3, math.NaN(), 0.3, 0.4, 0.5, 0.6}},
			},
		},
		{
			Goal:   "gem2",
			Human:  []figure.HumanPoint{{Step: 0, Mean: 0.33, SE: 0.02}, {Step: 3, Mean: 0.3, SE: 0.05}, {Step: 6, Mean: 0.05, SE: 0.03}},
			Models: []figure.Course{{Model: "full", Probability: []float64{0.33, 0.3, 0.3, 0.2, 0.1, 0.1, 0.02}}},
		},
		{Goal: "gem3"},
	}))
	// Output: timecourse as before
}

func ExampleTimeCourse_mistakes() {
	human := []figure.HumanPoint{{Step: 0, Mean: 0.33, SE: 0.02}, {Step: 3, Mean: 0.5, SE: 0.05}, {Step: 6, Mean: 0.9, SE: 0.03}}
	golden("timecourse-mistakes", figure.TimeCourse("Stimulus 1-1", []figure.CoursePanel{
		{Goal: "gem1", True: true, Human: human, Models: []figure.Course{
			{Model: "full", Probability: []float64{0.33, 0.4, 0.4, 0.6, 0.8, 0.85, 0.95}},
			{Model: "plan-lesioned", Probability: []float64{0.33, 0.3, 0.3, 0.3, 0.4, 0.5, 0.6}},
		}},
		{Goal: "gem2", Models: []figure.Course{{Model: "full", Probability: []float64{0.33, 0.3, 0.3, 0.2, 0.1, 0.1, 0.02}}}},
		{Goal: "gem3", Models: []figure.Course{{Model: "full", Probability: []float64{0.33, 0.3, 0.3, 0.2, 0.1, 0.05, 0.03}}}},
	}, figure.MistakeCourse{
		Model: "full", Confused: []float64{0, 0.02, 0.02, 0.3, 0.1, 0}, Slip: []float64{0.01, 0.6, 0.05, 0.01, 0.01, 0}, OffPath: optional.Known([]float64{0, 0.1, 0.4, 0.4, 0.9, 1}),
	}, figure.MistakeCourse{
		Model: "plan-lesioned", Confused: []float64{0, 0, 0.1, 0.1, 0.1, 0}, Slip: []float64{0.05, 1, 0.05, math.NaN(), 0.1, 0}, OffPath: optional.Known(make([]float64, 6)),
	}))
	// Output: timecourse-mistakes as before
}

func ExampleProfile() {
	var labels []string
	var noise, best, mean []float64
	for i := range 40 {
		x := 0.01 * math.Pow(1.2, float64(i))
		labels, noise = append(labels, fmt.Sprintf("%.2g", x)), append(noise, x)
		best = append(best, 0.9-0.02*(math.Log(x)+1)*(math.Log(x)+1))
		mean = append(mean, 0.8-0.03*(math.Log(x)+2)*(math.Log(x)+2))
	}
	golden("profile", figure.Profile("Full model", "full", []figure.ProfilePanel{
		{Axis: "goal_noise", Labels: []string{"0", "0.1", "0.2", "0.4"}, Values: []float64{0, 0.1, 0.2, 0.4}, Best: []float64{0.8, 0.87, 0.88, 0.84}, Mean: []float64{0.7, 0.75, 0.76, 0.7}, Chosen: 2},
		{Axis: "search_noise", Labels: labels, Values: noise, Best: best, Mean: mean, Chosen: 20},
		{Axis: "kind", Labels: []string{"one", "another"}, Best: []float64{0.8, math.NaN()}, Mean: []float64{0.7, 0.72}, Chosen: -1},
	}))
	// Output: profile as before
}

func ExampleStoryboard() {
	corridor := func(x float64) *picture.Picture {
		p := picture.New(100, 40, "A corridor")
		p.Add(picture.Rect{X: 4, Y: 4, Width: 92, Height: 32, Radius: 3, Style: picture.Style{Fill: "#f3e3c3", Stroke: "#000000", Width: 1}})
		gem1 := p.Group(84, 20, "gem1")
		gem1.Path(picture.Closed(picture.Point{0, -10}, picture.Point{10, 0}, picture.Point{0, 10}, picture.Point{-10, 0}), picture.Style{Fill: "#0072b2"})
		gem1.Add(picture.Text{Y: 3.6, Size: 10, Text: "1", Bold: true, Fill: "#ffffff"})
		gem2 := p.Group(16, 20, "gem2")
		gem2.Path(picture.Closed(picture.Point{-9, -9}, picture.Point{9, -9}, picture.Point{9, 9}, picture.Point{-9, 9}), picture.Style{Fill: "#e69f00"})
		gem2.Add(picture.Text{Y: 3.6, Size: 10, Text: "2"})
		p.Path(picture.Open(picture.Point{50, 20}, picture.Point{x, 20}), picture.Style{Fill: "none", Stroke: "#595959", Width: 2, StrokeOpacity: 0.55, RoundEnds: true})
		p.Circle(x, 20, 4, picture.Style{Stroke: "#ffffff", Width: 1.2, StrokeBeneath: true})
		return p
	}
	f, err := figure.Storyboard(figure.Story{
		Title:  "Stimulus 1-1",
		Goals:  []figure.StoryGoal{{Name: "gem1", Colour: "#0072b2", True: true}, {Name: "gem2", Colour: "#e69f00"}},
		Models: []string{"full", "boltzmann"},
		Scenes: []figure.Scene{
			{Step: 0, Picture: corridor(50), Human: []float64{0.45, 0.55}, SE: []float64{0.03, 0.03}, Models: [][]float64{{0.5, 0.5}, {0.5, 0.5}}},
			{Step: 1, Action: "(right)", Picture: corridor(60), Human: []float64{0.7, 0.3}, SE: []float64{0.06, 0.06}, Models: [][]float64{{0.6, 0.4}, {0.9, 0.1}}},
			{Step: 2, Action: "(right)", Picture: corridor(70), Human: []float64{1, 0}, SE: []float64{0, 0}, Models: [][]float64{{0.9, 0.1}}},
		},
		Note: "full: action_noise=0.1.",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	golden("storyboard", f)
	// Output: storyboard as before
}
