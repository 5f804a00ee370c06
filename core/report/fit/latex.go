package fit

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"foible.dev/foible/core/model"
	"foible.dev/foible/core/report"
	"foible.dev/foible/core/report/latex"
)

// writeLaTeX writes tables/: what tables of report.html have, as table environments for
// booktabs, to be \input.
func (r *Report) writeLaTeX() error {
	if err := r.write("tables/fits.tex", r.writeFitsLaTeX); err != nil {
		return err
	}
	for _, m := range append([]*report.Matrix{r.byCategory(), r.intervalsOfBest()}, r.comparisons()...) {
		if m == nil {
			continue
		}
		name := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(m.Label, "the "), " ", "-"))
		if err := r.write("tables/"+name+".tex", func(w io.Writer) error { return r.writeMatrixLaTeX(w, m, name) }); err != nil {
			return err
		}
	}
	return nil
}

func (r *Report) writeMatrixLaTeX(w io.Writer, m *report.Matrix, name string) error {
	caption := latex.Escape(r.title("")) + ". " + latex.Symbols(m.Caption)
	omit := slices.Index(m.Columns, "n") // where it is alike in all rows
	if omit >= 0 {
		n := m.Rows[0].Cells[omit]
		if slices.ContainsFunc(m.Rows, func(row report.Row) bool { return row.Cells[omit] != n }) {
			omit = -1
		} else {
			caption += " $n = " + n + "$."
		}
	}
	without := func(name string, cells []string) []string {
		all := append([]string{name}, cells...)
		if omit >= 0 {
			all = slices.Delete(all, omit+1, omit+2)
		}
		return all
	}
	return latex.WriteTable(w, caption, "tab:foible-"+name, without("Model", m.Columns), func(yield func([]string) bool) {
		for i := range m.Rows {
			if !yield(without(m.Rows[i].Name, m.Rows[i].Cells)) {
				return
			}
		}
	})
}

// writeFitsLaTeX writes the fitted parameters. The table is to fit the text of a page:
// what is alike in all rows is in the caption.
func (r *Report) writeFitsLaTeX(w io.Writer) error {
	axes, rows := r.fitRows()
	caption, unit := r.fitsCaption()
	heads, columns := []string{"Model"}, "l"
	var swept []int // axes with a column
	var parts, fixed []string
	for i, name := range axes {
		axis, _ := model.AxisByName(name)
		if value, ok := r.only(name); ok {
			fixed = append(fixed, fmt.Sprintf("%s (%s) %s", axis.Symbol, axis.Meaning, latex.Escape(report.SettingText(value.String()))))
			continue
		}
		swept = append(swept, i)
		heads, columns = append(heads, axis.Symbol), columns+"r"
		parts = append(parts, axis.Symbol+", "+axis.Meaning)
	}
	heads, columns = append(heads, "$r$"), columns+"r"
	if unit != "" {
		heads, columns = append(heads, `95\% interval`), columns+"c"
	}
	heads, columns = append(heads, "MC error", "RMSE"), columns+"rr"
	counted := slices.ContainsFunc(rows, func(row fitRow) bool { return row.N != rows[0].N })
	if counted {
		heads, columns = append(heads, "$n$"), columns+"r"
	}

	var b strings.Builder
	b.WriteString(latex.Preamble)
	if len(rows) == 0 {
		caption = "No parameter set has a defined correlation with the judgements."
	}
	caption = latex.Symbols(caption)
	if len(rows) > 0 && !counted {
		caption = strings.Replace(caption, "the number $n$ of points", "$n = "+rows[0].N+"$ points", 1)
	}
	fmt.Fprintf(&b, "\\caption{%s. %s", latex.Escape(r.title("")), caption)
	if len(parts) > 0 {
		fmt.Fprintf(&b, " %s.", strings.Join(parts, "; "))
	}
	if len(fixed) > 0 {
		fmt.Fprintf(&b, " Not swept: %s.", strings.Join(fixed, "; "))
	}
	b.WriteString("}\n\\label{tab:foible-fits}\n")
	fmt.Fprintf(&b, "\\begin{tabular}{%s}\n\\toprule\n%s \\\\\n\\midrule\n", columns, strings.Join(heads, " & "))
	for i := range rows {
		row := &rows[i]
		fields := []string{row.Model}
		for _, i := range swept {
			fields = append(fields, row.Values[i])
		}
		fields = append(fields, row.R)
		if unit != "" {
			fields = append(fields, row.Interval)
		}
		fields = append(fields, row.MCSE, row.RMSE)
		if counted {
			fields = append(fields, row.N)
		}
		for k := range fields {
			fields[k] = latex.Escape(fields[k])
			if row.Highest {
				fields[k] = `\textbf{` + fields[k] + `}`
			}
		}
		fmt.Fprintf(&b, "%s \\\\\n", strings.Join(fields, " & "))
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n\\end{table}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// only is the value that an axis has in all parameter sets of the sweep that have the axis.
func (r *Report) only(axis string) (value model.Setting, ok bool) {
	for i := range r.plan.Sets {
		v, has := r.plan.Sets[i].Get(axis)
		switch {
		case !has:
		case !ok:
			value, ok = v, true
		case v != value:
			return value, false
		}
	}
	return value, ok
}
