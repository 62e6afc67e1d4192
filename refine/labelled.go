package refine

import (
	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/views/calltree"
)

// Labelled returns the tree of the stacks that satisfy at least one of the labels; there must be at least one label. The
// cost of any other path in it is the overlap of that path with the labels. Denominators stay.
func Labelled(t *calltree.Tree, m *calltree.Membership, labels []callpath.Path) *calltree.Tree {
	var each []callpath.Expr
	for _, p := range labels {
		each = append(each, callpath.Expr{Op: callpath.OpPath, Path: p})
	}
	if len(each) == 1 {
		return Prune(t, m, each[0])
	}
	return Prune(t, m, callpath.Expr{Op: callpath.OpOr, Args: each})
}
