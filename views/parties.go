package views

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/sampledata"
)

// Parties makes a tree of the goroutines that those of a thread class may wait for where they wait for no lock: the part of the
// class's Thread View with waits of which the recording names candidates, and below each wait's reason the candidates' classes,
// and below these where they stand: "main.feed:31". Hits are the candidates': a goroutine that has two of them in one sample
// has two. They are no costs.
func Parties(r *sampledata.Recording, class string, o Options) (*calltree.Tree, error) {
	from, to, err := o.samples(r)
	if err != nil {
		return nil, fmt.Errorf("candidates that %s may wait for: %w", class, err)
	}
	p := &parties{r: r, classes: newClasses(r, o), tree: calltree.NewBuilder(new(calltree.Symbols), class, "candidates", "samples")}
	p.stacks = newStacks(r, o, p.tree)
	p.runs = make([][]int32, len(r.Goroutines))
	for i := range r.Runs.All() {
		if run := r.Runs.At(int(i)); run.Last >= from && run.First < to {
			p.runs[run.Goroutine] = append(p.runs[run.Goroutine], int32(i))
		}
	}
	of := p.classes.intern(class)
	var total int64
	for _, run := range r.Runs.All() {
		if run.Run != sampledata.Waiting || run.Evidence != sampledata.Ambiguous || p.classes.of(run) != of {
			continue
		}
		total += p.place(run, max(from, run.First), min(to-1, run.Last))
	}
	p.tree.SetDenominator(0, new(big.Rat).SetInt64(max(total, 1)))
	return p.tree.Tree()
}

// parties is what the tree of Parties is made with.
type parties struct {
	r       *sampledata.Recording
	classes *classes
	tree    *calltree.Builder
	stacks  *stacks
	runs    [][]int32 // by goroutine, in their order
}

// place adds the candidates of a run in the samples from first to last, and returns their hits.
func (p *parties) place(run sampledata.Run, first, last int32) (total int64) {
	if first > last {
		return 0
	}
	syms := p.tree.Symbols()
	wait := p.tree.Child(p.stacks.node(0, run.Stack), syms.Intern(Wait.String()))
	wait = p.tree.Child(wait, syms.Intern(reasonFrame(run.Reason)))
	for _, g := range p.r.HolderSets[run.Holders] {
		for _, i := range p.runs[g] {
			other := p.r.Runs.At(int(i))
			n := int64(min(last, other.Last)) - int64(max(first, other.First)) + 1
			if n <= 0 {
				continue
			}
			node := p.tree.Child(wait, syms.Intern(p.classes.names[p.classes.of(other)]))
			p.tree.Add(0, p.tree.Child(node, syms.Intern(p.stands(other.Stack))), n, 1)
			total += n
		}
	}
	return total
}

// machinery has the beginnings of the names of functions that say less of what a goroutine does than who calls them.
var machinery = []string{"runtime.", "internal/", "sync.", "syscall.", "time."}

// stands names the line on which a goroutine stands.
func (p *parties) stands(stack sampledata.NodeID) string {
	n := Standing(p.r, stack)
	if n == sampledata.NoStack {
		return "?"
	}
	return frameName(&p.r.Functions[p.r.Nodes[n].Function], p.r.Nodes[n].Line, ByLine)
}

// Standing returns the frame of a stack that says best what its goroutine does: the innermost one that is not the machinery of
// runtime and standard library, or where there is no such frame, the innermost one; NoStack of no stack.
func Standing(r *sampledata.Recording, stack sampledata.NodeID) sampledata.NodeID {
	for n := stack; n != sampledata.NoStack; n = r.Nodes[n].Parent {
		name := r.Functions[r.Nodes[n].Function].Name
		if !slices.ContainsFunc(machinery, func(head string) bool { return strings.HasPrefix(name, head) }) {
			return n
		}
	}
	return stack
}
