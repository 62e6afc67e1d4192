//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"
	"time"

	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/halt"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// A rest records whether the target has rested since all its g
// were read. Then none of them has changed. Example, with the
// target's CPU time when surveys begin:
//
//	731,204 µs                          all g are read
//	731,204 µs, all processors idle     it has rested
//	731,204 µs, one processor in use    it runs: all g are read
//	731,391 µs, all processors idle     it has run: all g are read
//
// The kernel counts what a thread runs at each tick, and when
// the thread leaves its CPU. So the thread that has a CPU now
// may be missing. It runs no Go code if all processors are idle.
// If it has just stopped to do so, it is about to sleep, and the
// next survey sees what it did.
type rest struct {
	read   time.Duration // the target's CPU time when all g were last read; 0: not known
	latest time.Duration // the target's CPU time when this survey began
	rested bool          // in this survey
}

// begin finds out at the beginning of a survey whether the
// target has rested.
func (r *rest) begin(t *target, reader *halt.Reader) {
	idle := t.isIdle(reader) // before the clock, which then has what ran until now
	r.latest = sampler.ProcessorTimeOf(t.PID())
	r.rested = idle && r.latest == r.read && r.read != 0
}

// end takes note that the survey has read all g that may have changed.
func (r *rest) end() { r.read = r.latest }

// isIdle reports whether no processor is in use.
func (t *target) isIdle(r *halt.Reader) bool {
	at := t.l.Sched.NPIdle
	if !at.Has() {
		return false
	}
	var idle [4]byte
	sched := []memory.Range{{Addr: t.bin.Globals.Sched + uint64(at), Buf: idle[:]}}
	return r.ReadRanges(sched) == 0 && int(binary.LittleEndian.Uint32(idle[:])) == len(t.ps)
}
