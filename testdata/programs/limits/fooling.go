package main

import (
	"sync"
	"unsafe"
)

// With the argument "fooling", the program has code that is made to be misread. For each kind, the holder of a lock is a goroutine whose frames
// show nothing of it: the lock was passed to it through a channel, and it unlocks by a chain of calls that is too deep to be analysed. Meanwhile
// another goroutine is at a place at which the lock may be held, and does not hold it.

// set records that a goroutine holds the lock; 0 for nobody.
//
//go:noinline
func (r *record) set(me int64) {
	r.holders[0].Store(me)
	r.changes.Add(1)
}

// A lock is one that goroutines contend for, with its record.
type lock struct {
	mu sync.Mutex
	r  *record
}

// newLock adds a lock to the table, for which some goroutines contend.
func newLock(kind string) *lock {
	l := &lock{}
	l.r = add(kind, unsafe.Pointer(&l.mu))
	return l
}

// give takes the lock, and gives it to whoever receives from the channel.
//
//go:noinline
func (l *lock) give(to chan *lock) {
	l.mu.Lock()
	to <- l
}

// serve receives locks, and unlocks them.
func serve(from chan *lock) {
	for me := goid(); ; {
		l := <-from
		l.r.set(me)
		work()
		l.r.set(0)
		giveBack1(l)
		pause()
	}
}

//go:noinline
func giveBack1(l *lock) { giveBack2(l); nothing() }

//go:noinline
func giveBack2(l *lock) { giveBack3(l); nothing() }

//go:noinline
func giveBack3(l *lock) { giveBack4(l); nothing() }

//go:noinline
func giveBack4(l *lock) { giveBack5(l); nothing() }

//go:noinline
func giveBack5(l *lock) { l.mu.Unlock(); nothing() }

//go:noinline
func nothing() {}

// lend starts goroutines that give the lock to one that nobody suspects.
func lend(l *lock) {
	to := make(chan *lock)
	go serve(to)
	for i := 0; i < 3; i++ {
		go func() {
			for {
				l.give(to)
				pause()
			}
		}()
	}
}

// end takes the lock in a goroutine that ends. The lock is given back later.
func end(l *lock) {
	for {
		done := make(chan bool)
		go func() {
			l.mu.Lock()
			l.r.set(goid())
			done <- true
		}()
		<-done
		work()
		l.r.set(0)
		giveBack1(l)
		pause()
	}
}
