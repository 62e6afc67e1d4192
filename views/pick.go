package views

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
)

// MostHeldUp returns the class whose goroutines spent most time
// waiting for locks and processors, if that is a tenth at least
// of what they do other than wait for work. Else it returns the
// class that does most other than that. Of equal classes it
// returns the first. There must be at least one class.
func MostHeldUp(classes []ClassSummary) *ClassSummary {
	held := most(classes, (*ClassSummary).heldUp)
	tenth := held.active()
	if held.heldUp().Sign() > 0 && held.heldUp().Cmp(tenth.Mul(tenth, big.NewRat(1, 10))) >= 0 {
		return held
	}
	return most(classes, (*ClassSummary).active)
}

// heldUp returns the time of waiting for locks and processors:
// none of a class of the runtime's own.
func (c *ClassSummary) heldUp() *big.Rat {
	if c.isRuntimes() {
		return new(big.Rat)
	}
	sum := new(big.Rat).Add(c.Parts[Load], c.Parts[Prio])
	return sum.Add(sum, c.Parts[Monitor])
}

// active returns the time that is not waiting for work, likewise.
func (c *ClassSummary) active() *big.Rat {
	if c.isRuntimes() {
		return new(big.Rat)
	}
	active := new(big.Rat).Set(c.Time)
	if !c.idleLeftOut {
		active.Sub(active, c.Idle.Weight)
	}
	return active
}

// most returns the class that has most of something.
func most(classes []ClassSummary, of func(*ClassSummary) *big.Rat) *ClassSummary {
	best := &classes[0]
	for i := range classes[1:] {
		if c := &classes[i+1]; of(c).Cmp(of(best)) > 0 {
			best = c
		}
	}
	return best
}

// Costliest returns the typed time that has most of a class's lifetime.
func (c *ClassSummary) Costliest() (t TypedTime) {
	for other := range NumTypedTimes {
		if c.Parts[other].Cmp(c.Parts[t]) > 0 {
			t = other
		}
	}
	return t
}

// maxBusiest limits the classes that Busiest returns.
const maxBusiest = 5

// Busiest returns the classes that were busy most, the busiest
// first: as many as have 80 % of the time in which goroutines
// did something other than wait, at most five. If none was busy,
// it returns the class with most hits. There must be at least
// one class.
func Busiest(classes []ClassSummary) []string {
	sorted := slices.SortedStableFunc(slices.Values(classes), func(a, b ClassSummary) int {
		return cmp.Or(b.Busy().Cmp(a.Busy()), cmp.Compare(b.Hits, a.Hits))
	})
	all := new(big.Rat)
	for _, c := range sorted {
		all.Add(all, c.Busy())
	}
	enough, sum := all.Mul(all, big.NewRat(4, 5)), new(big.Rat)
	var names []string
	for _, c := range sorted[:min(len(sorted), maxBusiest)] {
		names = append(names, c.Class)
		if sum.Add(sum, c.Busy()).Cmp(enough) >= 0 {
			break
		}
	}
	return names
}

// fewHits is the number of hits below which costs are not
// reliable (the ten-samples heuristic of CPPROFJ, section 5.1).
const fewHits = 10

// OnlyIdle reports whether a class did hardly anything: but for
// waiting for work it has fewer than ten hits, or it is the
// runtime's own and ran for 5 % of its time at most. (That it
// waits for a processor on a busy machine holds nobody up.)
func (c *ClassSummary) OnlyIdle() bool {
	idle := c.Idle.Hits.Num().Int64()
	all, work := new(big.Rat).Set(c.Time), c.Hits-idle
	if c.idleLeftOut {
		all.Add(all, c.Idle.Weight)
		work = c.Hits
	}
	if idle > 0 && work < fewHits {
		return true
	}
	return c.isRuntimes() && all.Mul(all, big.NewRat(1, 20)).Cmp(c.Parts[Run]) >= 0
}

// isRuntimes reports whether the goroutines are the runtime's own.
func (c *ClassSummary) isRuntimes() bool {
	return strings.HasPrefix(c.Class, "go:runtime.") && c.Class != "go:runtime.main"
}
