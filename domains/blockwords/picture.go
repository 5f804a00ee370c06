package blockwords

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"foible.dev/foible/core/ground"
	"foible.dev/foible/core/picture"
)

// Lengths of a picture, in points.
const (
	side   = 18.0 // of a block
	gap    = 5.0  // between places on the table
	margin = 4.0
	hand   = 11.0 // height of the hand above the block that it holds
	table  = 4.0
)

const (
	outline = "#000000"
	wood    = "#f3e3c3"
	moved   = "#e3bd76"
	metal   = "#8c8c8c"
)

// Picture draws a state: the towers on the table, and the hand with
// what it holds. A tower stands at the place of its lowest block, in the order
// of the problem's objects, so that pictures of one problem can be compared.
// past are the states before s, oldest first; if there are any, the block that
// the last action moved is darker.
func Picture(t *ground.Task, s ground.StateID, past []ground.StateID) (*picture.Picture, error) {
	scene, err := newScene(t, s)
	if err != nil {
		return nil, err
	}
	changed := ""
	if len(past) > 0 {
		before, err := newScene(t, past[len(past)-1])
		if err != nil {
			return nil, err
		}
		changed = scene.changed(before)
	}
	return scene.draw(changed), nil
}

// scene is a state as towers.
type scene struct {
	blocks []string
	towers [][]string // by place = index of the lowest block; from the table up; nil = free
	held   string     // "" = nothing
	below  map[string]string
}

const (
	onTable = "the table"
	inHand  = "the hand"
)

func newScene(t *ground.Task, s ground.StateID) (*scene, error) {
	sc := &scene{blocks: t.Objects("block"), below: map[string]string{}}
	above := map[string]string{}
	sc.towers = make([][]string, len(sc.blocks))
	for _, f := range t.True(s) {
		switch strings.ToLower(f.Predicate) {
		case "on":
			sc.below[f.Args[0]] = f.Args[1]
			above[f.Args[1]] = f.Args[0]
		case "ontable":
			sc.below[f.Args[0]] = onTable
		case "holding":
			sc.below[f.Args[0]] = inHand
			sc.held = f.Args[0]
		}
	}
	n := 0
	if sc.held != "" {
		n++
	}
	for place, b := range sc.blocks {
		if sc.below[b] != onTable {
			continue
		}
		for ok := true; ok && len(sc.towers[place]) < len(sc.blocks); b, ok = above[b] {
			sc.towers[place] = append(sc.towers[place], b)
			n++
		}
	}
	if n != len(sc.blocks) {
		return nil, fmt.Errorf("picture: not a state of towers: %d of %d blocks stand on the table or are held", n, len(sc.blocks))
	}
	return sc, nil
}

// changed is the block that stands elsewhere than before, "" if there is none.
func (sc *scene) changed(before *scene) string {
	for _, b := range sc.blocks {
		if sc.below[b] != before.below[b] {
			return b
		}
	}
	return ""
}

// title says what the picture shows: towers from the top down.
func (sc *scene) title() string {
	var parts []string
	for _, tower := range sc.towers {
		if len(tower) == 0 {
			continue
		}
		var word strings.Builder
		for i := len(tower) - 1; i >= 0; i-- {
			word.WriteString(tower[i])
		}
		parts = append(parts, word.String())
	}
	title := "Towers, top block first: " + strings.Join(parts, ", ")
	if sc.held != "" {
		title += "; in the hand: " + sc.held
	}
	return title
}

func (sc *scene) draw(changed string) *picture.Picture {
	n := float64(max(len(sc.blocks), 1))
	width := 2*margin + n*side + (n+1)*gap
	floor := margin + hand + n*side
	p := picture.New(width, floor+table+margin, sc.title())

	p.Rect(margin, floor, width-2*margin, table, picture.Style{Fill: metal})
	p.Path(picture.Open(picture.Point{margin, floor}, picture.Point{width - margin, floor}), picture.Style{Stroke: outline, Width: 1})
	for place, tower := range sc.towers {
		x := margin + gap + float64(place)*(side+gap)
		for level, b := range tower {
			p.Add(block(x, floor-float64(level+1)*side, b, b == changed)...)
		}
	}
	p.Add(gripper(width/2, margin, sc.held != "")...)
	if sc.held != "" {
		p.Add(block(width/2-side/2, margin+hand, sc.held, sc.held == changed)...)
	}
	return p
}

// block is a block whose top left corner is (x, y).
func block(x, y float64, name string, changed bool) []picture.Item {
	fill := wood
	if changed {
		fill = moved
	}
	size := 11.0
	if k := utf8.RuneCountInString(name); k > 1 {
		size = max(4, min(9, 22/float64(k)))
	}
	return []picture.Item{
		picture.Rect{X: x + 0.5, Y: y + 0.5, Width: side - 1, Height: side - 1, Radius: 1.5, Style: picture.Style{Fill: fill, Stroke: outline, Width: 1}},
		picture.Text{X: x + side/2, Y: y + side/2 + 0.36*size, Size: size, Text: name, Bold: true, Fill: "#000000"},
	}
}

// gripper is the hand, hanging from (x, y), closed round a block or open.
func gripper(x, y float64, closed bool) []picture.Item {
	reach, down := side/2+3, 4.0
	if closed {
		reach, down = side/2+1.2, 7.0
	}
	top := y + hand - 4
	fingers := picture.Open(
		picture.Point{x - reach, top + down}, picture.Point{x - reach, top},
		picture.Point{x + reach, top}, picture.Point{x + reach, top + down},
	)
	return []picture.Item{
		picture.Path{Line: picture.Open(picture.Point{x, y}, picture.Point{x, top}), Style: picture.Style{Stroke: metal, Width: 3}},
		picture.Path{Line: fingers, Style: picture.Style{Fill: "none", Stroke: outline, Width: 2, RoundCorners: true, RoundEnds: true}},
	}
}
