package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cpprof/cpprof/internal/live"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/heap"
	"github.com/cpprof/cpprof/sampler/probe"
)

// signals handles the signals that arrive while cpprof records.
// The first one that asks for the end ends the recording, the
// second one ends cpprof, as soon as no probe of cpprof's is in
// a program. A signal that was ignored when cpprof started (as
// nohup does) stays ignored, by cpprof and by the programs that
// it launches.
type signals struct {
	interrupt atomic.Bool
	stop      func()

	halting  sync.Mutex // held while a target is halted or detached from
	backends map[*suspendable]bool
}

func watchSignals(ctx context.Context) (context.Context, *signals) {
	ctx, cancel := context.WithCancel(ctx)
	s := &signals{backends: map[*suspendable]bool{}}
	ends, suspends := make(chan os.Signal, 2), make(chan os.Signal, 1)
	notify(ends, endSignals)
	notify(suspends, suspendSignals)
	done := make(chan struct{})
	s.stop = sync.OnceFunc(func() {
		signal.Stop(ends)
		signal.Stop(suspends)
		close(done)
		cancel()
	})
	go s.watch(ends, suspends, done, cancel)
	return ctx, s
}

// watchRecording does the same for a command that records. Until
// it stops, a reader of its messages that goes away (head) does
// not end this process: the recording must be whole, and a
// program that cpprof launched may have to be ended.
func watchRecording(ctx context.Context) (context.Context, *signals) {
	ctx, s := watchSignals(ctx)
	unread, stop := make(chan os.Signal, 1), s.stop
	signal.Notify(unread, syscall.SIGPIPE)
	s.stop = func() {
		signal.Stop(unread)
		stop()
	}
	return ctx, s
}

// notify relays the signals that were not ignored when this process started.
func notify(c chan<- os.Signal, all []os.Signal) {
	handled := slices.DeleteFunc(slices.Clone(all), ignoredAtStart)
	if len(handled) > 0 { // signal.Notify without a list would relay all signals
		signal.Notify(c, handled...)
	}
}

func (s *signals) watch(ends, suspends <-chan os.Signal, done <-chan struct{}, cancel func()) {
	for first := true; ; {
		select {
		case <-done:
			return
		case <-suspends:
			s.suspend(suspends)
		case sig := <-ends:
			if !first {
				status := 1
				if n, ok := sig.(syscall.Signal); ok {
					status = 128 + int(n)
				}
				if err := probe.CloseAll(); err != nil {
					tell(os.Stderr, "%v", err)
					status = exitFailed
				}
				os.Exit(status) // if a target is halted right now, the system resumes it
			}
			first = false
			time.AfterFunc(500*time.Millisecond, func() {
				if err := stuckRead(500 * time.Millisecond); err != nil {
					endStuck(err)
				}
			})
			s.interrupt.Store(sig == os.Interrupt || sig == syscall.SIGQUIT)
			cancel()
		}
	}
}

// watchReads waits until a read of a program's memory does not
// return for a while, and calls end: neither a signal nor
// --duration ends this process then.
func watchReads(patience time.Duration, end func(error)) {
	for range time.Tick(patience / 4) {
		if err := stuckRead(patience); err != nil {
			end(err)
			return
		}
	}
}

// stuckRead waits for a while. The result is an error if a read
// of a program's memory did not return meanwhile.
func stuckRead(patience time.Duration) error {
	if pid := sampler.Stuck(patience); pid != 0 {
		return fmt.Errorf("a read of the memory of process %d does not return", pid)
	}
	return nil
}

// endStuck ends this process, since a read of a program's memory
// does not return. The system detaches from the program.
func endStuck(err error) {
	tell(os.Stderr, "ended at once: %v", err)
	os.Exit(exitFailed)
}

// suspend stops this process, as Ctrl-Z asks for. The target
// must run on meanwhile, so no thread of it may be traced:
// suspend waits for the end of a halt, and first releases what
// earlier halts have left. If that fails, this process does not
// stop.
func (s *signals) suspend(more <-chan os.Signal) {
	s.halting.Lock()
	defer s.halting.Unlock()
	for b := range s.backends {
		if err := b.Backend.Release(); err != nil {
			tell(os.Stderr, "not suspended: %v", err)
			return
		}
	}
	select {
	case <-more: // a repetition: each refused write to the terminal sends the signal again
	default:
	}
	began := time.Now()
	suspend()
	for b := range s.backends {
		b.suspended += time.Since(began)
	}
}

// fromTerminal reports whether, as far as is known, the
// interruption was Ctrl-C or Ctrl-\ at a terminal that has
// cpprof in its foreground. A program that cpprof launched got
// the same signal then.
func (s *signals) fromTerminal() bool { return s.interrupt.Load() && inForeground() }

// suspendable returns a backend whose target runs on while this
// process is suspended (Ctrl-Z).
func (s *signals) suspendable(b sampler.Backend) sampler.Backend {
	s.halting.Lock()
	defer s.halting.Unlock()
	own := &suspendable{Backend: b, signals: s}
	s.backends[own] = true
	return own
}

// attach attaches to a program that runs on while this process
// is suspended.
func (s *signals) attach(attach attacher, p *sampler.Process) (sampler.Backend, error) {
	b, err := attach(p)
	if err != nil {
		return nil, err
	}
	return s.suspendable(b), nil
}

type suspendable struct {
	sampler.Backend
	signals   *signals
	suspended time.Duration // since the last sample
}

// Observe records how long this process was suspended before the
// sample: such a time belongs to no sample (see
// sampledata.Weights).

func (b *suspendable) Observe(ctx context.Context, sink sampledata.Sink,
	sample sampledata.Sample) (sampledata.Sample, error) {
	b.signals.halting.Lock()
	defer b.signals.halting.Unlock()
	sample.Suspended = b.suspended
	taken, err := b.Backend.Observe(ctx, sink, sample)
	if err == nil {
		b.suspended = 0
	}
	return taken, err
}

// Examine prepares to mark the target's heap. Halts for that end
// before this process can be suspended, too.
func (b *suspendable) Examine(c heap.Config) (*heap.Examination, error) {
	e, ok := b.Backend.(live.Examiner)
	if !ok {
		return nil, sampler.ErrNoHeap
	}
	c.Halting = &b.signals.halting
	return e.Examine(c)
}

// Close detaches from the target before this process can be suspended.
func (b *suspendable) Close() error {
	b.signals.halting.Lock()
	defer b.signals.halting.Unlock()
	delete(b.signals.backends, b)
	return b.Backend.Close()
}
