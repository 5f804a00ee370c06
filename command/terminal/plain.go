package terminal

import (
	"io"
	"sync"
	"unicode/utf8"

	"foible.dev/foible/core/words"
)

// Plain writes what a terminal shows, and nothing that it obeys: names, reasons and messages come from studies, workers and
// servers, and may hold anything. Everything that commands print goes through it; see [words.Plain].
func Plain(out io.Writer) io.Writer { return &plainWriter{out: out} }

type plainWriter struct {
	out io.Writer

	mu   sync.Mutex // guards part, and keeps writes apart
	part []byte     // of a character whose rest has not been written yet
}

// Write implements [io.Writer].
func (w *plainWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := append(w.part, b...)
	end := len(all)
	for i := max(0, end-utf8.UTFMax+1); i < end; i++ {
		if utf8.RuneStart(all[i]) && !utf8.FullRune(all[i:]) {
			end = i
		}
	}
	w.part = append([]byte(nil), all[end:]...)
	if _, err := io.WriteString(w.out, words.Plain(string(all[:end]))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Underlying is what Plain writes to, for those who draw on a terminal or hand it on to another process.
func Underlying(out io.Writer) io.Writer {
	if w, ok := out.(*plainWriter); ok {
		return w.out
	}
	return out
}
