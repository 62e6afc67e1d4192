package views

import (
	"maps"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
)

// A lineWork counts what was seen in and below one line of a function.
type lineWork struct {
	waits   int32 // in the function itself, as one does at home
	receive int32 // those that receive from one channel, to which no timer sends
	sends   int32 // waits to send
	works   int32 // everything else
	below   int32 // the sends and works in functions that the line calls

	// the goroutine that was first seen waiting, plus 1, and whether others were
	waiter sampledata.GoroutineID
	many   bool
}

func (w *lineWork) add(o lineWork) {
	w.waits, w.receive = w.waits+o.waits, w.receive+o.receive
	w.sends, w.works, w.below = w.sends+o.sends, w.works+o.works, w.below+o.below
	w.many = w.many || o.many || w.waiter != 0 && o.waiter != 0 && w.waiter != o.waiter
	w.waiter = max(w.waiter, o.waiter)
}

// findAsks finds out in which frames goroutines wait for what they asked for,
// by node. They come back there again and again, as a worker does. But a
// worker receives from one channel, and who asks often makes one for each
// answer. The lines tell the order, too: who sends and then waits has asked
// another one. So have several goroutines that work and then receive, and do
// nothing after it.
func (h *homes) findAsks() {
	h.asks = h.findNewChannels()
	asks := make(map[callID]map[int32]bool)
	for c, lines := range h.lineWork() {
		if h.stats[c].returns >= minReturns {
			asks[c] = asked(lines)
		}
	}
	for n, c := range h.calls {
		h.asks[n] = h.asks[n] || asks[c][h.d.r.Nodes[n].Line]
	}
}

// findNewChannels finds out in which frames goroutines mostly receive from
// another channel each time, by node.
func (h *homes) findNewChannels() []bool {
	type wait struct {
		goroutine sampledata.GoroutineID
		at        sampledata.NodeID
	}
	type count struct{ same, other int32 }
	last := make(map[wait]uint64)
	counts := make([]count, len(h.calls))
	for _, run := range h.d.r.Runs.All() {
		if run.Stack == sampledata.NoStack || run.Lock == 0 || DoingOf(run) != Receiving {
			continue
		}
		w := wait{run.Goroutine, h.d.placeOf(run.Stack).at}
		before, again := last[w]
		last[w] = run.Lock
		switch {
		case again && before == run.Lock:
			counts[w.at].same++
		case again:
			counts[w.at].other++
		}
	}
	news := make([]bool, len(counts))
	for n, c := range counts {
		news[n] = c.other >= minReturns && c.other > c.same
	}
	return news
}

// lineWork counts what was seen in each line of the functions in which
// goroutines wait as one does at home.
func (h *homes) lineWork() map[callID]map[int32]lineWork {
	nodes := h.d.r.Nodes
	seen := make([]lineWork, len(nodes))
	for _, run := range h.d.r.Runs.All() {
		if run.Stack == sampledata.NoStack || run.Torn {
			continue
		}
		p := h.d.placeOf(run.Stack)
		if p.verdict == waitsForWork {
			continue
		}
		switch of, does := &seen[p.at], DoingOf(run); {
		case does == Sending:
			of.sends++
		case !does.Waits() || !meanings[does].home || does == AwaitingIO:
			of.works++
		default:
			one := lineWork{waits: 1, waiter: run.Goroutine + 1}
			if does == Receiving && run.Lock != 0 {
				one.receive = 1
			}
			of.add(one)
		}
	}
	byCall := make(map[callID]map[int32]lineWork)
	for n := len(nodes) - 1; n >= 0; n-- {
		w, node := seen[n], &nodes[n]
		if node.Parent != sampledata.NoStack {
			above := &seen[node.Parent]
			above.add(lineWork{sends: w.sends, works: w.works, below: w.sends + w.works})
		}
		if w == (lineWork{}) {
			continue
		}
		lines := byCall[h.calls[n]]
		if lines == nil {
			lines = make(map[int32]lineWork)
			byCall[h.calls[n]] = lines
		}
		of := lines[node.Line]
		of.add(w)
		lines[node.Line] = of
	}
	return byCall
}

// asked returns the lines of one function in which goroutines wait for what
// they asked for in the lines before.
func asked(work map[int32]lineWork) map[int32]bool {
	asks := make(map[int32]bool)
	lines := slices.Sorted(maps.Keys(work))
	var before lineWork // since the last wait
	for i, line := range lines {
		w := work[line]
		if w.waits == 0 {
			before.add(w)
			continue
		}
		after := lineWork{works: w.below}
		for _, next := range lines[i+1:] {
			if work[next].waits > 0 {
				break
			}
			after.add(work[next])
		}
		asks[line] = before.sends >= minReturns && 2*before.sends >= after.sends ||
			before.works >= minReturns && after.works+after.sends == 0 && w.many && w.receive == w.waits
		before = lineWork{}
	}
	return asks
}
