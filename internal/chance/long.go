//go:build long

package chance

const more = 20 // repetitions
