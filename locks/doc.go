// Package locks tells of the locks that goroutines waited for: what each lock is, who waited for it, who held it
// meanwhile and what the holder was doing, chains of goroutines that wait for one another, and deadlocks.
//
// [Analyse] makes all of that of a span of a recording:
//
//	identity.go  which lock a run waits for, and what the lock is called
//	waits.go     who waited, where, and with what evidence of the holder
//	chains.go    who holds while waiting for another lock; cycles
//	deadlock.go  a cycle of goroutines that wait for one another
//
// What a holder was doing is a weighted call tree as the views', of all locks: [Analysis.Held].
//
// [Watch] finds deadlocks while a recording is made.
//
// Hits are those of the goroutines that waited, as in the views: the hits of a lock's waiters of one class are the
// part of :MONITOR in the class's Thread View that is due to the lock. Holders are blamed where the recording names
// them (evidence Recorded or Inferred); several holders, readers of a sync.RWMutex, share a hit equally. One that a lock was
// handed to holds it before it has run. Candidates (evidence Ambiguous) are never blamed.
package locks
