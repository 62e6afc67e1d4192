package refine

import (
	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/views/calltree"
)

// Labelled returns the tree of the stacks that satisfy at least
// one label. There must be a label. In this tree, the cost of
// any other path is its overlap with the labels. Denominators
// stay.
func Labelled(t *calltree.Tree, m *calltree.Membership, labels []callpath.Path) *calltree.Tree {
	each := lists.Each(labels,
		func(p callpath.Path) callpath.Expr { return callpath.Expr{Op: callpath.OpPath, Path: p} })
	return Prune(t, m, callpath.Expr{Op: callpath.OpOr, Args: each})
}
