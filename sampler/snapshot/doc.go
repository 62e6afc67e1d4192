// Package snapshot is the sampler's backend for Linux. It copies
// the memory that it needs of a running Go program, and unwinds
// the copy. It halts the program only while it copies what must
// be seen at one moment.
//
// A sample goes through these types, in this order (Backend.sample). Those
// after the timing update the goroutines, except the capture, which only
// reads them.
//
//	timing        timing.go: when the survey begins, and when the halt does
//	survey        survey.go, survey_stacks.go, rest.go: without a halt, the headers of all goroutines (a g each), and the stacks of
//	              those that are parked and have changed since the previous sample; these are unwound at once. If there
//	              are few goroutines, their headers are read in the halt, and the stacks are left to the capture
//	capture       capture.go, capture_stacks.go, processors.go: in the halt, the processors, the threads that hold them, the
//	              run queues, and the goroutines that were moving during the survey or are new
//	goroutines    goroutines.go, adopt.go: what is known about each goroutine (slot.go), updated from what the halt saw
//	syscalls      syscalls.go: which goroutines in system calls and in C use a CPU
//	reporter      report.go, lock_names.go: the states of the goroutines that may have changed
//	Finder        package holders, which reads the sample through sightings.go: for whom goroutines wait
//
// Other types: a target (target.go, validate.go) is the program
// and the layout of its runtime, which is checked on the running
// program. A table (table.go) reads all g at once; a head
// (head.go) is what is read of one. stacks (stacks.go, start.go)
// convert copied memory to the codes of the recording.
//
// # Why two phases
//
// To copy the stacks of 10,000 goroutines takes 13 ms, and the
// target would be halted for so long. But nearly all of them are
// parked, and a parked goroutine's stack does not change, so it
// can be copied while the target runs. Only the others are
// copied in the halt, which takes 0.3 ms. A goroutine that was
// parked in the survey, and at the halt neither has a processor
// nor is in a queue, was waiting at the halt, and its copied
// stack is right. The copy may be older than the halt by the few
// milliseconds of the survey, but is consistent in itself.
// Example, with time from left to right:
//
//	   survey                                 halt
//	4  parked, its stack is copied            not on a processor, not in a queue           waits, with the copied stack
//	5  parked, its stack is copied            in a queue, its count of runs is the same    runnable, with the copied stack
//	6  parked, its stack is copied            in a queue, but it has run meanwhile         runnable, its stack is copied again
//	7  running                                on a processor, its thread is halted         runs, by registers and stack
//
// The comment of type survey explains when a stack is reused
// without a copy, and how often that is wrong. The comment of
// type rest explains when not even the headers are read. The
// comment at the top of processors.go explains which threads are
// halted, and how the backend checks that everything was read at
// one moment.
//
// A thread may wait for a CPU that something else uses before it
// can stop. The others don't stay halted for it: it runs no code
// of the program any more, so its stack can be read later. Its
// registers are read when it stops (capture.takeLate).
package snapshot
