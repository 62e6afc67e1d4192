package calls

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A Proposal is a function whose calls are the pieces of work of
// a thread class: its goroutines are in it for most of their
// work, and never as they wait for the next piece.
type Proposal struct {
	*Table
	Class string
	Share float64 // of the class's work that is in the calls
}

const (
	mostWork     = 0.5  // the least share of the work of a class
	leastOutside = 0.01 // the share of the waiting for work that may be in the function
	mostProposed = 10
	mostClasses  = 30
	eachProposed = 2 // functions of a class: the outermost, and the outermost of the program's own
)

// work is what a class does in a function.
type work struct{ busy, idle float64 }

// A proposer sums up what a class does, by function.
type proposer struct {
	all   work
	reads bool // it was only seen to wait for I/O: for the next piece of work, perhaps
	in    map[sampledata.FunctionID]*work
	depth map[sampledata.FunctionID]int // the least depth of a frame
}

// Propose returns functions whose calls are worth a look: those
// that the configuration names, then the others with most work.
func Propose(r *sampledata.Recording, o views.Options) ([]Proposal, error) {
	classOf := views.ClassOf(r, o)
	idle, _ := views.WaitsFor(r, o)
	weights := r.Weights()
	type state struct {
		class string
		stack sampledata.NodeID
		does  views.Doing
		idle  bool
	}
	states := make(map[state]float64)
	from, to, err := o.Span.Samples(r)
	if err != nil {
		return nil, err
	}
	for _, run := range r.Runs.All() {
		first, end := max(run.First, from), min(run.Last+1, to)
		if first >= end {
			continue
		}
		if run.Stack != sampledata.NoStack && !run.Torn && !r.Goroutines.At(run.Goroutine).System {
			states[state{classOf(run), run.Stack, views.DoingOf(run), idle(run)}] +=
				float64(weights.Of(int(first), int(end)))
		}
	}
	classes := make(map[string]*proposer)
	for s, weight := range states {
		if classes[s.class] == nil {
			classes[s.class] = &proposer{in: make(map[sampledata.FunctionID]*work),
				depth: make(map[sampledata.FunctionID]int), reads: true}
		}
		classes[s.class].reads = classes[s.class].reads && s.does == views.AwaitingIO
		classes[s.class].add(r, s.stack, s.idle, weight)
	}
	rests := restsOf(classes)
	named := func(name string) bool { return o.Request != nil && o.Request(name) }
	var list []Proposal
	tables := make(map[sampledata.FunctionID]*Table)
	for _, class := range busiest(classes) {
		p := classes[class]
		for _, f := range slices.Concat(p.named(r, named), p.best(r, rests)) {
			if tables[f] == nil {
				t, err := Of(r, r.Functions[f].Name)
				if err != nil {
					return nil, err
				}
				tables[f] = t.During(o.Span)
			}
			if t := tables[f]; t.Whole() > 0 {
				list = append(list, Proposal{t, class, p.in[f].busy / p.all.busy})
			}
		}
	}
	slices.SortFunc(list, func(a, b Proposal) int {
		if named(a.Function) != named(b.Function) {
			return map[bool]int{true: -1, false: 1}[named(a.Function)]
		}
		return cmp.Or(cmp.Compare(b.Whole()-b.Short(), a.Whole()-a.Short()),
			cmp.Compare(b.Whole(), a.Whole()), cmp.Compare(a.Function, b.Function),
			cmp.Compare(a.Class, b.Class))
	})
	list = slices.CompactFunc(list, func(a, b Proposal) bool { return a.Function == b.Function })
	return list[:min(len(list), mostProposed)], nil
}

// busiest returns the classes with most work.
func busiest(all map[string]*proposer) []string {
	list := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(cmp.Compare(all[b].all.busy, all[a].all.busy), cmp.Compare(a, b))
	})
	return list[:min(len(list), mostClasses)]
}

// add adds the time of a stack.
func (p *proposer) add(r *sampledata.Recording, stack sampledata.NodeID, idle bool, weight float64) {
	var frames []sampledata.FunctionID // outermost first
	for n := stack; n != sampledata.NoStack; n = r.Nodes[n].Parent {
		frames = append(frames, r.Nodes[n].Function)
	}
	slices.Reverse(frames)
	p.all.add(idle, weight)
	for depth, f := range frames {
		if slices.Index(frames, f) < depth {
			continue // it calls itself
		}
		if p.in[f] == nil {
			p.in[f], p.depth[f] = new(work), depth
		}
		p.in[f].add(idle, weight)
		p.depth[f] = min(p.depth[f], depth)
	}
}

func (w *work) add(idle bool, weight float64) {
	if idle {
		w.idle += weight
	} else {
		w.busy += weight
	}
}

// named returns the functions that the configuration names, those with most
// work first.
func (p *proposer) named(r *sampledata.Recording, is func(string) bool) (list []sampledata.FunctionID) {
	for f, w := range p.in {
		if w.busy > 0 && is(r.Functions[f].Name) {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b sampledata.FunctionID) int {
		return cmp.Or(cmp.Compare(p.in[b].busy, p.in[a].busy), cmp.Compare(a, b))
	})
	return list[:min(len(list), mostProposed)]
}

// restsOf returns the functions in which a class waits for work.
// Other classes may work in them, but their calls are listed
// together.
func restsOf(all map[string]*proposer) map[sampledata.FunctionID]bool {
	rests := make(map[sampledata.FunctionID]bool)
	for _, p := range all {
		for f, w := range p.in {
			rests[f] = rests[f] || w.idle > leastOutside*p.all.idle
		}
	}
	return rests
}

// best returns the outermost function that has most of the work,
// and in which nobody waits for work, and the outermost of the
// program's own below it.
func (p *proposer) best(r *sampledata.Recording, rests map[sampledata.FunctionID]bool) (list []sampledata.FunctionID) {
	if p.reads {
		return nil
	}
	var all []sampledata.FunctionID
	for f, w := range p.in {
		name := r.Functions[f].Name
		if w.busy >= mostWork*p.all.busy && w.busy > 0 && !rests[f] && !views.Machinery(name) {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b sampledata.FunctionID) int {
		return cmp.Or(cmp.Compare(p.depth[a], p.depth[b]), cmp.Compare(a, b))
	})
	for _, f := range all {
		if len(list) == 0 || len(list) < eachProposed && views.IsOwn(r.Functions[f].Name) &&
			!views.IsOwn(r.Functions[list[0]].Name) {
			list = append(list, f)
		}
	}
	return list
}
