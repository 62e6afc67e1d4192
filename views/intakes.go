package views

import (
	"maps"
	"math"
	"regexp"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
)

// mostIntakes limits the calls that may be intakes, and their
// counts.
const mostIntakes = 64

// getting matches the names of functions that return the next
// piece of work, or a member of a pool, or an answer.
var getting = regexp.MustCompile(`^(?i:get|take|fetch)`)

// An intake is a call with which a goroutine's loop may take its
// next piece of work. The goroutines of the loop are counted in
// each sample: those that wait in the call, and those at work.
type intake struct {
	loop          callID
	waiting, work []int32 // changes, by sample
}

// findIntakes finds out which calls of a loop take the next
// piece of work, by their names and lines:
//
//	for {
//		m := q.next()
//		deliver(m)
//	}
//
// A call named get may as well return a member of a pool. But
// who waits for one waits because others have all of them: as
// many are at work then each time. Who waits for work waits
// whether others have some or not.
func (h *homes) findIntakes() {
	all := make(map[callID]*intake)
	for _, c := range slices.Sorted(maps.Keys(h.firstLines())) {
		s := &h.stats[c]
		if len(all) < mostIntakes && !s.is && TakesWork(h.d.name(s.node)) && s.returns >= minReturns && !s.sleeps {
			n := h.d.r.Samples.Len() + 1
			all[c] = &intake{s.parent, make([]int32, n), make([]int32, n)}
		}
	}
	if len(all) == 0 {
		return
	}
	for _, run := range h.d.r.Runs.All() {
		if run.Stack == sampledata.NoStack || run.Torn {
			continue
		}
		at := h.waitsAt(run)
		for c, t := range all {
			switch now := h.calls[run.Stack]; {
			case at == c:
				t.waiting[run.First]++
				t.waiting[run.Last+1]--
			case h.within(now, t.loop):
				t.work[run.First]++
				t.work[run.Last+1]--
			}
		}
	}
	for c, t := range all {
		h.stats[c].is = t.varies() || !getting.MatchString(LastName(h.d.name(h.stats[c].node)))
	}
}

// varies reports whether goroutines wait in the call however
// many others are at work, and even if none is.
func (t *intake) varies() bool {
	with := make(map[int32]int) // samples in which some wait, by how many work
	var waiting, work int32
	var all, most int
	for i := range t.waiting {
		waiting += t.waiting[i]
		work += t.work[i]
		if waiting > 0 {
			with[work]++
			all++
			most = max(most, with[work])
		}
	}
	const constant = 0.8 // of these samples
	return with[0] >= minReturns && float64(most) <= constant*float64(all)
}

// firstLines returns the calls that a goroutine's first function
// makes of its own package, in a line before all others in which
// it was seen.
func (h *homes) firstLines() map[callID]bool {
	type lines struct{ first, last int32 }
	by := make(map[callID]map[callID]*lines) // by caller and call; the caller's own lines by itself
	note := func(caller, call callID, line int32) {
		of := by[caller]
		if of == nil {
			of = make(map[callID]*lines)
			by[caller] = of
		}
		l := of[call]
		if l == nil {
			l = &lines{line, line}
			of[call] = l
		}
		l.first, l.last = min(l.first, line), max(l.last, line)
	}
	nodes := h.d.r.Nodes
	for n := range nodes {
		c, parent := h.calls[n], nodes[n].Parent
		if parent != sampledata.NoStack && h.stats[h.calls[parent]].first && !h.stats[c].first {
			note(h.calls[parent], c, nodes[parent].Line)
		}
	}
	for _, run := range h.d.r.Runs.All() {
		if run.Stack != sampledata.NoStack && h.stats[h.calls[run.Stack]].first {
			c := h.calls[run.Stack]
			note(c, c, nodes[run.Stack].Line)
		}
	}
	found := make(map[callID]bool)
	for caller, calls := range by {
		earliest, next := int32(math.MaxInt32), int32(math.MaxInt32) // the two least first lines
		for _, l := range calls {
			next = min(next, max(earliest, l.first))
			earliest = min(earliest, l.first)
		}
		for c, l := range calls {
			if l.first == earliest && l.last <= next && c != caller &&
				h.packageOf(c) == h.packageOf(caller) {
				found[c] = true
			}
		}
	}
	return found
}

func (h *homes) packageOf(c callID) string { return PackageOf(h.d.name(h.stats[c].node)) }
