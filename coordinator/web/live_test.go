package web

import (
	"bufio"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"foible.dev/foible/internal/await"
)

// listen reads a stream of events, message by message, until the test ends.
func (r *rig) listen(path string) <-chan parts {
	r.t.Helper()
	request, _ := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.server.URL()+path, nil)
	response, err := r.client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || kind != "text/event-stream" {
		r.t.Fatal(response.Status, kind)
	}
	messages := make(chan parts)
	go func() {
		defer response.Body.Close()
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			if !ok {
				continue
			}
			var news parts
			if json.Unmarshal([]byte(data), &news) != nil {
				return
			}
			select {
			case messages <- news:
			case <-r.t.Context().Done():
				return
			}
		}
	}()
	return messages
}

func next(t *testing.T, messages <-chan parts) parts {
	t.Helper()
	return await.Value(t, messages, "a message of the stream")
}

// A page hears all at first, and then what has changed and nothing else.
func TestStream(t *testing.T) {
	r := newRig(t, nil)
	r.login(false)
	messages := r.listen("/sweeps/" + theSweep + "/events?sort=n")
	first := next(t, messages)
	for _, id := range []string{"state", "progress", "coverage", "best", "sensitivity", "profiles", "fits", "failures"} {
		if first[id].HTML == "" || first[id].Version == "" {
			t.Errorf("no %s", id)
		}
	}
	if !strings.Contains(first["fits"].HTML, `aria-sort="descending"><a href="/sweeps/`+theSweep+`?order=up&amp;sort=n#fits" id="by-n">`) {
		t.Errorf("the fits are not sorted as the address says: %s", first["fits"].HTML)
	}
	for !strings.Contains(first["fits"].HTML, "6 parameter sets.") { // until they have been read
		first = next(t, messages)
	}
	time.Sleep(numbersPause)
	if _, err := r.fake.PauseSweep(t.Context(), theSweep); err != nil {
		t.Fatal(err)
	}
	news := next(t, messages)
	for news["state"].HTML == "" {
		news = next(t, messages)
	}
	if !strings.Contains(news["state"].HTML, "paused") || news["failures"].HTML != "" || news["coverage"].HTML != "" {
		t.Errorf("%+v", news)
	}
}

// However fast a sweep changes, a page hears of it a few times a second.
func TestStreamIsThrottled(t *testing.T) {
	r := newRig(t, nil)
	r.login(false)
	began := time.Now()
	messages := r.listen("/sweeps/" + theSweep + "/events")
	next(t, messages)
	stop := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		for i := int64(0); ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
			r.fake.mu.Lock()
			r.fake.done = i % 20
			close(r.fake.changed)
			r.fake.changed = make(chan struct{})
			r.fake.mu.Unlock()
		}
	}()
	const more = 6
	for range more {
		next(t, messages)
	}
	if took, least := time.Since(began), (more-1)*numbersPause; took < least {
		t.Errorf("%d messages in %v, want at least %v", more+1, took, least)
	}
	close(stop)
	await.Value(t, finished, "the changes to stop")
}

// Streams are bounded, and those that end make room.
func TestStreamsAreBounded(t *testing.T) {
	r := newRig(t, nil)
	r.login(false)
	for range DefaultLimits().Streams {
		r.server.streams <- struct{}{}
	}
	if got := r.get("/events"); got.StatusCode != http.StatusServiceUnavailable {
		t.Error(got.Status)
	}
	<-r.server.streams
	next(t, r.listen("/events"))
}

// A figure that a page asks for by its version stays as it was, though more has come in.
func TestFiguresKeepTheirVersion(t *testing.T) {
	r := newRig(t, nil)
	r.login(false)
	version := func() string {
		_, after, _ := strings.Cut(r.get("/sweeps/"+theSweep).body, "sensitivity.svg?v=")
		v, _, _ := strings.Cut(after, `"`)
		return v
	}
	path := "/sweeps/" + theSweep + "/figures/sensitivity.svg?v="
	first := version()
	before := r.get(path + first)
	await.Until(t, "a fit to be read", func() bool { return version() != first })
	after := r.get(path + first)
	if before.body != after.body || !strings.Contains(after.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("it has changed: %s", after.Header.Get("Cache-Control"))
	}
	if r.get(path+version()).body == before.body {
		t.Error("the later version is the same")
	}
	if unknown := r.get(path + "unknown"); unknown.StatusCode != http.StatusOK || unknown.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s, %s", unknown.Status, unknown.Header.Get("Cache-Control"))
	}
}

func TestShelf(t *testing.T) {
	s := newShelf[string](2, 0)
	made := []string{}
	get := func(name string) {
		s.get(name, func() string { made = append(made, name); return name })
	}
	for _, name := range []string{"a", "b", "a", "c", "a", "b"} { // b is forgotten for c
		get(name)
	}
	if want := []string{"a", "b", "c", "b"}; !slices.Equal(made, want) {
		t.Errorf("made %v, want %v", made, want)
	}
	if _, ok := s.find("c"); ok {
		t.Error("c is still there")
	}
}

// What is too large together is forgotten, the ones used longest ago first, but never the one used last; and so is what
// nobody has used for a while.
func TestShelfOfLargeThings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf[string](8, 100)
		kept := func() string {
			var names []string
			for _, name := range []string{"a", "b", "c", "d"} {
				if _, ok := s.find(name); ok {
					names = append(names, name)
				}
			}
			return strings.Join(names, "")
		}
		put := func(name string, bytes int64) {
			s.get(name, func() string { return name })
			s.weigh(name, bytes)
			time.Sleep(time.Minute)
		}
		for _, step := range []struct {
			name  string
			bytes int64
			want  string
		}{{"a", 40, "a"}, {"b", 60, "ab"}, {"a", 40, "ab"}, {"c", 1, "ac"}, {"d", 1000, "d"}, {"a", 50, "a"}, {"b", 50, "ab"}} {
			if put(step.name, step.bytes); kept() != step.want {
				t.Errorf("after %s with %d bytes, %q are kept, want %q", step.name, step.bytes, kept(), step.want)
			}
		}
		s.weigh("nothing", 1000)
		if s.forget(time.Now().Add(-90 * time.Second)); kept() != "b" || s.bytes != 50 {
			t.Errorf("%q and %d bytes are kept of what was used in the last 90 seconds", kept(), s.bytes)
		}
		if s.forget(time.Now()); kept() != "" || s.bytes != 0 || len(s.order) != 0 {
			t.Errorf("%q, %d bytes and %v are kept of nothing", kept(), s.bytes, s.order)
		}
	})
}

// A server that stops ends the streams of pages that are open, and waits for them.
func TestStop(t *testing.T) {
	r := newRig(t, nil)
	r.login(false)
	next(t, r.listen("/events"))
	r.stop()
	if n := len(r.server.streams); n > 0 {
		t.Errorf("%d streams go on", n)
	}
}
