package heap

import (
	"context"
	"time"
)

// A pace bounds the CPU time that marking takes.
type pace struct {
	most  float64              // of one CPU
	clock func() time.Duration // the CPU time of the thread
	ctx   context.Context      // of the marking
	last  time.Duration        // on the clock
	owed  time.Duration        // how long to sleep
}

// slice is how long marking goes on before it sleeps.
const slice = 2 * time.Millisecond

// start begins with a marking, on the calling thread.
func (p *pace) start(ctx context.Context) { p.ctx, p.last = ctx, p.clock() }

// spent takes note of the work since the last call, and sleeps if it
// was too much, or until nobody wants the marking any more.
func (p *pace) spent() {
	if p.most <= 0 || p.most >= 1 {
		return
	}
	now := p.clock()
	p.owed += time.Duration(float64(now-p.last) * (1/p.most - 1))
	p.last = now
	if p.owed <= slice {
		return
	}
	begin := time.Now()
	select {
	case <-time.After(p.owed):
	case <-p.ctx.Done():
	}
	p.owed = max(p.owed-time.Since(begin), -slice) // it may have slept for long
}
