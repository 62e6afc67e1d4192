package sampledata

import "sync"

// A keeper has the methods of a Sink that Builder and Writer share. It assigns
// the codes, and passes each new thing to a store, in the order of the codes.
type keeper struct {
	mu       sync.Mutex
	tables   tables
	store    store
	changed  func() // called before something is added; may be nil
	closed   bool   // nothing is stored any more
	measured []measurement
	warnings warnings
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
}

// adds reports whether new things are stored.
func (k *keeper) adds() bool {
	if !k.closed && k.changed != nil {
		k.changed()
	}
	return !k.closed
}

// keep returns the code of a thing, and stores the thing if it is new.
func keep[T any, C ~int32](k *keeper, thing T, find func(T) (C, bool), store func(T)) C {
	k.mu.Lock()
	defer k.mu.Unlock()
	code, isNew := find(thing)
	if isNew && k.adds() {
		store(thing)
	}
	return code
}

// Function returns the code of a function.
func (k *keeper) Function(f Function) FunctionID {
	return keep(k, f, k.tables.function, k.store.function)
}

// Node returns the code of a stack.
func (k *keeper) Node(n Node) NodeID { return keep(k, n, k.tables.node, k.store.node) }

// Goroutine returns a new code for a goroutine.
func (k *keeper) Goroutine(g Goroutine) GoroutineID {
	return keep(k, g, k.tables.goroutine, k.store.goroutine)
}

// LabelSet returns the code of a set of labels, in any order. If two have the
// same key, the last one counts.
func (k *keeper) LabelSet(set []Label) LabelSetID {
	k.mu.Lock()
	defer k.mu.Unlock()
	id, isNew := k.tables.labelSet(set)
	if isNew != nil && k.adds() {
		k.store.labelSet(isNew)
	}
	return id
}

// HolderSet returns the code of a set of goroutines, in any order.
func (k *keeper) HolderSet(set []GoroutineID) HolderSetID {
	k.mu.Lock()
	defer k.mu.Unlock()
	id, isNew := k.tables.holderSet(set)
	if isNew != nil && k.adds() {
		k.store.holderSet(isNew)
	}
	return id
}

// Monitor returns the code of a monitor.
func (k *keeper) Monitor(m Monitor) MonitorID { return keep(k, m, k.tables.monitor, k.store.monitor) }

// Measure sets a monitor's value from the next sample on.
func (k *keeper) Measure(m MonitorID, v Value) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tables.measure(m, v)
}

// LockName names a lock.
func (k *keeper) LockName(n LockName) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.tables.lockName(n) && k.adds() {
		k.store.lockName(n)
	}
}

// Probe replaces what an instrument has measured of a function.
func (k *keeper) Probe(p Probe) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tables.probe(p)
}

// Calls adds calls of a function.
func (k *keeper) Calls(t CallTable) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tables.addCalls(t)
}

// Mark replaces what is known of goroutines that can never run again.
func (k *keeper) Mark(m *Marking) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tables.mark(m)
}

// Warn adds to the count of a kind of warning. It ignores counts below 1 and
// empty kinds.
func (k *keeper) Warn(kind, message string, count int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.adds() {
		k.warnings.add(kind, message, count)
	}
}
