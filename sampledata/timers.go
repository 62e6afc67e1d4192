package sampledata

// The sampler learns with time that timers end the waits of a
// stack in a select. The waits that it saw before were no
// others: they have the same reason in a recording.

const (
	inSelect      = "select"
	inSelectTimed = inSelect + OnTimer
	// how many times as long a stack's waits have the learned
	// reason at least, from when it was learned
	mostlyTimed = 10
)

// withTimers returns the runs with what was learned of timers.
func (r *Recording) withTimers() Runs {
	timed := r.timedStacks()
	if len(timed) == 0 {
		return r.Runs
	}
	kinds, states := make(map[*kind]*kind), &stateTable{}
	for i := range r.Runs.states.kinds.len() {
		k := *r.Runs.states.kinds.at(i)
		if k.Run == Waiting && k.Reason == inSelect && timed[k.Stack] {
			of := *k
			of.Reason = inSelectTimed
			kinds[k] = &of
		}
		states.kinds.add(k)
	}
	for i := range r.Runs.states.list.len() {
		s := *r.Runs.states.list.at(i)
		if k := kinds[s.kind]; k != nil && s.Lock == 0 {
			s.kind = k
		}
		states.list.add(s)
	}
	return Runs{list: r.Runs.list, states: *states}
}

// timedStacks returns the stacks whose waits timers end, though
// some don't have that reason.
func (r *Recording) timedStacks() map[NodeID]bool {
	learned := false
	for i := range r.Runs.states.kinds.len() {
		learned = learned || (*r.Runs.states.kinds.at(i)).Reason == inSelectTimed
	}
	if !learned {
		return nil
	}
	type waits struct {
		before       bool
		timed, plain int64 // in samples, from when it was learned
	}
	of := make(map[NodeID]*waits)
	for _, run := range r.Runs.All() {
		if run.Run != Waiting || run.Lock != 0 || run.Reason != inSelect && run.Reason != inSelectTimed {
			continue
		}
		w := of[run.Stack]
		if w == nil {
			w = &waits{}
			of[run.Stack] = w
		}
		switch n := int64(run.Last-run.First) + 1; {
		case run.Reason == inSelectTimed:
			w.timed += n
		case w.timed == 0:
			w.before = true
		default:
			w.plain += n
		}
	}
	timed := make(map[NodeID]bool)
	for stack, w := range of {
		if w.before && w.timed > 0 && w.timed >= mostlyTimed*w.plain {
			timed[stack] = true
		}
	}
	return timed
}
