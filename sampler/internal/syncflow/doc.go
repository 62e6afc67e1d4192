// Package lockholder infers from machine code and copied memory who holds a sync.Mutex or sync.RWMutex: Go's runtime
// does not record it.
//
//	a := lockholder.New(program)            // one for each target
//	a.Refill(work)                          // how much code may be analysed from here on
//	held = a.Held(held[:0], frames, memory) // the locks that the goroutine with these frames holds
//
// A goroutine holds a lock if one of its frames stands, on every path through its function's code, after the lock was
// taken and before it is given back, and a value in that frame leads to that very lock:
//
//	scan.go              whether a function has to do with locks at all
//	amd64.go, arm64.go   its code as instructions of one form (instr.go)
//	value.go, state.go   what registers and stack slots hold, symbolically, and which locks are held
//	flow.go, step.go     data flow over the function
//	call.go, effect.go   what called functions do to locks: those of package sync, and small helpers
//	place.go, term.go    what holds at one place, and how to find the locks' addresses from a frame there
//	held.go              the locks that a goroutine holds, by all of its frames
//	uses.go, deeds.go    the channels that it may send to or receive from, and the groups and conditions whose waits it may end,
//	                     found in the same way
//	receiver.go          by which of a function's arguments it takes a lock
//	semaphore.go         the semaphore that it waits for, which is part of a lock, and with what
//
// What the code does not tell for sure is not claimed: a lock taken on one of two paths, a callback that may have given
// it back, a sync.Cond that waits, a panic under way. Not seen is a lock that another goroutine gives back, or that is taken
// by its name and given back through an interface.
package syncflow
