package sampledata

import (
	"maps"
	"slices"
)

// The sampler learns with time that timers end the waits of a
// stack in a select. The waits that it saw before were no
// others: they have the same reason in a recording, if nearly all
// that began later have it.

const (
	inSelect      = "select"
	inSelectTimed = inSelect + OnTimer

	// The sampler has no time for each wait. Those that it knows take
	// this many times as long as later ones that it does not, at least.
	mostlyKnown = 4
)

// withTimers returns the runs with what was learned of timers.
// States that stay are shared.
func (r *Recording) withTimers() Runs {
	timed := r.timedStacks()
	if len(timed) == 0 {
		return r.Runs
	}
	kinds, states := make(map[*kind]*kind), r.Runs.states.clip()
	for i := range states.kinds.len() {
		k := *states.kinds.at(i)
		if k.Run == Waiting && k.Reason == inSelect && timed[k.Stack] {
			of := *k
			of.Reason = inSelectTimed
			kinds[k] = &of
		}
	}
	for c, chunk := range states.list.chunks {
		own := false
		for i := range chunk {
			k := kinds[chunk[i].kind]
			if k == nil || chunk[i].Lock != 0 {
				continue
			}
			if !own {
				chunk, own = slices.Clone(chunk), true
				states.list.chunks[c] = chunk
			}
			chunk[i].kind = k
		}
	}
	return Runs{list: r.Runs.list, states: states}
}

// timedStacks returns the stacks whose waits timers end, though
// the first ones don't have that reason.
func (r *Recording) timedStacks() map[NodeID]bool {
	type waits struct {
		plain, timed bool
		began, later int64 // samples of timed ones, and of plain ones that began after the first of these
	}
	of := make(map[NodeID]*waits)
	for i := range r.Runs.states.kinds.len() {
		k := *r.Runs.states.kinds.at(i)
		if k.Reason != inSelect && k.Reason != inSelectTimed {
			continue
		}
		w := of[k.Stack]
		if w == nil {
			w = &waits{}
			of[k.Stack] = w
		}
		w.plain, w.timed = w.plain || k.Reason == inSelect, w.timed || k.Reason == inSelectTimed
	}
	maps.DeleteFunc(of, func(_ NodeID, w *waits) bool { return !w.plain || !w.timed })
	if len(of) == 0 {
		return nil // that is so in most recordings
	}
	for _, run := range r.Runs.All() {
		switch w := of[run.Stack]; {
		case w == nil || run.Lock != 0:
		case run.Reason == inSelectTimed:
			w.began += int64(run.Last-run.First) + 1
		case run.Reason == inSelect && w.began > 0:
			w.later += int64(run.Last-run.First) + 1
		}
	}
	timed := make(map[NodeID]bool)
	for stack, w := range of {
		if w.began > 0 && mostlyKnown*w.later <= w.began {
			timed[stack] = true
		}
	}
	return timed
}
