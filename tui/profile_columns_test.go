package tui

import (
	"math/big"
	"testing"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// The cost of an entry in typed time is in the column of that typed time.
func TestSplitOfTypedTime(t *testing.T) {
	b := calltree.NewBuilder(new(calltree.Symbols), "go:main.f", "time", "samples")
	b.SetDenominator(0, big.NewRat(10, 1))
	for _, stack := range [][]string{
		{":RUN"}, {":LOAD", ":idle-processor"}, {":PRIO", ":runtime"}, {":PRIO", ":stopped-world"}, {":PRIO", "go:main.g"},
		{":MONITOR", ":unknown-holder"}, {":MONITOR", "go:main.g", ":cut"}, {":MONITOR", "go:main.g", ":deadlock"},
		{":MONITOR", "go:main.g", ":WAIT", ":sleep"}, {":WAIT", ":runtime"},
	} {
		var n int32
		for _, frame := range stack {
			n = b.Child(n, b.Symbols().Intern(frame))
		}
		b.Add(0, n, 1, 1)
	}
	tree := fixture.Must(b.Tree())(t)
	for text, want := range map[string][views.NumTypedTimes]int64{
		"go:main.f":                                   {1, 1, 3, 4, 1},
		"go:main.f :LOAD :idle-processor":             {views.Load: 1},
		"go:main.f :PRIO":                             {views.Prio: 3},
		"go:main.f :PRIO :runtime":                    {views.Prio: 1},
		"go:main.f ..:PRIO :stopped-world":            {views.Prio: 1},
		"go:main.f :PRIO go:main.g":                   {views.Prio: 1},
		"go:main.f :MONITOR :unknown-holder":          {views.Monitor: 1},
		"go:main.f :MONITOR go:main.g :cut":           {views.Monitor: 1},
		"go:main.f ..:MONITOR go:main.g :deadlock":    {views.Monitor: 1},
		"go:main.f ..:MONITOR go:main.g :WAIT":        {views.Wait: 1},
		"go:main.f ..:MONITOR go:main.g :WAIT :sleep": {views.Wait: 1},
		"go:main.f :WAIT :runtime":                    {views.Wait: 1},
	} {
		p := fixture.Must(callpath.Parse(text))(t)
		got := splits(tree, calltree.NewMembership(tree.Symbols(), nil, nil), []callpath.Path{p})[0]
		for typed, cost := range got {
			if cost.Cmp(big.NewRat(want[typed], 10)) != 0 {
				t.Errorf("%s: %v of %v, want %d/10", text, cost, views.TypedTime(typed), want[typed])
			}
		}
	}
}
