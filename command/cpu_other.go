//go:build !unix

package command

import "time"

// cpuTime is what one busy thread has used of a core so far, if it was given one.
func cpuTime() time.Duration { return time.Since(started) }
