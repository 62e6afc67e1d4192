package sampler

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// Limits of a feed's round, unless the options set others.
const (
	longestRound = 10 * time.Minute
	maxChanges   = 200_000
)

// FeedOptions configure a Feed.
type FeedOptions struct {
	// options of each round; the feed sets Duration and Progress itself
	Options Options
	Attach  func(*Process) (Backend, error) // called for each round
	Least   time.Duration                   // minimum length of a round, however much changes
	// how long after the start of a round Recording still
	// returns the previous round
	Overlap time.Duration
	// maximum length of a round; 0: 10 minutes, or Least if that is longer
	Longest time.Duration
	// number of changes of goroutines' states that end a round
	// after Least; 0: 200,000
	Changes int
}

func (o FeedOptions) withDefaults() FeedOptions {
	o.Longest = cmp.Or(o.Longest, max(longestRound, o.Least))
	o.Changes = cmp.Or(o.Changes, maxChanges)
	return o
}

// A Feed samples a process for as long as somebody watches it,
// and keeps the recent past in memory. A single recording would
// grow until memory is full. So sampling is cut into rounds, and
// each round has a recording of its own. Rounds are long, since
// the first sample of each is expensive: it has the states of
// all goroutines.
//
// Example with Overlap 1 min and rounds of 10 min: for the first
// minute of the second round, Recording returns the whole first
// round. After that it returns the second round so far.
type Feed struct {
	o      FeedOptions
	cancel context.CancelFunc
	ended  chan struct{}

	mu      sync.Mutex
	current *sampledata.Builder
	before  *sampledata.Recording // the previous round's; nil once the current round covers Overlap

	// How the process ended; set before ended is closed.
	end sampledata.End
	err error
}

// StartFeed attaches to a process and starts to sample it.
func StartFeed(ctx context.Context, p *Process, o FeedOptions) (*Feed, error) {
	b, err := o.Attach(p)
	if err != nil {
		return nil, err
	}
	f := &Feed{o: o.withDefaults(), ended: make(chan struct{}),
		current: sampledata.NewBuilder(b.Header())}
	ctx, f.cancel = context.WithCancel(ctx)
	go func() {
		defer close(f.ended)
		f.end, f.err = f.rounds(ctx, p, b)
	}()
	return f, nil
}

// Ended returns a channel that is closed when there will be no
// more samples.
func (f *Feed) Ended() <-chan struct{} { return f.ended }

// Stop stops the sampling if it has not ended yet, and returns
// why it ended.
func (f *Feed) Stop() (sampledata.End, error) {
	f.cancel()
	<-f.ended
	return f.end, f.err
}

// Recording returns the latest recording that covers at least
// Overlap. In the first round it returns what there is.
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

// rounds samples round after round, until one ends for another
// reason than its limits.
func (f *Feed) rounds(ctx context.Context, p *Process, b Backend) (sampledata.End, error) {
	for {
		end, full, err := f.round(ctx, p, b)
		if err = errors.Join(err, b.Close()); err != nil || !full &&
			end.Cause != sampledata.EndDuration {
			return end, err
		}
		if b, err = f.o.Attach(p); err != nil {
			if p.HasEnded() {
				return p.End(), nil
			}
			return sampledata.End{}, AttachError(p.PID, err)
		}
		f.next(sampledata.NewBuilder(b.Header()))
	}
}

// round samples for one round. full reports whether the number
// of changes ended it.
func (f *Feed) round(ctx context.Context, p *Process,
	b Backend) (end sampledata.End, full bool, err error) {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	changed, first := 0, true
	sink := sampledata.AfterSample(f.current,
		func(_ sampledata.Sample, changes []sampledata.Change, _ error) {
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
	return result.End, within.Err() != nil && ctx.Err() == nil &&
		result.End.Cause == sampledata.EndInterrupted, err
}

// next starts the recording of a new round.
func (f *Feed) next(b *sampledata.Builder) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before, f.current = f.current.Recording(), b
}
