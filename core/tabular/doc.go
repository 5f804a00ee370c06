// Package tabular has the tables that commands write, as CSV and in another form that an output
// keeps next to it. A table is declared once, in [Tables]: the name of its file, what a row is and
// its columns; a column has one meaning and one kind of values in every table. So a file of one
// name has one schema, whatever wrote it, and the documentation is made from what the code declares.
//
// [Write] writes a table at once; [Create] begins one whose rows come over time. Files go to an [Output].
package tabular
