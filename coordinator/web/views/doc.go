// Package views has what the pages of the dashboard show of sweeps, fits, stimuli and workers:
// values that templates fill in, figures, and tables as CSV. They follow from what a
// coordinator tells; nothing here answers a request, asks a coordinator, or keeps anything but
// the fits that have been read (see [FitTable]).
package views
