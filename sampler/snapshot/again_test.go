//go:build linux && (amd64 || arm64)

package snapshot

import (
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// A goroutine that waits in a system call, runs, and waits in
// the same one again is not seen as one that waited all the
// time.
func TestWaitsAgainInSystemCalls(t *testing.T) {
	t.Parallel()
	v := fixture.Start(t, fixture.Build(t, "processes"))
	r := record(t, open(t, v.Pid()), 200)
	var last sampledata.Run
	again := 0
	for i, run := range r.Runs.All() {
		if r.Goroutines.At(run.Goroutine).ID != 1 {
			continue
		}
		if i > 0 && run.Reason == "syscall" && last.Reason == "syscall" && last.Last+1 == run.First && last.State() == run.State() {
			again++
		}
		last = run
	}
	if again < 3 {
		t.Errorf("main waited again in %d samples", again)
	}
}
