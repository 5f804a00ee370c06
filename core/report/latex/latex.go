// Package latex writes tables for papers in LaTeX: table environments for booktabs, to be read by \input.
package latex

import (
	"fmt"
	"io"
	"iter"
	"regexp"
	"strings"

	"foible.dev/foible/core/words"
)

// WriteTable writes a table of texts, its first column names, under a caption in LaTeX.
func WriteTable(w io.Writer, caption, label string, heads []string, rows iter.Seq[[]string]) error {
	var b strings.Builder
	b.WriteString(Preamble)
	line := func(fields []string) string {
		set := make([]string, len(fields))
		for i, field := range fields {
			set[i] = Symbols(field)
		}
		return strings.Join(set, " & ")
	}
	columns := make([]string, len(heads)) // a word a line
	for i, head := range heads {
		columns[i] = Symbols(head)
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

// Preamble begins a table.
const Preamble = "% Written by Foible. Needs \\usepackage{booktabs}.\n\\begin{table}\n\\centering\n\\footnotesize\n\\setlength{\\tabcolsep}{3pt}\n\\setlength{\\belowcaptionskip}{6pt}\n"

// symbol is a statistic that stands by itself in a text of our own.
var symbol = regexp.MustCompile(`(^|[ (])(r|n)([ ,.:;)]|$)`)

// Symbols is a text of our own as LaTeX sets it, with r and n, where they stand by themselves, as mathematical symbols.
func Symbols(s string) string {
	return symbol.ReplaceAllString(Escape(s), `$1$$$2$$$3`)
}

// escapes are the characters that LaTeX takes for something else, and those
// that it has under other names.
var escapes = strings.NewReplacer(
	`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "_", `\_`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`,
	"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `\textless{}`, ">", `\textgreater{}`, `"`, "''",
	"−", "$-$", words.None, "--", "ρ", `$\rho$`, "\n", " ",
)

// Escape is a text as LaTeX sets it.
func Escape(s string) string { return escapes.Replace(s) }
