package picture

// colours are those of Okabe & Ito (2008), which the colour-blind can tell
// apart, ordered so that neighbours differ in grey too. Black is left to human data.
var colours = [...]string{
	"#0072b2", // blue
	"#e69f00", // orange
	"#009e73", // bluish green
	"#cc79a7", // reddish purple
	"#56b4e9", // sky blue
	"#d55e00", // vermillion
	"#f0e442", // yellow
}

// Colour is the colour of the i-th goal, "#rrggbb". There are seven; later
// goals start again, so colour is never the only mark of a goal.
func Colour(i int) string {
	if i < 0 {
		panic("picture: negative goal")
	}
	return colours[i%len(colours)]
}

// Ink is the colour of text that is easily read on Colour(i).
func Ink(i int) string {
	switch i % len(colours) {
	case 0, 2, 5: // blue, bluish green, vermillion
		return "#ffffff"
	}
	return "#000000"
}
