package doorskeysgems

import (
	"fmt"
	"strconv"
	"strings"

	"foible.dev/foible/core/ground"
)

// cell is a place in the maze, from (1, 1) at the bottom left.
type cell struct{ x, y int }

// maze is what no action changes, and where things are at first.
type maze struct {
	width, height int
	wall          map[cell]bool
	doors         []cell // locked at first
	items         []item // keys, then gems, in the problem's order
}

// item is a key or a gem. lies is false while the agent has it, or for ever
// when a key has been used.
type item struct {
	name   string
	gem    bool
	number int // of a gem, as index counts
	lies   bool
	at     cell
}

func newMaze(t *ground.Task) (*maze, error) {
	m := &maze{wall: map[cell]bool{}}
	for _, size := range []struct {
		function string
		to       *int
	}{{"width", &m.width}, {"height", &m.height}} {
		n, err := whole(t, t.Initial(), size.function)
		if err != nil {
			return nil, err
		}
		if n < 1 || n > 1000 {
			return nil, fmt.Errorf("maze: %s is %d cells, not 1 to 1000", size.function, n)
		}
		*size.to = n
	}
	for _, f := range t.True(t.Initial()) {
		switch strings.ToLower(f.Predicate) {
		case "wall":
			c, err := place(f.Args)
			if err != nil {
				return nil, err
			}
			m.wall[c] = true
		case "door":
			c, err := place(f.Args)
			if err != nil {
				return nil, err
			}
			m.doors = append(m.doors, c)
		}
	}
	var err error
	m.items, err = items(t, t.Initial())
	return m, err
}

// items are all keys, then all gems, as they are in s.
func items(t *ground.Task, s ground.StateID) ([]item, error) {
	var all []item
	for _, name := range t.Objects("key") {
		all = append(all, item{name: name})
	}
	for i, name := range t.Objects("gem") {
		all = append(all, item{name: name, gem: true, number: index(i, name)})
	}
	for _, f := range t.True(s) {
		if !strings.EqualFold(f.Predicate, "at") {
			continue
		}
		c, err := place(f.Args[1:])
		if err != nil {
			return nil, err
		}
		for i := range all {
			if all[i].name == f.Args[0] {
				all[i].lies, all[i].at = true, c
			}
		}
	}
	return all, nil
}

// agent is where the agent stands.
func agent(t *ground.Task, s ground.StateID) (cell, error) {
	x, err := whole(t, s, "xpos")
	if err != nil {
		return cell{}, err
	}
	y, err := whole(t, s, "ypos")
	return cell{x, y}, err
}

// whole is the value of a function that must be a whole number.
func whole(t *ground.Task, s ground.StateID, function string) (int, error) {
	v, ok := t.Value(s, function)
	if !ok {
		return 0, fmt.Errorf("maze: (%s) has no value", function)
	}
	if v != float64(int(v)) {
		return 0, fmt.Errorf("maze: (%s) is %v, not a whole number", function, v)
	}
	return int(v), nil
}

func place(args []string) (cell, error) {
	x, errX := strconv.Atoi(args[0])
	y, errY := strconv.Atoi(args[1])
	if errX != nil || errY != nil {
		return cell{}, fmt.Errorf("maze: (%s, %s) is not a cell", args[0], args[1])
	}
	return cell{x, y}, nil
}

func (m *maze) inside(c cell) bool {
	return c.x >= 1 && c.x <= m.width && c.y >= 1 && c.y <= m.height
}

// distances are the numbers of steps to c from the cells from which it can be
// reached if all doors are open.
func (m *maze) distances(c cell) map[cell]int {
	if !m.inside(c) || m.wall[c] {
		return nil
	}
	steps := map[cell]int{c: 0}
	for queue := []cell{c}; len(queue) > 0; queue = queue[1:] {
		from := queue[0]
		for _, to := range [...]cell{{from.x - 1, from.y}, {from.x + 1, from.y}, {from.x, from.y - 1}, {from.x, from.y + 1}} {
			if _, seen := steps[to]; !seen && m.inside(to) && !m.wall[to] {
				steps[to] = steps[from] + 1
				queue = append(queue, to)
			}
		}
	}
	return steps
}
