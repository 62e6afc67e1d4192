package views

import (
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
)

// A reader is the goroutines that began with one function, and
// whose connections were accepted.
type reader struct {
	reads  map[callID]bool // the calls in which they read
	itself bool            // they read in their first function
}

// findRequests finds the calls in which goroutines of accepted
// connections read requests. A function that accepts has started
// these goroutines. Their first function makes the call, they
// were seen elsewhere, too, and no other such call reads. Who
// writes and then reads in one call waits for an answer.
func (h *homes) findRequests() {
	h.requests = make(map[callID]bool)
	acceptors := h.acceptors()
	if len(acceptors) == 0 {
		return
	}
	readers := make(map[sampledata.FunctionID]*reader)
	visits, writes := make([]int32, len(h.stats)), make([]bool, len(h.stats))
	for _, run := range h.d.r.Runs.All() {
		site := h.d.r.Goroutines.At(run.Goroutine).Site.Function
		if run.Stack == sampledata.NoStack || run.Torn || !acceptors[site] {
			continue
		}
		call := h.calls[run.Stack]
		visits[call]++
		if h.uses(run.Stack, "rite") {
			writes[call] = true
		} else if DoingOf(run) == AwaitingIO {
			h.reads(run.Stack, readers)
		}
	}
	for c := len(h.stats) - 1; c >= 0; c-- { // callers have smaller numbers
		if parent := h.stats[c].parent; parent >= 0 {
			visits[parent] += visits[c]
			writes[parent] = writes[parent] || writes[c]
		}
	}
	for _, r := range readers {
		var found []callID
		for c := range r.reads {
			parent := h.stats[c].parent
			if !writes[c] && h.stats[parent].first && visits[parent] > visits[c] {
				found = append(found, c)
			}
		}
		if len(found) == 1 && !r.itself {
			h.requests[found[0]] = true
			h.stats[h.stats[found[0]].parent].serves = true
		}
	}
}

// acceptors returns the functions that accept connections, or call such a
// function.
func (h *homes) acceptors() map[string]bool {
	all := make(map[string]bool)
	for n := range h.d.r.Nodes {
		name := h.d.name(sampledata.NodeID(n))
		if !strings.HasSuffix(name, "ccept") || h.d.roleOf(h.d.r.Nodes[n].Function) != IdleRole {
			continue
		}
		for at := h.d.r.Nodes[n].Parent; at != sampledata.NoStack; at = h.d.r.Nodes[at].Parent {
			if IsOwn(h.d.name(at)) {
				all[h.d.name(at)] = true
			}
		}
	}
	return all
}

// reads notes where a goroutine reads.
func (h *homes) reads(stack sampledata.NodeID, readers map[sampledata.FunctionID]*reader) {
	first := lists.Made(readers, h.d.firstFunction(stack),
		func() *reader { return &reader{reads: make(map[callID]bool)} })
	switch p := h.d.placeOf(stack); p.verdict {
	case mayBeHome:
		first.reads[h.calls[p.at]] = true
	case beginsHere:
		first.itself = true
	}
}

// uses reports whether a stack ends in reading from a
// connection, or writing to one. The names of these functions
// contain a part of the verb.
func (h *homes) uses(stack sampledata.NodeID, verb string) bool {
	for n := stack; n != sampledata.NoStack; n = h.d.r.Nodes[n].Parent {
		name := h.d.name(n)
		if IsOwn(name) {
			return false
		}
		if strings.Contains(name, verb) &&
			(strings.HasPrefix(name, "net.") || strings.HasPrefix(name, "crypto/tls.")) {
			return true
		}
	}
	return false
}
