package answer

import (
	"slices"

	"foible.dev/foible/coordinator/ledger"
	"foible.dev/foible/proto/codec"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// Entry is what the ledger needs to know of a recorded result.
func Entry(m *foiblev1.JobResult) (ledger.Result, error) {
	var entry ledger.Result
	if f := m.GetFailure(); f != nil {
		entry.Failed, entry.Reason = true, f.GetReason()
	}
	if m.GetInfer() != nil {
		for place, reason := range codec.FailedCells(m.GetInfer()) {
			entry.Cells = append(entry.Cells, ledger.CellFailure{Place: place, Reason: reason})
		}
	}
	for _, m := range m.GetScore().GetFits() {
		fit, err := codec.ReadFit(m)
		if err != nil {
			return ledger.Result{}, err
		}
		entry.Fits = append(entry.Fits, fit)
	}
	return entry, nil
}

// LacksCells says whether scores are of parameter sets some of whose cells could not be computed.
func LacksCells(result *foiblev1.JobResult) bool {
	return slices.ContainsFunc(result.GetScore().GetFits(), func(f *foiblev1.Fit) bool { return f.GetFailed() > 0 })
}

// HasFailedCells says whether an infer job has cells that could not be computed.
func HasFailedCells(m *foiblev1.InferResult) bool {
	for range codec.FailedCells(m) {
		return true
	}
	return false
}

// FailedResult is the result of a job that has failed for a reason.
func FailedResult(reason string) *foiblev1.JobResult {
	return &foiblev1.JobResult{Outcome: &foiblev1.JobResult_Failure{Failure: &foiblev1.Failure{Reason: reason}}}
}
