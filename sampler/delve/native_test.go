//go:build linux

package delve

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// Delve's own halting, which other systems than Linux need,
// makes the same recording and leaves nothing behind.
func TestNativeHalter(t *testing.T) {
	r := fixture.Start(t, fixture.Build(t, "mutex"))
	before := text(t, r.Pid())
	awaitParked(t, r, "main.reader", "main.writer")
	p, a := attach(t, r)
	h, err := newNativeHalter(r.Pid())
	if errors.Is(err, fs.ErrPermission) {
		t.Skipf("ptrace is not permitted here: %v", err)
	}
	fixture.Check(t, err)
	seizing := a.halter
	a.halter, a.capture.mem.halter = h, h
	checkWorkers(t, take(t, p, a, 10))
	fixture.Check(t, h.close())
	a.halter = seizing
	if after := text(t, r.Pid()); string(after) != string(before) {
		t.Error("Delve left something in the target's code")
	}
}
