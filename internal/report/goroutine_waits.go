package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
)

// goroutineWait is what goroutines of a group wait for, if it is known and
// not a lock: a channel, a sync.WaitGroup or a sync.Cond.
type goroutineWait struct {
	Address string `json:"address"`
	// the goroutines that may end the wait
	Candidates []goroutineCandidate `json:"candidates,omitempty"`
	Count      int                  `json:"count"`
}

// goroutineCandidate is a goroutine, and the function of the program that it
// executes.
type goroutineCandidate struct {
	ID int64 `json:"id"`
	locks.Frame
}

// wait describes what n goroutines of a group wait for.
func (a *gathering) wait(l lockState, n int) goroutineWait {
	w := goroutineWait{Address: fmt.Sprintf("%#x", l.address), Count: n}
	for _, g := range a.r.HolderSets[l.holders] {
		c := goroutineCandidate{ID: a.r.Goroutines.At(g).ID}
		if stack, ok := a.stacks[g]; ok {
			if at := views.InformativeFrame(a.r, stack); at != sampledata.NoStack {
				c.Frame = frameOf(a.r, at)
			}
			w.Candidates = append(w.Candidates, c)
		}
	}
	slices.SortFunc(w.Candidates,
		func(a, b goroutineCandidate) int { return cmp.Compare(a.ID, b.ID) })
	return w
}

// sortWaits sorts waits by their number of goroutines, the largest first.
func sortWaits(waits []goroutineWait) {
	slices.SortFunc(waits, func(a, b goroutineWait) int {
		return cmp.Or(-cmp.Compare(a.Count, b.Count), cmp.Compare(a.Address, b.Address),
			slices.CompareFunc(a.Candidates, b.Candidates,
				func(a, b goroutineCandidate) int { return cmp.Compare(a.ID, b.ID) }))
	})
}

// writeWaits writes the waits that have candidates. It leaves out the others:
// an address alone says nothing to a reader.
func (g *goroutineGroup) writeWaits(b *strings.Builder) {
	named := slices.DeleteFunc(slices.Clone(g.Waits),
		func(w goroutineWait) bool { return len(w.Candidates) == 0 })
	mention(b, "waits ", named, func(w goroutineWait) string {
		words := make([]string, len(w.Candidates))
		for i, c := range w.Candidates {
			words[i] = fmt.Sprint(c.ID)
			if c.Function != "" {
				words[i] += " at " + termtext.Printable(c.Function)
			}
			if c.Line > 0 {
				words[i] += fmt.Sprintf(":%d", c.Line)
			}
		}
		what := "goroutine"
		if len(words) > 1 {
			what += "s"
		}
		return fmt.Sprintf("%son %s, perhaps for %s %s", timesText(w.Count, g.Count), w.Address,
			what, strings.Join(words, ", "))
	})
}
