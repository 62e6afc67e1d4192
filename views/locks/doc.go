// Package locks analyses the locks that goroutines waited for:
// what each lock is, who waited for it, who held it meanwhile
// and what the holder was doing, chains of goroutines that wait
// for one another, and deadlocks.
//
// [Analyse] finds all of that for a span of a recording:
//
//	identity.go  the lock that a run waits for, and the lock's name
//	waits.go     who waited, in which function, and how the holder is known
//	shared.go    the same of channels that are used as locks, of semaphores and pools
//	chains.go    holders that wait for another lock themselves
//	circles.go   circles of goroutines that wait for one another, and which of them are deadlocks
//	deadlock.go  what a deadlock shows
//
// The activity of the holders of all locks is a weighted call
// tree, as in the views: [Analysis.Held].
//
// [Compare] matches the locks of two recordings.
//
// [Watch] finds deadlocks during a recording.
//
// Hits count the goroutines that waited, as in the views: the
// hits of a lock's waiters of one class are this lock's part of
// :MONITOR in the class's Thread View. Holders are blamed if the
// recording names them (evidence Recorded, Inferred or Likely).
// If there are several, which are readers of a sync.RWMutex,
// they share a hit equally. A goroutine to which a lock was
// handed holds the lock even before it runs. Candidates
// (evidence Ambiguous) are never blamed.
package locks
