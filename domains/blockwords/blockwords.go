// Package blockwords is the Block Words domain: lettered blocks are stacked
// into a tower that spells a word, first letter on top.
package blockwords

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"

	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/pddl"
)

// Name is the domain's name in study.yaml.
const Name = "block-words"

// PDDL is the domain.
//
//go:embed domain.pddl
var PDDL []byte

// Goal is the PDDL text of a word: its first letter clear, each letter on the
// next, its last on the table. Letters are the names of blocks, in any case,
// and each block is there once. The error names a letter that the blocks lack.
func Goal(word string, p *pddl.Problem) (string, error) {
	blocks, err := spell(word, p)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "(and (clear %s)", blocks[0])
	for i, below := range blocks[1:] {
		fmt.Fprintf(&b, " (on %s %s)", blocks[i], below)
	}
	fmt.Fprintf(&b, " (ontable %s))", blocks[len(blocks)-1])
	return b.String(), nil
}

// Corruptions are the words that a word may be taken for, each equally probable:
// all orders of its letters, itself among them, sorted.
func Corruptions(word string) []string {
	letters := []rune(word)
	slices.Sort(letters)
	var words []string
	var extend func(prefix, rest []rune)
	extend = func(prefix, rest []rune) {
		if len(rest) == 0 {
			words = append(words, string(prefix))
			return
		}
		for i, r := range rest {
			extend(append(slices.Clone(prefix), r), slices.Delete(slices.Clone(rest), i, i+1))
		}
	}
	extend(nil, letters)
	return words
}

// CorruptionCount is the number of Corruptions; the largest number there is where they are more.
func CorruptionCount(word string) int {
	orders := 1
	for n := range len([]rune(word)) {
		if orders > math.MaxInt/(n+1) {
			return math.MaxInt
		}
		orders *= n + 1
	}
	return orders
}

// spell lists the blocks of a word from the top.
func spell(word string, p *pddl.Problem) ([]string, error) {
	if word == "" {
		return nil, fmt.Errorf("a word needs at least one letter")
	}
	all := blocks(p)
	used := map[string]bool{}
	var tower []string
	for _, r := range word {
		letter := string(r)
		block := find(all, letter)
		switch {
		case block == "":
			return nil, fmt.Errorf("word %q cannot be spelt: no block %q among %s", word, letter, list(all))
		case used[block]:
			return nil, fmt.Errorf("word %q cannot be spelt: it needs %q more than once and there is one block of it", word, letter)
		}
		used[block] = true
		tower = append(tower, block)
	}
	return tower, nil
}

func blocks(p *pddl.Problem) []string {
	block := p.Domain.Type("block")
	if block == nil {
		return nil
	}
	var names []string
	for _, o := range p.AllObjects() {
		if o.Type.Is(block) {
			names = append(names, o.Name)
		}
	}
	return names
}

func find(blocks []string, letter string) string {
	for _, b := range blocks {
		if strings.EqualFold(b, letter) {
			return b
		}
	}
	return ""
}

func list(names []string) string {
	if len(names) == 0 {
		return "no blocks"
	}
	return strings.Join(names, ", ")
}

// Colour is the colour of the i-th candidate word in figures, "#rrggbb".
func Colour(goal int, _ string) string { return figure.GoalColour(goal) }
