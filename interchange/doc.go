// Package interchange reads what cpprof can analyse, recordings and the files of other tools, and writes weighted call
// trees as the files of other tools.
//
//   - registry.go: the list of formats
//   - input.go: a file, folder or stream, whose format is found by its content
//   - one file for each format:
//     recording.go, what cpprof record writes, and its text twin;
//     pprof.go and pprof_write.go, the profiles of go tool pprof and runtime/pprof (profile.proto);
//     arcflow.go, traces of calls, from which events.go makes a tree
//
// A new format is a file with a Format, and a line in the list.
package interchange
