package gostate

import (
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// A Waiter is a goroutine that waits for a semaphore.
type Waiter struct{ Sudog, Semaphore uint64 }

// SemaphoreOf returns the address that a sudog waits at. From Go
// 1.26 on, the address may be in the number beside the pointer,
// so that the garbage collector does not see it.
func SemaphoreOf(sudog []byte, l *layout.Sudog) uint64 {
	return memory.Word(sudog, l.ElemAddr.Or(l.Elem))
}

// Semaphores reads who waits for which semaphore, by the address
// of the g, given runtime.semtable: up to Go 1.25, a goroutine
// does not lead to its own sudog. The table holds trees (prev,
// next) of the addresses waited at. Each node of a tree has a
// list (waitlink) of its waiters. Semaphores also returns the
// addresses of all sudogs: at most a given number.
func (c Copier) Semaphores(table []byte, l *layout.Sudog, most int) (
	waiters map[uint64]Waiter, sudogs []uint64) {
	waiters = map[uint64]Waiter{}
	seen := map[uint64]bool{}
	var level []uint64
	add := func(sudog uint64) {
		if sudog != 0 && !seen[sudog] && len(seen) < most {
			seen[sudog] = true
			level = append(level, sudog)
		}
	}
	each := len(table) / goruntime.SemaRoots
	for i := range goruntime.SemaRoots {
		add(memory.Word(table, i*each+goruntime.SemaRootTreap))
	}
	for len(level) > 0 {
		sudogs = append(sudogs, level...)
		now := level
		level = nil
		for i, b := range c.Structs(now, int(l.Size)) {
			if b == nil {
				continue
			}
			waiters[memory.Word(b, l.G)] = Waiter{now[i], SemaphoreOf(b, l)}
			add(memory.Word(b, l.Next))
			add(memory.Word(b, l.Prev))
			add(memory.Word(b, l.WaitLink))
		}
	}
	return waiters, sudogs
}
