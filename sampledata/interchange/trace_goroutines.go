package interchange

import (
	"slices"
	"strings"

	"github.com/cpprof/cpprof/sampledata"
	"golang.org/x/exp/trace"
)

// A traced is a goroutine of a trace, in its present state.
type traced struct {
	id     trace.GoID
	code   sampledata.GoroutineID // -1 until the recording needs it
	site   sampledata.Site
	parent int64
	named  bool // its start is known

	open    sampledata.OpenRun
	state   sampledata.RunState
	stack   *traceStack // at the last event that has one
	wait    wait
	regions []region
	labels  sampledata.LabelSetID
}

// A region is a user's region or, if it has none, the task alone.
type region struct {
	name  string
	task  string
	begin trace.Time
	site  sampledata.Call // that begins it
}

// A tracedTable finds goroutines by their numbers. Most events
// are of one of the last few hundred goroutines, and the runtime
// numbers them one after the other: so a small table goes before
// the map.
type tracedTable struct {
	all    map[trace.GoID]*traced
	recent [1 << 10]*traced // by the number, without its upper bits
}

func newTracedTable() *tracedTable { return &tracedTable{all: make(map[trace.GoID]*traced)} }

func (t *tracedTable) slot(id trace.GoID) **traced {
	return &t.recent[uint64(id)%uint64(len(t.recent))]
}

// of returns a goroutine; nil if it is not known.
func (t *tracedTable) of(id trace.GoID) *traced {
	slot := t.slot(id)
	if *slot == nil || (*slot).id != id {
		g := t.all[id]
		if g == nil {
			return nil
		}
		*slot = g
	}
	return *slot
}

func (t *tracedTable) add(g *traced) { t.all[g.id], *t.slot(g.id) = g, g }

func (t *tracedTable) remove(g *traced) {
	delete(t.all, g.id)
	if slot := t.slot(g.id); *slot == g {
		*slot = nil
	}
}

// transition ends a goroutine's state, and begins another one.
func (t *tracer) transition(ev *trace.Event, st *trace.StateTransition) {
	id := st.Resource.Goroutine()
	from, to := st.Goroutine()
	g := t.alive.of(id)
	if g == nil {
		t.appear(ev, st, t.stacks.of(st.Stack, t.stacks.none))
		return
	}
	stack := t.stacks.of(st.Stack, g.stack)
	if from == to { // the trace repeats all states now and then
		if g.stack == t.stacks.none {
			g.stack = stack
			t.await(g, st.Reason)
		}
		return
	}
	var releaser *traceStack
	if by := ev.Goroutine(); to == trace.GoRunnable && from == trace.GoWaiting &&
		by != trace.NoGoroutine && by != id {
		releaser = t.executes(ev)
	}
	if g.state == sampledata.Running && stack != t.stacks.none {
		t.closeRun(g, ev.Time(), t.stacks.shared(g.stack, stack), nil)
	} else {
		t.end(g, ev.Time(), releaser)
	}
	if stack != t.stacks.none {
		g.stack = stack
	}
	if to == trace.GoNotExist {
		t.alive.remove(g)
		if g.code >= 0 {
			t.timed.Ended(g.code)
		}
		return
	}
	t.enter(g, st, to)
	g.open = t.timed.Open(t.at(ev.Time()))
}

// appear begins a goroutine that the trace did not have before:
// it is new, or has been in its state since the trace began.
func (t *tracer) appear(ev *trace.Event, st *trace.StateTransition, stack *traceStack) {
	from, to := st.Goroutine()
	if to == trace.GoNotExist {
		return
	}
	g := &traced{id: st.Resource.Goroutine(), code: -1, stack: stack}
	if from == trace.GoNotExist {
		if by := ev.Goroutine(); by != trace.NoGoroutine {
			g.parent = int64(by)
			if s := t.executes(ev); s != nil {
				g.site = sampledata.Site{Function: s.site.Func, File: s.site.File,
					Line: int32(min(s.site.Line, 1<<30))}
			}
		}
		g.open = t.timed.Open(t.at(ev.Time()))
	} else {
		g.open = t.timed.OpenAtStart()
	}
	t.alive.add(g)
	t.enter(g, st, to)
}

// enter sets the state that a transition leads to.
func (t *tracer) enter(g *traced, st *trace.StateTransition, to trace.GoState) {
	g.wait = wait{}
	switch to {
	case trace.GoRunning:
		g.state = sampledata.Running
	case trace.GoRunnable:
		g.state = sampledata.Runnable
	case trace.GoSyscall:
		g.state, g.wait = sampledata.Waiting, wait{reason: "syscall"}
	default:
		g.state = sampledata.Waiting
		t.await(g, st.Reason)
	}
}

// await sets what a waiting goroutine waits for.
func (t *tracer) await(g *traced, reason string) {
	if g.state != sampledata.Waiting && g.state != sampledata.Blocked ||
		g.wait.reason == "syscall" {
		return
	}
	g.wait = g.stack.waitFor(reason)
	g.state = sampledata.Waiting
	if g.wait.lock {
		g.state = sampledata.Blocked
	}
}

// executes notes the stack of the goroutine that makes an event,
// and returns it; nil if there is none. The time since its last
// event was spent in the calls that both stacks share.
func (t *tracer) executes(ev *trace.Event) *traceStack {
	g, before := t.alive.of(ev.Goroutine()), t.stacks.none
	if g != nil {
		before = g.stack
	}
	stack := t.stacks.of(ev.Stack(), before)
	if stack == t.stacks.none {
		return nil
	}
	if g == nil || g.state != sampledata.Running || g.stack == stack {
		return stack
	}
	g.stack = stack
	if n := t.stacks.shared(before, stack); n != before.node || n != stack.node {
		t.closeRun(g, ev.Time(), n, nil)
		g.open = t.timed.Open(t.at(ev.Time()))
	}
	return stack
}

// region begins or ends a region of the goroutine that makes an event.
func (t *tracer) region(ev *trace.Event) {
	g := t.alive.of(ev.Goroutine())
	if g == nil {
		return
	}
	before := g.stack
	if stack := t.stacks.of(ev.Stack(), before); stack != t.stacks.none {
		g.stack = stack
	}
	t.closeRun(g, ev.Time(), t.stacks.shared(before, g.stack), nil)
	r := ev.Region()
	if ev.Kind() == trace.EventRegionBegin {
		one := region{name: r.Type, begin: ev.Time(), site: siteOf(ev)}
		if task := t.tasks[r.Task]; task != nil {
			one.task = task.name
		}
		g.regions = append(g.regions, one)
	} else if i := lastRegion(g.regions, r.Type); i >= 0 {
		t.leaveRegion(g, &g.regions[i], ev.Time(), false)
		g.regions = slices.Delete(g.regions, i, i+1)
	}
	g.labels = t.labels(g)
	g.open = t.timed.Open(t.at(ev.Time()))
}

func lastRegion(list []region, name string) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].name == name {
			return i
		}
	}
	return -1
}

// labels returns the labels of the innermost region: its name,
// and the type of its task.
func (t *tracer) labels(g *traced) sampledata.LabelSetID {
	if len(g.regions) == 0 {
		return 0
	}
	var set []sampledata.Label
	r := g.regions[len(g.regions)-1]
	if r.name != "" {
		set = append(set, sampledata.Label{Key: "region", Value: r.name})
	}
	if r.task != "" {
		set = append(set, sampledata.Label{Key: "task", Value: r.task})
	}
	return t.timed.LabelSet(set)
}

// end ends a goroutine's run with the stack that it had all the time.
func (t *tracer) end(g *traced, at trace.Time, releaser *traceStack) {
	t.closeRun(g, at, g.stack.node, releaser)
}

// closeRun ends a goroutine's run with a stack.
func (t *tracer) closeRun(g *traced, at trace.Time, stack sampledata.NodeID, releaser *traceStack) {
	first, end := t.timed.Close(g.open, t.at(at))
	if first >= end {
		return
	}
	switch {
	case g.code < 0:
		g.code = t.timed.Goroutine(t.goroutine(g))
	case !g.named && g.stack.start != "":
		t.timed.Amend(g.code, t.goroutine(g))
	}
	s := sampledata.State{Stack: stack, Run: g.state, Labels: g.labels, Reason: g.wait.reason,
		Torn: g.stack.torn}
	if releaser != nil {
		s.Release = sampledata.ReleaseAt(releaser.node)
	}
	t.timed.Run(g.code, first, end, s)
}

// goroutine returns a goroutine as the recording has it. Its
// start is the outermost function of its stack.
func (t *tracer) goroutine(g *traced) sampledata.Goroutine {
	as := sampledata.Goroutine{ID: int64(g.id), Start: -1, Site: g.site, Parent: g.parent}
	name := g.stack.start
	if g.id == 1 { // its stacks do not reach runtime.main
		name = "runtime.main"
	}
	if name != "" {
		as.Start = t.timed.Function(sampledata.Function{Name: name, File: t.fileOf(g, name)})
		as.System = strings.HasPrefix(name, "runtime.") && g.id != 1
		as.GC = name == "runtime.gcBgMarkWorker"
	}
	g.named = name != ""
	return as
}

// fileOf returns the file of a function in the goroutine's stack.
func (t *tracer) fileOf(g *traced, name string) string {
	for _, f := range g.stack.frames {
		if f.Func == name {
			return f.File
		}
	}
	return ""
}
