package doorskeysgems

import (
	"fmt"
	"slices"
	"strings"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/picture"
)

// Lengths of a picture, in points.
const (
	side   = 16.0 // of a cell
	margin = 4.0
	beside = 7.0  // from the maze to what the agent carries
	panel  = 34.0 // least width of that
	head   = 12.0 // its height down to the first item
	words  = 10.0 // size of type, so that three pictures of 10 cells fit a page at 7 points
)

const (
	stone = "#595959"
	grid  = "#e3e3e3"
	grey  = "#595959"
)

// Picture draws a state: the maze with y up, the agent, locked and
// opened doors, keys, gems in their own colours and shapes with the number of
// their names, and what the agent carries next to it. past are the states
// before s, oldest first: the agent's trail; nil draws none. All pictures of
// one problem have the same size.
func Picture(t *ground.Task, s ground.StateID, past []ground.StateID) (*picture.Picture, error) {
	m, err := newMaze(t)
	if err != nil {
		return nil, err
	}
	sc := scene{maze: m}
	if sc.agent, err = agent(t, s); err != nil {
		return nil, err
	}
	if sc.items, err = items(t, s); err != nil {
		return nil, err
	}
	for _, i := range sc.items {
		if t.Holds(s, "has", i.name) {
			sc.carried = append(sc.carried, i)
		}
	}
	for _, f := range t.True(s) {
		if strings.EqualFold(f.Predicate, "door") {
			c, err := place(f.Args)
			if err != nil {
				return nil, err
			}
			sc.locked = append(sc.locked, c)
		}
	}
	for _, before := range past {
		c, err := agent(t, before)
		if err != nil {
			return nil, err
		}
		sc.trail = append(sc.trail, c)
	}
	return sc.draw(), nil
}

// scene is a state as things to draw.
type scene struct {
	*maze
	agent   cell
	items   []item
	carried []item
	locked  []cell
	trail   []cell
}

func (sc *scene) title() string {
	title := fmt.Sprintf("Maze of %d by %d cells, the agent at (%d, %d)", sc.width, sc.height, sc.agent.x, sc.agent.y)
	for n, i := range sc.carried {
		title += []string{" carrying ", ", "}[min(n, 1)] + i.name
	}
	return title
}

func (sc *scene) draw() *picture.Picture {
	rows := max(1, int((float64(sc.height)*side-head)/side)) // of carried items
	columns := (len(sc.items) + rows - 1) / rows
	width := float64(sc.width)*side + beside + max(panel, float64(columns)*side)
	p := picture.New(2*margin+width, 2*margin+float64(sc.height)*side, sc.title())
	g := p.Group(margin, margin, "")
	sc.drawMaze(g)
	sc.drawTrail(g)
	sc.drawThings(g)
	sc.drawCarried(g.Group(float64(sc.width)*side+beside, 0, ""), width-float64(sc.width)*side-beside, rows)
	return p
}

// corner is the top left corner of a cell, centre its middle.
func (m *maze) corner(c cell) (x, y float64) {
	return float64(c.x-1) * side, float64(m.height-c.y) * side
}

func (m *maze) centre(c cell) (x, y float64) {
	x, y = m.corner(c)
	return x + side/2, y + side/2
}

func (sc *scene) drawMaze(g *picture.Group) {
	w, h := float64(sc.width)*side, float64(sc.height)*side
	lines := picture.Style{Stroke: grid, Width: 0.5}
	for x := 1; x < sc.width; x++ {
		g.Path(picture.Open(picture.Point{float64(x) * side, 0}, picture.Point{float64(x) * side, h}), lines)
	}
	for y := 1; y < sc.height; y++ {
		g.Path(picture.Open(picture.Point{0, float64(y) * side}, picture.Point{w, float64(y) * side}), lines)
	}
	// A run of wall cells of a row is one rectangle.
	for y := sc.height; y >= 1; y-- {
		for x := 1; x <= sc.width; x++ {
			from := x
			for x <= sc.width && sc.wall[cell{x, y}] {
				x++
			}
			if x > from {
				left, top := sc.corner(cell{from, y})
				g.Rect(left, top, float64(x-from)*side, side, picture.Style{Fill: stone, Stroke: stone, Width: 0.5})
			}
		}
	}
	g.Rect(0, 0, w, h, picture.Style{Fill: "none", Stroke: "#000000", Width: 1})
	for _, d := range sc.doors {
		x, y := sc.centre(d)
		drawDoor(g.Group(x, y, ""), slices.Contains(sc.locked, d))
	}
}

// drawTrail draws where the agent has been: a ring where it began, a line to where it is.
func (sc *scene) drawTrail(g *picture.Group) {
	if len(sc.trail) == 0 {
		return
	}
	var points []picture.Point
	for _, at := range append(slices.Clip(sc.trail), sc.agent) {
		x, y := sc.centre(at)
		if p := (picture.Point{x, y}); len(points) == 0 || points[len(points)-1] != p {
			points = append(points, p)
		}
	}
	if len(points) > 1 {
		g.Path(picture.Open(points...), picture.Style{Fill: "none", Stroke: grey, Width: 1.6, StrokeOpacity: 0.55, RoundCorners: true, RoundEnds: true})
	}
	g.Circle(points[0][0], points[0][1], 2.6, picture.Style{Fill: "#ffffff", Stroke: grey, Width: 1.2})
}

// drawThings draws the items that lie in the maze, and the agent over them.
func (sc *scene) drawThings(g *picture.Group) {
	lying := map[cell]int{}
	for _, it := range sc.items {
		if !it.lies {
			continue
		}
		x, y := sc.centre(it.at)
		if it.at == sc.agent {
			x, y = x-2, y-1.5
		}
		shift := 3 * float64(lying[it.at])
		lying[it.at]++
		drawItem(g.Group(x-shift, y-shift, it.name), it)
	}
	x, y := sc.centre(sc.agent)
	agent := &picture.Group{X: x, Y: y, Title: "the agent"}
	if lying[sc.agent] > 0 {
		agent.X, agent.Y, agent.Scale = x+3.5, y+2.6, 0.75
	}
	drawAgent(agent)
	g.Add(agent)
}

// drawCarried fills the panel next to the maze, which has some rows of items.
func (sc *scene) drawCarried(g *picture.Group, width float64, rows int) {
	g.Add(picture.Text{X: width / 2, Y: 9, Size: words, Text: "carries", Fill: grey})
	if len(sc.carried) == 0 {
		g.Add(picture.Text{X: width / 2, Y: 22, Size: words, Text: "nothing", Fill: grey})
		return
	}
	columns := (len(sc.carried) + rows - 1) / rows
	for n, it := range sc.carried {
		x := width/2 + (float64(n/rows)-float64(columns-1)/2)*side
		drawItem(g.Group(x, head+(float64(n%rows)+0.5)*side, it.name), it)
	}
}
