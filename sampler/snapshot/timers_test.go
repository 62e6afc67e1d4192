//go:build linux && (amd64 || arm64)

package snapshot

import (
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// Who waits for a timer sleeps, also in a select that could be
// stopped. Where signals come before the timer, it does not.
func TestTimers(t *testing.T) {
	t.Parallel()
	v := fixture.Start(t, fixture.Build(t, "states"), "timers")
	r := record(t, open(t, v.Pid()), 200)
	waits := map[string]map[string]int32{}
	for _, run := range r.Runs.All() {
		f := r.Goroutines.At(run.Goroutine).Start
		if f < 0 || run.Reason == "" || int(run.First) < r.Samples.Len()/2 {
			continue
		}
		name := r.Functions[f].Name
		if waits[name] == nil {
			waits[name] = map[string]int32{}
		}
		waits[name][run.Reason] += run.Last - run.First + 1
	}
	for name, want := range map[string]string{
		"main.timer": "select (timer)", "main.ticker": "select (timer)",
		"main.only": "chan receive (timer)", "main.signal": "select",
	} {
		all := int32(0)
		for _, n := range waits[name] {
			all += n
		}
		// A goroutine may move on before its wait is read.
		if got := waits[name][want]; all == 0 || 10*got < 8*all {
			t.Errorf("%s: %d of %d samples say %q: %v", name, got, all, want, waits[name])
		}
	}
}
