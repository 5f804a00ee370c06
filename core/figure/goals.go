package figure

import (
	"fmt"
	"image/color"
)

// goals are the colours of goals: seven of Paul Tol's muted scheme (2021), which
// readers with colour-vision deficiencies can tell apart. None of them is the
// colour of a model, so a bar of a model is not taken for a goal. Neighbours
// differ in lightness too.
var goals = [...]struct {
	colour color.NRGBA
	ink    string // text on the colour
}{
	{color.NRGBA{0x33, 0x22, 0x88, 0xFF}, "#ffffff"}, // indigo
	{color.NRGBA{0xDD, 0xCC, 0x77, 0xFF}, "#000000"}, // sand
	{color.NRGBA{0x88, 0x22, 0x55, 0xFF}, "#ffffff"}, // wine
	{color.NRGBA{0x88, 0xCC, 0xEE, 0xFF}, "#000000"}, // cyan
	{color.NRGBA{0x11, 0x55, 0x22, 0xFF}, "#ffffff"}, // dark green
	{color.NRGBA{0xF2, 0xB8, 0xB0, 0xFF}, "#000000"}, // pale rose
	{color.NRGBA{0x77, 0x77, 0x22, 0xFF}, "#ffffff"}, // olive
}

// GoalColour is the colour of the i-th goal, from 0, as "#rrggbb". There are
// seven; later goals start again, so colour must never be the only mark of a goal.
// It panics if i is negative.
func GoalColour(i int) string {
	c := goals[i%len(goals)].colour
	return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
}

// GoalInk is the colour of text that is easily read on GoalColour(i), as "#rrggbb".
func GoalInk(i int) string { return goals[i%len(goals)].ink }
