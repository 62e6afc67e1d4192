package why

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// A ranStack is a stack that was on a processor.
type ranStack struct {
	at     int // the situation
	path   []sampledata.FunctionID
	weight float64
}

const (
	// maxHot limits the pieces of code that are hypotheses.
	maxHot = 8

	// descends is the share of a function's time that a callee
	// has at least if the search goes on to it.
	descends = 0.75

	// aProcessor is the mean number of processors from which a
	// piece of code is a bottleneck on a machine of any size: a
	// goroutine that runs half of the time.
	aProcessor = 0.5
)

// computeCandidates returns the hypotheses about the code that
// runs: first allocation and the collector, then the functions
// of the program that take most of the processors.
func (s *searcher) computeCandidates() (all []*candidate) {
	garbage := s.allocation()
	if garbage != nil {
		all = append(all, garbage)
	}
	ran := s.ranStacks()
	stacks := ran
	if s.garbageApart = garbage != nil && garbage.note == ""; s.garbageApart {
		stacks = slices.DeleteFunc(slices.Clone(ran),
			func(st ranStack) bool { return s.makesGarbage(s.e.situations[st.at]) })
	}
	hot := s.bottlenecks(stacks)
	for len(all) <= maxHot {
		f, rest := s.hottest(stacks, hot)
		if f == noFunction {
			return all
		}
		all = append(all, s.computing(f, stacks, ran))
		stacks = rest
	}
	return all
}

const noFunction sampledata.FunctionID = -1

// bar returns the share of the processors above which code is a
// bottleneck. If the machine often has no CPU for the program, it
// takes less than it would.
func (s *searcher) bar() float64 {
	gets := s.ran / max(s.ran+s.noCPU, 1e-9)
	return gets * min(s.o.Threshold, aProcessor/max(1, s.e.processors))
}

// ranStacks returns the stacks on the processors, without the
// runtime's own goroutines.
func (s *searcher) ranStacks() (all []ranStack) {
	for i, at := range s.e.situations {
		if !at.usesCPU() || s.e.classes[at.class].runtimes || at.state.Stack == sampledata.NoStack {
			continue
		}
		all = append(all, ranStack{i, s.pathOf(at.state.Stack), at.weight})
	}
	return all
}

// pathOf returns the functions of a stack that can be the place
// of a finding. These are the program's own functions, from the
// goroutine's first one on. If there are none, it is the place
// of the stack.
func (s *searcher) pathOf(stack sampledata.NodeID) (path []sampledata.FunctionID) {
	for n := stack; n != sampledata.NoStack; n = s.e.r.Nodes[n].Parent {
		if views.IsOwn(s.e.places.function(n)) {
			path = append(path, s.e.r.Nodes[n].Function)
		}
	}
	if len(path) == 0 {
		path = append(path, s.e.r.Nodes[s.e.places.own[stack]].Function)
	}
	slices.Reverse(path)
	return path
}

// bottlenecks searches the call paths of the stacks, and returns
// the functions that are bottlenecks or may be: those at the
// ends of paths from the root, and deep starters.
func (s *searcher) bottlenecks(stacks []ranStack) map[sampledata.FunctionID]bool {
	b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "time", "nanoseconds")
	for _, st := range stacks {
		node := int32(0)
		for _, f := range st.path {
			node = b.Child(node, b.Symbols().Intern(frame(s.e.r.Functions[f].Name)))
		}
		b.Add(0, node, int64(st.weight), 1)
	}
	b.SetDenominator(0, new(big.Rat).SetInt64(int64(max(1, s.e.length*s.e.processors))))
	t, err := b.Tree()
	if err != nil {
		return nil // there are fewer nodes than in the recording
	}
	paths := hotspots.FindPaths(t, func(m *calltree.Metric,
		stacks hotspots.Stacks) hotspots.Verdict {
		p, _ := m.Cost(stacks.Weight).Float64()
		if s.verdict(p) == hotspots.No {
			return hotspots.No
		}
		return hotspots.Yes // the verdict on the function as a whole comes later
	})
	names := make(map[string]bool)
	for _, n := range paths.TopDown {
		names[t.Symbols().Name(t.Funcs()[n])] = true
	}
	for _, d := range paths.Deep {
		names[t.Symbols().Name(d.Func)] = true
	}
	found := make(map[sampledata.FunctionID]bool)
	for f := range s.e.r.Functions {
		if names[frame(s.e.r.Functions[f].Name)] {
			found[sampledata.FunctionID(f)] = true
		}
	}
	return found
}

// verdict returns whether code with a share of the processors is
// a bottleneck.
func (s *searcher) verdict(share float64) hotspots.Verdict {
	return hotspots.Assumed(min(share, 1), int(s.e.to-s.e.from)).Against(s.bar())
}

// frame returns the name of a function in a tree, which never
// looks like a class or typed time.
func frame(function string) string {
	if calltree.KindOf(function) != calltree.Function {
		return "?" + function
	}
	return function
}

// hottest returns the bottleneck with the most weight, refined:
// as long as one callee has much of the time, or nearly all of
// its caller's, or shares it with another one, it is that
// callee. It also returns the stacks without the function.
func (s *searcher) hottest(stacks []ranStack,
	hot map[sampledata.FunctionID]bool) (sampledata.FunctionID, []ranStack) {
	start, weight := heaviestOf(stacks,
		func(path []sampledata.FunctionID) []sampledata.FunctionID { return path })
	if start == noFunction || !hot[start] {
		return noFunction, nil
	}
	within := stacks
	if started, first, w := s.starter(stacks, start); first != noFunction {
		within, start, weight = started, first, w
	}
	// functions that call one another again are passed once
	passed := make(map[sampledata.FunctionID]bool)
	caller := weight
	for f := start; ; {
		passed[f] = true
		next, w := heaviestOf(within, func(path []sampledata.FunctionID) []sampledata.FunctionID {
			at := slices.Index(path, f)
			if at < 0 || !slices.Contains(path, start) {
				return nil
			}
			return slices.DeleteFunc(slices.Clone(path[at+1:]),
				func(f sampledata.FunctionID) bool { return passed[f] })
		})
		leads := w >= descends*weight || w >= mostOf*caller
		if next == noFunction || !leads && !s.shares(within, f, w) {
			start = f
			break
		}
		if !leads {
			start, weight = next, w // the other one is found in the rest
		}
		f, caller = next, w
	}
	rest := slices.DeleteFunc(slices.Clone(stacks),
		func(st ranStack) bool { return slices.Contains(st.path, start) })
	return start, rest
}

// mostOfAll is the share of a goroutine's work from which a function that
// it calls is the place, and not its first one.
const mostOfAll = 0.6

// shares reports whether a function does hardly anything itself,
// and its callee with the most weight has as much as all others
// together, or somewhat more if the function is the first one of a
// goroutine: then that is a bottleneck of its own.
func (s *searcher) shares(stacks []ranStack, f sampledata.FunctionID, callee float64) bool {
	all, own, part := 0.0, 0.0, 0.5
	for _, st := range stacks {
		at := slices.Index(st.path, f)
		if at < 0 {
			continue
		}
		if at == 0 {
			part = mostOfAll
		}
		in := s.e.situations[st.at]
		if stack := in.state.Stack; at == 0 && !s.e.classes[in.class].servesOne() &&
			!s.calledBack(s.e.places.place(s.e.places.own[stack], stack).Path) {
			return false // its loop may be the cause
		}
		if all += st.weight; at == len(st.path)-1 {
			own += st.weight
		}
	}
	return own < (1-mostOf)*all && callee >= part*all &&
		s.verdict(callee/(s.e.length*s.e.processors)) == hotspots.Yes
}

// starter finds out if a function only starts goroutines of
// several classes, each with another function. Then it returns
// the stacks of the class with the most weight, and the function
// that it starts there.
func (s *searcher) starter(stacks []ranStack, function sampledata.FunctionID) (of []ranStack,
	first sampledata.FunctionID, weight float64) {
	by := make(sums)
	for _, st := range stacks {
		switch slices.Index(st.path, function) {
		case -1:
		case 0:
			if len(st.path) > 1 {
				by[s.e.situations[st.at].class] += st.weight
				continue
			}
			return nil, noFunction, 0 // it does something itself
		default:
			return nil, noFunction, 0
		}
	}
	if len(by) < 2 {
		return nil, noFunction, 0
	}
	class := by.most()
	for _, st := range stacks {
		if st.path[0] == function && s.e.situations[st.at].class == class {
			of = append(of, st)
		}
	}
	first, weight = heaviestOf(of,
		func(path []sampledata.FunctionID) []sampledata.FunctionID { return path[1:] })
	return of, first, weight
}

// heaviestOf returns the function with the most weight in the
// chosen parts of the stacks. Of several with the same, it is
// the one that comes first on a stack.
func heaviestOf(stacks []ranStack,
	part func([]sampledata.FunctionID) []sampledata.FunctionID) (sampledata.FunctionID, float64) {
	weights, depth := make(map[sampledata.FunctionID]float64), make(map[sampledata.FunctionID]int)
	for _, st := range stacks {
		functions := part(st.path)
		for i, f := range functions {
			if slices.Index(functions, f) == i {
				weights[f] += st.weight
				depth[f] = max(depth[f], i)
			}
		}
	}
	best := noFunction
	for f, w := range weights {
		if best == noFunction ||
			cmp.Or(cmp.Compare(w, weights[best]), cmp.Compare(depth[best], depth[f]),
				cmp.Compare(best, f)) > 0 {
			best = f
		}
	}
	return best, weights[best]
}

// computing makes a candidate for a function on the processors. Stacks
// may be without garbage; ran are all.
func (s *searcher) computing(f sampledata.FunctionID, stacks, ran []ranStack) *candidate {
	with := func(all []ranStack) (of []ranStack, by sums) {
		by = make(sums)
		for _, st := range all {
			if slices.Contains(st.path, f) {
				of = append(of, st)
				by[s.e.situations[st.at].class] += st.weight
			}
		}
		return of, by
	}
	of, by := with(stacks)
	class := by.most()
	finding := newFinding(ComputeKind, s.e.r.Functions[f].Name).about(s, class)
	finding.Where, finding.Others = s.placeOf(f, of), s.others(by, class)
	allOf, allBy := with(ran)
	s.divide(finding, f, of, allOf, allBy.total())
	finding.PartOf = s.partOf(f, class)
	found := &candidate{f: finding, asks: s.question(finding), bar: s.bar(), least: minMean}
	finding.Severity = s.mean(found.asks)
	found.note = s.leadsOn(found, by.total(), s.leftOut(found))
	return found
}

// leftOut returns the weight of a candidate's garbage, if that
// is a finding of its own, and no callee.
func (s *searcher) leftOut(c *candidate) float64 {
	if !s.garbageApart {
		return 0
	}
	_, weight := weigh(s.e.situations, s.makesGarbage, c.asks.hit)
	return weight
}

// placeOf returns the place of a function: its line with the most weight.
func (s *searcher) placeOf(f sampledata.FunctionID, of []ranStack) Place {
	h := s.e.places.heaviest()
	for _, st := range of {
		stack := s.e.situations[st.at].state.Stack
		for n := stack; n != sampledata.NoStack; n = s.e.r.Nodes[n].Parent {
			if s.e.r.Nodes[n].Function == f {
				h.by[[2]sampledata.NodeID{n, n}] += st.weight
				break
			}
		}
	}
	return h.place()
}

// minPart is the least share of a part of a finding that is shown.
const minPart = 0.15

// divide finds out who calls a function, whom it calls, and what
// it does: the callees and callers are functions of the program,
// and what it does are aspects. If it is none of them, it may be
// functions of the standard library, or of the runtime. Its own stacks
// are in no other finding.
func (s *searcher) divide(f *Finding, function sampledata.FunctionID, own, of []ranStack,
	total float64) {
	callees, library := make(map[string]float64), make(map[string]float64)
	kinds, calls := make(map[string]float64), make(map[string]float64)
	for _, st := range of {
		stack := s.e.situations[st.at].state.Stack
		if i := lastIndex(st.path, function); i+1 < len(st.path) { // within its recursion
			callees[s.e.r.Functions[st.path[i+1]].Name] += st.weight
		} else if called := s.e.places.below(s.e.places.own[stack], stack); called != "" {
			library[called] += st.weight
		}
		if aspect := s.kinds.aspect(s.e.places, stack); aspect != "" {
			kinds[aspect] += st.weight
		}
		if call := s.e.places.kernelCall(stack); call != "" {
			calls[call] += st.weight
		}
	}
	if kinds[s.kinds.names[kernelKind]] >= 0.5*total && s.inKernel(own) {
		f.Kind = SystemCallKind
		f.Calls = parts(calls, total)
	}
	delete(callees, f.Where.Function)
	f.Callers = s.callers(function, of, total)
	if f.Parts = append(parts(callees, total), parts(kinds, total)...); len(f.Parts) == 0 {
		f.Parts = parts(library, total)
	}
	for i := range f.Parts {
		if p := &f.Parts[i]; callees[p.Name] > 0 {
			p.Through = s.entries(p.Name, f.Where.Function)
		}
	}
}

// inKernel reports whether half of some stacks' time is in system calls.
func (s *searcher) inKernel(stacks []ranStack) bool {
	all, in := 0.0, 0.0
	for _, st := range stacks {
		all += st.weight
		if s.kinds.aspect(s.e.places, s.e.situations[st.at].state.Stack) == s.kinds.names[kernelKind] {
			in += st.weight
		}
	}
	return 2*in >= all
}

// lastIndex returns where a function is on a path, the innermost time.
func lastIndex(path []sampledata.FunctionID, f sampledata.FunctionID) int {
	for i, g := range slices.Backward(path) {
		if g == f {
			return i
		}
	}
	return -1
}

// entries returns what a function calls of other modules, and
// nearly all that it runs goes through, if another one has
// called it.
func (s *searcher) entries(function, caller string) []string {
	all := s.passages(func(at *situation) bool {
		return at.usesCPU() && s.on(at, function) && s.on(at, caller)
	})
	if at := slices.Index(all, function); at >= 0 {
		return all[at+1:]
	}
	return nil
}

// callers returns who calls a function, and who calls that one,
// up to the first that has several callers: the shares of the
// last ones are parts of the total.
func (s *searcher) callers(function sampledata.FunctionID, of []ranStack,
	total float64) (chain []Part) {
	for up := 1; ; up++ {
		by := make(map[string]float64)
		for _, st := range of {
			if i := slices.Index(st.path, function) - up; i >= 0 {
				by[s.e.r.Functions[st.path[i]].Name] += st.weight
			}
		}
		list := parts(by, total)
		chain = append(chain, list...)
		if len(list) != 1 || list[0].Share < 0.95 {
			return chain
		}
	}
}

const (
	nearlyAll = 0.8 // of the CPU time of a class
	muchMore  = 1.5 // times the time of a function, if it is a part of something
)

// partOf returns the innermost function of a library that calls
// another one of it, but has much more time, and nearly all of
// its class: what repeats many calls may be the cause, and none
// of them.
func (s *searcher) partOf(f sampledata.FunctionID, class int32) *Part {
	module := s.modules.Of(f)
	if module == views.StdModule || module == s.modules.Main() {
		return nil
	}
	all, above := make(map[sampledata.FunctionID]float64), make(map[sampledata.FunctionID]float64)
	depth, total := make(map[sampledata.FunctionID]int), 0.0
	for _, at := range s.members(class) {
		if !at.usesCPU() || at.state.Stack == sampledata.NoStack {
			continue
		}
		total += at.weight
		path := s.pathOf(at.state.Stack)
		own := slices.Index(path, f)
		for i, g := range path {
			if slices.Index(path, g) < i {
				continue
			}
			if all[g] += at.weight; i < own {
				above[g] += at.weight
				depth[g] = max(depth[g], i)
			}
		}
	}
	best := noFunction
	for g := range above {
		if s.modules.Of(g) == module && above[g] >= mostOf*all[f] && all[g] >= nearlyAll*total &&
			all[g] >= muchMore*all[f] && (best == noFunction ||
			cmp.Or(cmp.Compare(depth[best], depth[g]), cmp.Compare(all[g], all[best]), cmp.Compare(g, best)) < 0) {
			best = g
		}
	}
	if best == noFunction {
		return nil
	}
	return &Part{Name: s.e.r.Functions[best].Name, Share: all[best] / total}
}

// parts returns the larger shares of a total, the largest first.
func parts(weights map[string]float64, total float64) (list []Part) {
	for _, name := range ordered(weights) {
		if w := weights[name]; w >= minPart*total {
			list = append(list, Part{Name: name, Share: w / total})
		}
	}
	return list
}
