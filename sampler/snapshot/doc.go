// Package snapshot is the sampler's backend for Linux: it copies what it needs of a running Go program's memory, halts
// the program for as little of that as must be seen at one moment, and unwinds the copy.
//
// A sample goes through these types, in this order (Backend.sample). All but the capture work on the goroutines; the capture
// only reads them.
//
//	survey        survey.go, survey_stacks.go: without a halt, the headers of all goroutines (a g each), and the stacks of
//	              those that are parked and not as they were at the sample before; these are unwound at once
//	capture       capture.go, capture_stacks.go, processors.go: in the halt, the processors, the threads that hold them, what
//	              stands in the run queues, and the goroutines that were moving during the survey or are new
//	goroutines    goroutines.go, adopt.go: what is known of each goroutine (slot.go), and takes over what the halt saw
//	syscalls      syscalls.go: which goroutines in system calls and in C use a CPU
//	reporter      report.go, labels.go, lock_names.go: the states of the goroutines that may have changed
//	blame.Finder  package blame, which asks sightings.go: for whom goroutines wait
//
// Beside them, a target (target.go, validate.go) is the program: where its runtime keeps what, checked on the running program. A
// table (table.go) reads all g at once; a head (head.go) is what is read of one. stacks (stacks.go, start.go) turn memory into
// the codes of the recording.
//
// # Why two phases
//
// To copy the stacks of 10,000 goroutines takes 13 ms, in which the target would stand. But nearly all of them are parked, and a
// parked goroutine's stack lies still: it can be copied while the target runs. So the halt, of 0.3 ms, sees only what moves. A
// goroutine that was parked in the survey, and in the halt neither has a processor nor stands in a queue, was waiting at the
// halt: its copy stands. It may be older than the halt by the few milliseconds of the survey, but is consistent in itself.
// Example, with time from left to right:
//
//	survey                                 halt
//	4 parked, its stack is copied          not on a processor, not in a queue           waits, with the copied stack
//	5 parked, its stack is copied          in a queue, its count of runs is the same    runnable, with the copied stack
//	6 parked, its stack is copied          in a queue, but it has run meanwhile         runnable, its stack is copied anew
//	7 running                              on a processor, its thread is halted         runs, by registers and stack
//
// The comment of survey says when a stack is taken for unchanged without a copy, and how often that is wrong; that in
// processors.go which threads are halted, and how it is found out that all that was read is of one moment.
//
// A thread that is to stop may wait for a CPU that something else has. The others are not kept waiting for it: it runs nothing
// of the program any more, so that its stack can be read later. It gives its registers when it stops (capture.takeLate).
package snapshot
