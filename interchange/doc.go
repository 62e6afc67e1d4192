// Package interchange reads recordings and the files of other tools, and writes weighted call trees as the files of other
// tools.
//
//   - registry.go: the list of formats
//   - input.go: opens a file, folder or stream, and finds its format from its content
//   - one file for each format:
//     recording.go, the recordings of cpprof record, and recordings as text;
//     pprof.go and pprof_write.go, the profiles of go tool pprof and runtime/pprof (profile.proto);
//     arcflow.go, traces of calls, from which events.go makes a tree
//
// To add a format, add a file with a Format, and an entry in the list.
package interchange
