//go:build linux && (amd64 || arm64)

package snapshot

import (
	"fmt"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/gostate"
)

// A reporter converts what a sample knows about the goroutines
// to states, as a recording has them.
type reporter struct {
	*goroutines
	names lockNames
}

// report adds the changes of the goroutines that may have
// changed to the sample. It stops when these should be written,
// in order to be so by a given time, unless that is zero. It
// returns how many goroutines are left out. Those that the halt
// has seen come first.
func (r *reporter) report(by time.Time) (left int64) {
	changed, began := r.account.changed, time.Now()
	if !by.IsZero() {
		r.putHaltedFirst(changed)
	}
	torn := int64(0)
	for k, i := range changed {
		// to write takes up to half as long
		if k%256 == 255 && !by.IsZero() && time.Now().Add(time.Since(began)/2).After(by) {
			r.account.changed = changed[:k]
			left = r.leaveOut(changed[k:])
			break
		}
		s := &r.table.slots[i]
		if s.view == absent {
			if s.announced {
				r.end(s)
			}
			s.head = r.t.g.decode(s.raw)
			continue
		}
		if !s.head.exists() {
			continue // its stack was never known
		}
		r.reportOne(i, s)
		if s.stack.torn && s.view != unread {
			torn++
		}
	}
	if torn > 0 {
		r.warn("torn-stack", "a stack does not reach its outermost frame", torn)
	}
	return left
}

// putHaltedFirst moves the slots that the halt has seen to the beginning.
func (r *reporter) putHaltedFirst(slots []int32) {
	n := 0
	for k, i := range slots {
		if r.table.slots[i].halted == r.account.number {
			slots[n], slots[k] = slots[k], slots[n]
			n++
		}
	}
}

// leaveOut makes a later sample, if there is any, find out
// everything about slots, and returns how many goroutines these
// have.
func (r *reporter) leaveOut(slots []int32) (left int64) {
	for _, i := range slots {
		if s := &r.table.slots[i]; s.view != absent {
			s.view = unread
			left++
		}
	}
	return left
}

// reportOne does so for one existing goroutine.
func (r *reporter) reportOne(i int32, s *slot) {
	if s.announced && s.view == moving {
		return // it keeps its previous state: nothing better is known
	}
	isNew := !s.announced
	if isNew {
		if s.view == moving { // the stack is that of no goroutine, or of an earlier one
			s.stack = stack{node: sampledata.NoStack, torn: true}
		}
		r.announce(s)
	}
	stays := s.head.status == goruntime.GWaiting || s.head.status == goruntime.GSyscall
	again := s.head.seq != s.seq && stays
	s.seq = s.head.seq
	if now := r.stateOf(i, s); isNew || again || now != s.state {
		r.setState(s, now, again)
	}
	switch {
	case s.view == known || s.view == unread:
	case s.head.still():
		s.view = known
	default:
		s.view = moving
	}
}

// announce reports a new goroutine to the sink.
func (r *reporter) announce(s *slot) {
	c := r.t.g.creation(s.raw)
	st := r.stacks.start(c.startPC, r.t.Read)
	g := sampledata.Goroutine{ID: s.head.goid, Start: st.function, Parent: c.parent,
		System: st.system, GC: st.gc}
	if s.head.goid != 1 { // no go statement created the first one
		g.Site = r.stacks.site(c.goPC)
	}
	s.id = r.stacks.sink.Goroutine(g)
	s.announced, s.labels, s.labelsAt = true, 0, 0
}

// stateOf returns what a goroutine was doing.
func (r *reporter) stateOf(i int32, s *slot) sampledata.State {
	st := sampledata.State{Stack: s.stack.node, Torn: s.stack.torn, Labels: r.labelsOf(s)}
	run, reason := r.run(s)
	st.Run, st.Reason = run, reason.Text
	r.finder.Changed(i)
	st.NoCPU = s.noCPU && (run == sampledata.Running || run == sampledata.Detached)
	if run == sampledata.Blocked || run == sampledata.Waiting {
		if r.finder.Wait(i, reason, &s.state, &st, r.t.g.waitingOf(s.raw)) {
			r.names.ask(s, st.Lock)
		}
	}
	return st
}

// labelsOf returns the code of a goroutine's labels. They are
// read only when the goroutine gets other labels: a label set
// does not change. Parts may be lost: since the halt, the
// goroutine may have got other labels or ended.
func (r *reporter) labelsOf(s *slot) sampledata.LabelSetID {
	if s.head.labels == s.labelsAt {
		return s.labels
	}
	s.labels, s.labelsAt = 0, s.head.labels
	if s.head.labels != 0 {
		set, _ := gostate.Labels(r.t.Read, s.head.labels, r.t.bin.Release.LabelsAreList())
		if len(set) > 0 {
			s.labels = r.stacks.sink.LabelSet(set)
		}
	}
	return s.labels
}

// run returns whether a goroutine runs, and what it waits for if it waits.
func (r *reporter) run(s *slot) (sampledata.RunState, goruntime.WaitReason) {
	var none goruntime.WaitReason
	if s.view == running && s.head.status != goruntime.GSyscall {
		// whatever the status: work for the collector or while
		// the world is stopped is marked as waiting
		return sampledata.Running, none
	}
	switch s.head.status {
	case goruntime.GSyscall:
		switch {
		case !s.busy:
			return sampledata.Waiting, goruntime.WaitReason{Text: "syscall"}
		case s.view == running || s.holds:
			return sampledata.Running, none
		}
		return sampledata.Detached, none
	case goruntime.GRunnable, goruntime.GPreempted, goruntime.GRunning, goruntime.GCopystack:
		return sampledata.Runnable, none
	case goruntime.GWaiting, goruntime.GLeaked:
		return r.waiting(s)
	}
	r.warn("unknown-status",
		fmt.Sprintf("goroutine %d has the status %d, which is not known", s.head.goid,
			s.head.status), 1)
	return sampledata.Unknown, none
}

// waiting does so for a goroutine that waits.
func (r *reporter) waiting(s *slot) (sampledata.RunState, goruntime.WaitReason) {
	reason := r.t.reasons.At(s.head.reason)
	if reason.Text == "" {
		r.warn("unknown-wait-reason",
			fmt.Sprintf("goroutine %d waits for reason %d, which has no text", s.head.goid,
				s.head.reason), 1)
	}
	if reason.Awaits == goruntime.AwaitsLock {
		return sampledata.Blocked, reason
	}
	return sampledata.Waiting, reason
}

// processors returns what each processor runs. A processor whose
// goroutine sleeps in a system call counts as idle, since
// another thread may take it over.
func (r *reporter) processors(ps *processors) []sampledata.GoroutineID {
	out := make([]sampledata.GoroutineID, len(ps.list))
	for i := range ps.list {
		p := &ps.list[i]
		out[i] = sampledata.IdleProcessor
		switch ps.status(p) {
		case goruntime.PRunning:
			out[i] = sampledata.SystemProcessor
			if s := r.table.at(p.g); s != nil && s.announced && s.head.goid == p.head.goid {
				if s.state.Run == sampledata.Running {
					out[i] = s.id
				} else {
					out[i] = sampledata.IdleProcessor
				}
			}
		case goruntime.PSyscall:
			if s := r.table.at(p.g); s != nil && s.announced && s.state.Run == sampledata.Running {
				out[i] = s.id
			}
		case goruntime.PGCStop:
			out[i] = sampledata.SystemProcessor
		}
	}
	return out
}
