package blame

import (
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/internal/syncflow"
)

// A wait for a group lasts until several goroutines are done, and the remaining ones are of interest. So the candidates
// are reported again in each sample.

// addGroup records the group or condition that a goroutine waits for, and adds the goroutine to the list of such waiters.
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

// nameToGroup reports, for a goroutine that waits for a group or a condition, the goroutines that may end the wait.
// Others that wait for the same thing are not among them, whatever they do later: they must be woken first.
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

// waitsFor reports whether a goroutine waits, in a method Wait, until others do a thing.
func (e *enders) waitsFor(key int32, w syncflow.Action) bool {
	awaited, ok := e.records[key].uses.awaited()
	return ok && awaited == w
}
