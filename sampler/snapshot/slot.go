//go:build linux && (amd64 || arm64)

package snapshot

import (
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/internal/blame"
)

// A slot is a g of the target. The runtime never frees one: a g whose goroutine has ended serves a later goroutine.
type slot struct {
	addr  uint64
	entry int32  // of the g in the table's entries
	raw   []byte // the g, as it was last read in this sample; only if the sample has something to do with the slot

	head  head // with which the stack below was read
	stack stack
	view  view

	reported
	thread

	// Numbers of samples: the last one that
	changed uint32 // put the slot on the list of those that may have changed
	halted  uint32 // saw the goroutine in its halt
	stood   uint32 // found the goroutine, after the halt, where it had seen it before
}

// reported is what the sink knows of a slot's goroutine.
type reported struct {
	id        sampledata.GoroutineID
	announced bool // the sink knows the goroutine head.goid, as id
	state     sampledata.State
	change    int32 // index of the goroutine's change in this sample, if it has one

	labels   sampledata.LabelSetID
	labelsAt uint64 // address that the labels were read from
}

// A thread is what is known of the thread of a goroutine in a system call.
type thread struct {
	tid   int  // 0 if not known
	busy  bool // it used a CPU when it was last asked about
	holds bool // it has a processor all the same (up to Go 1.25)
}

// A stack is an unwound stack in the sink's codes.
type stack struct {
	node sampledata.NodeID
	torn bool
}

// A view is what a sample knows of a g. The phase without a halt leaves each g absent, known or moving. The halt moves some of
// them to running or queued, and the end of the sample back to known or moving, for the next sample.
type view uint8

const (
	absent  view = iota // no goroutine
	known               // its stack is that of head
	moving              // its stack is not known: the halt is to see it
	running             // in the halt: on a processor; head is of the halt
	queued              // in the halt: in a run queue; head and stack are of the halt, or confirmed in it
)

// An entry says where the copy of a g lies in that of its span, and whether there is any need to look at its slot: most
// goroutines are parked as they were at the sample before, and their slots would not stay in the processor's cache.
type entry struct {
	print    uint64 // of the g when it was found at rest; 0: the slot is to be looked at
	slot     int32
	at       uint32         // in the copy of its span
	known    bool           // what rests is a goroutine whose stack is known; else it is a g without a goroutine
	answered blame.Interest // what the finder knows of that stack
}
