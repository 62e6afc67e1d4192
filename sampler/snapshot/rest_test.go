//go:build linux && (amd64 || arm64)

package snapshot

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// If the target has rested, the survey leaves goroutines unread.
// It misses none that has run, however briefly.
func TestRest(t *testing.T) {
	t.Parallel()
	const parked, times = 500, 30
	v := begin(t, build(t), fmt.Sprint("-parked=", parked))
	b := attach(t, v)
	sink := sampledata.NewBuilder(b.Header())
	end := time.Now().Add(time.Minute)
	observe := func() (rested bool, reused int32) {
		for {
			s, err := b.Observe(context.Background(), sink, sampledata.Sample{Time: time.Since(b.Header().Start)})
			if err == nil {
				return b.survey.rest.rested, s.Reused
			}
			if time.Now().After(end) {
				t.Fatal(err)
			}
		}
	}
	wake := func(command string) {
		fmt.Fprintln(v.in, command)
		if line, err := v.out.ReadString('\n'); line != "awake\n" {
			t.Fatalf("%q, %v", line, err)
		}
		for !b.t.isIdle(b.survey.reader) && time.Now().Before(end) {
			time.Sleep(time.Millisecond)
		}
	}
	wake("sleep")
	observe()
	for range times {
		wake("wake")
		if rested, _ := observe(); rested {
			t.Error("the target has run, and counts as rested")
		}
		rested, reused := observe()
		for ; !rested && time.Now().Before(end); rested, reused = observe() {
		}
		if !rested || reused < parked/2 {
			t.Errorf("it has rested: %v; %d stacks were reused", rested, reused)
		}
	}
	r := sink.Recording()
	waits := 0
	for _, run := range r.Runs.All() {
		if g := r.Goroutines.At(run.Goroutine); g.Start >= 0 && r.Functions[g.Start].Name == "main.sleeper" && run.Run == sampledata.Waiting && run.Reason == "chan receive" {
			waits++
		}
	}
	if waits != times+1 {
		t.Errorf("a goroutine that was woken %d times waits %d times, want %d", times, waits, times+1)
	}
}
