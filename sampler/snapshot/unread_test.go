//go:build linux && (amd64 || arm64)

package snapshot

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// If a recording is over before the first sample has read the
// stacks of all goroutines, the sample has their states without
// their stacks, and says so. A later sample reads the stacks.
func TestUnreadStacks(t *testing.T) {
	v := begin(t, build(t), every...)
	attach(t, v).Release() // it waits until all are parked
	b := open(t, v.Process.Pid)
	b.survey.first.takes = 0
	sink := sampledata.NewBuilder(b.Header())
	over, end := context.WithCancel(t.Context())
	end()
	// observe takes one more sample, and counts the parked
	// goroutines that have no stack in it, and all that are
	// parked.
	observe := func(ctx context.Context) (unread, parked int) {
		want := sink.Recording().Samples.Len() + 1
		for until := time.Now().Add(time.Minute); sink.Recording().Samples.Len() < want; {
			if _, err := b.Observe(ctx, sink, sampledata.Sample{Time: time.Since(b.Header().Start)}); err != nil && time.Now().After(until) {
				t.Fatal(err)
			}
		}
		r := sink.Recording()
		for _, run := range last(r) {
			if g := r.Goroutines.At(run.Goroutine); g.Start >= 0 && r.Functions[g.Start].Name == "main.park" {
				if run.Run != sampledata.Waiting || run.Reason != "chan receive" {
					t.Errorf("a parked goroutine is %v for %q", run.Run, run.Reason)
				}
				parked++
				if run.Torn && run.Stack == sampledata.NoStack {
					unread++
				}
			}
		}
		return unread, parked
	}
	if unread, parked := observe(over); parked != 50 || unread != 50 {
		t.Errorf("%d of %d goroutines have no stack, want 50 of 50", unread, parked)
	}
	if w := sink.Recording().Warnings; len(w) == 0 || w[0].Kind != "unread-stacks" || w[0].Count < 50 {
		t.Errorf("warnings %+v", w)
	}
	for range 2 {
		if unread, parked := observe(t.Context()); parked != 50 || unread != 0 {
			t.Errorf("later, %d of %d goroutines have no stack, want 0 of 50", unread, parked)
		}
	}
}

// If a recording is over before the first sample has read the
// headers of all goroutines, or reported all, the sample has
// some of them, and says how many are left out. A later sample
// has all.
func TestLeftOut(t *testing.T) {
	v := begin(t, build(t), append(slices.Clone(every), "-parked=1000")...)
	attach(t, v).Release() // it waits until all are parked
	for _, c := range []struct {
		name   string
		limits firstLimits
	}{
		{"headers", firstLimits{overtime: time.Hour, atOnce: 300}},
		{"reports", firstLimits{overtime: -time.Hour, atOnce: 10_000}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, v.Process.Pid)
			b.survey.first = c.limits
			sink := sampledata.NewBuilder(b.Header())
			over, end := context.WithCancel(t.Context())
			end()
			fixture.Must(b.Observe(over, sink, sampledata.Sample{}))(t)
			r := sink.Recording()
			seen := len(last(r))
			if seen < 200 || seen > 600 {
				t.Errorf("the sample has %d goroutines", seen)
			}
			if !slices.ContainsFunc(r.Warnings, func(w sampledata.Warning) bool {
				return w.Kind == "unread-goroutines" && w.Count > 300 && w.Count <= int64(len(b.goroutines.table.slots)+1000)
			}) {
				t.Errorf("warnings %+v", r.Warnings)
			}
			takeSamples(t, b, sink, func(r *sampledata.Recording) bool { return r.Samples.Len() >= 3 })
			parked := 0
			r = sink.Recording()
			for _, run := range last(r) {
				if g := r.Goroutines.At(run.Goroutine); g.Start >= 0 && r.Functions[g.Start].Name == "main.park" {
					parked++
					if run.Torn || run.Stack == sampledata.NoStack {
						t.Errorf("goroutine %d has no stack", g.ID)
					}
				}
			}
			if parked != 1000 {
				t.Errorf("later samples have %d of 1000 goroutines", parked)
			}
			fixture.Check(t, sink.Finish(sampledata.End{}))
			if err := sink.Recording().Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// The stack of a new goroutine that moves in the halt is not known.
// An earlier goroutine with the same g had another stack.
func TestNewGoroutineMoves(t *testing.T) {
	v := begin(t, build(t), quiet...)
	attach(t, v).Release() // it waits until all are parked
	b := open(t, v.Process.Pid)
	sink := sampledata.NewBuilder(b.Header())
	for until := time.Now().Add(time.Minute); sink.Recording().Samples.Len() == 0; {
		if _, err := b.Observe(t.Context(), sink, sampledata.Sample{Time: time.Second}); err != nil && time.Now().After(until) {
			t.Fatal(err)
		}
	}
	slots := b.goroutines.table.slots
	i := slices.IndexFunc(slots, func(s slot) bool { return s.announced && s.view == known && s.raw != nil })
	slots[i].announced, slots[i].view = false, moving
	b.reporter.reportOne(int32(i), &slots[i])
	if got := slots[i].state; got.Stack != sampledata.NoStack || !got.Torn {
		t.Errorf("stack %d, torn: %t", got.Stack, got.Torn)
	}
}
