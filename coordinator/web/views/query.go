package views

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"foible.dev/foible/core/model"
)

// pageRows is how many fits a page shows.
const pageRows = 50

// Query is which fits to show, and in which order.
type Query struct {
	Model  string // "" for all
	Filter string // as the user wrote it
	Sort   string // a column; "" is r
	Up     bool   // ascending
	Page   int    // from 1
}

// ReadQuery reads it from an address.
func ReadQuery(v url.Values) Query {
	q := Query{Model: v.Get("model"), Filter: strings.TrimSpace(v.Get("filter")), Sort: cmp.Or(v.Get("sort"), "r"), Up: v.Get("order") == "up"}
	q.Page, _ = strconv.Atoi(v.Get("page"))
	q.Page = max(1, q.Page)
	return q
}

// Encode is the query of an address, without what is as usual.
func (q Query) Encode() string {
	v := url.Values{}
	put := func(key, value, usual string) {
		if value != usual {
			v.Set(key, value)
		}
	}
	put("model", q.Model, "")
	put("filter", q.Filter, "")
	put("sort", q.Sort, "r")
	if q.Up {
		v.Set("order", "up")
	}
	put("page", strconv.Itoa(q.Page), "1")
	return v.Encode()
}

// value is what a fit has in a column: the place of its parameter set, from 1, in "set", the setting of an axis, or a
// statistic. ok is false for what there is not.
func value(column string, f *fit, sets []model.ParameterSet) (v model.Setting, ok bool) {
	switch column {
	case "set":
		v.Number = float64(f.set + 1)
	case "r":
		v.Number = f.r
	case "mc_se":
		v.Number = f.mcse
	case "rmse":
		v.Number = f.rmse
	case "n":
		v.Number = float64(f.n)
	case "model":
		v.Word = sets[f.set].Model
	default:
		return sets[f.set].Get(column)
	}
	return v, !math.IsNaN(v.Number)
}

// statistics are the columns that are no axis.
var statistics = []string{"set", "model", "r", "mc_se", "rmse", "n"}

// condition is a part of a filter: what a column must be.
type condition struct {
	column, operator string
	number           float64
	word             string
}

// parseFilter reads conditions such as "alpha=0.5 r>0.8"; all must hold.
func parseFilter(text string) ([]condition, error) {
	var all []condition
	for _, term := range strings.Fields(text) {
		if number, ok := strings.CutPrefix(term, "#"); ok {
			term = "set=" + number
		}
		at := strings.IndexAny(term, "=<>")
		if at <= 0 {
			return nil, fmt.Errorf("%q is no condition; write one as alpha=0.5 or r>0.8", term)
		}
		c := condition{column: term[:at], operator: term[at : at+1]}
		rest := term[at+1:]
		if c.operator != "=" && strings.HasPrefix(rest, "=") {
			c.operator, rest = c.operator+"=", rest[1:]
		}
		if _, axis := model.AxisByName(c.column); !axis && !slices.Contains(statistics, c.column) {
			return nil, fmt.Errorf("there is no column %q", c.column)
		}
		var err error
		if c.number, err = strconv.ParseFloat(rest, 64); err != nil {
			if c.operator != "=" || rest == "" {
				return nil, fmt.Errorf("%q: %q is no number", term, rest)
			}
			c.word = rest
		}
		all = append(all, c)
	}
	return all, nil
}

// holds says whether a fit meets the condition. What is not there meets none.
func (c *condition) holds(f *fit, sets []model.ParameterSet) bool {
	v, ok := value(c.column, f, sets)
	if !ok {
		return false
	}
	if v.Word != "" || c.word != "" {
		return v.Word == c.word && c.operator == "="
	}
	switch c.operator {
	case "<":
		return v.Number < c.number
	case "<=":
		return v.Number <= c.number
	case ">":
		return v.Number > c.number
	case ">=":
		return v.Number >= c.number
	}
	return v.Number == c.number
}

// choose picks and orders fits; undefined values come last, equal ones by parameter set.
func (q *Query) choose(fits []fit, sets []model.ParameterSet) ([]fit, error) {
	conditions, err := parseFilter(q.Filter)
	if err != nil {
		return nil, err
	}
	type keyed struct {
		fit
		key   model.Setting
		known bool
	}
	var chosen []keyed
	for i := range fits {
		f := &fits[i]
		if q.Model != "" && sets[f.set].Model != q.Model ||
			slices.ContainsFunc(conditions, func(c condition) bool { return !c.holds(f, sets) }) {
			continue
		}
		k := keyed{fit: *f}
		k.key, k.known = value(q.Sort, f, sets)
		chosen = append(chosen, k)
	}
	slices.SortFunc(chosen, func(a, b keyed) int {
		switch {
		case a.known != b.known && a.known:
			return -1
		case a.known != b.known:
			return 1
		}
		by := cmp.Or(cmp.Compare(a.key.Number, b.key.Number), strings.Compare(a.key.Word, b.key.Word))
		if !q.Up {
			by = -by
		}
		return cmp.Or(by, cmp.Compare(a.set, b.set))
	})
	out := make([]fit, len(chosen))
	for i := range chosen {
		out[i] = chosen[i].fit
	}
	return out, nil
}
