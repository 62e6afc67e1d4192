// Package bigtree makes large call trees for benchmarks. The same arguments
// always make the same tree.
package bigtree

import (
	"fmt"
	"math/rand/v2"

	"github.com/cpprof/cpprof/views/calltree"
)

// Packages is the number of packages of the functions of a tree.
// Function i is "pkgK.fI" with K = i mod Packages.
const Packages = 50

// New makes a call tree with the given numbers of nodes and
// functions. It is about 34 deep on average, like the largest
// tree of the BOTTLENECKS paper. Leaves and some inner nodes
// have 1 to 9 hits. A fifth of the calls go to a tenth of the
// functions, and a few are recursive.
func New(nodes, functions int) *calltree.Tree {
	r := rand.New(rand.NewPCG(1, uint64(nodes)))
	b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "time", "samples")
	names := make([]calltree.Func, functions)
	for i := range names {
		names[i] = b.Symbols().Intern(Function(i))
	}
	at, depth := []int32{0}, 0
	for b.Len() < nodes {
		// A random walk that mostly goes down near the root, and
		// mostly up when it is deep, stays about 34 deep.
		if depth > 0 && r.IntN(119) < depth {
			up := 1 + r.IntN(min(depth, 4))
			b.Add(0, at[depth], int64(1+r.IntN(9)), 1)
			depth -= up
			at = at[:depth+1]
			continue
		}
		f := names[r.IntN(functions)]
		switch r.IntN(10) {
		case 0, 1:
			f = names[r.IntN(functions/10+1)]
		case 2:
			f = names[(int(at[depth])+1)%functions]
		}
		at = append(at, b.Child(at[depth], f))
		depth++
	}
	b.Add(0, at[depth], 1, 1)
	t, err := b.Tree()
	if err != nil {
		panic(err) // only if there are more nodes than an int32 can count
	}
	return t
}

// Function returns the name of function i of a tree.
func Function(i int) string { return fmt.Sprintf("pkg%d.f%d", i%Packages, i) }

// Membership makes an aspect "@pkgK" for every package of a tree.
func Membership(t *calltree.Tree) *calltree.Membership {
	names := make([]string, Packages)
	for i := range names {
		names[i] = fmt.Sprintf("@pkg%d", i)
	}
	return calltree.NewMembership(t.Symbols(), names, func(set int, function string) bool {
		prefix := names[set][1:] + "."
		return len(function) > len(prefix) && function[:len(prefix)] == prefix
	})
}
