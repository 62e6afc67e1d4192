package blame

import (
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/internal/syncflow"
)

// The wait for a group lasts until several goroutines are done. So who may end it is reported anew again and again: who is
// left is what matters.

// addGroup says which group or condition a goroutine waits for, and puts it on the list of those that do.
func (e *enders) addGroup(key int32, now *sampledata.State) {
	r := &e.records[key]
	w, ok := r.uses.awaited()
	if !ok {
		return
	}
	now.Lock, r.awaited = w.Object, w
	if !r.uses.grouped && len(e.grouped) < maxGrouped {
		r.uses.grouped = true
		e.grouped = append(e.grouped, key)
	}
}

// nameToGroup names to a goroutine that waits for a group or a condition those that may end its wait. Those that wait for the
// same are not among them, whatever they will do: they have to be woken first.
func (e *enders) nameToGroup(key int32) {
	w, ok := e.awaited(key)
	if !ok {
		return
	}
	found, ok := e.found[w]
	if !ok {
		found = e.endersOf(w, func(other int32) bool { return !e.waitsFor(other, w) })
		e.found[w] = found
	}
	evidence := sampledata.NoEvidence
	if found != 0 {
		evidence = sampledata.Ambiguous
	}
	e.sample.Update(key, w.Object, evidence, found)
}

// waitsFor reports whether a goroutine stands in a method Wait until others do a thing.
func (e *enders) waitsFor(key int32, w syncflow.Action) bool {
	awaited, ok := e.records[key].uses.awaited()
	return ok && awaited == w
}
