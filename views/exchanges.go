package views

import (
	"maps"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
)

// An exchange says what it means to read from a connection in a
// function that writes to one, too. The lines of the calls tell
// their order: a client writes its question and then reads the
// answer, a server reads first.
type exchange uint8

const (
	noExchange exchange = iota
	answer              // part of the work
	request             // waiting for work
)

// clients begin the names of the standard library's functions
// below which each read is an answer: what they ask is often too
// short for the samples.
var clients = []string{"database/sql.", "net/smtp.(*Client).", "crypto/tls.(*Conn).clientHandshake"}

// A lineUse counts what was seen in one line of a function:
// reads and writes of connections below it, or waits to receive
// from channels and to send.
type lineUse struct{ reads, writes int32 }

// findExchanges finds out what each read means, by node. The
// innermost function of the program decides that reads in one
// line and writes in another, or else a client of the standard
// library.
func (h *homes) findExchanges() {
	nodes := h.d.r.Nodes
	uses := h.connectionUses()
	h.exchanges = make([]exchange, len(nodes))
	byCall := make(map[callID]map[int32]exchange)
	for c, lines := range uses {
		byCall[c] = order(lines)
	}
	for n := range nodes { // callers have smaller numbers
		c, parent := h.calls[n], nodes[n].Parent
		e := byCall[c][nodes[n].Line]
		switch s := &h.stats[c]; {
		case e == request && !s.first && (s.parent < 0 || !h.stats[s.parent].first):
			e = noExchange // it may be the rest of a request
		case e == request:
			s.serves = true
		}
		if e == noExchange && parent != sampledata.NoStack {
			e = h.exchanges[parent]
		}
		begins := func(client string) bool {
			return strings.HasPrefix(h.d.name(sampledata.NodeID(n)), client)
		}
		if e == noExchange && slices.ContainsFunc(clients, begins) {
			e = answer
		}
		h.exchanges[n] = e
	}
}

// connectionUses counts the reads and writes below each line of
// the program's functions.
func (h *homes) connectionUses() map[callID]map[int32]*lineUse {
	seen := make([]lineUse, len(h.d.r.Nodes))
	for _, run := range h.d.r.Runs.All() {
		switch {
		case run.Stack == sampledata.NoStack || run.Torn:
		case h.uses(run.Stack, "rite"):
			seen[run.Stack].writes++
		case DoingOf(run) == AwaitingIO && h.uses(run.Stack, "ead"):
			seen[run.Stack].reads++
		}
	}
	return h.lineUses(seen, true)
}

// lineUses counts what was seen in each line of a function, by
// what was seen at the nodes. Writes count for the lines above,
// too. Of connections that holds for reads as well, and only the
// program's own functions count.
func (h *homes) lineUses(seen []lineUse, connections bool) map[callID]map[int32]*lineUse {
	nodes := h.d.r.Nodes
	byCall := make(map[callID]map[int32]*lineUse)
	for n := len(nodes) - 1; n >= 0; n-- {
		u, node := seen[n], &nodes[n]
		if u == (lineUse{}) {
			continue
		}
		if node.Parent != sampledata.NoStack {
			above := &seen[node.Parent]
			above.writes += u.writes
			if connections {
				above.reads += u.reads
			}
		}
		if connections && !IsOwn(h.d.name(sampledata.NodeID(n))) {
			continue
		}
		lines := lists.Made(byCall, h.calls[n],
			func() map[int32]*lineUse { return make(map[int32]*lineUse) })
		of := lists.Made(lines, node.Line, func() *lineUse { return new(lineUse) })
		of.reads, of.writes = of.reads+u.reads, of.writes+u.writes
	}
	return byCall
}

// order decides what the reads in the lines of one function
// mean. A read after a write is an answer. But a greeting is
// written once: then more writes are seen after the read.
func order(uses map[int32]*lineUse) map[int32]exchange {
	means := make(map[int32]exchange)
	same := int32(0) // writes in the line of the last read
	eachRead(uses, func(line, before, after int32) {
		before += same
		same = uses[line].writes
		switch {
		case same > 0: // what it calls there may decide
		case before > 0 && 2*before >= after:
			means[line] = answer
		case after > 0:
			means[line] = request
		}
	})
	return means
}

// eachRead calls f for each line of a function with reads, in
// their order, with the numbers of writes in the lines between
// the last such line and this one, and between this one and the
// next.
func eachRead(uses map[int32]*lineUse, f func(line, before, after int32)) {
	lines := slices.Sorted(maps.Keys(uses))
	before := int32(0)
	for i, line := range lines {
		if uses[line].reads == 0 {
			before += uses[line].writes
			continue
		}
		after := int32(0)
		for _, next := range lines[i+1:] {
			if uses[next].reads > 0 {
				break
			}
			after += uses[next].writes
		}
		f(line, before, after)
		before = 0
	}
}
