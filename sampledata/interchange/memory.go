package interchange

import (
	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/views/calltree"
)

const (
	nodeMemory = 150 // of a node while its tree is built, with one metric, in bytes
	callMemory = 48  // of a call that is open
)

// A treeMemory counts what a tree takes while it is built.
type treeMemory struct {
	budget *memory.Budget
	b      *calltree.Builder
	nodes  int
}

// charge counts the nodes added since its last call, and the
// bytes of names. What else the tree needs while it is built,
// such as open calls, must fit.
func (t *treeMemory) charge(names, calls int) error {
	more := t.b.Len() - t.nodes
	if more == 0 {
		return t.budget.Fits(int64(calls) * callMemory)
	}
	t.nodes += more
	if err := t.budget.Take(int64(more)*nodeMemory + int64(names)); err != nil {
		return err
	}
	return t.budget.Fits(int64(calls) * callMemory)
}
