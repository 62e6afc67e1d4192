package views

import (
	"cmp"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
)

// A Call is a call from one function to another, by name.
type Call struct {
	Caller, Callee string
}

// inlined returns the calls that are inlined at least once in
// any of the recordings.
func inlined(recordings ...*sampledata.Recording) map[Call]bool {
	calls := make(map[Call]bool)
	for _, r := range recordings {
		for call, way := range waysOfCalls(r) {
			if way.inlined {
				calls[call] = true
			}
		}
	}
	return calls
}

// inliningChanges returns the calls that are inlined everywhere
// in one of two recordings and nowhere in the other one, sorted
// by name.
func inliningChanges(a, b *sampledata.Recording) []Call {
	before := waysOfCalls(a)
	var changed []Call
	for call, now := range waysOfCalls(b) {
		was, common := before[call]
		if common && was != now && !was.mixed() && !now.mixed() {
			changed = append(changed, call)
		}
	}
	slices.SortFunc(changed, func(a, b Call) int {
		return cmp.Or(cmp.Compare(a.Callee, b.Callee), cmp.Compare(a.Caller, b.Caller))
	})
	return changed
}

// A wayOfCall says how a call is made, over all its occurrences.
type wayOfCall struct {
	inlined, called bool
}

func (w wayOfCall) mixed() bool { return w.inlined && w.called }

func waysOfCalls(r *sampledata.Recording) map[Call]wayOfCall {
	ways := make(map[Call]wayOfCall)
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if n.Parent == sampledata.NoStack {
			continue
		}
		call := callOf(r, n)
		w := ways[call]
		w.inlined = w.inlined || n.Inlined
		w.called = w.called || !n.Inlined
		ways[call] = w
	}
	return ways
}

func callOf(r *sampledata.Recording, n *sampledata.Node) Call {
	caller := r.Nodes[n.Parent].Function
	return Call{r.Functions[caller].Name, r.Functions[n.Function].Name}
}

// mergedIntoCaller reports whether a frame is left out because its function
// was inlined.
func (o Options) mergedIntoCaller(r *sampledata.Recording, n *sampledata.Node) bool {
	if !o.NoInlines || n.Parent == sampledata.NoStack {
		return false
	}
	return n.Inlined || len(o.AlsoInlined) > 0 && o.AlsoInlined[callOf(r, n)]
}
