package views

import (
	"regexp"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/sampledata"
)

// namers finds the function that names a goroutine's thread
// class. That is the function with which the goroutine began or,
// if this is a wrapper, the first function below that is not
// one. For example, if errgroup.(*Group).Go.func1 is a wrapper:
//
//	errgroup.(*Group).Go.func1  main.fetch  net.(*conn).Read     main.fetch
//	errgroup.(*Group).Go.func1  sync.(*WaitGroup).Done           none: the goroutine is already behind its function
//
// A goroutine of a pool can do one thing after another, and each
// names a class. If a stack names none, but all others of the
// goroutine name the same function, it is that one. What the
// compiler makes of a go statement always calls the same: if no
// stack of a goroutine names a function, the others' do.
type namers struct {
	r         *sampledata.Recording
	isWrapper []bool  // by function
	isLeftOut []bool  // the same, for wrappers that stacks leave out
	byNode    []namer // unknownNamer until first use
	// by goroutine: the namer of all its stacks that have one;
	// several if they differ
	only []namer
	// the same by wrapper that stacks leave out: what it calls
	called []namer
}

// A namer is the number of a function, or one of these.
type namer int32

const (
	unknownNamer namer = -1 - iota
	noFrames           // only the bootstrap frame so far
	wrapped            // a wrapper so far, and what it calls for itself
	foreign            // not a stack of a wrapper
	several
)

// newNamers returns nil if no function of the recording is a wrapper.
func newNamers(r *sampledata.Recording, o Options) *namers {
	wrapper := o.WithWrappers(r).Wrapper
	if wrapper == nil {
		return nil
	}
	n := &namers{r: r, isWrapper: make([]bool, len(r.Functions)), isLeftOut: make([]bool, len(r.Functions))}
	some := false
	for i := range r.Functions {
		name := r.Functions[i].Name
		n.isWrapper[i] = name != "" && wrapper(name)
		n.isLeftOut[i] = n.isWrapper[i] && leftOut.MatchString(name)
		some = some || n.isWrapper[i]
	}
	if !some {
		return nil
	}
	n.byNode = slices.Repeat([]namer{unknownNamer}, len(r.Nodes))
	n.only = slices.Repeat([]namer{unknownNamer}, r.Goroutines.Len())
	for _, run := range r.Runs.All() {
		if only := &n.only[run.Goroutine]; *only != several && n.begins(run.Goroutine) {
			*only = only.and(n.ofRun(run))
		}
	}
	n.called = slices.Repeat([]namer{unknownNamer}, len(r.Functions))
	for g, only := range n.only {
		if f := r.Goroutines.At(sampledata.GoroutineID(g)).Start; f >= 0 && n.isLeftOut[f] {
			n.called[f] = n.called[f].and(only)
		}
	}
	return n
}

// and returns the namer of what has two; several if they differ.
func (n namer) and(other namer) namer {
	switch {
	case other < 0 && other != several || other == n:
		return n
	case n == unknownNamer:
		return other
	}
	return several
}

// begins reports whether a goroutine began with a wrapper.
func (n *namers) begins(g sampledata.GoroutineID) bool {
	start := n.r.Goroutines.At(g).Start
	return start >= 0 && n.isWrapper[start]
}

// of returns the function that names the class of a run. It
// returns false if the goroutine began with this function.
func (n *namers) of(run sampledata.Run) (sampledata.FunctionID, bool) {
	if n == nil || !n.begins(run.Goroutine) {
		return 0, false
	}
	f := n.ofRun(run)
	if f < 0 {
		f = n.only[run.Goroutine]
	}
	if f == unknownNamer {
		f = n.called[n.r.Goroutines.At(run.Goroutine).Start]
	}
	return sampledata.FunctionID(f), f >= 0
}

// leftOut matches the wrappers that stacks leave out: what the
// compiler makes of a go statement with arguments.
var leftOut = regexp.MustCompile(`\.gowrap\d+$`)

// ofRun returns the namer of a run's stack. Of a wrapper that
// stacks leave out it is the outermost function, but for the
// runtime's, in which goroutines end.
func (n *namers) ofRun(run sampledata.Run) namer {
	f := n.ofStack(run.Stack)
	if f != foreign || run.Torn || !n.isLeftOut[n.r.Goroutines.At(run.Goroutine).Start] {
		return f
	}
	for at := run.Stack; at != sampledata.NoStack; at = n.r.Nodes[at].Parent {
		if called := n.r.Nodes[at].Function; n.r.Functions[called].Name != bootstrap {
			f = namer(called)
		}
	}
	if f >= 0 && strings.HasPrefix(n.r.Functions[f].Name, "runtime.") {
		return foreign
	}
	return f
}

// ofStack returns the namer of the stack that ends at a node.
func (n *namers) ofStack(stack sampledata.NodeID) namer {
	var way []sampledata.NodeID
	at := noFrames
	for ; stack != sampledata.NoStack; stack = n.r.Nodes[stack].Parent {
		if at = n.byNode[stack]; at != unknownNamer {
			break
		}
		way = append(way, stack)
		at = noFrames
	}
	for i := len(way) - 1; i >= 0; i-- {
		at = n.next(at, n.r.Nodes[way[i]].Function)
		n.byNode[way[i]] = at
	}
	return at
}

// next returns the namer of a stack with one more frame.
func (n *namers) next(at namer, f sampledata.FunctionID) namer {
	name := n.r.Functions[f].Name
	switch {
	case at == noFrames && name == bootstrap:
		return noFrames
	case at == noFrames && !n.isWrapper[f]:
		return foreign
	case at == noFrames, at == wrapped && (n.isWrapper[f] || namesNothing(name)):
		return wrapped
	case at == wrapped:
		return namer(f)
	}
	return at
}

// namesNothing reports whether wrappers call a function for
// themselves, to wait for work or to end: such a function is
// never the work.
func namesNothing(function string) bool {
	return function == "" ||
		words.HasPrefix(function, "runtime.", "internal/", "sync.", "sync/", "reflect.", "time.")
}
