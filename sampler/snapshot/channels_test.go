//go:build linux && (amd64 || arm64)

package snapshot

import (
	"fmt"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// For a goroutine that waits for a channel, the goroutines that
// use the channel in the other direction are named as
// candidates.
func TestChannels(t *testing.T) {
	t.Parallel()
	v := fixture.Start(t, fixture.Build(t, "holders"))
	b := open(t, v.Pid())
	var few []string
	for range 5 { // of a goroutine that gets no CPU for a second, nobody knows whom it keeps waiting
		if few = namedTooRarely(t, record(t, b, 60)); len(few) == 0 {
			return
		}
	}
	t.Error(few)
}

// namedTooRarely checks who is named for goroutines that wait
// for channels, and returns those for which mostly nobody is.
func namedTooRarely(t *testing.T, r *sampledata.Recording) (few []string) {
	start := func(g sampledata.GoroutineID) string {
		if f := r.Goroutines.At(g).Start; f >= 0 {
			return r.Functions[f].Name
		}
		return ""
	}
	partners := map[string]string{"main.consume": "main.produce", "main.fill": "main.choose", "main.ask": "main.answer"}
	named, waited := map[string]int32{}, map[string]int32{}
	for _, run := range r.Runs.All() {
		name := start(run.Goroutine)
		if run.Run == sampledata.Blocked && partners[name] != "" {
			t.Errorf("%s waits for a lock: %q", name, run.Reason)
		}
		if run.Run != sampledata.Waiting || goruntime.ReasonOf(run.Reason).Awaits != goruntime.AwaitsChannel {
			continue
		}
		if run.Holders != 0 && (run.Evidence != sampledata.Ambiguous && run.Evidence != sampledata.Likely || run.Lock == 0) {
			t.Fatalf("%s waits for %q with evidence %v", name, run.Reason, run.Evidence)
		}
		for _, g := range r.HolderSets[run.Holders] {
			if partners[name] != "" && start(g) != partners[name] {
				t.Errorf("%s may be waiting for %s, want %s", name, start(g), partners[name])
			}
		}
		if partners[name] != "" {
			waited[name] += run.Last - run.First + 1
			if run.Holders != 0 {
				named[name] += run.Last - run.First + 1
			}
		}
	}
	for name := range partners {
		if waited[name] < 60 || named[name] < waited[name]/2 {
			few = append(few, fmt.Sprintf("%s waited in %d samples, and somebody was named in %d", name, waited[name], named[name]))
		}
	}
	return few
}
