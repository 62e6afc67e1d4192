package sampler

import (
	"context"
	"errors"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// A Marker finds out which goroutines of a target can never run again. It is
// used beside the samples, so it must not use what Observe uses.
type Marker func(context.Context, Backend) (*sampledata.Marking, error)

const (
	markRest    = 10              // times as long as a marking takes, none follows
	mayComplete = 2 * time.Second // that the first marking may take when the time is over
)

// Unmarked is the kind of a warning that says why there is no marking.
const Unmarked = "unmarked-heap"

// A marked is what a Marker has found.
type marked struct {
	m   *sampledata.Marking
	err error
}

// A marking is the goroutine that marks the heap again and again. The last
// result counts: what is stuck stays stuck.
type marking struct {
	found chan marked // has room for one
	stop  func()
	ended chan struct{}
}

// startMarking begins to mark the heap, if the options ask for it.
func (r *recorder) startMarking(ctx context.Context) {
	if r.o.Mark == nil || r.marking.ended != nil {
		return
	}
	ctx, stop := context.WithCancel(ctx)
	r.marking = marking{make(chan marked, 1), stop, make(chan struct{})}
	go func() {
		defer close(r.marking.ended)
		for ctx.Err() == nil {
			m, err := r.o.Mark(ctx, r.backend)
			if err != nil && ctx.Err() != nil {
				return
			}
			r.marking.found <- marked{m, err}
			if err != nil {
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(max(r.o.MarkAgain, markRest*m.Took)):
			}
		}
	}()
}

// takeMarking passes what was found since the last sample to the sink.
func (r *recorder) takeMarking() {
	select {
	case found := <-r.marking.found:
		r.keepMarking(found)
	default:
	}
}

// keepMarking passes a result to the sink. Its halts count as halts.
func (r *recorder) keepMarking(found marked) {
	if found.err != nil {
		r.sink.Warn(Unmarked, found.err.Error(), 1)
		return
	}
	r.hasMarking = true
	r.sink.Mark(found.m)
	r.lostHalt += found.m.Halted
	r.done.Halted += found.m.Halted
}

// endMarking ends the marking of the heap. If the time of the recording is
// over, the first one may take a moment longer.
func (r *recorder) endMarking(ctx context.Context, end sampledata.End) {
	m := &r.marking
	if m.ended == nil {
		return
	}
	r.takeMarking()
	if end.Cause == sampledata.EndDuration && !r.hasMarking {
		select {
		case found := <-m.found:
			r.keepMarking(found)
		case <-m.ended:
		case <-ctx.Done():
		case <-r.process.Done():
		case <-time.After(mayComplete):
		}
	}
	m.stop()
	<-m.ended
	r.takeMarking()
}

// ErrNoHeap reports that a target's heap can't be read.
var ErrNoHeap = errors.New("what is stuck for good is not known: cpprof can't read the heap here, which takes Linux " +
	"and the backend that cpprof chooses itself")
