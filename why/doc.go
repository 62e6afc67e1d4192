// Package why finds when, where and why a program is slow. It tests
// hypotheses on the evidence of a recording, and refines those that hold, as
// JBolt does (Brear and others: Search strategies for Java bottleneck
// location by dynamic instrumentation). Find answers for one recording,
// Compare for two. The files are, in the order of the work:
//
//	evidence.go   the samples as situations: goroutines of one class in one state
//	places.go     where in the program a stack is (kinds.go: what code does; activity.go: what goroutines do)
//	locked.go     hypotheses on waits for locks; waiting.go: for channels, conditions, I/O and system calls
//	computing.go  on code that takes the processors, by the search over call paths in paths.go; garbage.go: on allocation
//	ready.go      on too few processors; leaks.go: on goroutines that never end, and deadlocks
//	verdict.go    intervals over the samples, and verdicts
//	find.go       the test of all hypotheses
//	blame.go      whom goroutines wait for, and what those do
//	making.go     on what is made again and again; finalizing.go: on finalizers
//	signs.go      known patterns behind findings, and what helps then
//	who.go        if few goroutines of the class, or a label, have most of a finding
//	when.go       when a finding is true; phases.go: what is true only in a phase; companions.go:
//	              the monitors that go with it
//	conclude.go   what is left of the findings when each that another one explains is left out, and their rank
//	gain.go       what its fix would bring: gain_law.go has the laws, gain_moments.go the samples,
//	              gain_trace.go whose time is a cost; without.go: of a cost that somebody names
//	probed.go     what the samples say of functions that were probed
//	compare.go    what is slower than in an earlier recording; together.go: what holds in several
package why
