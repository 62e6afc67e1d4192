package why

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
)

// A Place is where in the program something happens.
type Place struct {
	Function string `json:"function"` // the innermost function of the program's own
	// the function that calls it; "" if it is the goroutine's first
	Caller string `json:"caller,omitempty"`
	File   string `json:"file,omitempty"` // with the line that is executed there most
	Line   int32  `json:"line,omitempty"` //
	// the function of the standard library that it calls there; "" if none
	Library string `json:"library,omitempty"`
	// the functions from the goroutine's first to Function
	Path []string `json:"path,omitempty"`

	ShortFile string `json:"-"` // the end of File that tells it from other files

	stack sampledata.NodeID // an example
}

// places finds the places of stacks. All is by node of the recording.
type places struct {
	r     *sampledata.Recording
	short func(file string) string
	// the innermost frame of the program's own code, or of a
	// library if there is none
	own   []sampledata.NodeID
	spins bool // some stack has runtime.Gosched
}

func newPlaces(r *sampledata.Recording) *places {
	p := &places{r: r, short: views.ShortFiles(r), own: make([]sampledata.NodeID, len(r.Nodes))}
	own := make([]bool, len(r.Functions))
	for f := range r.Functions {
		own[f] = views.IsOwn(r.Functions[f].Name)
		p.spins = p.spins || r.Functions[f].Name == gosched
	}
	telling := make([]sampledata.NodeID, len(r.Nodes)) // the innermost frame that is no machinery
	for n := range r.Nodes {
		node := &r.Nodes[n]
		p.own[n], telling[n] = sampledata.NoStack, sampledata.NoStack
		if node.Parent != sampledata.NoStack {
			p.own[n], telling[n] = p.own[node.Parent], telling[node.Parent]
		}
		name := r.Functions[node.Function].Name
		switch {
		case own[node.Function]:
			p.own[n], telling[n] = sampledata.NodeID(n), sampledata.NodeID(n)
		case strings.HasPrefix(name, "sync."):
			if p.own[n] == node.Parent { // a method Lock waits for its caller
				p.own[n] = p.caller(node.Parent)
			}
		case !views.Machinery(name):
			telling[n] = sampledata.NodeID(n)
		}
	}
	for n := range p.own {
		switch {
		case p.own[n] != sampledata.NoStack:
		case telling[n] != sampledata.NoStack:
			p.own[n] = telling[n]
		default:
			p.own[n] = sampledata.NodeID(n)
		}
	}
	return p
}

// caller returns the frame that calls a function which takes
// locks for its callers, or else the function's own.
func (p *places) caller(n sampledata.NodeID) sampledata.NodeID {
	if n == sampledata.NoStack || !locks.TakesForCallers(p.function(n)) {
		return n
	}
	if above := p.r.Nodes[n].Parent; above != sampledata.NoStack && p.own[above] != sampledata.NoStack {
		return p.own[above]
	}
	return n
}

// function returns the name of the function of a node.
func (p *places) function(n sampledata.NodeID) string { return p.r.NameAt(n) }

// at returns the function of the program's own in which a stack ends.
func (p *places) at(stack sampledata.NodeID) string {
	if stack == sampledata.NoStack {
		return ""
	}
	return p.function(p.own[stack])
}

// place describes the frame of a node, as a part of a stack.
func (p *places) place(n, stack sampledata.NodeID) Place {
	if n == sampledata.NoStack {
		return Place{Function: "?"}
	}
	node := &p.r.Nodes[n]
	fn := &p.r.Functions[node.Function]
	at := Place{Function: fn.Name, File: fn.File, ShortFile: p.short(fn.File), Line: node.Line,
		Library: p.library(n, stack), stack: stack}
	for above := node.Parent; above != sampledata.NoStack; above = p.r.Nodes[above].Parent {
		name := p.function(above)
		if name == bootstrap {
			break
		}
		at.Caller = cmp.Or(at.Caller, name)
		at.Path = append(at.Path, name)
	}
	slices.Reverse(at.Path)
	at.Path = append(at.Path, fn.Name)
	return at
}

// bootstrap is the runtime's frame below which every goroutine starts.
const bootstrap = "runtime.goexit"

// library returns the last function between a node and the end
// of a stack that is no machinery: what the function of the
// program calls there. It is "" if the program's function itself
// is at the end.
func (p *places) library(n, stack sampledata.NodeID) string {
	for at := stack; at != n && at != sampledata.NoStack; at = p.r.Nodes[at].Parent {
		if name := p.function(at); !views.Machinery(name) {
			return name
		}
	}
	return ""
}

// below returns what the function at a node of a stack calls: what is
// no machinery of the runtime, if there is such a function.
func (p *places) below(n, stack sampledata.NodeID) string {
	called, machinery := "", ""
	for at := stack; at != n && at != sampledata.NoStack; at = p.r.Nodes[at].Parent {
		if machinery = p.function(at); !views.Machinery(machinery) {
			called = machinery
		}
	}
	return cmp.Or(called, machinery)
}

// above reports whether one of the functions from the
// goroutine's first down to a node has a property.
func (p *places) above(n sampledata.NodeID, is func(function string) bool) bool {
	return p.r.Innermost(n, is) != sampledata.NoStack
}

// through reports whether a stack passes through a function.
func (p *places) through(stack sampledata.NodeID, function string) bool {
	return p.above(stack, func(name string) bool { return name == function })
}

// past reports whether a stack is further on in a function than
// another: where they part, it executes a later line.
func (p *places) past(stack, other sampledata.NodeID, function string) bool {
	x, y := p.inside(stack, function), p.inside(other, function)
	for i := range min(len(x), len(y)) {
		a, b := &p.r.Nodes[x[i]], &p.r.Nodes[y[i]]
		if a.Function != b.Function || a.Line != b.Line {
			return a.Function == b.Function && a.Line > b.Line && b.Line > 0
		}
	}
	return false
}

// inside returns the frames of a stack from a function's
// outermost call inward.
func (p *places) inside(stack sampledata.NodeID, function string) []sampledata.NodeID {
	var all []sampledata.NodeID
	length := 0
	for n := stack; n != sampledata.NoStack; n = p.r.Nodes[n].Parent {
		all = append(all, n)
		if p.function(n) == function {
			length = len(all)
		}
	}
	all = all[:length]
	slices.Reverse(all)
	return all
}

// heaviest finds the place that has the most weight.
type heaviest struct {
	places *places
	by     map[[2]sampledata.NodeID]float64
}

func (p *places) heaviest() *heaviest {
	return &heaviest{p, make(map[[2]sampledata.NodeID]float64)}
}

// add adds the weight of a stack, unless it is not known.
func (h *heaviest) add(stack sampledata.NodeID, weight float64) {
	if stack != sampledata.NoStack {
		h.by[[2]sampledata.NodeID{h.places.own[stack], stack}] += weight
	}
}

// within returns the share of the weight that has a function on
// the stack; 1 if there is no stack.
func (h *heaviest) within(function string) float64 {
	within, all := 0.0, 0.0
	for k, w := range h.by {
		all += w
		if h.places.through(k[0], function) {
			within += w
		}
	}
	if all == 0 {
		return 1
	}
	return within / all
}

// calls returns the share of what the function of a place calls that is
// the same as there.
func (h *heaviest) calls(p *Place) float64 {
	there, all := 0.0, 0.0
	for k, w := range h.by {
		if h.places.function(k[0]) != p.Function {
			continue
		}
		if all += w; h.places.library(k[0], k[1]) == p.Library {
			there += w
		}
	}
	return there / max(all, 1)
}

// place returns the place with the most weight: first the
// function with its caller that has the most, then its line,
// then what is called there.
func (h *heaviest) place() Place {
	type call struct{ function, caller string }
	calls := make(map[call]float64)
	describe := func(k [2]sampledata.NodeID) call {
		if k[0] == sampledata.NoStack {
			return call{}
		}
		c := call{function: h.places.function(k[0])}
		if above := h.places.r.Nodes[k[0]].Parent; above != sampledata.NoStack {
			c.caller = h.places.function(above)
		}
		return c
	}
	for k, w := range h.by {
		calls[describe(k)] += w
	}
	if len(h.by) == 0 {
		return Place{Function: "?"}
	}
	best := slices.MaxFunc(slices.Collect(maps.Keys(h.by)), func(a, b [2]sampledata.NodeID) int {
		return cmp.Or(cmp.Compare(calls[describe(a)], calls[describe(b)]),
			cmp.Compare(h.by[a], h.by[b]), slices.Compare(b[:], a[:]))
	})
	return h.places.place(best[0], best[1])
}
