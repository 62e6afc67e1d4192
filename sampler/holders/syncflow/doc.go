// Package syncflow finds out, from a program's machine code and
// copied memory, which locks a goroutine holds, and what it may
// still do to channels, WaitGroups and Conds that others wait
// for. Go's runtime records none of that.
//
//	a, err := syncflow.New(program)                                    // one for each program
//	a.Refill(work)                                                     // how much code may be analysed from here on
//	held, complete := a.Held(nil, frames, memory, registers)           // the locks that the goroutine with these frames holds
//	actions, complete := a.Actions(nil, frames, memory, registers)     // what it may still do
//	actions, complete = a.DeferredActions(actions, closure, memory)    // what a function does that it has deferred
//	semaphore, sudog := a.Semaphore(frames, memory)                    // what it is parked for
//	paths := a.LockPaths(&frames[0])                                   // by which pointers a function reached the lock
//
// # How a lock is found
//
// A goroutine holds a lock if two things are true of one of its
// frames. On every path through the function's code to the
// frame's position, the lock was taken and not yet released. And
// a value in the frame leads to that very lock. Take
//
//	func (c *cache) get() {
//		c.mu.Lock() // mu lies 16 bytes into a cache
//		defer c.mu.Unlock()
//		work()
//	}
//
// Its code on amd64, in which the compiler has inlined Lock, and
// what is known after each instruction (rsp is the stack
// pointer):
//
//	code                          registers and words of the stack           locks held
//	                              rax: c, the first argument                 none
//	mov  rcx, rax                 rcx: c                                     none
//	lock cmpxchg [rcx+16], edx    (swapped: c+16)                            none
//	je   locked                   to locked, it has succeeded:               c+16
//	mov  [rsp+32], rcx            [rsp+32]: c                                none
//	lea  rax, [rcx+16]            rax: c+16                                  none
//	call sync.(*Mutex).lockSlow   all registers: unknown                     c+16
//	mov  rcx, [rsp+32]            rcx: c                                     c+16
//	locked:                       rcx: c, on both paths                      c+16, on both paths
//	lea  rax, deferwrap1          rax: the address of a function             c+16
//	mov  [rsp+16], rax            [rsp+16]: that address                     c+16
//	lea  rax, [rcx+16]            rax: c+16                                  c+16
//	mov  [rsp+24], rax            [rsp+24]: c+16                             c+16
//	call work                     all registers: unknown                     c+16
//	lea  rdx, [rsp+16]            rdx: the closure at rsp+16                 c+16
//	call [rdx]                    deferwrap1 calls Unlock with [rdx+8]       none
//	ret
//
// The analysis does not know the value of c, but how values are
// computed from it: c is whatever rax held when the function was
// entered. If two paths join, only what is the same on both is
// kept; so a lock that is held on only one of them is not
// claimed.
//
// The result for a frame in the call of work is: this goroutine
// holds the lock whose address is the word at rsp+24. That
// expression is stored for this place in the code. It is then
// computed for each goroutine at this place, from the
// goroutine's copied stack.
//
// # The files
//
//	analyzer.go               what is known of functions and of places in the code
//	budget.go                 how much may be learned, and what comes first
//	machine.go                the registers that Go's calls use; the code itself comes decoded, from package machinecode
//	blocks.go, flow.go        a function's blocks, and the state before each of them
//	step.go, call.go          from the state before an instruction to the one after it
//	value.go, state.go        what registers and words of the stack hold, and which locks are held
//	conditions.go             locks that are held under a condition
//	pending_calls.go          locks that functions release which only a frame shows
//	backward.go               which locks the code will release
//	closures.go               what closures release that run later, or in another goroutine
//	effects.go                what calls of small helpers do to locks
//	expr.go, locks_at.go      expressions; what a frame at one place says about locks
//	doubt.go, doubtful.go     why it is not sure that a lock is held; locks that may be held
//	passed_on.go              locks that a function does not release
//	left_locked.go            locks with which a function may return
//	held.go                   the locks that a goroutine holds, by all of its frames, and by interfaces
//	actions.go                what a goroutine may still do
//	flow_actions.go           what the instructions of a function do to channels, WaitGroups and Conds
//	known.go                  what is known of a program, as bytes for the next run
//	argument.go, semaphore.go by which pointers a lock was reached; what a parked goroutine waits for
//
// A callback may release a lock, for all that this shows. So
// there is a second flow, backward from the ends of the
// function: it finds the locks that the code will release on
// every path, and that are held for that reason, whatever a
// callback did.
//
// A lock is not claimed if neither flow proves that it is held:
// if it is taken and released on only one of two paths, while
// its sync.Cond waits, during a panic, or if neither the
// function nor its callers release it. Two cases are not
// detected: a lock that another goroutine releases although the
// code could release it itself, and one that is taken directly
// and released through an interface.
package syncflow
