package pddl

import (
	"fmt"
	"slices"
	"strings"

	"foible.dev/foible/core/words"
)

// totalCost is the function to which PDDL 3.1 adds what an action costs.
const totalCost = "total-cost"

// refuseCosts refuses the requirement of action costs, and says what to take out of the
// domain and of its problems.
func refuseCosts(requirements *node, sections []*node) {
	i := slices.IndexFunc(requirements.list, func(n *node) bool { return key(n.text) == ":action-costs" })
	if i < 0 {
		return
	}
	var declared, added []int // lines
	for _, section := range sections {
		if key(section.head()) == ":functions" {
			for _, n := range section.list {
				if key(n.head()) == totalCost {
					declared = append(declared, n.pos.Line)
				}
			}
		}
		if key(section.head()) == ":action" {
			section.walk(func(n *node) {
				if n.increasesCost() {
					added = append(added, n.pos.Line)
				}
			})
		}
	}
	parts := []string{"the requirement"}
	if len(declared) > 0 {
		parts = append(parts, `"(total-cost)" of (:functions `+atLines(declared))
	}
	if len(added) > 0 {
		parts = append(parts, `"(increase (total-cost) ...)" `+atLines(added))
	}
	parts = append(parts, `of problems "(= (total-cost) ...)" and "(:metric ...)"`)
	refuse(requirements.list[i].pos, "%s is not supported, because every action costs 1; take out: %s",
		requirements.list[i], strings.Join(parts, "; "))
}

func (n *node) increasesCost() bool {
	return key(n.head()) == "increase" && len(n.list) > 1 && (key(n.list[1].head()) == totalCost || key(n.list[1].text) == totalCost)
}

// walk visits a form and the forms within it, in order.
func (n *node) walk(visit func(*node)) {
	if n.form {
		visit(n)
	}
	for _, part := range n.list {
		part.walk(visit)
	}
}

// atLines names at most five lines: "at line 8", "at lines 8, 9 and 12".
func atLines(lines []int) string {
	const most = 5
	texts := make([]string, 0, most+1)
	for i, line := range lines {
		if i == most {
			texts = append(texts, fmt.Sprintf("%d more", len(lines)-most))
			break
		}
		texts = append(texts, fmt.Sprint(line))
	}
	noun := "line"
	if len(lines) > 1 {
		noun = "lines"
	}
	return fmt.Sprintf("at %s %s", noun, words.List(texts))
}
