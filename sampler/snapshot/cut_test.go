//go:build linux && (amd64 || arm64)

package snapshot

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/halt"
)

// A halt that would last too long is ended. Its sample counts as
// lost, the time of the halt is in the recording, and later
// samples are whole.
func TestHaltTooLong(t *testing.T) {
	v := begin(t, build(t), every...)
	b := attach(t, v)
	p := fixture.Must(sampler.Find(v.Process.Pid))(t)
	defer p.Release()
	const tries, good = 10, 5
	ctx, cancel := context.WithCancel(t.Context())
	sink := sampledata.NewBuilder(b.Header())
	attempts := 0
	o := sampler.Options{Rate: 100, Rest: func() bool {
		if attempts++; attempts <= tries {
			b.t.LimitHalts(1)
		} else {
			b.t.LimitHalts(time.Minute)
		}
		return false
	}, Progress: func(sampler.Progress) {
		if attempts > tries+good {
			cancel()
		}
	}}
	result := fixture.Must(sampler.Record(ctx, p, b, sink, o))(t)
	r := sink.Recording()
	// A halt that finds no thread to halt is not too long.
	if result.Lost < tries/2 || r.Samples.Len() < good || result.End.Cause != sampledata.EndInterrupted {
		t.Errorf("%+v, %d samples in the recording", result, r.Samples.Len())
	}
	lost, missed := time.Duration(0), int32(0)
	for _, s := range r.Samples.All() {
		lost += s.LostHalt
		missed += s.Missed
	}
	if lost == 0 || int64(missed) < result.Lost {
		t.Errorf("%d ticks were missed, and %v of halts were for nothing", missed, lost)
	}
	if !slices.ContainsFunc(r.Warnings, func(w sampledata.Warning) bool {
		return w.Kind == "lost-sample" && strings.Contains(w.Message, halt.ErrLong.Error())
	}) {
		t.Errorf("warnings %+v", r.Warnings)
	}
	checkStates(t, r, v.stuck)

	b.t.LimitHalts(1)
	if _, err := b.Observe(t.Context(), sink, sampledata.Sample{}); !errors.Is(err, halt.ErrLong) {
		t.Errorf("got %v, want %v", err, halt.ErrLong)
	}
}
