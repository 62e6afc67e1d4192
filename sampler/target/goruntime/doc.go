// Package goruntime has the facts about Go's runtime and package
// sync that cpprof relies on, each of them once. The samplers,
// which read a program's memory, and the analysis of machine
// code use them.
//
//	release.go     the releases of Go that are supported, and what differs between them
//	status.go      states of goroutines and processors
//	waitreason.go  why goroutines are parked, and what each of these reasons means
//	sync.go        sync.Mutex and sync.RWMutex in memory
//	memory.go      other structures that do not differ between releases, or differ by a rule
//	functions.go   what the runtime's and package sync's functions do, by their names
//	frames.go      functions at which a stack does not go on as the tables say
//	layout         offsets in the runtime's structs that differ between releases: a table that a generator writes
//
// Tests compare all of it with the source and the debug
// information of the toolchain that runs them. CONTRIBUTING.md
// describes how to support a new release of Go.
package goruntime
