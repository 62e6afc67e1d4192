package views

import (
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/views/calltree"
)

// A TypedTime is one of the kinds of time into which a
// goroutine's hits are divided (design "Typed time"). It is the
// index of Parts and of all other arrays over typed times.
type TypedTime uint8

// The typed times, in the order in which they are shown everywhere.
const (
	Run TypedTime = iota // the goroutine executes
	// it could execute, but goroutines of equal priority hold the processors,
	// or its thread has no CPU
	Load
	Prio    // it could execute, but others of higher priority hold the processors
	Monitor // it waits for a lock
	Wait    // it waits for anything else

	NumTypedTimes = Wait + 1
)

// typedTimes has the names of typed times: as a frame of a
// stack, and in at most four letters.
var typedTimes = [NumTypedTimes]struct{ frame, short string }{
	Run:     {":RUN", "RUN"},
	Load:    {":LOAD", "LOAD"},
	Prio:    {":PRIO", "PRIO"},
	Monitor: {":MONITOR", "MON"},
	Wait:    {":WAIT", "WAIT"},
}

// String returns the frame of the typed time in a stack: ":MONITOR".
func (t TypedTime) String() string { return typedTimes[t].frame }

// Name returns the frame's name without its colon: "MONITOR".
func (t TypedTime) Name() string { return typedTimes[t].frame[1:] }

// Short returns the name for a narrow column, at most four letters: "MON".
func (t TypedTime) Short() string { return typedTimes[t].short }

// Letter returns the letter for the typed time on a screen
// without colours: "M".
func (t TypedTime) Letter() string { return typedTimes[t].frame[1:2] }

// ParseTypedTime returns the typed time of a frame such as ":MONITOR".
func ParseTypedTime(frame string) (t TypedTime, ok bool) {
	for t := range NumTypedTimes {
		if typedTimes[t].frame == frame {
			return t, true
		}
	}
	return 0, false
}

// TypedTimeOf returns the typed time that contains the end of a
// path, given the names of the path's elements: the last element
// is this typed time, or is below it. If the path leaves the
// typed time out, it follows from the last element's name:
//
//   - main.f :MONITOR                       Monitor
//   - ..:PRIO :runtime                      Prio
//   - ..:runtime                            Prio, because views put this frame below it
//   - ..:chan-receive                       Wait, because it is a wait reason
//   - ..:MONITOR go:main.f :deadlock        Monitor
//   - ..:MONITOR go:main.f ..:chan-receive  Wait, of the holder
//   - ..:PRIO go:main.f                     Prio
//   - ..:MONITOR go:main.f                  none: the path ends in the lock's holder, which can do anything
//   - ..main.f                              none
func TypedTimeOf(path []string) (t TypedTime, ok bool) {
	below := "" // the frame of typed time nearest to the path's end
	for i := len(path) - 1; i > 0; i-- {
		if t, ok := ParseTypedTime(path[i]); ok {
			return t, true
		}
		switch kind := calltree.KindOf(path[i]); {
		case kind == calltree.Typed && below == "":
			below = path[i]
		case kind == calltree.Function, path[i-1] == Monitor.String():
			return usualTypedTime(below)
		}
	}
	return usualTypedTime(below)
}

// usualTypedTime returns the typed time that is usually above a
// frame; none for "".
func usualTypedTime(frame string) (t TypedTime, ok bool) {
	i := slices.IndexFunc(children, func(c childFrame) bool { return c.name == frame })
	switch {
	case frame == "":
		return 0, false
	case i < 0:
		return Wait, true // it is a wait reason
	}
	return children[i].under, true
}

// A child is the number of a frame that views put below a typed
// time, and that is neither a class nor a wait reason.
type child int32

// childFrame is the name of a child and the typed time above it.
type childFrame struct {
	under TypedTime
	name  string
}

// children lists the frames of all children, by number.
var children []childFrame

// child adds a frame below the typed time. The declarations
// below call it: one line is enough to define a child.
func (t TypedTime) child(name string) child {
	children = append(children, childFrame{t, name})
	return child(len(children) - 1)
}

var (
	idleProcessor = Load.child(":idle-processor") // a processor that nobody holds
	// a CPU of the machine: the goroutine has a processor, but
	// its thread waits
	noCPU         = Load.child(":no-CPU")
	busyRuntime   = Prio.child(":runtime")           // a processor that is busy for the runtime
	stoppedWorld  = Prio.child(":stopped-world")     // the runtime had stopped all goroutines
	unknownHolder = Monitor.child(":unknown-holder") // of a lock
	// in place of a holder: the lock is free, and goroutines
	// were woken to take it
	freeLock = Monitor.child(":free-lock")
	// the class above it closes a cycle of locks, in this sample
	deadlock = Monitor.child(":deadlock")
	// the same, but some holder in the cycle is only likely
	likelyCycle = Monitor.child(":circle")
	// the chain of locks is longer, but is not shown
	cutChain      = Monitor.child(":cut")
	unknownReason = Wait.child(":unknown") // a wait whose reason is not known
	// who ended the wait, and with which stack; also below :unknown-holder
	releasedBy = Wait.child(":released-by")
)

// inPlaceOfClass returns the number for a child that a goroutine
// waits for in place of a class.
func (c child) inPlaceOfClass() classID { return noClass - 1 - classID(c) }

// asChild is the inverse of inPlaceOfClass.
func (id classID) asChild() (c child, ok bool) { return child(noClass - 1 - id), id < noClass }

// Parts are nanoseconds, or hits, by typed time.
type Parts [NumTypedTimes]*big.Rat

// Shares returns the parts as fractions of a whole; all are 0 if
// the whole is 0.
func (p Parts) Shares(whole *big.Rat) Parts {
	var shares Parts
	for t := range p {
		shares[t] = exact.Quo(p[t], whole)
	}
	return shares
}
