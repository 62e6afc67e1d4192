package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cpprof/cpprof/sampler"
)

// OpenTelemetry is the kind of profile that is pushed. No client
// asks for it.
const OpenTelemetry Kind = "otlp"

// Pushing says how profiles are sent to who does not ask for them.
type Pushing struct {
	// Send sends a profile of the kind OpenTelemetry.
	Send func(ctx context.Context, profile []byte) error
	// Told is called for what a person at the agent wants to know.
	Told func(text string)
}

// pushes records each process once in a time, within the
// budgets, and sends the profiles.
type pushes struct {
	*Pushing
	s *Server

	mu   sync.Mutex
	due  map[sampler.Identity]time.Time
	told string // the latest error
}

// run pushes until the context ends. If several processes are
// recorded at a time, one of these recordings is left for
// clients.
func (ps *pushes) run(ctx context.Context) {
	var workers sync.WaitGroup
	for range max(1, ps.s.o.AtOnce-1) {
		workers.Go(func() {
			for ctx.Err() == nil {
				if p := ps.next(); p != nil {
					ps.push(ctx, p)
					continue
				}
				select {
				case <-ctx.Done():
				case <-time.After(time.Second):
				}
			}
		})
	}
	workers.Wait()
}

// next returns the process that has waited for longest; nil if
// none is due.
func (ps *pushes) next() (first *sampler.Process) {
	list := ps.s.processes.all(maxWait)
	ps.mu.Lock()
	defer ps.mu.Unlock()
	now, due := time.Now(), map[sampler.Identity]time.Time{}
	for _, p := range list {
		at := ps.due[p.Identity()] // zero if it is new
		due[p.Identity()] = at
		if !at.After(now) && (first == nil || at.Before(due[first.Identity()])) {
			first = p
		}
	}
	ps.due = due // without those that have ended
	if first != nil {
		due[first.Identity()] = now.Add(ps.s.o.Every)
	}
	return first
}

// push records a process, and sends its profile.
func (ps *pushes) push(ctx context.Context, p *sampler.Process) {
	data, err := ps.s.windows.profile(ctx, p, OpenTelemetry, ps.s.o.Window)
	var busy *BusyError
	switch {
	case errors.As(err, &busy):
		ps.mu.Lock()
		defer ps.mu.Unlock()
		ps.due[p.Identity()] = time.Now().Add(busy.After)
		return
	case err == nil:
		err = ps.Send(ctx, data)
	case errors.Is(err, ErrChanged):
		return
	}
	if ctx.Err() != nil {
		return
	}
	outcome := "complete"
	if err != nil {
		outcome, err = "failed", fmt.Errorf("profile of process %d: %w", p.PID, err)
	}
	ps.s.metrics.pushes.WithLabelValues(outcome).Inc()
	ps.tell(err)
}

// tell says each error once, until another one follows or all is
// well again.
func (ps *pushes) tell(err error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	was := ps.told
	if ps.told = ""; err != nil {
		ps.told = err.Error()
	}
	switch {
	case ps.told == was:
	case err != nil:
		ps.Told(ps.told)
	default:
		ps.Told("profiles are pushed again")
	}
}
