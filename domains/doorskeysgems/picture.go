package doorskeysgems

import (
	"fmt"
	"slices"
	"strings"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/domains/internal/picture"
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

// Picture draws a state as SVG: the maze with y up, the agent, locked and
// opened doors, keys, gems in their own colours and shapes with the number of
// their names, and what the agent carries beside it. past are the states
// before s, oldest first: the agent's trail; nil draws none. All pictures of
// one problem have the same size.
func Picture(t *ground.Task, s ground.StateID, past []ground.StateID) (string, error) {
	m, err := newMaze(t)
	if err != nil {
		return "", err
	}
	sc := scene{maze: m}
	if sc.agent, err = agent(t, s); err != nil {
		return "", err
	}
	if sc.items, err = items(t, s); err != nil {
		return "", err
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
				return "", err
			}
			sc.locked = append(sc.locked, c)
		}
	}
	for _, before := range past {
		c, err := agent(t, before)
		if err != nil {
			return "", err
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

func (sc *scene) draw() string {
	rows := max(1, int((float64(sc.height)*side-head)/side)) // of carried items
	columns := (len(sc.items) + rows - 1) / rows
	width := float64(sc.width)*side + beside + max(panel, float64(columns)*side)
	c := picture.New(2*margin+width, 2*margin+float64(sc.height)*side, sc.title())
	c.Group(margin, margin, 1, "")
	sc.drawMaze(c)
	sc.drawTrail(c)
	sc.drawThings(c)
	c.Group(float64(sc.width)*side+beside, 0, 1, "")
	sc.drawCarried(c, width-float64(sc.width)*side-beside, rows)
	c.End()
	c.End()
	return c.String()
}

// corner is the top left corner of a cell, centre its middle.
func (m *maze) corner(c cell) (x, y float64) {
	return float64(c.x-1) * side, float64(m.height-c.y) * side
}

func (m *maze) centre(c cell) (x, y float64) {
	x, y = m.corner(c)
	return x + side/2, y + side/2
}

func (sc *scene) drawMaze(c *picture.Canvas) {
	w, h := float64(sc.width)*side, float64(sc.height)*side
	for x := 1; x < sc.width; x++ {
		c.Path(picture.Line([2]float64{float64(x) * side, 0}, [2]float64{float64(x) * side, h}), fmt.Sprintf(`stroke="%s" stroke-width="0.5"`, grid))
	}
	for y := 1; y < sc.height; y++ {
		c.Path(picture.Line([2]float64{0, float64(y) * side}, [2]float64{w, float64(y) * side}), fmt.Sprintf(`stroke="%s" stroke-width="0.5"`, grid))
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
				c.Rect(left, top, float64(x-from)*side, side, fmt.Sprintf(`fill="%s" stroke="%s" stroke-width="0.5"`, stone, stone))
			}
		}
	}
	c.Rect(0, 0, w, h, `fill="none" stroke="#000000" stroke-width="1"`)
	for _, d := range sc.doors {
		x, y := sc.centre(d)
		c.Group(x, y, 1, "")
		drawDoor(c, slices.Contains(sc.locked, d))
		c.End()
	}
}

// drawTrail draws where the agent has been: a ring where it began, a line to where it is.
func (sc *scene) drawTrail(c *picture.Canvas) {
	if len(sc.trail) == 0 {
		return
	}
	var points [][2]float64
	for _, at := range append(slices.Clip(sc.trail), sc.agent) {
		x, y := sc.centre(at)
		if p := [2]float64{x, y}; len(points) == 0 || points[len(points)-1] != p {
			points = append(points, p)
		}
	}
	style := fmt.Sprintf(`fill="none" stroke="%s" stroke-width="1.6" stroke-opacity="0.55" stroke-linejoin="round" stroke-linecap="round"`, grey)
	if len(points) > 1 {
		c.Path(picture.Line(points...), style)
	}
	c.Circle(points[0][0], points[0][1], 2.6, fmt.Sprintf(`fill="#ffffff" stroke="%s" stroke-width="1.2"`, grey))
}

// drawThings draws the items that lie in the maze, and the agent over them.
func (sc *scene) drawThings(c *picture.Canvas) {
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
		c.Group(x-shift, y-shift, 1, it.name)
		drawItem(c, it)
		c.End()
	}
	x, y := sc.centre(sc.agent)
	scale := 1.0
	if lying[sc.agent] > 0 {
		x, y, scale = x+3.5, y+2.6, 0.75
	}
	c.Group(x, y, scale, "the agent")
	drawAgent(c)
	c.End()
}

// drawCarried fills the panel, of so many rows of items, beside the maze.
func (sc *scene) drawCarried(c *picture.Canvas, width float64, rows int) {
	c.Text(width/2, 9, words, fmt.Sprintf(`fill="%s"`, grey), "carries")
	if len(sc.carried) == 0 {
		c.Text(width/2, 22, words, fmt.Sprintf(`fill="%s"`, grey), "nothing")
		return
	}
	columns := (len(sc.carried) + rows - 1) / rows
	for n, it := range sc.carried {
		x := width/2 + (float64(n/rows)-float64(columns-1)/2)*side
		c.Group(x, head+(float64(n%rows)+0.5)*side, 1, it.name)
		drawItem(c, it)
		c.End()
	}
}
