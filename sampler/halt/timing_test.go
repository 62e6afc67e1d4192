//go:build linux && (amd64 || arm64)

package halt

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/internal/fixture"
)

// A halt keeps its CPU until it has found out which threads are
// halted. If it slept for a thread that waits for a CPU, the CPU
// would run others, such as threads of the program that are not
// to be halted, and these would change what the halt is to see.
func TestHaltKeepsCPU(t *testing.T) {
	g := start(t, "spin")
	p := open(t, g)
	for range 2 * runtime.NumCPU() {
		start(t, "spin")
	}
	gaveUp := func() int64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
			t.Error(err)
		}
		return u.Nvcsw
	}
	halts, slept := 0, 0
	for end := time.Now().Add(time.Minute); halts < 20 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		_, err := p.Halt(0, time.Second, func(h *Halted) error {
			before := gaveUp()
			threads, err := h.Threads([]int{p.PID()})
			if len(threads) == 1 && threads[0].Late {
				halts++
				if gaveUp() != before {
					slept++
				}
			}
			return err
		}, func(Thread) {})
		fixture.Check(t, err)
	}
	// This process's own collector may stop the halting thread, too.
	if halts == 0 || slept > halts/4 {
		t.Errorf("in %d of %d halts with a late thread, the halting thread slept", slept, halts)
	}
	g.free()
}

// The sampler's own garbage collector waits until a halt is
// over. If it stopped the halting thread, that thread would need
// a processor of Go's scheduler to go on, and on a busy machine
// it would get one late.
func TestHaltIsNotInterrupted(t *testing.T) {
	g := start(t, "spin")
	p := open(t, g)
	var collections atomic.Int64
	var over atomic.Bool
	ended := make(chan bool)
	go func() {
		for !over.Load() {
			runtime.GC()
			collections.Add(1)
		}
		close(ended)
	}()
	for range 20 {
		before := collections.Load()
		for end := time.Now().Add(time.Minute); collections.Load() == before && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		_, err := p.Halt(0, time.Minute, func(h *Halted) error {
			_, err := h.Threads([]int{p.PID()})
			before := collections.Load()
			for range 100 {
				pause(100)
			}
			if n := collections.Load() - before; n > 1 { // one had nothing left to stop
				t.Errorf("%d collections in a halt", n)
			}
			return err
		}, func(Thread) {})
		if err != nil {
			t.Error(err)
		}
	}
	over.Store(true)
	<-ended
	g.free()
}

// A halt begins at the time that the caller chose, not before it.
func TestHaltAt(t *testing.T) {
	p := open(t, start(t, "spin"))
	for range 20 {
		at, begin := time.Now().Add(time.Millisecond), time.Time{}
		err := p.Do(func(h *Halter) {
			if _, err := h.Halt(at, func(*Halted) error { begin = time.Now(); return nil }); err != nil {
				t.Error(err)
			}
		})
		if err != nil || begin.Before(at) {
			t.Errorf("a halt at %v began at %v: %v", at, begin, err)
		}
	}
}

// The recording says how the thread wakes. It has that priority
// from the sleep before the halt on to the end of the halt, and
// only then.
func TestWakes(t *testing.T) {
	p := open(t, start(t, "spin"))
	wakes := fixture.Must(p.Wakes())(t)
	priority := func() string {
		a, err := unix.SchedGetAttr(0, 0)
		switch {
		case err != nil:
			t.Error(err)
		case a.Policy == unix.SCHED_FIFO:
			return "real-time priority"
		case a.Nice < 0:
			return fmt.Sprintf("nice %d", a.Nice)
		case a.Runtime == slice:
			return "short time slices"
		}
		return ""
	}
	usual := priority()
	if err := p.Do(func(h *Halter) {
		before, within := priority(), ""
		h.SleepUntil(time.Now().Add(time.Millisecond))
		asleep := priority()
		if _, err := h.Halt(time.Time{}, func(*Halted) error { within = priority(); return nil }); err != nil {
			t.Error(err)
		}
		if _, err := h.AwaitLate(time.Second, nil); err != nil {
			t.Error(err)
		}
		after := priority()
		if asleep != wakes || within != wakes || after != before || before != usual && before != "short time slices" {
			t.Errorf("%q before a halt, %q while it sleeps until then, %q in it and %q after it; the recording says %q", before, asleep, within, after, wakes)
		}
	}); err != nil {
		t.Fatal(err)
	}
}
