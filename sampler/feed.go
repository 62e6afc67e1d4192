package sampler

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// The bounds of a feed's round, unless others are asked for.
const (
	longestRound = 10 * time.Minute
	mostChanges  = 200_000
)

// FeedOptions say how a feed samples.
type FeedOptions struct {
	Options Options                         // of each round; Duration and Progress are the feed's own
	Attach  func(*Process) (Backend, error) // anew for each round
	Least   time.Duration                   // of a round, however much changes
	Overlap time.Duration                   // how far into a round the recording of the round before is still returned
	Longest time.Duration                   // of a round; 0: 10 minutes, or Least if that is longer
	Changes int                             // of goroutines' states, which end a round after Least; 0: 200,000
}

func (o FeedOptions) withDefaults() FeedOptions {
	if o.Longest == 0 {
		o.Longest = max(longestRound, o.Least)
	}
	if o.Changes == 0 {
		o.Changes = mostChanges
	}
	return o
}

// A Feed samples a process for as long as somebody watches it, and keeps the recent past in memory. A recording that grew
// for ever would fill the memory, so rounds of sampling follow one another, each with a recording of its own. A round is
// not short, because its first sample is expensive: it has the states of all goroutines.
type Feed struct {
	o      FeedOptions
	cancel context.CancelFunc
	ended  chan struct{}

	mu      sync.Mutex
	current *sampledata.Builder
	before  *sampledata.Recording // of the round before, at the beginning of one

	// What became of the process, once ended is closed.
	end sampledata.End
	err error
}

// StartFeed attaches to a process and begins to sample it.
func StartFeed(ctx context.Context, p *Process, o FeedOptions) (*Feed, error) {
	b, err := o.Attach(p)
	if err != nil {
		return nil, err
	}
	f := &Feed{o: o.withDefaults(), ended: make(chan struct{}), current: sampledata.NewBuilder(b.Header())}
	ctx, f.cancel = context.WithCancel(ctx)
	go func() {
		defer close(f.ended)
		f.end, f.err = f.rounds(ctx, p, b)
	}()
	return f, nil
}

// Ended is closed when there will be no more samples.
func (f *Feed) Ended() <-chan struct{} { return f.ended }

// Stop ends the sampling, if nothing else has, and returns why it ended.
func (f *Feed) Stop() (sampledata.End, error) {
	f.cancel()
	<-f.ended
	return f.end, f.err
}

// Recording returns the latest recording that covers at least Overlap; in the first round, what there is.
func (f *Feed) Recording() *sampledata.Recording {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.current.Recording()
	if n := r.Samples.Len(); f.before != nil && (n == 0 || r.Samples.Time(n-1) < f.o.Overlap) {
		return f.before
	}
	f.before = nil
	return r
}

// rounds samples until something other than the end of a round ends one.
func (f *Feed) rounds(ctx context.Context, p *Process, b Backend) (sampledata.End, error) {
	for {
		end, full, err := f.round(ctx, p, b)
		if err = errors.Join(err, b.Close()); err != nil || !full && end.Cause != sampledata.EndDuration {
			return end, err
		}
		if b, err = f.o.Attach(p); err != nil {
			select {
			case <-p.Done():
				return p.End(), nil
			default:
				return sampledata.End{}, AttachError(p.PID, err)
			}
		}
		f.next(sampledata.NewBuilder(b.Header()))
	}
}

// round samples until the round is over, or something else ends it; full means that enough has changed.
func (f *Feed) round(ctx context.Context, p *Process, b Backend) (end sampledata.End, full bool, err error) {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	changed, first := 0, true
	sink := sampledata.AfterSample(f.current, func(_ sampledata.Sample, changes []sampledata.Change, _ error) {
		if !first {
			changed += len(changes)
		}
		first = false
	})
	o := f.o.Options
	o.Duration = f.o.Longest
	o.Progress = func(p Progress) {
		if changed > f.o.Changes && p.Elapsed >= f.o.Least {
			cancel()
		}
	}
	result, err := Record(within, p, b, sink, o)
	return result.End, within.Err() != nil && ctx.Err() == nil && result.End.Cause == sampledata.EndInterrupted, err
}

// next begins a new recording.
func (f *Feed) next(b *sampledata.Builder) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before, f.current = f.current.Recording(), b
}
