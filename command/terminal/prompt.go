package terminal

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Confirmed asks a question that y or yes agrees to; all else, and no answer, does not.
func Confirmed(in io.Reader, out io.Writer, question string) bool {
	fmt.Fprintf(out, "%s [y/N] ", question)
	line, _ := bufio.NewReader(in).ReadString('\n') // what is read before an error counts
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}
