package web

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// page is what every page has.
type page struct {
	Title   string
	Visitor *visitor // nil: nobody has been let in
	Events  string   // address of its updates; "" if it has none
	parts   parts
}

func (s *Server) newPage(title string, v *visitor) page { return page{Title: title, Visitor: v} }

// Part is an element whose content changes.
func (p *page) Part(id string) template.HTML {
	return template.HTML(fmt.Sprintf(`<div id="%s" data-version="%s">%s</div>`, id, p.parts[id].Version, p.parts[id].HTML)) // made by a template
}

// templates are the pages by the names of their files, each with layout.html and parts.html.
var templates = func() map[string]*template.Template {
	shared := template.Must(template.New("").Funcs(template.FuncMap{
		"time": moment, "join": strings.Join, "dict": dict,
	}).ParseFS(files, "templates/layout.html", "templates/parts.html"))
	all := map[string]*template.Template{"parts.html": shared}
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		if base := path.Base(name); base != "layout.html" && base != "parts.html" {
			all[base] = template.Must(template.Must(shared.Clone()).ParseFS(files, name))
		}
	}
	return all
}()

// moment is a time that a browser shows in its own zone, and others in UTC.
func moment(t time.Time) template.HTML {
	t = t.UTC()
	return template.HTML(fmt.Sprintf(`<time datetime="%s">%s</time>`, t.Format(time.RFC3339), t.Format("2 Jan 2006 15:04 MST"))) // digits and letters
}

// dict makes a value of pairs, for a template that is given more than one.
func dict(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

// render makes a part by the template of its name.
func render(name string, view any) (part, error) {
	var b bytes.Buffer
	if err := templates["parts.html"].ExecuteTemplate(&b, name, view); err != nil {
		return part{}, err
	}
	return newPart(b.String()), nil
}

// renderAll makes parts by the templates of their names.
func renderAll(views map[string]any) (parts, error) {
	all := parts{}
	for name, view := range views {
		p, err := render(name, view)
		if err != nil {
			return nil, err
		}
		all[name] = p
	}
	return all, nil
}

// show answers with a page.
func (s *Server) show(w http.ResponseWriter, r *http.Request, status int, name string, view any) {
	var b bytes.Buffer
	if err := templates[name].ExecuteTemplate(&b, "layout", view); err != nil {
		s.log.Error("page", "path", r.URL.Path, "error", err)
		http.Error(w, "this page cannot be shown; the coordinator's log says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // who has gone need not have it
}

type refusalView struct {
	page
	Message string
}

// refuse answers with a page that says why not.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, v *visitor, status int, message string) {
	s.show(w, r, status, "refusal.html", &refusalView{s.newPage(http.StatusText(status), v), message})
}
