package holders

import (
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
)

// A wait for a group lasts until several goroutines are done,
// and the remaining ones are of interest. So the candidates are
// reported again in each sample.

// addGroup records the group or condition that a goroutine waits
// for, and adds the goroutine to the list of such waiters. It
// reports whether the goroutine waits for one, by its stack.
func (e *enders) addGroup(key int32, now *sampledata.State) bool {
	r := &e.records[key]
	w, ok := r.uses.awaited()
	if !ok {
		return false
	}
	r.awaited, now.Lock = w, w.Object
	if !r.uses.grouped && len(e.grouped) < maxGrouped {
		r.uses.grouped = true
		e.grouped = append(e.grouped, key)
	}
	return true
}

// findGrouped reports the goroutines that may end waits for groups and
// conditions.
func (e *enders) findGrouped() {
	e.grouped = slices.DeleteFunc(e.grouped, func(key int32) bool {
		s := e.sample.Sighting(key)
		r := &e.records[key]
		r.uses.grouped = s.Exists && s.Run == sampledata.Waiting && r.awaited.Object != 0 &&
			thingOf(r.awaited.Kind) == aGroup
		return !r.uses.grouped
	})
	clear(e.found)
	if len(e.grouped) > 0 {
		e.readShares(e.grouped)
		e.nameTo(e.grouped, aGroup, e.nameToGroup)
	}
}

// nameToGroup reports, for a goroutine that waits for a group or
// a condition, the goroutines that may end the wait. Others that
// wait for the same thing are not among them, whatever they do
// later: they must be woken first.
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
	e.sample.Update(key, w.Object, found.evidence, found.ids)
}

// waitsFor reports whether a goroutine waits, in a method Wait,
// until others do a thing.
func (e *enders) waitsFor(key int32, w syncflow.Action) bool {
	awaited, ok := e.records[key].uses.awaited()
	return ok && awaited == w
}
