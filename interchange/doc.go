// Package interchange turns weighted call trees into the files of other tools, and back: one file of this package a
// format.
//
//   - pprof.go: the profiles of go tool pprof and runtime/pprof (profile.proto)
//
// Arcflow's traces of calls are read by package calltree, which has their definition.
package interchange
