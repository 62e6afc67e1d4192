package heap

import (
	"context"
	"testing"
	"time"
)

// Only CPU time counts, not the wait for a CPU.
func TestPaceOfABusyMachine(t *testing.T) {
	p := pace{most: 0.02, clock: func() time.Duration { return time.Hour }}
	p.start(context.Background())
	time.Sleep(5 * time.Millisecond) // that costs a quarter of a second if it counts
	if p.spent(); p.owed != 0 {
		t.Errorf("it owes %v", p.owed)
	}
}

// A marking that nobody wants any more does not sleep.
func TestPaceEnds(t *testing.T) {
	now := time.Duration(0)
	p := pace{most: 0.02, clock: func() time.Duration { return now }}
	ctx, cancel := context.WithCancel(context.Background())
	p.start(ctx)
	cancel()
	now = 100 * time.Hour
	p.spent() // or the test takes months
	if p.owed < time.Hour {
		t.Errorf("it owes %v", p.owed)
	}
}
