//go:build !long

package chance

const more = 0 // repetitions
