// Package looks is for tests of what looks at its context while it works.
package looks

import (
	"context"
	"errors"
	"testing"
)

// Context is cancelled after it has been looked at a number of times by its Err.
type Context struct {
	context.Context
	looks, most int
	each        func()
}

// New is a context that is cancelled after a number of looks; below 0, it never is. At every look each is called, unless it is nil.
func New(most int, each func()) *Context {
	return &Context{Context: context.Background(), most: most, each: each}
}

// Err implements [context.Context].
func (c *Context) Err() error {
	if c.each != nil {
		c.each()
	}
	if c.looks == c.most {
		return context.Canceled
	}
	c.looks++
	return nil
}

// Looks is how often it was looked at before it was cancelled.
func (c *Context) Looks() int { return c.looks }

// Interrupt runs a function to its end, and then again with contexts that are cancelled at looks spread over the whole, at
// most about that number: it must end with their error. It returns the number of looks of the whole.
func Interrupt(t *testing.T, most int, run func(most int) (*Context, error)) int {
	t.Helper()
	whole, err := run(-1)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < whole.Looks(); n += max(1, whole.Looks()/most) {
		if _, err := run(n); !errors.Is(err, context.Canceled) {
			t.Errorf("after %d looks: error %v", n, err)
		}
	}
	return whole.Looks()
}
