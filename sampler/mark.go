package sampler

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// A Marker finds out which goroutines of a target can never run
// again. It is used beside the samples, so it must not use what
// Observe uses.
type Marker func(context.Context, Backend) (*sampledata.Marking, error)

const (
	markRest    = 10              // times as long as a marking takes, none follows
	mayComplete = 2 * time.Second // that a marking may take when the time is over
)

// So long before the time is over, the last marking begins. Two
// passes are a second apart.
const markBefore = 1500 * time.Millisecond

// A marked is what a Marker has found.
type marked struct {
	m   *sampledata.Marking
	err error
}

// A marking is the goroutine that marks the heap again and
// again. The last result counts: what is stuck stays stuck.
type marking struct {
	found chan marked // has room for one
	stop  func()
	ended chan struct{}
	rests atomic.Bool // between two markings
	told  bool        // the sink has a result
}

// startMarking begins to mark the heap, if the options ask for it.
func (r *recorder) startMarking(ctx context.Context) {
	if r.o.Mark == nil || r.marking.ended != nil {
		return
	}
	ctx, stop := context.WithCancel(ctx)
	m := &r.marking
	m.found, m.stop, m.ended = make(chan marked, 1), stop, make(chan struct{})
	go func() {
		defer close(m.ended)
		for ctx.Err() == nil {
			found, err := r.o.Mark(ctx, r.backend)
			if err != nil && ctx.Err() != nil {
				return
			}
			m.rests.Store(true)
			m.found <- marked{found, err}
			if err != nil {
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(r.o.markPause(found.Took, r.o.Clock())):
			}
			m.rests.Store(false)
		}
	}()
}

// markPause returns how long no marking follows one that ended
// now. What gets stuck shortly before the end of the recording
// must be seen, too.
func (o *Options) markPause(took, now time.Duration) time.Duration {
	pause := max(o.MarkAgain, markRest*took)
	if last := o.Duration - markBefore - now; o.Duration > 0 && last >= took {
		pause = min(pause, last)
	}
	return pause
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
	r.marking.told = true
	if found.err != nil {
		r.sink.Warn(sampledata.UnmarkedHeap, found.err.Error(), 1)
		return
	}
	r.sink.Mark(found.m)
	r.lostHalt += found.m.Halted
	r.done.Halted += found.m.Halted
}

// endMarking ends the marking of the heap. If the time of the
// recording is over, one that is under way may take a moment
// longer.
func (r *recorder) endMarking(ctx context.Context, end sampledata.End) {
	m := &r.marking
	if m.ended == nil {
		return
	}
	r.takeMarking()
	if end.Cause == sampledata.EndDuration && !m.rests.Load() {
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
	if !m.told {
		r.sink.Warn(sampledata.UnmarkedHeap, "the recording ended before the heap was read", 1)
	}
}

// ErrNoHeap reports that a target's heap can't be read.
var ErrNoHeap = errors.New("what is stuck for good is not known: cpprof can't read the heap here, which takes Linux " +
	"and the backend that cpprof chooses itself")
