package report

import (
	"encoding/json"
	"errors"
	"io"

	"foible.dev/foible/core/tabular"
)

// WriteFile makes one file of an output, and closes it.
func WriteFile(out tabular.Output, name string, content func(io.Writer) error) error {
	f, err := out.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(content(f), f.Close())
}

// WriteJSON makes one file of an output that holds a value as JSON, indented for people.
func WriteJSON(out tabular.Output, name string, v any) error {
	return WriteFile(out, name, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(v)
	})
}
