package active

import (
	"testing"

	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// What was recorded just now is there once, as long as there is room for it.
func TestRecent(t *testing.T) {
	packed := func() *foiblev1.InferResult { return &foiblev1.InferResult{Judged: &foiblev1.JudgedCells{}} }
	var r recent
	if r.take(1) != nil {
		t.Error("something of nothing")
	}
	one, two := packed(), packed()
	r.put(1, one, 10)
	r.put(2, two, 20)
	r.put(3, &foiblev1.InferResult{Cells: []*foiblev1.Cell{{}}}, 30)
	r.put(4, nil, 40)
	if r.bytes != 30 || r.take(3) != nil || r.take(4) != nil || r.take(2) != two || r.take(2) != nil || r.take(1) != one || r.bytes != 0 {
		t.Errorf("%d bytes are left", r.bytes)
	}
	const part = recentBytes / 4
	for job := range 10 {
		r.put(job, packed(), part)
	}
	r.put(9, packed(), part) // again
	for job := range 10 {
		if there := r.take(job) != nil; there != (job >= 6) {
			t.Errorf("job %d: %v", job, there)
		}
	}
	r.put(1, packed(), recentBytes+1)
	if r.take(1) != nil || r.bytes != 0 {
		t.Error("more is kept than there is room for")
	}
	r.put(1, packed(), part)
	if r.clear(); r.take(1) != nil || r.bytes != 0 {
		t.Error("what is cleared is there")
	}
}
