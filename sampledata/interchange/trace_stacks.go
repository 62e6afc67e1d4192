package interchange

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"golang.org/x/exp/trace"
)

// A stackTable makes the nodes of a recording from the stacks of a trace.
type stackTable struct {
	b     *sampledata.Builder
	known map[trace.Stack]*traceStack
	pairs []stackPair // by pairSlot
	none  *traceStack
}

// A traceStack is a stack, with what it says about its goroutine.
type traceStack struct {
	node sampledata.NodeID
	// the outermost function; of a wrapper that the compiler
	// made, the function that it calls
	start  string
	site   trace.StackFrame   // the innermost frame
	frames []trace.StackFrame // outermost first
	torn   bool               // it lacks outer frames
	waits  wait
	number uint32 // of the stack in its part of the trace, from 1 up

	// the stack that a goroutine had after this one, last time:
	// most often it is the next one again
	next   trace.Stack
	nextAs *traceStack
}

// A stackPair is two stacks, with the calls that they have in common.
type stackPair struct {
	a, b *traceStack
	node sampledata.NodeID
}

// A wait is what the functions at the end of a stack wait for.
type wait struct {
	reason string
	lock   bool
}

// traceDepth is the greatest number of frames of a stack in a
// trace. The runtime cuts others at their outer ends.
const traceDepth = 128

// pairSlots is how many pairs of stacks are remembered, a power of two.
const pairSlots = 1 << 12

func newStackTable(b *sampledata.Builder) stackTable {
	s := stackTable{b: b, pairs: make([]stackPair, pairSlots),
		none: &traceStack{node: sampledata.NoStack}}
	s.forget()
	return s
}

// forget forgets the stacks of a part of the trace.
func (s *stackTable) forget() {
	s.known = make(map[trace.Stack]*traceStack)
	clear(s.pairs)
	s.none.next, s.none.nextAs = trace.NoStack, nil
}

// of returns a stack of the trace, of a goroutine that had
// another one before.
func (s *stackTable) of(st trace.Stack, before *traceStack) *traceStack {
	if st == trace.NoStack {
		return s.none
	}
	if before.next == st {
		return before.nextAs
	}
	ts := lists.Made(s.known, st, func() *traceStack { return s.read(st) })
	before.next, before.nextAs = st, ts
	return ts
}

// read makes the nodes of a stack.
func (s *stackTable) read(st trace.Stack) *traceStack {
	ts := &traceStack{node: sampledata.NoStack, number: uint32(len(s.known) + 1)}
	var names []string
	for f := range st.Frames() {
		ts.frames, names = append(ts.frames, f), append(names, f.Func)
	}
	// the runtime leaves its own frame out
	if n := len(ts.frames); n > 0 && ts.frames[n-1].Func == "main.main" {
		ts.frames = append(ts.frames, trace.StackFrame{Func: "runtime.main"})
	}
	if len(ts.frames) > 0 {
		ts.site = ts.frames[0]
		ts.waits = waitAt(names)
	}
	ts.torn = len(ts.frames) >= traceDepth
	slices.Reverse(ts.frames)
	for _, f := range ts.frames {
		ts.node = s.node(ts.node, f, f.Line)
		if f.Func != "" && f.Func != "runtime.goexit" &&
			(ts.start == "" || strings.Contains(ts.start, ".gowrap")) {
			ts.start = f.Func
		}
	}
	return ts
}

func (s *stackTable) node(above sampledata.NodeID, f trace.StackFrame,
	line uint64) sampledata.NodeID {
	name := cmp.Or(f.Func, "?")
	return s.b.Node(sampledata.Node{
		Parent: above, Function: s.b.Function(sampledata.Function{Name: name, File: f.File}),
		Line: int32(min(line, math.MaxInt32)),
	})
}

// shared returns the calls that two stacks have in common. A
// goroutine that ran from one stack to the other was in these
// calls all the time, or in the same ones again. Other calls in
// the meantime are not in the trace. The line of the last call
// is not known if the stacks differ in it.
func (s *stackTable) shared(a, b *traceStack) sampledata.NodeID {
	switch {
	case a == b || b == s.none:
		return a.node
	case a == s.none:
		return b.node
	}
	pair := &s.pairs[(a.number*31+b.number)%pairSlots]
	if pair.a != a || pair.b != b {
		*pair = stackPair{a, b, s.common(a, b)}
	}
	return pair.node
}

// common returns the node of the calls that two stacks have in common.
func (s *stackTable) common(a, b *traceStack) sampledata.NodeID {
	node := sampledata.NoStack
	for i := range min(len(a.frames), len(b.frames)) {
		f, g := a.frames[i], b.frames[i]
		if f.Func != g.Func || f.File != g.File {
			break
		}
		if f.Line != g.Line {
			node = s.node(node, f, 0)
			break
		}
		node = s.node(node, f, f.Line)
	}
	return node
}

// waitsIn are functions that wait, with the reasons that the
// runtime has for them.
var waitsIn = map[string]wait{
	"sync.(*Mutex).Lock":               {"sync.Mutex.Lock", true},
	"sync.(*Mutex).lockSlow":           {"sync.Mutex.Lock", true},
	"sync.(*RWMutex).Lock":             {"sync.RWMutex.Lock", true},
	"sync.(*RWMutex).RLock":            {"sync.RWMutex.RLock", true},
	"sync.runtime_SemacquireMutex":     {"sync.Mutex.Lock", true},
	"sync.runtime_SemacquireRWMutex":   {"sync.RWMutex.Lock", true},
	"sync.runtime_SemacquireRWMutexR":  {"sync.RWMutex.RLock", true},
	"sync.(*WaitGroup).Wait":           {reason: "sync.WaitGroup.Wait"},
	"sync.runtime_SemacquireWaitGroup": {reason: "sync.WaitGroup.Wait"},
	"sync.(*Cond).Wait":                {reason: "sync.Cond.Wait"},
	"sync.runtime_notifyListWait":      {reason: "sync.Cond.Wait"},
	"runtime.chanrecv1":                {reason: "chan receive"},
	"runtime.chanrecv2":                {reason: "chan receive"},
	"runtime.chansend1":                {reason: "chan send"},
	"runtime.selectgo":                 {reason: "select"},
	"runtime.block":                    {reason: "select (no cases)"},
	"time.Sleep":                       {reason: "sleep"},
	"poll.runtime_pollWait":            {reason: "IO wait"},
}

// waitAt returns what a stack waits for. The innermost function
// comes first. Of the known functions at the end, the outermost
// decides: a read lock takes a mutex within.
func waitAt(functions []string) (w wait) {
	for _, f := range functions {
		name := strings.TrimPrefix(f, "internal/")
		name = strings.TrimPrefix(name, "sync/")
		found, ok := waitsIn[name]
		switch {
		case ok && (w.reason == "" || !w.lock && found.lock || w.lock &&
			strings.HasPrefix(name, "sync.(")):
			w = found
		case !ok && !strings.HasPrefix(name, "runtime.") && !strings.HasPrefix(name, "sync.") &&
			!strings.HasPrefix(name, "poll."):
			return w
		}
	}
	return w
}

// reasons are the reasons of a trace that the runtime calls
// otherwise, as cpprof does.
var reasons = map[string]string{
	"network": "IO wait", "sync.(*Cond).Wait": "sync.Cond.Wait", "forever": "select (no cases)",
	"GC mark assist wait for work": "GC assist wait",
	"GC background sweeper wait":   "GC sweep wait", "wait until GC ends": "wait for GC cycle",
}

// waitFor returns what a goroutine waits for, from the reason in
// the trace and its stack. The reason "sync" stands for locks,
// groups and more, and there is none if the wait began before
// the trace: then the stack says it.
func (ts *traceStack) waitFor(reason string) wait {
	switch reason {
	case "", "sync":
		if ts.waits.reason != "" {
			return ts.waits
		}
		if reason == "sync" {
			return wait{reason: "semacquire"}
		}
		return wait{}
	}
	if same, ok := reasons[reason]; ok {
		reason = same
	}
	return wait{reason: reason}
}
