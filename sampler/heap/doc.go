// Package heap finds out from outside which goroutines of a Go
// program can never run again.
//
// A goroutine that waits for a channel, a lock, a group or a
// condition runs again only if another one reaches that. So the
// package marks what goroutines that can run reach, as the
// collector does. A goroutine whose channel or semaphore is
// marked can run again, and what it reaches is marked, too. What
// is left in the end is stuck for good.
//
// An examination goes like this:
//
//	x.Pass(ctx)           // marks while the target runs. Only stacks are read in a halt
//	x.Pass(ctx)           // some time later: who has moved is no suspect any more
//	x.Suspects()          // nobody: that is all
//	x.Prove(ctx)          // copies the heap in one halt, and marks the copy
//	x.Result(limit)
//
// Passes can be deceived: a pointer that moves from what is not
// read yet to what was read is never seen. The copy can't, since
// it is of one moment. A claim (Stuck) needs it. A halt that
// would be too long is not made, and the verdict stays
// Suspected.
//
// Whatever is doubtful forbids a claim (NotMoved): a page that
// can't be read, a span that makes no sense, a thread whose
// registers are not known.
//
// What must not be followed: the g and the sudogs of goroutines
// that wait, processors but for their timers, system stacks of
// threads that wait for work. They keep stale pointers, which
// would find everything. What must be: finalizers, cleanups,
// weak pointers, pinned objects, vector registers.
//
//	source.go         memory and threads of a target
//	process_linux.go  of a running process
//	world.go          goroutines, stacks and registers of one halt
//	waits.go          what goroutines wait for
//	roots.go          variables, timers, finalizers, pinned objects
//	spans.go          the table of spans, and the marks
//	marker.go         marking
//	examine.go        passes
//	prove.go          the halt, and its copy
//	frames.go         stacks of goroutines
//	stackmap.go       which words of a stack count
//	kept.go           which groups reach what others wait for, and what they keep
//	holds.go          which locks stuck goroutines hold, and what they would do next
//	edges.go          who ends the waits of whom
//	names.go          names of what stuck goroutines wait for
//	result.go         verdicts
package heap
