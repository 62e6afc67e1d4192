package sampler

import (
	"context"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// A Backend halts one target and tells what it saw. Its methods are called from one goroutine.
//
// What every backend owes the target: it is never left halted, whatever fails; nothing is left in its memory
// (no breakpoint, no changed register) after Close or the sampler's death; its signals reach it.
type Backend interface {
	// Header describes the target: command line, executable, pid, Go version, platform, GOMAXPROCS.
	Header() sampledata.Header

	// Observe halts the target once, copies what it needs, lets it go, and ends one sample in the sink.
	// The sample comes with what the caller knows (Time, Missed, SamplerCPU); the backend fills the rest,
	// Halt first of all, and gives it back. Every goroutine that exists at the halt is in the recording
	// afterwards with its state then: stack with inlined calls, wait reason, lock, labels.
	//
	// A target that is there no more gives an *EndedError; other errors are a sample lost, and the caller may
	// try again at the next tick.
	Observe(ctx context.Context, sink sampledata.Sink, s sampledata.Sample) (sampledata.Sample, error)

	// Learned is the processor time that Observe took so far to learn what the target's code does, each function once. It
	// does not count against Options.MaxCPU: there would be no samples meanwhile.
	Learned() time.Duration

	// Release ends every tie to the target that a halt has left, before it returns; the next Observe goes on. Call it before
	// this process is stopped: a thread of the target that sleeps in the kernel may still be traced after its halt, and
	// would stand when it wakes.
	Release() error

	// Close lets the target go for good. A target that the backend launched is not ended by it.
	Close() error
}

// An EndedError says that a target can't be observed any more: it exited, died, or became another program.
type EndedError struct {
	End sampledata.End
}

func (e *EndedError) Error() string { return "the target has ended: " + e.End.Detail }
