package sampler

import (
	"context"
	"errors"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/gobinary"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// A Backend halts one target and reports what it saw. Its
// methods are called from one goroutine.
//
// A backend never leaves the target halted, whatever fails.
// After Close, or if the sampler dies, nothing is left in the
// target's memory (no breakpoint, no changed register). Signals
// that are sent to the target reach it.
type Backend interface {
	// Header describes the target: command line, executable, pid, Go version,
	// platform, GOMAXPROCS. Of the sampler's settings it has only how the
	// backend wakes.
	Header() sampledata.Header

	// Binary returns what the backend knows of the target's
	// executable; nil if it does not read that itself.
	Binary() *gobinary.Binary

	// Lead returns how long before its halt a sample should begin.
	Lead() time.Duration

	// Observe halts the target once, copies what it needs, lets
	// the target continue, and writes one sample to the sink.
	// The caller sets Missed and SamplerCPU of the sample. The
	// caller also sets Time: when to halt, counted from the
	// header's start. If there is less than Lead until then, the
	// halt may be some milliseconds later. The context may be
	// done before the backend has read the stacks of very many
	// goroutines; the backend then leaves the rest out. The
	// backend sets the rest of the sample, above all Halt, sets
	// Time to when it halted the target, and returns the sample.
	// Afterwards the recording has the state at the halt of
	// every goroutine that existed then: its stack with inlined
	// calls, wait reason, lock and labels.
	//
	// If the target no longer runs, the error is an *EndedError.
	// After any other error the sample is lost, and the caller
	// may try again at the next tick.
	Observe(ctx context.Context, sink sampledata.Sink,
		s sampledata.Sample) (sampledata.Sample, error)

	// AfterHalt sets a function that Observe calls after each
	// successful halt. The target goes on during the call. The
	// sample is written after the call.
	AfterHalt(f func())

	// Seen returns memory of the target that was copied in the
	// halt or right after it, if any. It is valid in the
	// function that AfterHalt has set.
	Seen() Memory

	// ReadAlso asks for memory that Seen is to have: to read it
	// with other memory costs less than a system call of its
	// own. The backend may ignore that.
	ReadAlso(addr uint64, size int)

	// Learned returns the processor time that the backend has
	// spent so far on reading the program: its symbols when it
	// attached, and later the code of its functions, each
	// function once, and its debug information.
	Learned() time.Duration

	// MayLearn sets what Learned may be until the next call. The
	// backend learns what it needs most first, and the rest
	// later. One function is analysed to its end. Without a call
	// there is no bound.
	MayLearn(most time.Duration)

	// Settle reports to the sink what was found out since the
	// last sample, at the end of a recording. It finishes what
	// bounds have delayed, if that does not take much longer
	// than a second.
	Settle(sink sampledata.Sink)

	// Release detaches from everything that earlier halts have
	// left attached. The next Observe attaches again. Call
	// Release before this process is stopped. After a halt, a
	// thread of the target that sleeps in the kernel may still
	// be traced, and would stop when it wakes.
	Release() error

	// Close detaches from the target for good. It does not end
	// the target, even if the backend launched it.
	Close() error
}

// Memory is copied memory of a target.
type Memory = memory.Copy

// UsualPriority stands in a recording's header if the backend
// can't wake in time on a busy machine.
const UsualPriority = "usual priority"

// ErrExec reports that a process executed another program while
// a backend attached to it. To attach again may work.
var ErrExec = errors.New("the process executed another program")

// A TracedError reports that a sample is lost because another
// process traced a thread of the target.
type TracedError struct {
	By  int // its id; 0 if it does not trace that thread any more, as is usual for a sampler
	Err error
}

func (e *TracedError) Error() string { return e.Err.Error() }
func (e *TracedError) Unwrap() error { return e.Err }

// An EndedError reports that a target can't be observed any
// more: it exited, crashed, or executed another program.
type EndedError struct {
	End sampledata.End
}

func (e *EndedError) Error() string { return "the target has ended: " + e.End.Detail }

// How a target has ended, as far as a backend sees that.
var (
	Exited   = sampledata.End{Cause: sampledata.EndExited, Detail: "exited"}
	Executed = sampledata.End{Cause: sampledata.EndExec, Detail: ErrExec.Error()}
)

// WarnUnanswered reports reads of the target's memory that were
// not done, since they could have lasted forever.
func WarnUnanswered(sink sampledata.Sink, reads int64) {
	if reads > 0 {
		sink.Warn("unanswered-page",
			"memory of the program was left out, since a read could wait forever: its page was not there, and only "+
				"another program could supply it (userfaultfd), or a file system (FUSE, a network)",
			reads)
	}
}
