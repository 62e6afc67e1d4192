// Package holders finds out for whom goroutines wait: who holds
// the lock that one waits for, and who may end another kind of
// wait. Go's runtime records neither. The package sees
// goroutines, stacks and memory as its caller describes them; it
// knows nothing of how a program is halted or how its memory is
// copied.
//
// One sample goes like this:
//
//	f.Begin(number)            // lets the finder learn a little more of the program's code
//	f.Parked(awaited)          // for each goroutine that changed: is there anything to find out at all?
//	f.Stack(key, stack)        // for each stack that was unwound: what it shows of locks, channels, groups and conditions
//	f.AtHalt(key, waits)       // for each parked goroutine: should the halt see it, too?
//	f.FirstReads()             // in the halt: the locks that goroutines wait for
//	f.SecondReads()            // in the halt: who is being handed one of them
//	f.Changed(key)             // for each goroutine that changed: how has its wait ended?
//	f.Wait(key, reason, ...)   // for each goroutine that waits: for which lock, channel, group or condition
//	f.Find(halt)               // for whom they all wait, reported by Sample.Update
//
// The results are:
//
//   - A lock (sync.Mutex, sync.RWMutex) has a holder: a goroutine with a
//     frame whose code has taken the lock and not released it, and with a
//     pointer in that frame to this very lock (package syncflow). If there is
//     one such goroutine, it is blamed (Inferred). If there are several, all
//     of them are candidates (Ambiguous), and nobody is blamed.
//   - If no stack proves who holds a lock, but just one goroutine is where
//     its code may hold the lock, that one is blamed (Likely).
//   - If the lock was free in the halt, that is the result (Free), with the
//     goroutines that Unlock has woken to take it.
//   - A lock that Unlock has handed to a waiter has that waiter as its
//     holder, even before it has run (handover.go).
//   - A channel, a sync.WaitGroup, a sync.Cond, a semaphore or a pool of
//     connections has no holder. The goroutines whose code will send,
//     receive, call Done, Signal or Release, or give a connection back are
//     candidates (Ambiguous). If they are as many as the thing counts, they
//     are blamed (Likely).
//   - A wait for a channel that a timer ends is a sleep, and has a reason
//     that says so (timers.go).
//
// The files, in the order of a sample:
//
//	finder.go      what callers call
//	sample.go      what the finder asks its caller
//	learning.go    the bound on the work of reading the program's code
//	stacks.go      what one goroutine's stack shows
//	reads.go       what a halt reads of locks
//	holders.go     the locks that goroutines wait for, and the candidates that may hold each
//	decide.go      which of the candidates do
//	likely.go      who holds a lock if no stack proves it
//	handover.go    locks between two holders
//	channels.go    who may end a wait for a channel
//	timers.go      which waits for channels a timer ends
//	groups.go      who may end a wait for a group or a condition
//	shares.go      channels and semaphores that are used as locks
//	users.go       the goroutines that use channels, groups and conditions
package holders
