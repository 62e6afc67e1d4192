package delve

import (
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// begin prepares the unwinder for a new copy.
func (u *unwinder) begin(sink sampledata.Sink) {
	u.sink, u.views = sink, 0
	u.target.ClearCaches()
}

// observe compares every goroutine of the copy with what is
// known about it, and lists the changes.
func (a *Backend) observe(sink sampledata.Sink) {
	c := &a.capture
	for i := range c.goroutines {
		g := &c.goroutines[i]
		goid := g.id(c.l)
		if goid == 0 {
			continue
		}
		k := a.known[goid]
		isNew := k == nil
		if isNew {
			k = &known{}
			a.known[goid] = k
		}
		k.seen = a.sample
		state, st := a.state(sink, g, k)
		if isNew {
			k.id = a.introduce(sink, g, st)
		}
		if isNew || state != k.state {
			k.state = state
			a.changes = append(a.changes, sampledata.Change{Goroutine: k.id, State: state})
		}
	}
}

// introduce reports a new goroutine to the sink.
func (a *Backend) introduce(sink sampledata.Sink, g *goroutine, st stack) sampledata.GoroutineID {
	l := a.capture.l
	start := a.unwind.start(&a.capture, g, st)
	return sink.Goroutine(sampledata.Goroutine{
		ID:     g.id(l),
		Start:  start.function,
		Site:   a.unwind.site(word(g.raw, l.G.GoPC)),
		Parent: int64(word(g.raw, l.G.ParentGoid)),
		System: goruntime.IsSystem(start.name),
		GC:     goruntime.IsCollector(start.name),
	})
}

// state returns what a goroutine was doing. It also returns the
// goroutine's stack if that had to be unwound.
func (a *Backend) state(sink sampledata.Sink, g *goroutine, k *known) (sampledata.State,
	stack) {
	s := sampledata.State{Labels: a.labelsOf(sink, g, k)}
	s.Run, s.Reason = a.run(sink, g)
	if s.Run == sampledata.Blocked {
		s.Lock = a.capture.lock(g)
	}
	now, parked := a.printOf(g)
	if parked && k.parked && now == k.print {
		s.Stack, s.Torn = k.state.Stack, k.state.Torn
		return s, stack{}
	}
	st := a.unwind.unwindGoroutine(&a.capture, g)
	s.Stack, s.Torn = st.node, st.torn
	k.print, k.parked = now, parked && !st.torn
	switch {
	case st.deep:
		sink.Warn("deep-stack",
			fmt.Sprintf("a stack of goroutine %d is deeper than %d frames; the outermost are left out", g.id(a.capture.l), maxDepth), 1)
	case st.torn:
		sink.Warn("torn-stack",
			fmt.Sprintf("a stack of goroutine %d does not reach its outermost frame",
				g.id(a.capture.l)), 1)
	}
	return s, st
}

// run returns whether a goroutine runs, and what it waits for if it waits.
func (a *Backend) run(sink sampledata.Sink, g *goroutine) (sampledata.RunState, string) {
	switch g.status {
	case goruntime.GSyscall:
		switch {
		case g.thread == nil || g.thread.asleep:
			return sampledata.Waiting, "syscall"
		case a.processorOf(g) != 0:
			return sampledata.Running, ""
		}
		return sampledata.Detached, ""
	case goruntime.GRunnable, goruntime.GPreempted:
		return sampledata.Runnable, ""
	case goruntime.GRunning:
		return sampledata.Running, ""
	case goruntime.GWaiting, goruntime.GCopystack, goruntime.GLeaked:
		if g.m != nil {
			return sampledata.Running, ""
		}
	default:
		sink.Warn("unknown-status",
			fmt.Sprintf("goroutine %d has the status %d, which is not known", g.id(a.capture.l),
				g.status), 1)
		return sampledata.Unknown, ""
	}
	reason := a.capture.reason(g)
	switch {
	case reason.Text == "" && g.status == goruntime.GWaiting:
		sink.Warn("unknown-wait-reason",
			fmt.Sprintf("goroutine %d waits for reason %d, which has no text", g.id(a.capture.l),
				g.raw[a.capture.l.G.WaitReason]), 1)
	case reason.Awaits == goruntime.AwaitsLock:
		return sampledata.Blocked, reason.Text
	}
	return sampledata.Waiting, reason.Text
}

// processorOf returns the address of the processor that a
// goroutine on a thread holds; 0 if none. Up to Go 1.25, a
// goroutine in a system call has only marked its processor as
// being in a system call. It keeps it as its old one until
// another thread takes it.
func (a *Backend) processorOf(g *goroutine) uint64 {
	l := a.capture.l
	if p := word(g.m, l.M.P); p != 0 {
		return p
	}
	old := word(g.m, l.M.OldP)
	if old == 0 || g.status != goruntime.GSyscall || !l.M.SyscallTick.Has() ||
		!l.P.SyscallTick.Has() {
		return 0
	}
	p := a.capture.mem.get(old, l.pSize)
	if p == nil || half(p, l.P.Status) != goruntime.PSyscall ||
		half(g.m, l.M.SyscallTick) != half(p, l.P.SyscallTick) {
		return 0
	}
	return old
}

// printOf returns the print of the stack of a goroutine that is
// on no thread.
func (a *Backend) printOf(g *goroutine) (print, bool) {
	l := a.capture.l
	if g.m != nil || g.thread != nil {
		return print{}, false
	}
	p := print{sp: word(g.raw, l.G.SchedSP), pc: word(g.raw, l.G.SchedPC), bp: word(g.raw, l.bp)}
	hi := word(g.raw, l.G.StackHi)
	if p.sp == 0 || p.sp >= hi {
		return p, false
	}
	b := a.capture.mem.get(p.sp, int(min(hi-p.sp, maxStack)))
	if b == nil {
		return p, false
	}
	p.hash = maphash.Bytes(a.seed, b)
	return p, true
}

func (a *Backend) labelsOf(sink sampledata.Sink, g *goroutine, k *known) sampledata.LabelSetID {
	set := a.capture.labels[g.id(a.capture.l)].set
	if !slices.Equal(set, k.labels) {
		k.labels, k.labelSet = set, 0
		if len(set) > 0 {
			k.labelSet = sink.LabelSet(set)
		}
	}
	return k.labelSet
}
