package figure

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"foible.dev/foible/core/figure/internal/look"
	"foible.dev/foible/core/figure/internal/panel"
	"foible.dev/foible/core/figure/internal/sheet"
)

func (g *StoryGoal) style() text.Style {
	s := look.Ink(look.Small, look.Black)
	if g.True {
		s = look.Bold(s)
	}
	return s
}

func (b *board) head(inner vg.Length) []sheet.Block {
	if b.Title == "" {
		return nil
	}
	return []sheet.Block{sheet.Caption(b.Title, inner)}
}

// foot is legend and remarks; of is how many scenes there are if not all are shown.
func (b *board) foot(inner vg.Length, of int) []sheet.Block {
	var entries []panel.Entry
	people, errors := b.people()
	if people {
		name := "people, mean"
		if errors {
			name += " ± 1 SE"
		}
		sample := bar{mean: 0.7, people: true}
		if errors {
			sample.se = 0.25
		}
		entries = append(entries, panel.Entry{Sample: func(c draw.Canvas, x0, x1, y vg.Length) {
			sample.draw(c, (x0+x1)/2, mostBar, y-3, 9)
		}, Width: mostBar, Text: name})
	}
	for _, m := range b.Models {
		entries = append(entries, panel.Entry{Sample: func(c draw.Canvas, x0, x1, y vg.Length) {
			bar{mean: 0.7, style: look.Of(m)}.draw(c, (x0+x1)/2, mostBar, y-3, 9)
		}, Width: mostBar, Text: m})
	}
	var parts []sheet.Block
	if len(entries) > 0 {
		parts = append(parts, panel.Flow(entries, inner))
	}
	var remarks []string
	for _, g := range b.Goals {
		if g.True {
			remarks = append(remarks, "The true goal is bold.")
			break
		}
	}
	if b.gaps() {
		remarks = append(remarks, "No bar: not known.")
	}
	if of > 0 {
		remarks = append(remarks, fmt.Sprintf("%d of %d judgement steps are shown.", len(b.Scenes), of))
	}
	if b.Note != "" {
		remarks = append(remarks, b.Note)
	}
	if len(remarks) > 0 {
		parts = append(parts, sheet.Remark(strings.Join(remarks, " "), inner))
	}
	return parts
}

// people reports whether people's means, and their standard errors, are known.
func (b *board) people() (means, errors bool) {
	for i := range b.Scenes {
		for g := range b.Goals {
			p := b.human(i, g)
			means = means || p.known()
			errors = errors || p.known() && p.se > 0
		}
	}
	return means, errors
}

// gaps reports whether a bar is missing where there are some.
func (b *board) gaps() bool {
	people, _ := b.people()
	for i := range b.Scenes {
		for g := range b.Goals {
			if people && !b.human(i, g).known() {
				return true
			}
			for m := range b.Models {
				if !b.model(i, m, g).known() {
					return true
				}
			}
		}
	}
	return false
}

func at(values []float64, i int) float64 {
	if i < len(values) {
		return values[i]
	}
	return math.NaN()
}

func (b *board) human(scene, goal int) bar {
	s := &b.Scenes[scene]
	p := bar{mean: at(s.Human, goal), se: at(s.SE, goal), people: true}
	if !finite(p.se) {
		p.se = 0
	}
	return p
}

func (b *board) model(scene, model, goal int) bar {
	p := bar{mean: math.NaN(), style: look.Of(b.Models[model])}
	if s := &b.Scenes[scene]; model < len(s.Models) {
		p.mean = at(s.Models[model], goal)
	}
	return p
}

// bar is a probability.
type bar struct {
	mean, se float64
	people   bool
	style    look.Look // of a model
}

func (p bar) known() bool { return finite(p.mean) }

// draw stands the bar on y; 1 is so high.
func (p bar) draw(c draw.Canvas, x, width, y, height vg.Length) {
	if !p.known() {
		return
	}
	up := func(v float64) vg.Length { return y + height*vg.Length(min(1, max(0, v))) }
	body := vg.Rectangle{Min: vg.Point{X: x - width/2, Y: y}, Max: vg.Point{X: x + width/2, Y: up(p.mean)}}
	if p.people {
		c.SetColor(look.Pale)
		c.Fill(body.Path())
		c.SetLineStyle(look.Stroke(look.Black, 0.6))
		c.Stroke(body.Path())
		if p.se > 0 {
			c.StrokeLine2(look.Stroke(look.Black, 0.8), x, up(p.mean-p.se), x, up(p.mean+p.se))
		}
		return
	}
	c.SetColor(p.style.Color)
	c.Fill(body.Path())
	look.Marks{Marker: p.style.Marker, Radius: min(1.8, width/2), Fill: look.White, Outline: p.style.Color}.Draw(c, []vg.Point{{X: x, Y: body.Max.Y}})
}

// rows are all scenes.
func (b *board) rows(inner vg.Length) sheet.Block {
	rows := (len(b.Scenes) + b.cols - 1) / b.cols
	height := vg.Length(rows)*(b.height()+rowGap) - rowGap
	return sheet.Block{Height: height, Draw: func(c draw.Canvas) {
		for i := range b.Scenes {
			row, col := i/b.cols, i%b.cols
			left := c.Min.X + gutter + vg.Length(col)*(b.width+sceneGap)
			top := c.Max.Y - vg.Length(row)*(b.height()+rowGap)
			scene := c
			scene.Min = vg.Point{X: left, Y: top - b.height()}
			scene.Max = vg.Point{X: left + b.width, Y: top}
			b.scene(scene, i)
			if col == 0 {
				b.axis(c, c.Min.X, b.base(scene))
			}
		}
	}}
}

// base is the height at which bars stand.
func (b *board) base(c draw.Canvas) vg.Length {
	return c.Min.Y + vg.Length(max(1, b.names))*look.Line + 2 + stripHeight
}

// axis labels the bars of a row.
func (b *board) axis(c draw.Canvas, x, base vg.Length) {
	s := look.Ink(look.Small, look.Black)
	for _, v := range []float64{0, 0.5, 1} {
		look.Write(c, s, 1, vg.Point{X: x + gutter - 3, Y: base + barsHeight*vg.Length(v) - 2.5}, panel.Decimal(v))
	}
	c.Push()
	c.Translate(vg.Point{X: x + look.Small - 1, Y: base + barsHeight/2})
	c.Rotate(math.Pi / 2)
	look.Write(c, s, 0.5, vg.Point{}, "probability")
	c.Pop()
}

func (b *board) scene(c draw.Canvas, i int) {
	s := &b.Scenes[i]
	title := look.Bold(look.Ink(look.Small, look.Black))
	step := fmt.Sprintf("Step %d", s.Step)
	look.Write(c, title, 0, vg.Point{X: c.Min.X, Y: c.Max.Y - look.Small}, step)
	action := s.Action
	if action == "" && s.Step == 0 {
		action = "start"
	}
	indent := title.Width(step) + 5
	look.Write(c, look.Ink(look.Small, look.Grey), 0, vg.Point{X: c.Min.X + indent, Y: c.Max.Y - look.Small}, look.Shorten(look.Ink(look.Small, look.Grey), action, b.width-indent))

	if p := b.pictures[i]; p.Picture != nil {
		top, middle := c.Max.Y-look.Line-3, (c.Min.X+c.Max.X)/2
		scale := b.size.X / vg.Length(b.widest())
		w, h := scale*vg.Length(p.Width), scale*vg.Length(p.Height)
		p.DrawIn(c, vg.Rectangle{Min: vg.Point{X: middle - w/2, Y: top - h}, Max: vg.Point{X: middle + w/2, Y: top}})
	}

	base := b.base(c)
	for _, v := range []vg.Length{0.5, 1} {
		c.StrokeLine2(look.Stroke(look.Pale, 0.4), c.Min.X, base+v*barsHeight, c.Max.X, base+v*barsHeight)
	}
	c.StrokeLine2(look.Stroke(look.Black, 0.6), c.Min.X, base, c.Max.X, base)
	for g := range b.Goals {
		b.goal(c, i, g, base)
	}
}

func (b *board) widest() float64 {
	var w float64
	for _, p := range b.pictures {
		if p.Picture != nil {
			w = max(w, p.Width)
		}
	}
	return w
}

// goal draws a goal's bars on the base, and its name under it.
func (b *board) goal(c draw.Canvas, scene, g int, base vg.Length) {
	middle := c.Min.X + (vg.Length(g)+0.5)*b.slot()
	width := b.barWidth()
	n := 1 + len(b.Models)
	half := max(vg.Length(n)*width, 0.6*b.slot()) / 2
	strip := vg.Rectangle{Min: vg.Point{X: middle - half, Y: base - stripHeight}, Max: vg.Point{X: middle + half, Y: base}}
	c.SetColor(b.colours[g])
	c.Fill(strip.Path())
	x := middle - vg.Length(n-1)*width/2
	b.human(scene, g).draw(c, x, width-1, base, barsHeight)
	for m := range b.Models {
		x += width
		b.model(scene, m, g).draw(c, x, width-1, base, barsHeight)
	}
	style := b.Goals[g].style()
	down := vg.Length(g%b.names)*look.Line + look.Small + 1
	look.Write(c, style, 0.5, vg.Point{X: middle, Y: base - stripHeight - down}, look.Shorten(style, b.Goals[g].Name, b.nameWidth(g)))
}

func (b *board) describe() string {
	var s strings.Builder
	s.WriteString("A stimulus at its judgement steps, with the probability of each goal as people judge it and models infer it.")
	for i, scene := range b.Scenes {
		fmt.Fprintf(&s, " Step %d:", scene.Step)
		for g := range b.Goals {
			fmt.Fprintf(&s, " %s", look.Clean(b.Goals[g].Name))
			if p := b.human(i, g); p.known() {
				fmt.Fprintf(&s, " people %s", number(p.mean))
			}
			for m, name := range b.Models {
				if p := b.model(i, m, g); p.known() {
					fmt.Fprintf(&s, " %s %s", look.Clean(name), number(p.mean))
				}
			}
			s.WriteString(";")
		}
	}
	return s.String()
}
