//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/cpprof/cpprof/sampler/internal/gobinary/layout"
)

// validate makes sure, on the running program, that the offsets and addresses are right. The program may change what
// is looked at in the middle of the look, or just have been started, so that it gets many chances.
func (t *target) validate() error {
	var err error
	for range 400 {
		if err = t.look(); err == nil {
			return nil
		}
		if end := t.Check(); end != nil {
			return end
		}
		time.Sleep(5 * time.Millisecond)
	}
	tried := t.l.Origin()
	if t.bin.Disassembled {
		tried += ", with the addresses of its variables as its code has them"
	}
	return fmt.Errorf("its runtime (%s) was read by %s: %w: build it with a released Go and without -ldflags=-w, "+
		"or use --backend delve", t.bin.Version, tried, err)
}

func (t *target) look() error {
	ps, err := t.processors()
	if err != nil {
		return err
	}
	for i, p := range ps {
		var b [4]byte
		if err := t.Read(p+uint64(t.l.P.ID), b[:]); err != nil {
			return fmt.Errorf("processor %d: %w", i, err)
		}
		if id := binary.LittleEndian.Uint32(b[:]); id != uint32(i) {
			return fmt.Errorf("processor %d says that it is %d", i, id)
		}
	}
	if err := t.lookThreads(); err != nil {
		return err
	}
	return t.lookGoroutines()
}

// lookThreads goes through runtime.allm: each m is a thread of the process, its g0 and its goroutine say that it is
// theirs, and the list ends with the first, m0.
func (t *target) lookThreads() error {
	at, err := t.word(t.bin.Globals.AllM)
	if err != nil {
		return err
	}
	tids, err := t.Threads()
	if err != nil {
		return err
	}
	m := make([]byte, t.mLen)
	field := func(o layout.Offset) uint64 { return binary.LittleEndian.Uint64(m[o:]) }
	known, id := 0, uint64(1)
	var current tally
	for n := 0; at != 0 && n < 1<<16; n++ {
		if err := t.Read(at, m); err != nil {
			return fmt.Errorf("thread structure %d: %w", n, err)
		}
		tid, g0, curg := field(t.l.M.ProcID), field(t.l.M.G0), field(t.l.M.CurG)
		if tid != 0 && tid < 1<<31 { // else it is just being made
			if outer := t.numbers.Outer(int(tid)); !slices.Contains(tids, outer) {
				return fmt.Errorf("thread structure %d names thread %d, which the process has not", n, tid)
			}
			if back, err := t.word(g0 + uint64(t.g.M)); err != nil || back != at {
				return fmt.Errorf("thread structure %d at %#x has a first goroutine of %#x (%v)", n, at, back, err)
			}
			if curg != 0 {
				back, _ := t.word(curg + uint64(t.g.M))
				current.add(back == at)
			}
			known++
		}
		at, id = field(t.l.M.AllLink), field(t.l.M.ID)
	}
	if known == 0 || id != 0 {
		return fmt.Errorf("runtime.allm at %#x has %d threads, of which the last is number %d and not 0", t.bin.Globals.AllM, known, id)
	}
	if current.none() {
		return fmt.Errorf("of %d threads that have goroutines none has one that says so", current.of)
	}
	return nil
}

// A tally counts how often something was so. Goroutines change threads between two looks all the time, but it is
// wrong what is never so.
type tally struct{ so, of int }

func (t *tally) add(so bool) {
	t.of++
	if so {
		t.so++
	}
}

func (t *tally) none() bool { return t.of > 0 && t.so == 0 }

// lookGoroutines goes through some of runtime.allgs: their numbers, statuses and stacks make sense.
func (t *target) lookGoroutines() error {
	tab := table{o: t.g, index: map[uint64]int32{}}
	if err := tab.read(t.Process, t.NewReader(), t.bin.Globals.AllGs); err != nil {
		return err
	}
	exist, seen := 0, map[int64]bool{}
	var running tally
	for i := range tab.slots {
		s := &tab.slots[i]
		h := t.g.decode(s.raw)
		if h.status > gDeadExtra {
			return fmt.Errorf("goroutine %d has the status %d", h.goid, h.status)
		}
		if !h.exists() {
			continue
		}
		if h.goid <= 0 || seen[h.goid] || h.hi <= h.lo || h.hi-h.lo > 1<<34 {
			return fmt.Errorf("goroutine %d with a stack from %#x to %#x", h.goid, h.lo, h.hi)
		}
		if h.status == gWaiting && (!h.within(h.schedSP) || int(h.reason) >= len(t.reasons) || t.reasons[h.reason] == "") {
			return fmt.Errorf("goroutine %d waits at %#x, with a stack from %#x to %#x, for reason %d",
				h.goid, h.schedSP, h.lo, h.hi, h.reason)
		}
		if h.status == gRunning || h.status == gSyscall {
			g, _ := t.word(h.m + uint64(t.l.M.CurG))
			running.add(g == s.addr)
		}
		seen[h.goid] = true
		exist++
	}
	if running.none() {
		return fmt.Errorf("of %d goroutines on threads none is on one that says so", running.of)
	}
	if exist == 0 {
		return fmt.Errorf("there are no goroutines in %d places", len(tab.slots))
	}
	return nil
}
