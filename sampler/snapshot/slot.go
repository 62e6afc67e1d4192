//go:build linux && (amd64 || arm64)

package snapshot

import (
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders"
)

// A slot has what is known about a g of the target. The runtime
// never frees a g: after its goroutine has ended, a later
// goroutine uses it.
type slot struct {
	addr  uint64
	entry int32  // index of the g in the table's entries
	raw   []byte // the g as it was last read in this sample; only set if the sample needs the slot

	head  head // the head with which the stack below was read
	stack stack
	view  view

	reported
	thread

	// Numbers of the last sample that
	changed uint32 // added the slot to the list of those that may have changed
	halted  uint32 // saw the goroutine in its halt
	asked   uint32 // asked its thread, since it was in a system call or in C
	stood   uint32 // found the goroutine, after the halt, where it had seen it before
}

// reported is what the sink knows about a slot's goroutine.
type reported struct {
	id        sampledata.GoroutineID
	announced bool // the sink knows the goroutine head.goid, as id
	state     sampledata.State
	change    int32 // index of the goroutine's change in this sample, if it has one
	seq       uint8 // the head's at that sample

	labels   sampledata.LabelSetID
	labelsAt uint64 // address from which the labels were read
}

// A thread is what is known about the thread of a goroutine in a
// system call.
type thread struct {
	tid     int   // thread id; 0 if not known
	turns   turns // at the moment of the halt in which it was last asked
	busy    bool  // it used a CPU when its state was last read
	late    bool  // it did not stop at once when it was last asked
	holds   bool  // it has a processor nevertheless (up to Go 1.25)
	verdict       // of the last halt that it was in
}

// A stack is an unwound stack in the sink's codes.
type stack struct {
	node sampledata.NodeID
	torn bool
}

// A view is what a sample knows about a g. The survey leaves
// each g absent, known, moving or unread. The halt sets some of
// them to running or queued. At the end of the sample these
// become known or moving again, for the next sample.
type view uint8

const (
	absent  view = iota // there is no goroutine
	known               // the stack of the slot is head's
	moving              // the stack is not known: the halt must see it
	unread              // the stack is not known, for lack of time
	running             // at the halt: on a processor; head is of the halt
	// at the halt: in a run queue; head and stack are of the
	// halt, or confirmed in it
	queued
)

// An entry locates the copy of a g within the copy of its span.
// It also records whether the slot must be inspected at all.
// Most goroutines are parked and unchanged since the previous
// sample, and all slots together don't fit in the CPU's cache.
type entry struct {
	print uint64 // hash of the g when nothing about it was open; 0: inspect the slot
	slot  int32
	at    uint32 // offset in the copy of its span
	// the g has a goroutine whose stack is known; otherwise it
	// has no goroutine
	known    bool
	answered holders.Interest // what the finder knows about that stack
}
