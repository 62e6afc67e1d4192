//go:build linux

package delve

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
)

// Delve's own halting, which other systems than Linux depend on, gives the same recording, and leaves nothing behind.
func TestNativeHalter(t *testing.T) {
	r := fixture.Start(t, fixture.Build(t, "mutex"))
	before := text(t, r.Pid())
	p, a := attach(t, r)
	h, err := newNativeHalter(r.Pid())
	if errors.Is(err, fs.ErrPermission) {
		t.Skipf("ptrace is not permitted here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	seizing := a.halter
	a.halter, a.capture.mem.halter, a.identity = h, h, ""
	ctx, cancel := context.WithCancel(t.Context())
	rec := recordWith(t, ctx, p, a, sampler.Options{Rate: 100, Progress: func(p sampler.Progress) {
		if p.Samples >= 10 {
			cancel()
		}
	}})
	for i, workers := range samples(rec, "main.worker") {
		blocked := 0
		for _, w := range workers {
			if w.state.Run == sampledata.Blocked && !w.state.Torn {
				blocked++
			}
		}
		if blocked < 6 {
			t.Errorf("sample %d: %d of %d workers wait", i, blocked, len(workers))
		}
	}
	if err := h.close(); err != nil {
		t.Fatal(err)
	}
	a.halter = seizing
	if after := text(t, r.Pid()); string(after) != string(before) {
		t.Error("Delve left something in the target's code")
	}
}
