package views

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
)

// Candidates makes a tree of the goroutines that a thread class
// may wait for, other than for locks. The tree is a part of the
// class's Thread View: the waits that have candidates in the
// recording. Below each wait's reason are the candidates'
// classes. Below these are the lines that the candidates
// execute: "main.feed:31". Hits count candidates: a goroutine
// with two candidates in one sample adds two. The hits are no
// costs.
func Candidates(r *sampledata.Recording, class string, o Options) (*calltree.Tree, error) {
	from, to, err := o.samples(r)
	if err != nil {
		return nil, fmt.Errorf("candidates that %s may wait for: %w", class, err)
	}
	p := &candidateTree{r: r, classes: newClasses(r, o), runs: r.RunsByGoroutine(),
		tree: calltree.NewBuilder(new(calltree.Symbols), class, "candidates", "samples")}
	p.stacks = newStacks(r, o, p.tree)
	of := p.classes.names.Number(class)
	var total int64
	for i, run := range r.Runs.All() {
		if !r.Counts(i) || !DoingOf(run).Waits() || run.Holders == 0 || p.classes.of(run) != of {
			continue
		}
		total += p.place(run, max(from, run.First), min(to-1, run.Last))
	}
	p.tree.SetDenominator(0, new(big.Rat).SetInt64(max(total, 1)))
	return p.tree.Tree()
}

// A candidateTree makes the tree of Candidates.
type candidateTree struct {
	r       *sampledata.Recording
	classes *classes
	tree    *calltree.Builder
	stacks  *stacks
	runs    lists.Groups[sampledata.GoroutineID]
}

// place adds the candidates of a run in the samples from first
// to last, and returns their hits.
func (p *candidateTree) place(run sampledata.Run, first, last int32) (total int64) {
	if first > last {
		return 0
	}
	syms := p.tree.Symbols()
	wait := p.tree.Child(p.stacks.node(0, run.Stack), syms.Intern(Wait.String()))
	wait = p.tree.Child(wait, syms.Intern(ReasonFrame(run.Reason)))
	for _, g := range p.r.HolderSets[run.Holders] {
		for _, i := range p.runs.Of(g) {
			other := p.r.Runs.At(int(i))
			n := int64(min(last, other.Last)) - int64(max(first, other.First)) + 1
			if n <= 0 {
				continue
			}
			node := p.tree.Child(wait, syms.Intern(p.classes.names.All[p.classes.of(other)]))
			p.tree.Add(0, p.tree.Child(node, syms.Intern(p.line(other.Stack))), n, 1)
			total += n
		}
	}
	return total
}

// machinery has prefixes of function names. A function with one
// of them says less about a goroutine's activity than its
// caller. The caller of reflect's Select has chosen its cases.
var machinery = []string{"runtime.", "internal/", "sync.", "syscall.", "time.", "runtime/internal/", "reflect.rselect", "reflect.Select"}

// costly has functions of the runtime that programs call for what they
// return, and that take long.
var costly = strings.Fields("runtime.Caller runtime.Callers runtime.(*Frames).Next runtime.Stack runtime.GC " +
	"runtime.ReadMemStats runtime.GoroutineProfile")

// Machinery reports whether a function says less about a goroutine's activity
// than its caller.
func Machinery(function string) bool {
	return words.HasPrefix(function, machinery...) && !slices.Contains(costly, function)
}

// standard has the first elements of the import paths of the
// standard library.
var standard = strings.Fields(`archive bufio bytes cmp compress container context crypto database debug embed encoding errors
	expvar flag fmt go hash html image index internal io iter log maps math mime net os path plugin reflect regexp runtime
	slices sort strconv strings structs sync syscall testing text time unicode unique unsafe vendor weak`)

// extending matches the libraries that only extend the standard library's
// packages syscall and sync.
var extending = []string{"golang.org/x/sys/", "golang.org/x/sync/"}

// IsOwn reports whether a function is none of the standard library.
func IsOwn(function string) bool {
	if words.HasPrefix(function, extending...) {
		return false
	}
	end := strings.IndexAny(function, "/([") // a dot before a slash is a host's, as in go.uber.org/
	if end < 0 || function[end] != '/' {
		end = strings.IndexByte(function, '.')
	}
	return end > 0 && !slices.Contains(standard, function[:end])
}

// line returns the name of the line that a goroutine executes.
func (p *candidateTree) line(stack sampledata.NodeID) string {
	n := InformativeFrame(p.r, stack)
	if n == sampledata.NoStack {
		return "?"
	}
	return frameName(&p.r.Functions[p.r.Nodes[n].Function], p.r.Nodes[n].Line, ByLine)
}

// InformativeFrame returns the frame of a stack that best
// describes its goroutine's activity: the innermost one that is
// not of the runtime, nor machinery of the standard library or, if
// there is none, the innermost one; NoStack for no stack.
func InformativeFrame(r *sampledata.Recording, stack sampledata.NodeID) sampledata.NodeID {
	n := r.Innermost(stack, func(name string) bool { return !Machinery(name) && !strings.HasPrefix(name, "runtime.") })
	if n == sampledata.NoStack {
		return stack
	}
	return n
}
