// Package interchange reads recordings and the files of other
// tools as recordings, and writes the files of other tools.
//
//   - registry.go: the list of formats
//   - input.go: opens a file, folder or stream, and finds its format from its
//     content
//   - one file for each format: recording.go, the recordings of cpprof record,
//     and recordings as text; pprof.go, the profiles of go tool pprof and
//     runtime/pprof (profile.proto): pprof_read.go reads the fields of a file
//     and numbers the stacks (weighed.go), pprof_write.go writes one; trace.go,
//     execution traces: trace_goroutines.go follows their goroutines,
//     trace_stacks.go reads their stacks, trace_calls.go finds calls;
//     goroutines.go, the stacks of all goroutines that the runtime prints;
//     core.go, core dumps; folded.go and perf.go, folded stacks and the output of perf
//     script, from which weighed.go makes profiles; arcflow.go, traces of
//     calls, from which events.go makes a tree
//   - profile.go: makes the recording of a profile from a call tree
//
// To add a format, add a file with a Format, and an entry in the list.
package interchange
