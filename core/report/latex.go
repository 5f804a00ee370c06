package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"foible/core/sweep"
)

// symbols are how a paper writes the axes (Alanqary et al., 2021).
var symbols = map[string]string{
	"goal_noise": `$\epsilon_g$`, "budget_r": `$r_\eta$`, "budget_q": `$q_\eta$`, "search_noise": `$\gamma$`, "action_noise": `$\epsilon_a$`,
	"alpha": `$\alpha$`, "value": `$V$`, "unreachable_value": `$V_\infty$`,
}

// meanings are what the caption says of the symbols.
var meanings = map[string]string{
	"goal_noise": "goal noise", "budget_r": "failures that end a search budget", "budget_q": "its probability of a success",
	"search_noise": "search noise", "action_noise": "action noise", "alpha": "inverse temperature", "value": "how values are computed",
	"unreachable_value": "value where the goal cannot be reached",
}

// writeLaTeX writes tables/fits.tex: a table environment for booktabs, with what
// the first table of report.html has, to be \input. It is to fit the text of a page:
// what is alike in all rows is in the caption.
func (r *Report) writeLaTeX(w io.Writer) error {
	axes, rows := r.fitRows()
	caption, unit := r.fitsCaption()
	heads, columns := []string{"Model"}, "l"
	var swept []int // axes with a column
	var parts, fixed []string
	for i, axis := range axes {
		if value, ok := r.only(axis); ok {
			fixed = append(fixed, fmt.Sprintf("%s (%s) %s", symbols[axis], meanings[axis], latex(settingText(value))))
			continue
		}
		swept = append(swept, i)
		heads, columns = append(heads, symbols[axis]), columns+"r"
		parts = append(parts, symbols[axis]+", "+meanings[axis])
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
	b.WriteString("% Written by Foible. Needs \\usepackage{booktabs}.\n\\begin{table}\n\\centering\n\\footnotesize\n")
	b.WriteString("\\setlength{\\tabcolsep}{4pt}\n\\setlength{\\belowcaptionskip}{6pt}\n")
	if len(rows) == 0 {
		caption = "No parameter set has a defined correlation with the judgements."
	}
	caption = inMath.Replace(latex(caption))
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
func (r *Report) only(axis string) (value sweep.Setting, ok bool) {
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

// inMath sets what our own captions have of symbols.
var inMath = strings.NewReplacer(": r over", ": $r$ over", "number n of", "number $n$ of", "highest r.", "highest $r$.", "ceiling on r:", "ceiling on $r$:")

// latexEscapes are the characters that LaTeX takes for something else, and those
// that it has under other names.
var latexEscapes = strings.NewReplacer(
	`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "_", `\_`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`,
	"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `\textless{}`, ">", `\textgreater{}`, `"`, "''",
	"−", "$-$", none, "--", "\n", " ",
)

// latex is a text as LaTeX sets it.
func latex(s string) string { return latexEscapes.Replace(s) }
