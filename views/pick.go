package views

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
)

// MostHeldUp returns the class whose goroutines spent most time waiting for
// locks and processors. If none did, it returns the class that ran most. Of
// equal classes it returns the first. There must be at least one class.
func MostHeldUp(classes []ClassSummary) string {
	best := classes[0]
	for _, c := range classes[1:] {
		d := c.heldUp().Cmp(best.heldUp())
		if d > 0 || d == 0 && c.Parts[Run].Cmp(best.Parts[Run]) > 0 {
			best = c
		}
	}
	return best.Class
}

func (c *ClassSummary) heldUp() *big.Rat {
	sum := new(big.Rat).Add(c.Parts[Load], c.Parts[Prio])
	return sum.Add(sum, c.Parts[Monitor])
}

// maxBusiest limits the classes that Busiest returns.
const maxBusiest = 5

// Busiest returns the classes that were busy most, the busiest first: as many
// as have 80 % of the time in which goroutines did something other than wait,
// at most five. If none was busy, it returns the class with most hits. There
// must be at least one class.
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

// fewHits is the number of hits below which costs are not reliable (the
// ten-samples heuristic of CPPROFJ, section 5.1).
const fewHits = 10

// OnlyIdle reports whether a class did hardly anything: but for waiting for
// work it has fewer than ten hits, or it is the runtime's own and ran for 5 %
// of its time at most. (That it waits for a processor on a busy machine holds
// nobody up.)
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
	if !strings.HasPrefix(c.Class, "go:runtime.") || c.Class == "go:runtime.main" {
		return false
	}
	return all.Mul(all, big.NewRat(1, 20)).Cmp(c.Parts[Run]) >= 0
}
