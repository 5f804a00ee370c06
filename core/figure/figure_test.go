package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"foible.dev/foible/core/figure/internal/sheet"
	"foible.dev/foible/core/optional"
	"foible.dev/foible/core/picture"
)

// extremes are figures of empty, undefined, huge and strange data.
func extremes() map[string]*Figure {
	nan, inf := math.NaN(), math.Inf(1)
	long := strings.Repeat("a long name ", 40)
	var many []Curve
	for i := range 12 {
		many = append(many, Curve{Model: fmt.Sprint("model ", i), Points: []Point{{R: 0.5}, {R: 0.6}}})
	}
	var goals []CoursePanel
	var course []float64
	var human []HumanPoint
	for step := range 300 {
		course = append(course, float64(step%7)/6)
		human = append(human, HumanPoint{Step: step, Mean: float64(step%5) / 4, SE: 0.5})
	}
	for i := range 11 {
		goals = append(goals, CoursePanel{Goal: long, True: i == 3, Human: human, Models: []Course{{long, course}, {"full", course[:1]}}})
	}
	var panels []Panel
	for i := range 9 {
		panels = append(panels, Panel{Category: long, R: -1, Low: -1, High: -0.5, N: 123456789, Ceiling: 1, Points: []ScatterPoint{{0, 1, 1, "full", 1}, {1, 0, 1, long, 0}, {float64(i) / 3, -0.5, 2, "", 2}}})
	}
	var words [300]string
	var rising []float64
	for i := range words {
		words[i] = fmt.Sprint(i)
		rising = append(rising, float64(i))
	}
	return map[string]*Figure{
		"no curves":         Sensitivity(nil, SensitivityOptions{}),
		"no points":         Sensitivity([]Curve{{Model: "full", Chosen: -1}}, SensitivityOptions{}),
		"undefined r":       Sensitivity([]Curve{{Model: "full", Points: []Point{{R: nan}, {R: inf}, {R: -inf}}}}, SensitivityOptions{}),
		"undefined bounds":  Sensitivity([]Curve{{Model: "full", Points: []Point{{R: 0.5, Low: nan, High: 1}, {R: 0.4, Low: -inf, High: inf}, {R: 0.3, Low: 0.4, High: 0.2}}}}, SensitivityOptions{Ceiling: nan}),
		"equal r":           Sensitivity([]Curve{{Model: "full", Points: []Point{{R: 1}, {R: 1}}, Chosen: 7}}, SensitivityOptions{}),
		"perfect both ways": Sensitivity([]Curve{{Model: "full", Points: []Point{{R: 1, Low: -1, High: 1}, {R: -1, Low: -1, High: 1}}}}, SensitivityOptions{Ceiling: 1}),
		"one set":           Sensitivity([]Curve{{Model: "full", Points: []Point{{R: 0.5, Low: 0.1, High: 0.9}}}}, SensitivityOptions{}),
		"one set of two":    Sensitivity([]Curve{{Model: "full", Points: []Point{{R: 0.5, Low: 0.1, High: 0.9}}}, {Model: "boltzmann", Points: []Point{{R: 0.2}, {R: 0.1}}}}, SensitivityOptions{}),
		"many models":       Sensitivity(many, SensitivityOptions{Wide: true}),
		"long names":        Sensitivity([]Curve{{Model: long, Points: []Point{{R: 0.5, Label: long}, {R: 0.6}}}}, SensitivityOptions{Title: long, Interval: long}),
		"strange names":     Sensitivity([]Curve{{Model: "a\x00\n<&>\"\xff 模型 🐢", Points: []Point{{R: 0.5}}}}, SensitivityOptions{Title: "]]>\t--"}),
		"large grid":        Sensitivity([]Curve{largeGrid(100_000)}, SensitivityOptions{}),
		"no panels":         Scatter("", nil),
		"empty panel":       Scatter("", []Panel{{}}),
		"undefined points":  Scatter("", []Panel{{Category: "x", R: nan, N: 3, Points: []ScatterPoint{{nan, 0, 0, "", 0}, {0, inf, 0, "", 0}, {0.5, 0.5, nan, "full", nan}}}}),
		"many panels":       Scatter(long, panels),
		"no goals":          TimeCourse("", nil),
		"empty goal":        TimeCourse("", []CoursePanel{{}}),
		"undefined course":  TimeCourse("", []CoursePanel{{Goal: "x", Human: []HumanPoint{{0, nan, nan}, {4, 0.5, inf}}, Models: []Course{{"full", []float64{nan, inf, 0.5, nan}}}}}),
		"only a model":      TimeCourse("", []CoursePanel{{Goal: "x", Models: []Course{{"full", []float64{0.5, 0.6}}}}}),
		"many goals":        TimeCourse(long, goals),
		"mistakes":          TimeCourse("", nil, MistakeCourse{Model: "full", Confused: []float64{0.5}, Slip: []float64{nan}, OffPath: optional.Known([]float64{inf})}, MistakeCourse{Model: "x"}),
		"unknown mistakes":  TimeCourse("", goals[:5], MistakeCourse{Model: "full", Confused: course[:3], Slip: course[:3], Unknown: "not known: too large"}),
		"many mistakes":     TimeCourse(long, goals, MistakeCourse{Model: long, Confused: course, Slip: course, OffPath: optional.Known(course)}, MistakeCourse{Model: "full", Confused: course[:3], Slip: course[:3], Unknown: long}),
		"no axes":           Profile("", "full", nil),
		"undefined profile": Profile(long, long, []ProfilePanel{{Axis: long, Labels: []string{long, "x"}, Best: []float64{nan, nan}, Mean: []float64{inf, nan}, Chosen: 1}}),
		"one value":         Profile("", "full", []ProfilePanel{{Axis: "x", Labels: []string{"1"}, Values: []float64{1}, Best: []float64{0.5}, Mean: []float64{0.5}, Chosen: 0}}),
		"many values":       Profile("", "full", slices.Repeat([]ProfilePanel{{Axis: "alpha", Labels: words[:], Values: rising, Best: course, Mean: course, Chosen: 3}}, 7)),
		"no recovery":       Recovery("", "full", nil, nil),
		"undefined rho":     Recovery(long, long, []int{1, 123456789}, []RecoveryAxis{{long, []RecoveryPanel{{Rho: nan}, {Labels: []string{long}, Count: [][]int{{0}}, Rho: inf}}}}),
		"large recovery":    Recovery("", "full", []int{1, 2, 3, 4, 5}, []RecoveryAxis{{"x", slices.Repeat([]RecoveryPanel{{Labels: words[:], Count: [][]int{{1, 2, 3}}, Rho: 1, Low: 0.5, High: 1}}, 5)}}),
		"no confusions":     Confusions("", "", "", nil, nil),
		"undefined parts":   Confusions(long, long, long, []string{long, "x"}, []Confusion{{long, [][]float64{{nan, 2}, {-1}}}}),
		"many confused":     Confusions("", "", "", words[:12], slices.Repeat([]Confusion{{"x", make([][]float64, 12)}}, 3)),
		"no scenes":         storyboard(Story{}),
		"empty scene":       storyboard(Story{Scenes: []Scene{{}}}),
		"undefined scenes":  storyboard(Story{Goals: threeGoals, Models: []string{"full"}, Scenes: []Scene{{Human: []float64{nan, inf, 2}, SE: []float64{nan, inf}, Models: [][]float64{nil}}, {Step: 3, Models: [][]float64{{-1}}}}}),
		"many scenes":       storyboard(manyScenes(40, 3, 2)),
		"many bars":         storyboard(manyScenes(7, 12, 6)),
		"one scene":         storyboard(manyScenes(1, 3, 1)),
		"two scenes":        storyboard(manyScenes(2, 5, 5)),
		"long scenes":       storyboard(Story{Title: long, Note: long, Models: []string{long, "full"}, Goals: []StoryGoal{{long, "#000000", true}, {long, "#ffffff", false}}, Scenes: []Scene{{Step: 1234567890, Action: long, Picture: dot}, {}, {}, {}}}),
	}
}

var threeGoals = []StoryGoal{{"a", "#0072b2", false}, {"b", "#e69f00", true}, {"c", "#009e73", false}}

// dot is a picture with the smallest type that pictures have.
var dot = dotOf(160, 140, "dot")

func dotOf(width, height float64, name string) *picture.Picture {
	p := picture.New(width, height, "a dot")
	p.Circle(80, 70, 70, picture.Style{})
	p.Add(picture.Text{X: 80, Y: 70, Size: 8, Text: name, Fill: "#ffffff"})
	return p
}

func manyScenes(scenes, goals, models int) Story {
	s := Story{Title: "Stimulus 1-1"}
	for g := range goals {
		s.Goals = append(s.Goals, StoryGoal{fmt.Sprint("goal", g), fmt.Sprintf("#0000%02x", 20*g), g == 1})
	}
	for m := range models {
		s.Models = append(s.Models, fmt.Sprint("model ", m))
	}
	for i := range scenes {
		scene := Scene{Step: 10 * i, Action: "(pick up)", Picture: dot}
		for g := range goals {
			scene.Human = append(scene.Human, float64(g)/float64(goals))
			scene.SE = append(scene.SE, 0.3)
		}
		for range models {
			scene.Models = append(scene.Models, scene.Human)
		}
		s.Scenes = append(s.Scenes, scene)
	}
	return s
}

func storyboard(s Story) *Figure {
	f, err := Storyboard(s)
	if err != nil {
		panic(err)
	}
	return f
}

func largeGrid(n int) Curve {
	rng := rand.New(rand.NewPCG(1, 1))
	c := Curve{Model: "full"}
	for range n {
		r := 0.9 * math.Sqrt(rng.Float64())
		c.Points = append(c.Points, Point{R: r, Low: r - 0.02, High: r + 0.02})
	}
	return c
}

func TestExtremesAreSoundSVG(t *testing.T) {
	for name, f := range extremes() {
		var svg bytes.Buffer
		if err := f.WriteSVG(&svg); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		decoder := xml.NewDecoder(bytes.NewReader(svg.Bytes()))
		for {
			if _, err := decoder.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
		}
		for _, bad := range []string{"NaN", "Inf"} {
			if strings.Contains(svg.String(), bad) {
				t.Errorf("%s: %s in the figure", name, bad)
			}
		}
		if !strings.HasPrefix(svg.String(), "<svg ") || !strings.Contains(svg.String(), "<title>") {
			t.Errorf("%s: no title in a bare svg element", name)
		}
	}
}

// TestNothingIsClipped draws every figure on a canvas that knows its edges.
func TestNothingIsClipped(t *testing.T) {
	for name, f := range extremes() {
		if f.sheet.Width != sheet.Column && f.sheet.Width != sheet.Page {
			t.Errorf("%s: %v wide", name, f.sheet.Width)
		}
		if f.sheet.Height > 9*vg.Inch {
			t.Errorf("%s: %.1f inches high, more than a page", name, f.sheet.Height/vg.Inch)
		}
		e := &edges{states: []transform{{1, 0, 0, 1, 0, 0}}, width: f.sheet.Width, height: f.sheet.Height}
		f.sheet.Draw(draw.New(e))
		for _, fault := range e.faults {
			t.Errorf("%s: %s", name, fault)
		}
	}
}

func TestEmptyFiguresSaySo(t *testing.T) {
	figures := extremes()
	for name, text := range map[string]string{
		"no curves":        "no parameter set has a correlation",
		"no points":        "no parameter set has a correlation",
		"undefined r":      "0 (+3 left out)",
		"no panels":        "no data",
		"empty panel":      "no data",
		"undefined points": "r undefined",
		"no goals":         "no data",
		"empty goal":       "no data",
		"unknown mistakes": "not known",
		"no scenes":        "no judgement steps",
		"undefined scenes": "The true goal is bold. No bar: not known.",
		"many scenes":      "The true goal is bold. 6 of 40 judgement steps are shown.",
	} {
		var svg bytes.Buffer
		if err := figures[name].WriteSVG(&svg); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(svg.String(), ">"+text+"</text>") {
			t.Errorf("%s does not say %q", name, text)
		}
	}
	if text := figures["unknown mistakes"].Description(); !strings.Contains(text, "plan off the path not known: too large;") {
		t.Errorf("unknown mistakes are described as %q", text)
	}
}

func TestSameBytes(t *testing.T) {
	first := make(map[string]string)
	for range 2 {
		for name, f := range extremes() {
			for range 2 {
				var svg, pdf bytes.Buffer
				if err := errors.Join(f.WriteSVG(&svg), f.WritePDF(&pdf)); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				both := svg.String() + pdf.String()
				if first[name] == "" {
					first[name] = both
				}
				if both != first[name] {
					t.Errorf("%s: the same figure gave other bytes", name)
				}
				if bytes.Contains(pdf.Bytes(), []byte("Date")) {
					t.Errorf("%s: a date in the pdf", name)
				}
			}
		}
	}
}

func TestWriteErrorsAreReturned(t *testing.T) {
	f := Scatter("", nil)
	for name, write := range map[string]func(io.Writer) error{"svg": f.WriteSVG, "pdf": f.WritePDF} {
		if err := write(full{}); !errors.Is(err, errFull) {
			t.Errorf("%s: %v, want the writer's error", name, err)
		}
	}
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestLargeGridIsThinned(t *testing.T) {
	r := rank(largeGrid(100_000))
	x, points := r.thinned()
	if len(x) != maxDrawn+2 || x[0] != 0 || x[len(x)-1] != 1 {
		t.Fatalf("%d points from %v to %v", len(x), x[0], x[len(x)-1])
	}
	if points[0] != r.points[0] || points[len(points)-1] != r.points[len(r.points)-1] {
		t.Error("the ends of the curve are not its worst and best set")
	}
	for i := 1; i < len(x); i++ {
		if x[i] < x[i-1] || points[i].R < points[i-1].R {
			t.Fatalf("the curve falls at %v", x[i])
		}
	}
	if _, few := rank(largeGrid(maxDrawn)).thinned(); len(few) != maxDrawn {
		t.Errorf("%d sets drawn as %d points", maxDrawn, len(few))
	}
}

// A profile of many values is as small, keeps its highest r, and says how many values there are.
func TestLargeProfileIsThinned(t *testing.T) {
	p := ProfilePanel{Axis: "alpha", Chosen: 5000}
	for i := range 20_000 {
		p.Labels, p.Values = append(p.Labels, fmt.Sprint(i)), append(p.Values, float64(i))
		p.Best, p.Mean = append(p.Best, 0.5), append(p.Mean, 0.25)
	}
	p.Best[5000], p.Best[7] = 0.9, math.NaN()
	thin := p.thinned()
	if len(thin.Labels) != maxDrawn || thin.Chosen < 0 || thin.Best[thin.Chosen] != 0.9 || thin.Labels[thin.Chosen] != "5000" || thin.Mean[3] != 0.25 {
		t.Errorf("%d values, chosen %d", len(thin.Labels), thin.Chosen)
	}
	var b bytes.Buffer
	if err := Profile("", "full", []ProfilePanel{p}).WriteSVG(&b); err != nil || b.Len() > 20_000 || !strings.Contains(b.String(), "20,000 values from 0 to 19999, highest r .90 at 5000") {
		t.Errorf("%v, %d bytes", err, b.Len())
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0.874: ".87", 1: "1.00", -0.2: "−.20", -0.001: ".00", 0: ".00", 0.999: "1.00", -1: "−1.00"} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %q, want %q", v, got, want)
		}
	}
}

// edges is a canvas that reports what lies outside it, and type below 7 points.
type edges struct {
	states        []transform
	width, height vg.Length
	faults        []string
}

func (e *edges) Size() (width, height vg.Length) { return e.width, e.height }

func (e *edges) at() *transform { return &e.states[len(e.states)-1] }

func (e *edges) inside(what string, pt vg.Point) {
	x, y := e.at().apply(pt.X.Points(), pt.Y.Points())
	const slack = 0.01
	if !(x >= -slack && y >= -slack && x <= e.width.Points()+slack && y <= e.height.Points()+slack) {
		e.faults = append(e.faults, fmt.Sprintf("%s at (%.1f, %.1f) of (%.1f, %.1f)", what, x, y, e.width, e.height))
	}
}

func (e *edges) path(p vg.Path) {
	for _, part := range p {
		if part.Type != vg.CloseComp {
			e.inside("a path", part.Pos.Add(vg.Point{X: part.Radius}))
			e.inside("a path", part.Pos.Sub(vg.Point{X: part.Radius}))
		}
	}
}

func (e *edges) FillString(face font.Face, pt vg.Point, s string) {
	if face.Font.Size < 7 {
		e.faults = append(e.faults, fmt.Sprintf("%q in type of %v points", s, face.Font.Size))
	}
	ext := face.Extents()
	e.inside(fmt.Sprintf("%.20q", s), pt.Sub(vg.Point{Y: ext.Descent}))
	e.inside(fmt.Sprintf("%.20q", s), pt.Add(vg.Point{X: face.Width(s), Y: ext.Ascent}))
}

func (e *edges) Rotate(radians float64) {
	sin, cos := math.Sincos(radians)
	*e.at() = e.at().times(transform{cos, sin, -sin, cos, 0, 0})
}

func (e *edges) Translate(pt vg.Point) {
	*e.at() = e.at().times(transform{1, 0, 0, 1, pt.X.Points(), pt.Y.Points()})
}

func (e *edges) Scale(x, y float64)                  { *e.at() = e.at().times(transform{x, 0, 0, y, 0, 0}) }
func (e *edges) Push()                               { e.states = append(e.states, *e.at()) }
func (e *edges) Pop()                                { e.states = e.states[:len(e.states)-1] }
func (e *edges) Stroke(p vg.Path)                    { e.path(p) }
func (e *edges) Fill(p vg.Path)                      { e.path(p) }
func (e *edges) SetLineWidth(vg.Length)              {}
func (e *edges) SetLineDash([]vg.Length, vg.Length)  {}
func (e *edges) SetColor(color.Color)                {}
func (e *edges) DrawImage(vg.Rectangle, image.Image) {}

// transform maps (x, y) to (a x + c y + e, b x + d y + f).
type transform [6]float64

func (m transform) apply(x, y float64) (float64, float64) {
	return m[0]*x + m[2]*y + m[4], m[1]*x + m[3]*y + m[5]
}

// times is m after n.
func (m transform) times(n transform) transform {
	e, f := m.apply(n[4], n[5])
	return transform{
		m[0]*n[0] + m[2]*n[1], m[1]*n[0] + m[3]*n[1],
		m[0]*n[2] + m[2]*n[3], m[1]*n[2] + m[3]*n[3],
		e, f,
	}
}
