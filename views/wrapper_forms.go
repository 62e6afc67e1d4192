package views

import (
	"maps"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
)

// leastStay is the number of samples after which a goroutine
// that was always in one function is taken to stay there.
const leastStay = 10

// WithWrappers returns options for recordings whose classes are
// compared, or for one. Their Wrapper finds, in addition,
// wrappers by what the goroutines of a recording do:
//
//	func Go(f func()) { go func() { defer done(); f() }() }
//
// Such a function of the program calls different functions in
// one line. Each goroutine stays in one of them, and none waits
// in the wrapper itself. What calls the handlers of requests is
// none.
func (o Options) WithWrappers(of ...*sampledata.Recording) Options {
	named := o.Wrapper
	if named == nil {
		return o
	}
	found := make(map[string]bool)
	for _, r := range of {
		maps.Copy(found, findWrappers(r, named))
	}
	o.Wrapper = func(function string) bool { return found[function] || named(function) }
	return o
}

// findWrappers returns the functions that are wrappers by their form.
func findWrappers(r *sampledata.Recording, named func(function string) bool) map[string]bool {
	all := beginnings(r, named)
	candidates := callers(r, all)
	if len(candidates) == 0 {
		return nil
	}
	uses := make([]wrapperUse, r.Goroutines.Len())
	for _, run := range r.Runs.All() {
		if run.Stack == sampledata.NoStack || run.Torn || candidates[all[run.Stack].first] == nil {
			continue
		}
		if !uses[run.Goroutine].add(run, all[run.Stack]) {
			delete(candidates, all[run.Stack].first)
		}
	}
	for _, s := range uses {
		if c := candidates[s.first]; c != nil && s.samples > 0 {
			c.add(s, s.from > 0 && s.to < int32(r.Samples.Len())-1)
		}
	}
	found := make(map[string]bool)
	for f, c := range candidates {
		if len(c.callees) > 1 && c.passing <= maxPassing*c.samples {
			found[r.Functions[f].Name] = true
		}
	}
	return found
}

// A wrapperUse is a goroutine in what a candidate calls.
type wrapperUse struct {
	beginning
	samples, from, to int32
}

// add adds a run, and reports whether the goroutine is still in
// the same function, and does not wait in the candidate itself.
func (s *wrapperUse) add(run sampledata.Run, b beginning) bool {
	switch {
	case b.callee < 0:
		return kindOf(run) != waiting
	case s.samples == 0:
		s.beginning, s.from = b, run.First
	case s.callee != b.callee:
		return false
	}
	s.samples += run.Last - run.First + 1
	s.to = run.Last
	return true
}

// A caller is a function that may be a wrapper.
type caller struct {
	callees          map[sampledata.FunctionID]bool // in which goroutines stay
	samples, passing float64                        // of all goroutines, and of those that came and went
}

// maxPassing is the share of its samples that a wrapper's
// goroutines may have that came and went: in a server, these are
// pieces of work of one class.
const maxPassing = 0.1

func (c *caller) add(s wrapperUse, cameAndWent bool) {
	c.samples += float64(s.samples)
	if cameAndWent {
		c.passing += float64(s.samples)
	} else if s.samples >= leastStay {
		c.callees[s.callee] = true
	}
}

// A beginning is what the outermost frames of a stack are.
type beginning struct {
	// first is the outermost function that is no named wrapper,
	// and callee the function that it calls, unless it does so
	// for itself; -1 if the stack has none.
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
			if !lists.Made(isNamed, n.Function, func() bool { return named(name) }) {
				b.first = n.Function
			}
		}
		all[i] = b
	}
	return all
}

// callers returns the functions of the program in which
// goroutines begin, and that call different functions in one
// line.
func callers(r *sampledata.Recording, all []beginning) map[sampledata.FunctionID]*caller {
	found := make(map[sampledata.FunctionID]*caller)
	calls := make(map[sampledata.NodeID]sampledata.FunctionID)
	for i, n := range r.Nodes {
		b := all[i]
		if b.callee < 0 || n.Parent == sampledata.NoStack || all[n.Parent].callee >= 0 || r.Nodes[n.Parent].Line == 0 {
			continue
		}
		other, called := calls[n.Parent]
		calls[n.Parent] = b.callee
		if called && other != b.callee && IsOwn(r.Functions[b.first].Name) {
			found[b.first] = &caller{callees: make(map[sampledata.FunctionID]bool)}
		}
	}
	return found
}
