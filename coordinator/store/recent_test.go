package store

import (
	"testing"

	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// What was recorded just now is there once, as long as there is room for it.
func TestRecent(t *testing.T) {
	packed := func() *foiblev1.InferResult { return &foiblev1.InferResult{Judged: &foiblev1.JudgedCells{}} }
	var r Recent
	if r.Take(1) != nil {
		t.Error("something of nothing")
	}
	one, two := packed(), packed()
	r.Put(1, one, 10)
	r.Put(2, two, 20)
	r.Put(3, &foiblev1.InferResult{Cells: []*foiblev1.Cell{{}}}, 30)
	r.Put(4, nil, 40)
	if r.bytes != 30 || r.Take(3) != nil || r.Take(4) != nil || r.Take(2) != two || r.Take(2) != nil || r.Take(1) != one || r.bytes != 0 {
		t.Errorf("%d bytes are left", r.bytes)
	}
	const part = recentBytes / 4
	for job := range 10 {
		r.Put(job, packed(), part)
	}
	r.Put(9, packed(), part) // again
	for job := range 10 {
		if there := r.Take(job) != nil; there != (job >= 6) {
			t.Errorf("job %d: %v", job, there)
		}
	}
	r.Put(1, packed(), recentBytes+1)
	if r.Take(1) != nil || r.bytes != 0 {
		t.Error("more is kept than there is room for")
	}
	r.Put(1, packed(), part)
	if r.Clear(); r.Take(1) != nil || r.bytes != 0 {
		t.Error("what is cleared is there")
	}
}
