package lockname

import (
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
)

// A queue that may use no more processor time waits in the
// middle of its work, until it may use more, or is closed.
func TestQueueKeepsItsBound(t *testing.T) {
	program := fixture.Build(t, "locknames")
	nothing := func(uint64, []byte) error { return nil }
	clock := func() func() time.Duration { return func() time.Duration { return time.Second } }
	ask := func(most time.Duration) *Queue {
		q := Start(program, 0, nothing, clock, most)
		for range 3 {
			if !q.Ask(&Waiter{Lock: 1}, nil) {
				t.Fatal("the queue takes no question")
			}
		}
		return q
	}
	q := ask(time.Second)
	q.MayTake(time.Millisecond)
	time.Sleep(5 * waitStep)
	if n := len(q.Answers()); n != 0 {
		t.Errorf("%d answers although nothing is allowed", n)
	}
	q.Finish(time.Minute)
	if n := len(q.Answers()); n != 3 {
		t.Errorf("%d answers in the end, want 3", n)
	}
	q.Close()

	q = ask(time.Second)
	q.Close() // does not wait for answers
	if n := len(q.Answers()); n != 0 {
		t.Errorf("%d answers after the end", n)
	}
	q.Finish(time.Minute)

	q = ask(2 * time.Second)
	q.Finish(time.Minute)
	if n := len(q.Answers()); n != 3 {
		t.Errorf("%d answers within the bound, want 3", n)
	}
	q.Close()
}
