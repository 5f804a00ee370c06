// Package report has what the reports of a fit, of a comparison and of a recovery share: the parts of their pages, their
// figures, and how their files are written. The reports themselves are in the packages below: fit, compare and recovery.
//
// A report is a directory: a page in HTML that needs no other file, tables as CSV (see package tabular), figures as SVG and
// PDF, the configuration of the sweep and a manifest. Its bytes depend neither on time and machine nor on the order in which
// jobs were done.
package report
