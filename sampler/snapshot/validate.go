//go:build linux && (amd64 || arm64)

package snapshot

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
)

// validate checks, on the running program, that the offsets and
// addresses are right. The program may have just been started,
// or change the memory while it is read, so there are many
// attempts.
func (t *target) validate() error {
	var err error
	for range 400 {
		if err = t.check(); err == nil {
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
	return fmt.Errorf("its runtime (%s) was read by %s: %w: %s", t.bin.Version, tried, err, t.bin.Remedy())
}

// check makes one attempt.
func (t *target) check() error {
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
	busy, err := t.checkThreads()
	if err != nil {
		return err
	}
	onThreads, err := t.checkGoroutines()
	if err == nil && onThreads > 0 && busy == 0 {
		err = fmt.Errorf("%d goroutines are on threads, but no thread has one", onThreads)
	}
	return err
}

// checkThreads goes through runtime.allm. It checks that each m
// is a thread of the process, that its g0 and its current
// goroutine point back to it, and that the list ends with the
// first one, m0. It counts the threads that have a goroutine
// other than their g0.
func (t *target) checkThreads() (busy int, err error) {
	at, err := t.word(t.bin.Globals.AllM)
	if err != nil {
		return 0, err
	}
	tids, err := t.Threads()
	if err != nil {
		return 0, err
	}
	m := make([]byte, t.mLen)
	field := func(o layout.Offset) uint64 { return binary.LittleEndian.Uint64(m[o:]) }
	known, agree, id := 0, 0, uint64(1)
	for n := 0; at != 0 && n < 1<<16; n++ {
		if err := t.Read(at, m); err != nil {
			return 0, fmt.Errorf("thread structure %d: %w", n, err)
		}
		tid, g0, curg := field(t.l.M.ProcID), field(t.l.M.G0), field(t.l.M.CurG)
		if tid != 0 && tid < 1<<31 { // otherwise it is just being created
			if outer := t.numbers.Outer(int(tid)); !slices.Contains(tids, outer) {
				return 0, fmt.Errorf("thread structure %d names thread %d, which the process has not", n, tid)
			}
			if back, err := t.word(g0 + uint64(t.g.M)); err != nil || back != at {
				return 0, fmt.Errorf("thread structure %d at %#x has a first goroutine of %#x (%v)",
					n, at, back, err)
			}
			if curg != 0 {
				busy++
				if back, err := t.word(curg + uint64(t.g.M)); err == nil && back == at {
					agree++ // or it has just moved to another thread
				}
			}
			known++
		}
		at, id = field(t.l.M.AllLink), field(t.l.M.ID)
	}
	if known == 0 || id != 0 {
		return 0, fmt.Errorf("runtime.allm at %#x has %d threads, of which the last is number %d and not 0", t.bin.Globals.AllM, known, id)
	}
	if busy > 0 && agree == 0 {
		return 0, fmt.Errorf("of %d threads with goroutines none has one that says so", busy)
	}
	return busy, nil
}

// validated is how many goroutines, oldest first, are checked.
const validated = 1000

// checkGoroutines goes through some of runtime.allgs. It checks
// that their ids, statuses and stacks make sense. It counts
// those that are on a thread.
func (t *target) checkGoroutines() (onThreads int, err error) {
	tab := table{o: t.g, most: validated}
	var heads []head
	addrs, err := tab.list(t.Process, t.bin.Globals.AllGs)
	if err != nil {
		return 0, err
	}
	tab.add(addrs)
	scan := func(g []byte, entries []entry) {
		for _, e := range entries {
			heads = append(heads, t.g.decode(g[e.at:]))
		}
	}
	if err := tab.read(context.Background(), 0, t.NewReader(), nil, scan); err != nil {
		return 0, err
	}
	exist, seen := 0, map[int64]bool{}
	for _, h := range heads {
		if h.status > goruntime.GDeadExtra {
			return 0, fmt.Errorf("goroutine %d has the status %d", h.goid, h.status)
		}
		if !h.exists() {
			continue
		}
		if h.goid <= 0 || seen[h.goid] || h.hi <= h.lo || h.hi-h.lo > 1<<34 {
			return 0, fmt.Errorf("goroutine %d with a stack from %#x to %#x", h.goid, h.lo, h.hi)
		}
		if h.status == goruntime.GWaiting &&
			(!h.within(h.schedSP) || t.reasons.At(h.reason).Text == "") {
			return 0, fmt.Errorf("goroutine %d waits at %#x, with a stack from %#x to %#x, for reason %d",
				h.goid, h.schedSP, h.lo, h.hi, h.reason)
		}
		if h.status == goruntime.GRunning || h.status == goruntime.GSyscall {
			onThreads++
		}
		seen[h.goid] = true
		exist++
	}
	if exist == 0 {
		return 0, fmt.Errorf("there are no goroutines in %d places", len(heads))
	}
	return onThreads, nil
}
