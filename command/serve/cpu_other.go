//go:build !unix

package serve

import "time"

// CPUTime is what one busy thread has used of a core so far, if it was given one.
func CPUTime() time.Duration { return time.Since(started) }
