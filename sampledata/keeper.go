package sampledata

import (
	"cmp"
	"fmt"
	"sync"
	"time"
)

// A keeper has the methods of a Sink that Builder and Writer
// share. It assigns the codes, checks the samples, and passes
// each new thing to its stores, in the order of the codes.
type keeper struct {
	mu       sync.Mutex
	tables   tables
	stores   []store
	changed  func() // called before something is added; may be nil
	closed   bool   // nothing is stored any more
	measured []measurement
}

// A store takes the things of a recording, each once.
type store interface {
	function(f Function)
	node(n Node)
	goroutine(g Goroutine)
	labelSet(set []Label)
	holderSet(set []GoroutineID)
	monitor(m Monitor)
	lockName(n LockName)
	warn(kind, message string, count int64)

	// ready returns an error if the store takes no further sample.
	ready() error
	// state returns the state of a goroutine in the last sample.
	state(g GoroutineID) (State, bool)
	// take ends a sample. changes have only what really changes.
	take(s *Sample, since time.Duration, changes []Change) error
	finish(e *End) error
}

// add passes something to all stores.
func (k *keeper) add(to func(store)) {
	if k.closed {
		return
	}
	if k.changed != nil {
		k.changed()
	}
	for _, s := range k.stores {
		to(s)
	}
}

// keep returns the code of a thing, and stores the thing if it is new.
func keep[T any, C ~int32](k *keeper, thing T, find func(T) (C, bool), to func(store, T)) C {
	k.mu.Lock()
	defer k.mu.Unlock()
	code, isNew := find(thing)
	if isNew {
		k.add(func(s store) { to(s, thing) })
	}
	return code
}

// Function returns the code of a function.
func (k *keeper) Function(f Function) FunctionID {
	return keep(k, f, k.tables.function, store.function)
}

// Node returns the code of a stack.
func (k *keeper) Node(n Node) NodeID { return keep(k, n, k.tables.node, store.node) }

// Goroutine returns a new code for a goroutine.
func (k *keeper) Goroutine(g Goroutine) GoroutineID {
	return keep(k, g, k.tables.goroutine, store.goroutine)
}

// keepSet returns the code of a set, and stores the set in its
// order if it is new.
func keepSet[T any, C ~int32](k *keeper, set []T, find func([]T) (C, []T), to func(store, []T)) C {
	k.mu.Lock()
	defer k.mu.Unlock()
	code, isNew := find(set)
	if isNew != nil {
		k.add(func(s store) { to(s, isNew) })
	}
	return code
}

// LabelSet returns the code of a set of labels, in any order. If
// two have the same key, the last one counts.
func (k *keeper) LabelSet(set []Label) LabelSetID {
	return keepSet(k, set, k.tables.labelSet, store.labelSet)
}

// HolderSet returns the code of a set of goroutines, in any order.
func (k *keeper) HolderSet(set []GoroutineID) HolderSetID {
	return keepSet(k, set, k.tables.holderSet, store.holderSet)
}

// Monitor returns the code of a monitor.
func (k *keeper) Monitor(m Monitor) MonitorID { return keep(k, m, k.tables.monitor, store.monitor) }

// Measure sets a monitor's value from the next sample on.
func (k *keeper) Measure(m MonitorID, v Value) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tables.measure(m, v)
}

// LockName names a lock.
func (k *keeper) LockName(n LockName) {
	k.locked(func() {
		if k.tables.lockName(n) {
			k.add(func(s store) { s.lockName(n) })
		}
	})
}

// locked calls a function while nothing else is kept.
func (k *keeper) locked(f func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f()
}

// Probe replaces what an instrument has measured of a function.
func (k *keeper) Probe(p Probe) { k.locked(func() { k.tables.probe(p) }) }

// Calls adds calls of a function.
func (k *keeper) Calls(t CallTable) { k.locked(func() { k.tables.addCalls(t) }) }

// Mark replaces what is known of goroutines that can never run again.
func (k *keeper) Mark(m *Marking) { k.locked(func() { k.tables.mark(m) }) }

// Warn adds to the count of a kind of warning. It ignores counts
// below 1 and empty kinds.
func (k *keeper) Warn(kind, message string, count int64) {
	k.locked(func() { k.add(func(s store) { s.warn(kind, message, count) }) })
}

// Sample ends a sample. Changes may be in any order, at most one
// for each goroutine; Sample ignores those that change nothing.
// It keeps neither slice. After an error, a recording in memory
// is as it was before the call.
func (k *keeper) Sample(s Sample, changes []Change) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, to := range k.stores {
		if err := to.ready(); err != nil {
			return err
		}
	}
	n, before := k.tables.samples, k.tables.time
	changes, err := k.tables.sample(&s, changes, k.stores[0].state)
	if err != nil {
		return fmt.Errorf("sample %d: %w", n, err)
	}
	k.measured = k.tables.monitors.measured(k.measured[:0])
	for _, to := range k.stores {
		err = cmp.Or(err, to.take(&s, s.Time-before, changes))
	}
	k.tables.news = news{}
	return err
}

// Finish ends the recording: Sample returns an error after it. A
// Writer closes its files. When Finish returns, they are on the
// disk.
func (k *keeper) Finish(e End) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	err := k.tables.end(&e)
	if err != nil {
		return err
	}
	for _, to := range k.stores {
		err = cmp.Or(err, to.finish(&e))
	}
	k.tables.news = news{}
	return err
}
