package report

import (
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"

	"foible.dev/foible/core/model"
)

// writeLaTeX writes tables/: what tables of report.html have, as table environments for
// booktabs, to be \input.
func (r *Report) writeLaTeX() error {
	if err := r.write("tables/fits.tex", r.writeFitsLaTeX); err != nil {
		return err
	}
	for _, m := range append([]*matrix{r.byCategory(), r.intervalsOfBest()}, r.comparisons()...) {
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

func (r *Report) writeMatrixLaTeX(w io.Writer, m *matrix, name string) error {
	caption := latex(r.title("")) + ". " + inMath(m.Caption)
	omit := slices.Index(m.Columns, "n") // where it is alike in all rows
	if omit >= 0 {
		n := m.Rows[0].Cells[omit]
		if slices.ContainsFunc(m.Rows, func(row row) bool { return row.Cells[omit] != n }) {
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
	return writeTable(w, caption, "tab:foible-"+name, without("Model", m.Columns), func(yield func([]string) bool) {
		for i := range m.Rows {
			if !yield(without(m.Rows[i].Name, m.Rows[i].Cells)) {
				return
			}
		}
	})
}

// writeTable writes a table of texts, its first column names, under a caption in LaTeX.
func writeTable(w io.Writer, caption, label string, heads []string, rows iter.Seq[[]string]) error {
	var b strings.Builder
	b.WriteString(preamble)
	line := func(fields []string) string {
		set := make([]string, len(fields))
		for i, field := range fields {
			set[i] = inMath(field)
		}
		return strings.Join(set, " & ")
	}
	columns := make([]string, len(heads)) // a word a line
	for i, head := range heads {
		columns[i] = inMath(head)
		if lines := strings.Fields(columns[i]); len(lines) > 1 {
			columns[i] = `\shortstack[r]{` + strings.Join(lines, `\\`) + "}"
		}
	}
	fmt.Fprintf(&b, "\\caption{%s}\n\\label{%s}\n", caption, label)
	fmt.Fprintf(&b, "\\begin{tabular}{l%s}\n\\toprule\n%s \\\\\n\\midrule\n", strings.Repeat("r", len(heads)-1), strings.Join(columns, " & "))
	for fields := range rows {
		fmt.Fprintf(&b, "%s \\\\\n", line(fields))
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n\\end{table}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// preamble begins a table.
const preamble = "% Written by Foible. Needs \\usepackage{booktabs}.\n\\begin{table}\n\\centering\n\\footnotesize\n\\setlength{\\tabcolsep}{3pt}\n\\setlength{\\belowcaptionskip}{6pt}\n"

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
			fixed = append(fixed, fmt.Sprintf("%s (%s) %s", axis.Symbol, axis.Meaning, latex(settingText(value))))
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
	b.WriteString(preamble)
	if len(rows) == 0 {
		caption = "No parameter set has a defined correlation with the judgements."
	}
	caption = inMath(caption)
	if len(rows) > 0 && !counted {
		caption = strings.Replace(caption, "the number $n$ of points", "$n = "+rows[0].N+"$ points", 1)
	}
	fmt.Fprintf(&b, "\\caption{%s. %s", latex(r.title("")), caption)
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
			fields[k] = latex(fields[k])
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

// symbol is a statistic that stands alone in a text of our own.
var symbol = regexp.MustCompile(`(^|[ (])(r|n)([ ,.:;)]|$)`)

// inMath sets what our own texts have of symbols.
func inMath(s string) string {
	return symbol.ReplaceAllString(latex(s), `$1$$$2$$$3`)
}

// latexEscapes are the characters that LaTeX takes for something else, and those
// that it has under other names.
var latexEscapes = strings.NewReplacer(
	`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "_", `\_`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`,
	"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `\textless{}`, ">", `\textgreater{}`, `"`, "''",
	"−", "$-$", none, "--", "ρ", `$\rho$`, "\n", " ",
)

// latex is a text as LaTeX sets it.
func latex(s string) string { return latexEscapes.Replace(s) }
