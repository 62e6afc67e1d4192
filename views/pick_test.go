package views

import (
	"math/big"
	"testing"

	"github.com/cpprof/cpprof/views/calltree"
)

// class makes a summary of nanoseconds by typed time: RUN, LOAD,
// PRIO, MONITOR, WAIT.
func class(name string, hits ...int64) ClassSummary {
	c := ClassSummary{Class: name, Time: new(big.Rat), Idle: calltree.Total{Weight: new(big.Rat), Hits: new(big.Rat)}}
	for t, n := range hits {
		c.Parts[t] = big.NewRat(n, 1)
		c.Time.Add(c.Time, c.Parts[t])
	}
	return c
}

func TestMostHeldUp(t *testing.T) {
	for _, c := range []struct {
		want    string
		classes []ClassSummary
	}{
		{"go:b", []ClassSummary{class("go:a", 90, 1, 1, 1, 0), class("go:b", 0, 2, 1, 1, 0), class("go:c", 0, 0, 0, 3, 900)}},
		{"go:b", []ClassSummary{class("go:a", 1, 0, 0, 0, 9), class("go:b", 12, 0, 1, 0, 0), class("go:c", 12, 0, 0, 0, 0)}},
		{"go:a", []ClassSummary{class("go:a", 0, 0, 0, 0, 2), class("go:b", 0, 0, 0, 0, 2)}},
		{"go:a", []ClassSummary{class("go:runtime.bgsweep", 1, 1, 0, 0, 90), class("go:a", 0, 0, 0, 0, 2)}},
	} {
		if got := MostHeldUp(c.classes).Class; got != c.want {
			t.Errorf("of %v it is %s, want %s", c.classes, got, c.want)
		}
	}
}

// Only shares of each class's own lifetime count: go:a has many
// more hits, but its shares stay the same.
func TestMostChanged(t *testing.T) {
	a := []ClassSummary{class("go:new", 0, 0, 0, 9, 0), class("go:a", 800, 0, 0, 0, 800), class("go:b", 6, 0, 0, 0, 4), class("go:c", 5, 0, 0, 5, 0)}
	b := []ClassSummary{class("go:c", 7, 0, 0, 3, 0), class("go:b", 9, 0, 0, 0, 1), class("go:a", 1, 0, 0, 0, 1), class("go:old", 5, 0, 0, 0, 0)}
	if got, ok := MostChanged(PairClasses(a, b)); got != "go:b" || !ok {
		t.Errorf("it is %q, %v, want go:b", got, ok)
	}
	pairs := PairClasses(a, b)
	if got, want := pairs[2].Moved(), big.NewRat(3, 10); got.Cmp(want) != 0 {
		t.Errorf("go:b moved %v, want %v", got, want)
	}
	if n := len(pairs); n != 5 || pairs[0].Common() || pairs[0].Moved() != nil || pairs[4].Class != "go:old" || pairs[4].New != nil || pairs[3].Old != &b[0] {
		t.Errorf("the pairs are %+v", pairs)
	}
	if got, ok := MostChanged(PairClasses(a[:1], b)); ok {
		t.Errorf("of recordings without a common class it is %q", got)
	}
	if got, ok := MostChanged(PairClasses(a, a)); got != "go:new" || !ok {
		t.Errorf("of equals it is %q, %v, want the first", got, ok)
	}
}

func TestOnlyIdle(t *testing.T) {
	for _, c := range []struct {
		class ClassSummary
		want  bool
	}{
		{class("go:runtime.bgsweep", 5, 0, 0, 0, 95), true},
		{class("go:runtime.bgsweep", 6, 0, 0, 0, 94), false},
		{class("go:runtime.bgsweep", 5, 40, 30, 0, 25), true},
		{class("go:main.sweep", 5, 40, 30, 0, 25), false},
		{class("go:runtime.main", 0, 0, 0, 0, 1), false},
		{class("go:main.main", 0, 0, 0, 0, 1), false},
	} {
		if got := c.class.OnlyIdle(); got != c.want {
			t.Errorf("%v: %v", c.class, got)
		}
	}
}
