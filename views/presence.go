package views

import (
	"fmt"

	"github.com/cpprof/cpprof/internal/intern"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
)

// A Presence says in which samples goroutines were at which
// nodes of a call tree.
type Presence struct {
	// Tree has the stacks of all goroutines below its root "*",
	// and the states below the stacks: :RUN, :LOAD, :MONITOR, or
	// :WAIT and the reason. It divides no time: a runnable
	// goroutine is in :LOAD. A node weighs as much as goroutines
	// were in it, summed over the samples.
	Tree *calltree.Tree

	Classes []string
	Kinds   []StayKind
	Stays   []Stay // one for each of the recording's runs, in their order
}

// A Stay is a goroutine that stays in one state at one node, for
// some samples. There can be many millions.
type Stay struct {
	Node        int32 // of Tree: the state, or the reason of a :WAIT
	Kind        int32 // index of Presence.Kinds
	First, Last int32 // samples
}

// A StayKind is a thread class, an index of Presence.Classes,
// and a state of its goroutines.
type StayKind struct {
	Class int32
	State TypedTime
}

// NewPresence finds where the goroutines of a recording were.
// The span of the options doesn't matter.
func NewPresence(r *sampledata.Recording, o Options) (*Presence, error) {
	syms := new(calltree.Symbols)
	b := calltree.NewBuilder(syms, calltree.RootName, "goroutines", "samples")
	stacks, classes := newStacks(r, o, b), newClasses(r, o)
	p := &Presence{Stays: make([]Stay, 0, r.Runs.Len())}
	var typed [NumTypedTimes]calltree.Func
	for t := range NumTypedTimes {
		typed[t] = syms.Intern(t.String())
	}
	reasons := make(map[string]calltree.Func)
	var kinds intern.List[StayKind, int32]
	for _, run := range r.Runs.All() {
		node := stacks.node(0, run.Stack)
		state := DoingOf(run).Time()
		node = b.Child(node, typed[state])
		if state == Wait {
			node = b.Child(node, lists.Made(reasons, run.Reason,
				func() calltree.Func { return syms.Intern(ReasonFrame(run.Reason)) }))
		}
		if b.Len() > maxNodes {
			return nil, fmt.Errorf("the call tree grows beyond %d nodes: choose a coarser granularity", maxNodes)
		}
		b.Add(0, node, int64(run.Last-run.First)+1, 1)
		p.Stays = append(p.Stays, Stay{Node: node, First: run.First, Last: run.Last,
			Kind: kinds.Number(StayKind{int32(classes.of(run)), state})})
	}
	t, at, err := b.Numbered()
	if err != nil {
		return nil, err
	}
	for i := range p.Stays {
		p.Stays[i].Node = at[p.Stays[i].Node]
	}
	p.Kinds = kinds.All
	p.Tree, p.Classes = t, classes.names.All
	return p, nil
}
