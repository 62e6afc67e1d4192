// Package snapshot is the sampler's backend for Linux: it copies what it needs of a running Go program's memory, halts
// the program for as little of that as must be seen at one moment, and unwinds the copy.
//
// One sample has four parts:
//
//	parked.go   without a halt: the headers of all goroutines (a g each), and the stacks of those that are parked and
//	            not as they were at the sample before; unwound at once
//	halted.go   in the halt: the processors, the threads that hold them (processors.go), what stands in the run queues,
//	            and the goroutines that were moving in the first part or are new
//	threads.go  after the halt: which goroutines in system calls and in C use a CPU
//	resolve.go  the states of the goroutines that may have changed, told to the sink
//
// Package blame finds out for whom goroutines wait, from the copies that the sample has anyway: see blame.go.
//
// A goroutine that was parked in the first part, and in the halt neither has a processor nor stands in a queue, was
// waiting at the halt: its copy stands, smeared by the few milliseconds of the first part, and is consistent in
// itself. Only threads that hold a processor are halted: no other can change a goroutine's state. One that waits for a
// CPU stops when the others have been let go, and gives its stack then: nobody else writes there.
//
// A stack is taken for unchanged while the goroutine's number, status, saved stack pointer and program counter, and
// its count of runs modulo 256 are. How often that is wrong is measured: some are read again all the same.
package snapshot
