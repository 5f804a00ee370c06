package study

import (
	"regexp"
	"strconv"
)

// quote is a text as messages show it: on one line, and not too long.
func quote(s string) string {
	if runes := []rune(s); len(runes) > 60 {
		s = string(runes[:60]) + "…"
	}
	return strconv.Quote(s)
}

// spreadsheetDate is what a spreadsheet makes of ids such as 1-1.
var spreadsheetDate = func() *regexp.Regexp {
	const month = `(jan|feb|mar|m(ä|a)?rz|apr|may|mai|jun|jul|aug|sept?|o[ck]t|nov|de[cz])[a-z]*\.?`
	return regexp.MustCompile(`(?i)^([0-9]{1,2}[-. ]+` + month + `|` + month + `[-. ]+[0-9]{2,4}|[0-9]{4}-[0-9]{2}-[0-9]{2}.*|[0-9]{1,2}[/.][0-9]{1,2}[/.][0-9]{2,4})$`)
}()
