package command

import (
	"fmt"

	"foible.dev/foible/core/words"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// States as they are shown.
const (
	stateRunning   = "running"
	statePaused    = "paused"
	stateCancelled = "cancelled"
	stateInPart    = "failed in part"
	stateDamaged   = "damaged"
	stateWaiting   = "waiting"                   // of running ones, for the sweep that they extend; see stateText
	stateStalled   = "paused by the coordinator" // of running ones; see stateText
)

// stateText is the state of a sweep for people to read: a running one may be stalled, or wait for another.
func stateText(m *foiblev1.Sweep) string {
	switch name := stateName(m); {
	case name != stateRunning:
		return name
	case m.GetStalled() != "":
		return stateStalled
	case m.GetWaitsFor() != "":
		return stateWaiting
	}
	return stateRunning
}

func stateName(m *foiblev1.Sweep) string {
	switch state := m.GetState(); {
	case m.GetDamage() != "":
		return stateDamaged
	case unended(state) && m.GetProgress() == nil:
		return "left by version " + m.GetVersion() // no other version takes it up
	case state == foiblev1.SweepState_SWEEP_STATE_FAILED:
		return stateInPart
	case stateWords[state] != "":
		return stateWords[state]
	}
	return "unknown"
}

// unended says whether a sweep in a state may still have results.
func unended(state foiblev1.SweepState) bool {
	return state == foiblev1.SweepState_SWEEP_STATE_RUNNING || state == foiblev1.SweepState_SWEEP_STATE_PAUSED
}

// cells says how many of a sweep's cells are done. Of a sweep that ended in an
// earlier life of the coordinator, that is all.
func cells(m *foiblev1.Sweep) string {
	p := m.GetProgress()
	if p != nil && m.GetDamage() == "" {
		return fmt.Sprintf("%s of %s", words.Thousands(p.GetCellsDone()), words.Count(p.GetCells(), "cell"))
	}
	plan, _, err := planOf(m)
	switch {
	case err != nil || m.GetDamage() != "":
		return "an unknown number of cells"
	case unended(m.GetState()) || m.GetState() == foiblev1.SweepState_SWEEP_STATE_CANCELLED:
		return "some of " + words.Count(plan.Cells(), "cell")
	}
	return fmt.Sprintf("%s of %s", words.Thousands(plan.Cells()), words.Count(plan.Cells(), "cell"))
}

var stateWords = map[foiblev1.SweepState]string{
	foiblev1.SweepState_SWEEP_STATE_RUNNING:   stateRunning,
	foiblev1.SweepState_SWEEP_STATE_PAUSED:    statePaused,
	foiblev1.SweepState_SWEEP_STATE_SUCCEEDED: "succeeded",
	foiblev1.SweepState_SWEEP_STATE_FAILED:    "failed",
	foiblev1.SweepState_SWEEP_STATE_CANCELLED: stateCancelled,
}

// verified says how many cells were computed twice with the same numbers; "" if none is to be.
func verified(m *foiblev1.Sweep) string {
	p := m.GetProgress()
	n, alone := p.GetCellsVerified(), p.GetCellsVerifiedAlone()
	switch {
	case m.GetVerify() == 0:
		return ""
	case n == 0:
		return "no cell has been computed twice with the same numbers"
	case alone == n:
		return words.Count(n, "cell") + " computed twice, with the same numbers, by the same worker, as there was no other"
	case alone > 0:
		return fmt.Sprintf("%s computed twice, with the same numbers; %s of them by the same worker, as there was no other", words.Count(n, "cell"), words.Thousands(alone))
	}
	return words.Count(n, "cell") + " computed twice, with the same numbers, by different workers"
}

const nameSweep = "name a sweep of those that `foible list` lists"
