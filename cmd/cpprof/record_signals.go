package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
)

// signals are those that come while a recording is made: the first ends the recording, the second ends cpprof.
type signals struct {
	halting   sync.Mutex // held while the target is halted
	interrupt atomic.Bool
	stop      func()
}

func watchSignals(ctx context.Context) (context.Context, *signals) {
	ctx, cancel := context.WithCancel(ctx)
	s := &signals{}
	ends := make(chan os.Signal, 2)
	signal.Notify(ends, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	suspends := make(chan os.Signal, 1)
	notifySuspend(suspends)
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

func (s *signals) watch(ends, suspends <-chan os.Signal, done <-chan struct{}, cancel func()) {
	for first := true; ; {
		select {
		case <-done:
			return
		case <-suspends:
			s.halting.Lock()
			suspend()
			s.halting.Unlock()
		case sig := <-ends:
			if !first {
				status := 1
				if n, ok := sig.(syscall.Signal); ok {
					status = 128 + int(n)
				}
				os.Exit(status) // a target that is halted right now is let go by the system
			}
			first = false
			s.interrupt.Store(sig == os.Interrupt)
			cancel()
		}
	}
}

// fromTerminal holds where the interruption was, as far as can be told, Ctrl-C at the terminal that cpprof and a program
// that it launched are in the foreground of: the program has got it, too.
func (s *signals) fromTerminal() bool { return s.interrupt.Load() && inForeground() }

// suspendable is a backend that is not suspended (Ctrl-Z) while it halts its target, which would stay halted.
func (s *signals) suspendable(b sampler.Backend) sampler.Backend { return &suspendable{b, s} }

type suspendable struct {
	sampler.Backend
	signals *signals
}

func (b *suspendable) Observe(ctx context.Context, sink sampledata.Sink, sample sampledata.Sample) (sampledata.Sample, error) {
	b.signals.halting.Lock()
	defer b.signals.halting.Unlock()
	return b.Backend.Observe(ctx, sink, sample)
}
