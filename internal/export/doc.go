// Package export writes views of recordings, and tables about
// them, in the formats of other tools.
//
//   - registry.go: the list of formats
//   - subject.go: the subject to write: a view that may be refined, pruned or
//     compared, and its recording
//   - one file for each format
//
// To add a format, add a file with a Format, and an entry in the list.
package export
