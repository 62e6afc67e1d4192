package views

import (
	"slices"

	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/sampledata"
)

// namers finds the function that names a goroutine's thread class. That is
// the function with which the goroutine began or, if this is a wrapper, the
// first function below that is not one. For example, if
// errgroup.(*Group).Go.func1 is a wrapper:
//
//	errgroup.(*Group).Go.func1  main.fetch  net.(*conn).Read     main.fetch
//	errgroup.(*Group).Go.func1  sync.(*WaitGroup).Done           none: the goroutine is already behind its function
//
// A goroutine of a pool can do one thing after another, and each names a
// class. If a stack names none, but all others of the goroutine name the same
// function, it is that one.
type namers struct {
	r         *sampledata.Recording
	isWrapper []bool  // by function
	byNode    []namer // unknownNamer until first use
	// by goroutine: the namer of all its stacks that have one; several if
	// they differ
	only []namer
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
	wrapper := WrapperOf(r, o)
	if wrapper == nil {
		return nil
	}
	n := &namers{r: r, isWrapper: make([]bool, len(r.Functions))}
	some := false
	for i := range r.Functions {
		name := r.Functions[i].Name
		n.isWrapper[i] = name != "" && wrapper(name)
		some = some || n.isWrapper[i]
	}
	if !some {
		return nil
	}
	n.byNode = slices.Repeat([]namer{unknownNamer}, len(r.Nodes))
	n.only = slices.Repeat([]namer{unknownNamer}, r.Goroutines.Len())
	for i := range r.Runs.Len() {
		run := r.Runs.At(i)
		only := &n.only[run.Goroutine]
		if *only == several || !n.begins(run.Goroutine) {
			continue
		}
		switch f := n.ofStack(run.Stack); {
		case f < 0 || f == *only:
		case *only == unknownNamer:
			*only = f
		default:
			*only = several
		}
	}
	return n
}

// begins reports whether a goroutine began with a wrapper.
func (n *namers) begins(g sampledata.GoroutineID) bool {
	start := n.r.Goroutines.At(g).Start
	return start >= 0 && n.isWrapper[start]
}

// of returns the function that names the class of a run. It returns false if
// the goroutine began with this function.
func (n *namers) of(run sampledata.Run) (sampledata.FunctionID, bool) {
	if n == nil || !n.begins(run.Goroutine) {
		return 0, false
	}
	f := n.ofStack(run.Stack)
	if f < 0 {
		f = n.only[run.Goroutine]
	}
	return sampledata.FunctionID(f), f >= 0
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

// namesNothing reports whether wrappers call a function for themselves, to
// wait for work or to end: such a function is never the work.
func namesNothing(function string) bool {
	return function == "" ||
		words.HasPrefix(function, "runtime.", "internal/", "sync.", "sync/", "reflect.", "time.")
}
