//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"
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
	from := "its own description (DWARF)"
	if t.bin.Disassembled || t.l.Release != "" {
		from = "those of " + t.l.Release
	}
	return fmt.Errorf("the runtime of %s is not laid out as expected from %s: %w: use --backend delve, or a program built "+
		"by a released Go without -ldflags=-w", t.bin.Version, from, err)
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

// lookThreads goes through runtime.allm: each m is a thread of the process, its g0 and its goroutine say that it is theirs.
func (t *target) lookThreads() error {
	at, err := t.word(t.bin.Globals.AllM)
	if err != nil {
		return err
	}
	tids, err := t.Threads()
	if err != nil {
		return err
	}
	checked := 0
	for n := 0; at != 0 && n < 1000; n++ {
		m := make([]byte, t.mLen)
		if err := t.Read(at, m); err != nil {
			return fmt.Errorf("thread structure %d: %w", n, err)
		}
		link, err := t.word(at + uint64(t.l.M.AllLink))
		if err != nil {
			return err
		}
		tid := binary.LittleEndian.Uint64(m[t.l.M.ProcID:])
		if tid != 0 && tid < 1<<31 { // else it is just being made
			if outer := t.numbers.Outer(int(tid)); !slices.Contains(tids, outer) {
				return fmt.Errorf("thread structure %d names thread %d, which the process has not", n, tid)
			}
			for _, g := range []uint64{binary.LittleEndian.Uint64(m[t.l.M.G0:]), binary.LittleEndian.Uint64(m[t.l.M.CurG:])} {
				if g == 0 {
					continue
				}
				if back, err := t.word(g + uint64(t.g.M)); err != nil || back != at {
					return fmt.Errorf("thread structure %d at %#x has a goroutine of %#x (%v)", n, at, back, err)
				}
				checked++
			}
		}
		at = link
	}
	if checked == 0 {
		return fmt.Errorf("runtime.allm at %#x has no threads", t.bin.Globals.AllM)
	}
	return nil
}

// lookGoroutines goes through some of runtime.allgs: their numbers, statuses and stacks make sense.
func (t *target) lookGoroutines() error {
	tab := table{o: t.g, index: map[uint64]int32{}}
	if err := tab.read(t.Process, t.NewReader(), t.bin.Globals.AllGs); err != nil {
		return err
	}
	exist, seen := 0, map[int64]bool{}
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
		if h.status == gWaiting && (!h.within(h.schedSP) || int(h.reason) >= len(t.reasons)) {
			return fmt.Errorf("goroutine %d waits at %#x, out of its stack, for reason %d", h.goid, h.schedSP, h.reason)
		}
		seen[h.goid] = true
		exist++
	}
	if exist == 0 {
		return fmt.Errorf("there are no goroutines in %d places", len(tab.slots))
	}
	return nil
}
