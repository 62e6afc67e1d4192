package views

import (
	"maps"
	"math"
	"regexp"
	"slices"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
)

// mostIntakes limits the calls that may be intakes, and their
// counts.
const mostIntakes = 64

// surely matches the names of functions that return the next
// piece of work. Others that TakesWork may as well return a
// member of a pool, such as pool.get, or an answer.
var surely = regexp.MustCompile(`^(?i:(next|dequeue|receive|recv|consume)` +
	`(job|task|msg|message|work|item|event|request|batch)?s?)$`)

// An intake is a call with which a goroutine's loop may take its
// next piece of work. The goroutines of the loop are counted in
// each sample: those that wait in the call, and those at work.
type intake struct {
	call          callID
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
// Who waits for a member of a pool waits because others have all
// of them: as many are at work then each time. Who waits for
// work waits whether others have some or not. Of is the origin
// of those who wait in a call.
func (h *homes) findIntakes(of map[callID]*origin) {
	var all []*intake
	loops := make([]int32, len(h.stats)) // by call: the number of its loop's intake, from 1 up
	for _, c := range slices.Sorted(maps.Keys(h.firstLines())) {
		if s := &h.stats[c]; len(all) < mostIntakes && loops[s.parent] == 0 && h.mayTake(c, of[c]) {
			n := h.d.r.Samples.Len() + 1
			all = append(all, &intake{c, make([]int32, n), make([]int32, n)})
			loops[s.parent] = int32(len(all))
		}
	}
	if len(all) == 0 {
		return
	}
	for c := range loops { // callers have smaller numbers
		if parent := h.stats[c].parent; parent >= 0 && loops[c] == 0 {
			loops[c] = loops[parent]
		}
	}
	for _, run := range h.d.r.Runs.All() {
		if run.Stack == sampledata.NoStack || run.Torn || loops[h.calls[run.Stack]] == 0 {
			continue
		}
		t := all[loops[h.calls[run.Stack]]-1]
		does := t.work
		if h.waitsAt(run) == t.call {
			does = t.waiting
		}
		does[run.First]++
		does[run.Last+1]--
	}
	for _, t := range all {
		name := LastName(h.d.name(h.stats[t.call].node))
		if surely.MatchString(name) || t.varies() && h.isOnly(t.call) {
			h.takes(t.call)
		}
	}
}

// mayTake reports whether a call may take work, by its name. It
// does not if each goroutine lives for one piece of work.
func (h *homes) mayTake(c callID, o *origin) bool {
	s := &h.stats[c]
	return !s.is && o != nil && !o.livesForOne(s) && s.returns >= minReturns && !s.sleeps &&
		TakesWork(h.d.name(s.node))
}

// takes notes that a call is an intake. Whoever waits there for
// what others wait for, too, asks nobody.
func (h *homes) takes(call callID) {
	h.stats[call].is = true
	for n, c := range h.calls {
		if c == call && h.shared[n] {
			h.asks[n] = false
		}
	}
}

// isOnly reports whether nobody else calls the function of a
// call: others may have the members of its pool.
func (h *homes) isOnly(call callID) bool {
	function := func(c callID) sampledata.FunctionID { return h.d.r.Nodes[h.stats[c].node].Function }
	for c := range h.stats {
		if callID(c) != call && function(callID(c)) == function(call) {
			return false
		}
	}
	return true
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
		of := lists.Made(by, caller, func() map[callID]*lines { return make(map[callID]*lines) })
		l := lists.Made(of, call, func() *lines { return &lines{line, line} })
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
