//go:build linux && (amd64 || arm64)

package tui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/snapshot"
)

// A real program is recorded while the Analyzer shows it: the
// screen shows what its goroutines do, also in a view that was
// opened and refined earlier.
func TestLiveOnARealProgram(t *testing.T) {
	target := fixture.Start(t, fixture.Build(t, "mutex"))
	p, err := sampler.Find(target.Pid())
	if err == nil {
		defer p.Release()
	}
	var backend sampler.Backend
	if err == nil {
		backend, err = snapshot.Attach(p)
	}
	if _, ok := errors.AsType[*sampler.TargetError](err); ok {
		t.Skipf("recording is not possible here: %v", err)
	}
	fixture.Check(t, err)
	defer backend.Close()
	live := sampledata.NewBuilder(backend.Header())
	ctx, stop := context.WithCancel(t.Context())
	ended, recordErr := make(chan struct{}), error(nil)
	go func() {
		defer close(ended)
		_, recordErr = sampler.Record(ctx, p, backend, live, sampler.Options{Rate: 100, Jitter: 1})
	}()
	b := newBench(t, Options{Path: "mutex.cpprof", Recording: live.Recording(), Live: &Live{
		Recording: live.Recording, Ended: ended, Outcome: func() string { return "it was enough" },
	}})
	go b.live.watch(t.Context())
	b.until("go:main.reader")
	b.do(func() { b.summary().list.chooseKey("go:main.reader") })
	b.keys("Enter", "e")
	b.until("..:MONITOR")
	samples := func() (n int) {
		b.do(func() { n = b.recording.Samples.Len() })
		return n
	}
	first := samples()
	b.waitFor("more samples", func() bool { return samples() > first+5 })
	b.shows("Thread View of go:main.reader", "..:MONITOR")
	stop()
	b.waitFor("the end", func() bool { return strings.Contains(b.text(), "■ ended") })
	if <-ended; recordErr != nil {
		t.Error(recordErr)
	}
	b.shows("█ 1.000", "..:MONITOR")
}

// until waits until the screen has a text.
func (b *bench) until(text string) {
	b.t.Helper()
	b.waitFor(text, func() bool { return strings.Contains(b.text(), text) })
}

func (b *bench) waitFor(what string, condition func() bool) {
	b.t.Helper()
	for began := time.Now(); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 2*time.Minute {
			b.t.Fatalf("%s never became true:\n%s", what, b.text())
		}
	}
	b.waitForJobs()
}
