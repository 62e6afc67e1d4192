package report

import (
	"math/big"

	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/views"
)

// Title returns the title of a view, from the root of its tree, the options with which it was made, and the share of
// waiting for work that it lacks, for example "Thread View of go:main.worker (observed accounting, without 93.9 % that
// waited for work)".
func Title(root string, o views.Options, idle *big.Rat) string {
	name := "Server View"
	if root != calltree.RootName {
		name = "Thread View of " + root
	}
	name += " (" + o.Accounting.String() + " accounting"
	if o.Granularity != views.ByFunction {
		name += ", by " + o.Granularity.String()
	}
	if idle.Sign() > 0 {
		name += ", without " + percent(idle) + " that waited for work"
	}
	return Part(name, o.Span) + ")"
}

// Part adds a span to a name: "run.cpprof, from 2s to 3.5s".
func Part(of string, s views.Span) string {
	if s == (views.Span{}) {
		return of
	}
	return of + ", " + s.String()
}
