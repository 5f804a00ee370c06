package main

import (
	"fmt"
	"math/rand/v2"

	"foible.dev/foible/core/participant"
)

// recruit draws participants.
func recruit(rng *rand.Rand, n int) []participant.Participant {
	people := make([]participant.Participant, n)
	for i := range people {
		people[i] = participant.DefaultNoise.Recruit(rng)
	}
	return people
}

// probabilities are those of all goals, in multiples of 0.05 that sum to 1.
func probabilities(goals []string, belief []float64) []string {
	rows := make([]string, len(goals))
	for g, units := range participant.Round(belief) {
		rows[g] = fmt.Sprintf("%s,%d.%02d", goals[g], units/participant.Parts, units%participant.Parts*100/participant.Parts)
	}
	return rows
}

// selection are the goals that a participant ticks, or "don't know" for all of them.
func selection(goals []string, belief []float64) []string {
	chosen := participant.Choose(belief)
	if len(chosen) == len(goals) {
		return []string{"don't know"}
	}
	names := make([]string, len(chosen))
	for i, g := range chosen {
		names[i] = goals[g]
	}
	return names
}
