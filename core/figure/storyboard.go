package figure

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"foible.dev/foible/core/figure/internal/look"
	"foible.dev/foible/core/figure/internal/panel"
	"foible.dev/foible/core/figure/internal/sheet"
	"foible.dev/foible/core/picture"
)

// Story is what a storyboard shows of one stimulus.
type Story struct {
	Title  string
	Goals  []StoryGoal
	Models []string // names, in the order of their bars
	Scenes []Scene  // by step
	Note   string   // under the figure; "" = none
}

// StoryGoal is a candidate goal.
type StoryGoal struct {
	Name   string
	Colour string // #rrggbb, as in the pictures
	True   bool   // the agent's own goal, which is set in bold
}

// Scene is a judgement step. Values that are NaN, or not there, are not known.
type Scene struct {
	Step    int              // actions seen
	Action  string           // the last of them; "" = none yet
	Picture *picture.Picture // nil = none; all pictures of a story have one size
	Human   []float64
	SE      []float64   // standard errors of Human
	Models  [][]float64 // [model][goal]
}

// Lengths of a storyboard.
const (
	sceneGap    = vg.Length(12) // between scenes of a row
	rowGap      = vg.Length(10)
	pictureGap  = vg.Length(4)
	largestType = vg.Length(9)  // to which the smallest type of a picture grows
	gutter      = vg.Length(21) // left of a row, for the axis
	barsHeight  = vg.Length(46)
	stripHeight = vg.Length(3)
	widestName  = vg.Length(40) // of a goal; a longer one is cut
	leastBar    = vg.Length(2)
	mostBar     = vg.Length(8)
	tallest     = 9 * vg.Inch
)

// Storyboard shows a stimulus at each judgement step: its picture above bars of
// the probability of each goal, for people in grey with ±1 standard error and
// for models in their colours. Scenes that do not fit a page are left out, which
// a remark says. The error is of a colour.
func Storyboard(s Story) (*Figure, error) {
	b := board{Story: s}
	for _, g := range s.Goals {
		c, err := picture.Colour(g.Colour)
		if err != nil {
			return nil, fmt.Errorf("goal %s: %w", g.Name, err)
		}
		b.colours = append(b.colours, c)
	}
	for _, scene := range s.Scenes {
		p, err := sheet.StillOf(scene.Picture)
		if err != nil {
			return nil, fmt.Errorf("picture of step %d: %w", scene.Step, err)
		}
		b.pictures = append(b.pictures, p)
	}
	return b.figure(), nil
}

// board is a story being laid out.
type board struct {
	Story
	colours  []color.NRGBA
	pictures []sheet.Still // by scene

	cols  int
	width vg.Length // of a scene
	size  vg.Point  // of a picture
	names int       // lines that the names of goals take
}

func (b *board) figure() *Figure {
	width := sheet.Page
	if len(b.Scenes) < 2 {
		width = sheet.Column
	}
	inner := width - 2*sheet.Margin
	above, below := b.head(inner), b.foot(inner, 0)
	room := tallest - 2*sheet.Margin
	for _, part := range append(slices.Clip(above), b.foot(inner, 1)...) {
		room -= part.Height + sheet.Gap
	}
	b.layOut(inner, room)

	all := len(b.Scenes)
	if rows := max(1, int((room+rowGap)/(b.height()+rowGap))); all > rows*b.cols {
		b.thin(rows * b.cols)
		below = b.foot(inner, all)
	}
	blocks := above
	if len(b.Scenes) == 0 {
		blocks = append(blocks, sheet.Block{Height: barsHeight, Draw: func(c draw.Canvas) { panel.Notice("no judgement steps").Plot(c, nil) }})
	} else {
		blocks = append(blocks, b.rows(inner))
	}
	return stack(width, titled(b.Title, "Storyboard"), b.describe(), append(blocks, below...)...)
}

// layOut sets as many scenes side by side as can be read: type of pictures from
// 7 points, bars and goals apart.
func (b *board) layOut(inner, room vg.Length) {
	for b.cols = max(1, len(b.Scenes)); ; b.cols-- {
		b.width = (inner - gutter - vg.Length(b.cols-1)*sceneGap) / vg.Length(b.cols)
		fits := b.fitNames() && b.fitBars()
		readable := b.fitPictures(room)
		if b.cols == 1 || fits && readable {
			break
		}
	}
	// As many rows of more equal length may be larger, if the page has room.
	rows := max(1, (len(b.Scenes)+b.cols-1)/b.cols)
	if even := (len(b.Scenes) + rows - 1) / rows; even > 0 && even < b.cols {
		room = max(b.height(), (room-vg.Length(rows-1)*rowGap)/vg.Length(rows))
		b.cols = even
		b.width = (inner - gutter - vg.Length(b.cols-1)*sceneGap) / vg.Length(b.cols)
		b.fitNames()
		b.fitPictures(room)
	}
}

// fitPictures makes pictures as large as a scene, but not so large that all
// their type is larger than the rest; it reports whether it can be read.
func (b *board) fitPictures(room vg.Length) bool {
	b.size = vg.Point{}
	var w, h, least vg.Length
	for _, p := range b.pictures {
		if p.Picture == nil {
			continue
		}
		w, h = max(w, vg.Length(p.Width)), max(h, vg.Length(p.Height))
		if t := vg.Length(p.LeastType); t > 0 && (least == 0 || t < least) {
			least = t
		}
	}
	if w == 0 {
		return true
	}
	scale := min(1.1, b.width/w, (room-b.height()-pictureGap)/h)
	if least > 0 {
		scale = min(scale, largestType/least)
	}
	b.size = vg.Point{X: scale * w, Y: scale * h}
	return least*scale >= look.Small || least == 0
}

// slot is the width that a goal has.
func (b *board) slot() vg.Length { return b.width / vg.Length(max(1, len(b.Goals))) }

func (b *board) fitBars() bool {
	return b.barWidth() >= leastBar
}

func (b *board) barWidth() vg.Length {
	return min(mostBar, 0.8*b.slot()/vg.Length(1+len(b.Models)))
}

// fitNames sets the names of goals in one line, or by turns in two.
func (b *board) fitNames() bool {
	for b.names = 1; b.names <= 2; b.names++ {
		if b.namesFit() {
			return true
		}
	}
	b.names = 2
	return false
}

func (b *board) namesFit() bool {
	const apart = vg.Length(4)
	for i := range b.Goals {
		half := b.nameWidth(i) / 2
		edge := b.slot()/2 + vg.Length(min(i, len(b.Goals)-1-i))*b.slot() + sheet.Margin
		if half > edge || i+b.names < len(b.Goals) && half+b.nameWidth(i+b.names)/2+apart > vg.Length(b.names)*b.slot() {
			return false
		}
	}
	return true
}

func (b *board) nameWidth(goal int) vg.Length {
	return min(widestName, b.Goals[goal].style().Width(look.Clean(b.Goals[goal].Name)))
}

// height of a scene.
func (b *board) height() vg.Length {
	h := look.Line + 3 + barsHeight + stripHeight + 2 + vg.Length(max(1, b.names))*look.Line
	if b.size.Y > 0 {
		h += b.size.Y + pictureGap
	}
	return h
}

// thin keeps a number of scenes: the first, the last, and evenly between.
func (b *board) thin(n int) {
	scenes, pictures := b.Scenes, b.pictures
	b.Scenes, b.pictures = nil, nil
	for i := range n {
		at := 0
		if n > 1 {
			at = (i*(len(scenes)-1) + (n-1)/2) / (n - 1)
		}
		b.Scenes = append(b.Scenes, scenes[at])
		b.pictures = append(b.pictures, pictures[at])
	}
}
