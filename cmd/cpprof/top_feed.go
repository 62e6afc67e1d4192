package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
)

// A recording in memory grows for so long, or by so many changes, before a new one takes its place. Its first sample is
// dear, as it tells of all goroutines.
const (
	longestRound = 10 * time.Minute
	mostChanges  = 200_000
)

// feedOptions say how a live feed samples.
type feedOptions struct {
	attach  attacher
	longest time.Duration // of a round
	least   time.Duration // of a round, however much changes
	overlap time.Duration // for so long into a round, the recording of the one before is given
	changes int           // that end a round
	options sampler.Options
}

// A liveFeed samples a process for as long as somebody looks on, and keeps the recent past in memory: rounds of sampling
// follow one another, each with a recording of its own, so that memory stays bounded.
type liveFeed struct {
	o     feedOptions
	ended chan struct{} // closed when no sample will come any more
	stop  func() (sampledata.End, error)

	mu      sync.Mutex
	current *sampledata.Builder
	before  *sampledata.Recording // of the round before, at the beginning of one

	// What became of the process, once ended is closed.
	end sampledata.End
	err error
}

// startFeed attaches to a process and begins to sample it.
func startFeed(ctx context.Context, p *sampler.Process, o feedOptions) (*liveFeed, error) {
	o.options.Duration = o.longest
	b, err := o.attach(p)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	f := &liveFeed{o: o, ended: make(chan struct{}), current: sampledata.NewBuilder(b.Header())}
	f.stop = func() (sampledata.End, error) {
		cancel()
		<-f.ended
		return f.end, f.err
	}
	go func() {
		defer close(f.ended)
		f.end, f.err = f.rounds(ctx, p, b)
	}()
	return f, nil
}

// rounds samples until something else than the end of a round ends one.
func (f *liveFeed) rounds(ctx context.Context, p *sampler.Process, b sampler.Backend) (sampledata.End, error) {
	for {
		end, full, err := f.round(ctx, p, b)
		if err = errors.Join(err, b.Close()); err != nil || !full && end.Cause != sampledata.EndDuration {
			return end, err
		}
		if b, err = f.o.attach(p); err != nil {
			select {
			case <-p.Done():
				return p.End(), nil
			default:
				return sampledata.End{}, prefix(p.PID, err)
			}
		}
		f.next(sampledata.NewBuilder(b.Header()))
	}
}

// round samples until the round is over, or something else ends it; full says that enough has changed.
func (f *liveFeed) round(ctx context.Context, p *sampler.Process, b sampler.Backend) (end sampledata.End, full bool, err error) {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	sink := &changesSink{Sink: f.current}
	o := f.o.options
	o.Progress = func(p sampler.Progress) {
		if sink.changes > f.o.changes && p.Elapsed >= f.o.least {
			cancel()
		}
	}
	result, err := sampler.Record(within, p, b, sink, o)
	return result.End, within.Err() != nil && ctx.Err() == nil && result.End.Cause == sampledata.EndInterrupted, err
}

// A changesSink counts the changes after the first sample.
type changesSink struct {
	sampledata.Sink
	begun   bool
	changes int
}

func (s *changesSink) Sample(sample sampledata.Sample, changes []sampledata.Change) error {
	if s.begun {
		s.changes += len(changes)
	}
	s.begun = true
	return s.Sink.Sample(sample, changes)
}

// next begins a new recording.
func (f *liveFeed) next(b *sampledata.Builder) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before, f.current = f.current.Recording(), b
}

// recording gives the latest one that says something of a while.
func (f *liveFeed) recording() *sampledata.Recording {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.current.Recording()
	if n := len(r.Samples); f.before != nil && (n == 0 || r.Samples[n-1].Time < f.o.overlap) {
		return f.before
	}
	f.before = nil
	return r
}
