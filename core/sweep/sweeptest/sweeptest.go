// Package sweeptest has what tests of several packages need of sweeps.
package sweeptest

import (
	"reflect"

	"foible.dev/foible/core/optional"
	"foible.dev/foible/core/result"
)

// WithoutEach is a cell without each of the parts that a cell may lack, by the part's name:
// whoever takes cells must take these.
func WithoutEach(cell result.Cell) map[string]result.Cell {
	all := map[string]result.Cell{}
	v := reflect.ValueOf(cell)
	for i := range v.NumField() {
		field := v.Type().Field(i)
		switch field.Name {
		case "Judged", "Posterior", "Undefined", "Samples": // rows of Posterior depend on Undefined
			continue
		case "Filter":
			for k := range field.Type.NumField() {
				one := cell
				part := reflect.ValueOf(&one.Filter).Elem().Field(k)
				part.SetZero()
				all[field.Type.Field(k).Name] = one
			}
			continue
		}
		one := cell
		reflect.ValueOf(&one).Elem().Field(i).SetZero()
		all[field.Name] = one
	}
	if cell.Mistakes != nil {
		one, mistakes := cell, *cell.Mistakes
		mistakes.OffPath = optional.Value[[]result.Estimate]{}
		one.Mistakes = &mistakes
		all["Mistakes.OffPath"] = one
	}
	return all
}
