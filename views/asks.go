package views

import "github.com/cpprof/cpprof/sampledata"

// findAsks finds out in which frames goroutines receive what
// they asked for, by node. They come back there again and again,
// as a worker does. But a worker receives from one channel, and
// who asks often makes one for each answer. The lines tell the
// order, too: who sends and then receives has asked another one.
func (h *homes) findAsks() {
	h.asks = h.findNewChannels()
	asks := make(map[callID]map[int32]bool)
	for c, lines := range h.channelUses() {
		asks[c] = asked(lines)
	}
	for n, c := range h.calls {
		if asks[c][h.d.r.Nodes[n].Line] {
			h.asks[n], h.shared[n] = true, false
		}
	}
}

// receives reports whether a goroutine receives from one channel
// to which no timer sends: only such channels have an address.
func receives(run sampledata.Run) bool {
	does := DoingOf(run)
	return (does == Receiving || does == Selecting) && run.Lock != 0
}

// findNewChannels finds out in which frames goroutines mostly receive from
// another channel each time, by node, and where others mostly
// wait for each of these, too.
func (h *homes) findNewChannels() []bool {
	type wait struct {
		goroutine sampledata.GoroutineID
		at        sampledata.NodeID
	}
	type count struct{ same, other, shared int32 }
	last := make(map[wait]sampledata.Run)
	counts := make([]count, len(h.calls))
	shared := h.findSharedChannels()
	h.shared = make([]bool, len(h.calls))
	for _, run := range h.d.r.Runs.All() {
		if run.Stack == sampledata.NoStack || !receives(run) {
			continue
		}
		w := wait{run.Goroutine, h.d.placeOf(run.Stack).at}
		before, again := last[w]
		last[w] = run
		switch {
		case !again:
		case before.Lock != run.Lock:
			counts[w.at].other++
			if shared[run.Lock] {
				counts[w.at].shared++
			}
		case before.Last+1 < run.First || WaitsAgain(before, run):
			// else only who may end the wait has changed
			counts[w.at].same++
		}
	}
	news := make([]bool, len(counts))
	for n, c := range counts {
		news[n] = c.other >= minReturns && c.other > c.same
		h.shared[n] = 2*c.shared > c.other
	}
	return news
}

// findSharedChannels finds the channels for which several
// goroutines waited at once: these bring nobody's own answer.
func (h *homes) findSharedChannels() map[uint64]bool {
	last := make(map[uint64]sampledata.Run) // by channel
	shared := make(map[uint64]bool)
	for _, run := range h.d.r.Runs.All() {
		if !receives(run) {
			continue
		}
		before, known := last[run.Lock]
		if known && before.Goroutine != run.Goroutine && run.First <= before.Last {
			shared[run.Lock] = true
		}
		if !known || before.Last <= run.Last {
			last[run.Lock] = run
		}
	}
	return shared
}

// channelUses counts the waits in each line of a function: to
// receive, and to send, there or below, by who has received
// before. What is sent first may say that somebody is there.
func (h *homes) channelUses() map[callID]map[int32]*lineUse {
	seen := make([]lineUse, len(h.d.r.Nodes))
	received := make([]bool, h.d.r.Goroutines.Len())
	for _, run := range h.d.r.Runs.All() {
		switch {
		case run.Stack == sampledata.NoStack || run.Torn:
		case receives(run):
			seen[h.d.placeOf(run.Stack).at].reads++
			received[run.Goroutine] = true
		case DoingOf(run) == Sending && received[run.Goroutine]:
			seen[run.Stack].writes++
		}
	}
	return h.lineUses(seen, false)
}

// asked returns the lines of one function in which goroutines
// receive after they have sent: more often than they send after
// it.
func asked(uses map[int32]*lineUse) map[int32]bool {
	asks := make(map[int32]bool)
	eachRead(uses, func(line, before, after int32) {
		asks[line] = before >= minReturns && 2*before >= after
	})
	return asks
}
