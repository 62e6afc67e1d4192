package views

import (
	"github.com/cpprof/cpprof/sampledata"
)

// leastStay is the number of samples after which a goroutine that was always
// in one function is taken to stay there.
const leastStay = 10

// WrapperOf returns a function that reports what Options.Wrapper does and, in
// addition, finds wrappers by what the goroutines of a recording do:
//
//	func Go(f func()) { go func() { defer done(); f() }() }
//
// Such a function of the program calls different functions in one line. Each
// goroutine stays in one of them, and none waits in the wrapper itself.
func WrapperOf(r *sampledata.Recording, o Options) func(function string) bool {
	if o.Wrapper == nil {
		return nil
	}
	found := findWrappers(r, o.Wrapper)
	if len(found) == 0 {
		return o.Wrapper
	}
	return func(function string) bool { return found[function] || o.Wrapper(function) }
}

func findWrappers(r *sampledata.Recording, named func(function string) bool) map[string]bool {
	ways := beginnings(r, named)
	candidates := callers(r, ways)
	if len(candidates) == 0 {
		return nil
	}
	type stay struct {
		in      sampledata.FunctionID
		samples int32
	}
	stays := make([]stay, r.Goroutines.Len())
	for _, run := range r.Runs.All() {
		if run.Stack == sampledata.NoStack || run.Torn {
			continue
		}
		b, s := ways[run.Stack], &stays[run.Goroutine]
		callees, is := candidates[b.first]
		switch {
		case !is:
		case b.callee < 0 && kindOf(run) == waiting, b.callee >= 0 && s.samples > 0 && s.in != b.callee:
			delete(candidates, b.first)
		case b.callee >= 0:
			s.in = b.callee
			s.samples += run.Last - run.First + 1
			if s.samples >= leastStay {
				callees[b.callee] = true
			}
		}
	}
	found := make(map[string]bool)
	for f, callees := range candidates {
		if len(callees) > 1 {
			found[r.Functions[f].Name] = true
		}
	}
	return found
}

// A beginning is what the outermost frames of a stack are.
type beginning struct {
	// first is the outermost function that is no named wrapper, and callee
	// the function that it calls, unless it does so for itself; -1 if the
	// stack has none.
	first, callee sampledata.FunctionID
}

// beginnings returns the beginnings of all stacks.
func beginnings(r *sampledata.Recording, named func(function string) bool) []beginning {
	all := make([]beginning, len(r.Nodes))
	isNamed := make(map[sampledata.FunctionID]bool)
	for i, n := range r.Nodes {
		b := beginning{-1, -1}
		if n.Parent != sampledata.NoStack {
			b = all[n.Parent]
		}
		name := r.Functions[n.Function].Name
		switch {
		case b.callee >= 0:
		case b.first >= 0:
			if !namesNothing(name) {
				b.callee = n.Function
			}
		case name != bootstrap:
			is, ok := isNamed[n.Function]
			if !ok {
				is = named(name)
				isNamed[n.Function] = is
			}
			if !is {
				b.first = n.Function
			}
		}
		all[i] = b
	}
	return all
}

// callers returns the functions of the program in which goroutines begin, and
// that call different functions in one line.
func callers(r *sampledata.Recording, all []beginning) map[sampledata.FunctionID]map[sampledata.FunctionID]bool {
	found := make(map[sampledata.FunctionID]map[sampledata.FunctionID]bool)
	calls := make(map[sampledata.NodeID]sampledata.FunctionID)
	for i, n := range r.Nodes {
		b := all[i]
		if b.callee < 0 || n.Parent == sampledata.NoStack || all[n.Parent].callee >= 0 || r.Nodes[n.Parent].Line == 0 {
			continue
		}
		other, called := calls[n.Parent]
		calls[n.Parent] = b.callee
		if called && other != b.callee && IsOwn(r.Functions[b.first].Name) {
			found[b.first] = make(map[sampledata.FunctionID]bool)
		}
	}
	return found
}
