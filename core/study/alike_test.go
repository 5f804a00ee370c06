package study_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf16"

	"foible.dev/foible/core/pddl"
	"foible.dev/foible/core/study"
)

// records is a table before it is written; numbers have decimal points.
type records [][]string

// spelling is one way to write a table as a file.
type spelling struct {
	name  string
	write func(records) string
}

var spellings = []spelling{
	{"comma", func(t records) string { return text(t, ",", "\n") }},
	{"byte order mark", func(t records) string { return "\uFEFF" + text(t, ",", "\n") }},
	{"CRLF", func(t records) string { return text(t, ",", "\r\n") }},
	{"CR", func(t records) string { return text(t, ",", "\r") }},
	{"no newline at the end", func(t records) string { return strings.TrimSpace(text(t, ",", "\n")) }},
	{"semicolons, decimal commas", func(t records) string { return text(german(t), ";", "\r\n") }},
	{"tabs, decimal commas", func(t records) string { return text(german(t), "\t", "\n") }},
	{"tabs", func(t records) string { return text(t, "\t", "\n") }},
	{"quoted decimal commas", func(t records) string { return text(german(quoted(t)), ",", "\n") }},
	{"sep line", func(t records) string { return "sep=;\r\n" + text(german(t), ";", "\r\n") }},
	{"quoted", func(t records) string { return text(quoted(t), ",", "\n") }},
	{"UTF-16 LE", func(t records) string { return wide(text(german(t), ";", "\r\n"), binary.LittleEndian) }},
	{"UTF-16 BE", func(t records) string { return wide(text(t, "\t", "\r\n"), binary.BigEndian) }},
	{"empty columns and lines", func(t records) string {
		return "\n" + strings.ReplaceAll(text(t, ",", "\n"), "\n", ",,\n\n") + ",,,,,,\n , , \n"
	}},
	{"spaces", func(t records) string { return text(t, " , ", "  \n") }},
	{"row names", func(t records) string {
		named := make(records, len(t))
		for i, r := range t {
			named[i] = append([]string{`""`}, r...)
			if i > 0 {
				named[i][0] = fmt.Sprint(i)
			}
		}
		return text(named, ",", "\n")
	}},
	{"columns the other way round", func(t records) string {
		turned := make(records, len(t))
		for i, r := range t {
			for _, c := range r {
				turned[i] = append([]string{c}, turned[i]...)
			}
		}
		return text(turned, ",", "\n")
	}},
	{"header in capitals", func(t records) string {
		header, rows, _ := strings.Cut(text(t, ",", "\n"), "\n")
		return strings.ToUpper(strings.ReplaceAll(header, "_", " ")) + "\n" + rows
	}},
}

func text(t records, separator, newline string) string {
	var b strings.Builder
	for _, r := range t {
		b.WriteString(strings.Join(r, separator) + newline)
	}
	return b.String()
}

func mapped(t records, f func(string) string) records {
	out := make(records, len(t))
	for i, r := range t {
		for _, c := range r {
			out[i] = append(out[i], f(c))
		}
	}
	return out
}

func german(t records) records {
	return mapped(t, func(c string) string { return strings.ReplaceAll(c, ".", ",") })
}

func quoted(t records) records {
	return mapped(t, func(c string) string { return `"` + c + `"` })
}

func wide(s string, order binary.AppendByteOrder) string {
	var b []byte
	for _, u := range utf16.Encode([]rune("\uFEFF" + s)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

// people is a table of responses to the lamps, with gaps and rounding.
func people(rng *rand.Rand) records {
	t := records{{"stimulus", "participant", "step", "goal", "probability"}}
	for _, s := range []struct {
		id    string
		goals []string
		steps []int
	}{{"one", []string{"red", "green"}, []int{0, 1}}, {"two", []string{"green", "blue", "red"}, []int{1, 2}}} {
		for p := range 1 + rng.IntN(4) {
			for _, k := range s.steps {
				if rng.IntN(4) == 0 {
					continue
				}
				left := 100
				for g, goal := range s.goals {
					share := left
					if g < len(s.goals)-1 {
						share = rng.IntN(left + 1)
					} else if left > 1 {
						share -= rng.IntN(2)
					}
					left -= share
					t = append(t, []string{s.id, fmt.Sprintf("Zoë %d", p), fmt.Sprint(k), goal, fmt.Sprintf("%.2f", float64(share)/100)})
				}
			}
		}
	}
	return t
}

// The same data is the same study, however it is written.
func TestSpellingsAreReadAlike(t *testing.T) {
	stimuli := records{
		{"stimulus", "category", "goals", "true_goal", "judgement_steps"},
		{"one", "plain", "red green", "red", "0 1"},
		{"two", "öde", "green blue red", "", "1 2"},
	}
	for seed := range uint64(20) {
		responses := people(rand.New(rand.NewPCG(seed, 0)))
		var want *study.Study
		for _, spelling := range spellings {
			files := lamps()
			files["stimuli.csv"] = spelling.write(stimuli)
			files["responses.csv"] = spelling.write(responses)
			got, findings := study.Read(folder(files), lampsSource())
			if err := findings.Err(); err != nil {
				t.Fatalf("seed %d, %s: %v\n%s", seed, spelling.name, err, files["responses.csv"])
			}
			withoutPositions(got)
			if want == nil {
				want = got
			} else if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, %s: %+v\nnot %+v", seed, spelling.name, got, want)
			}
		}
	}
}

func withoutPositions(s *study.Study) {
	for i := range s.Stimuli {
		s.Stimuli[i].Pos = pddl.Pos{}
		for g := range s.Stimuli[i].Goals {
			s.Stimuli[i].Goals[g].Pos = pddl.Pos{}
		}
	}
}

// A mistake is found where it is written, also behind quoted newlines and
// characters of several bytes.
func TestPositionsCountCharacters(t *testing.T) {
	files := with("responses.csv", "\uFEFFstimulus;participant;step;goal;probability\r\none;\"Zoë\r\n\"\"Zo\"\" 😀\";0;red;0,5\r\none;Zoë 😀;0;red;zero\r\n")
	_, findings := study.Read(folder(files), lampsSource())
	compare(t, "errors", errorsOf(findings), []string{
		`responses.csv:3:17: error: stimulus one: participant Zoë "Zo" 😀, step 0: no probability for green`,
		`responses.csv:4:17: error: "zero" is not a number; no answer is written as a blank cell or one of NA, n/a, nan, null, none, n.a., missing, no answer, no response, -, .`,
	})
}
