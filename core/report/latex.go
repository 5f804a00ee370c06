package report

import (
	"fmt"
	"io"
	"strings"
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
// the first table of report.html has, to be \input.
func (r *Report) writeLaTeX(w io.Writer) error {
	axes, rows := r.fitRows()
	caption, unit := r.fitsCaption()
	var heads, parts []string
	for _, axis := range axes {
		heads = append(heads, symbols[axis])
		parts = append(parts, symbols[axis]+", "+meanings[axis])
	}
	columns := "l" + strings.Repeat("r", len(axes)) + "r"
	heads = append(append([]string{"Model"}, heads...), "$r$")
	if unit != "" {
		columns += "c"
		heads = append(heads, `95\% interval`)
	}
	columns += "rrr"
	heads = append(heads, "MC error", "RMSE", "$n$")

	var b strings.Builder
	b.WriteString("% Written by Foible. Needs \\usepackage{booktabs}.\n\\begin{table}\n\\centering\n\\small\n\\setlength{\\tabcolsep}{4pt}\n")
	if len(rows) == 0 {
		caption = "No parameter set has a defined correlation with the judgements."
	}
	fmt.Fprintf(&b, "\\caption{%s. %s", latex(r.title("")), inMath.Replace(latex(caption)))
	if len(parts) > 0 {
		fmt.Fprintf(&b, " %s.", strings.Join(parts, "; "))
	}
	b.WriteString("}\n\\label{tab:foible-fits}\n")
	fmt.Fprintf(&b, "\\begin{tabular}{%s}\n\\toprule\n%s \\\\\n\\midrule\n", columns, strings.Join(heads, " & "))
	for i := range rows {
		row := &rows[i]
		fields := append([]string{row.Model}, row.Values...)
		fields = append(fields, row.R)
		if unit != "" {
			fields = append(fields, row.Interval)
		}
		fields = append(fields, row.MCSE, row.RMSE, row.N)
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
