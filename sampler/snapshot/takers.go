//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"
	"slices"

	"github.com/cpprof/cpprof/sampler/halt"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// takers are the target's threads to which processors may be on
// their way. A halt must know all threads for that, so they are
// listed before it.
type takers struct {
	t      *target
	newest uint64 // the first m of runtime.allm when the list was made
	listed uint32 // the sample that made the list
	ms     []uint64
	tids   []int // by index in ms

	idle   [4]byte // sched.npidle
	next   []byte  // m.nextp of each
	ranges []memory.Range
}

// Limits on the list.
const (
	maxTakers  = 64 // of more threads, the newest are listed
	relist     = 50 // the list is made again after these samples: threads may have ended
	relistSoon = 5  // likewise, if an m has no thread yet
)

// prepare lists the threads before a halt, if they have changed.
func (k *takers) prepare(number uint32) error {
	if m := &k.t.l.M; !k.t.l.Sched.NPIdle.Has() || m.OldP != m.P+16 { // m.p, m.nextp, m.oldp
		return nil
	}
	newest, err := k.t.word(k.t.bin.Globals.AllM)
	if err != nil || newest == k.newest && number-k.listed < relist {
		return err
	}
	k.newest, k.listed = newest, number
	k.ms, k.tids = k.ms[:0], k.tids[:0]
	procID, next := k.t.l.M.ProcID, k.t.l.M.AllLink
	first := min(procID, next)
	raw := make([]byte, max(procID, next)+8-first)
	for at := newest; at != 0 &&
		len(k.ms) < maxTakers; at = binary.LittleEndian.Uint64(raw[next-first:]) {
		if k.t.Read(at+uint64(first), raw) != nil {
			break // it has just ended
		}
		if id := binary.LittleEndian.Uint64(raw[procID-first:]); id != 0 {
			k.ms, k.tids = append(k.ms, at), append(k.tids, k.t.numbers.Outer(int(id)))
		} else {
			// It is just being created, or waits for a thread of
			// C to need it, which may be for ever.
			k.listed = number - relist + relistSoon
		}
	}
	return nil
}

// addIdle adds the number of idle processors to the ranges to be read.
func (k *takers) addIdle(ranges []memory.Range) []memory.Range {
	if len(k.ms) == 0 {
		return ranges
	}
	return append(ranges,
		memory.Range{Addr: k.t.bin.Globals.Sched + uint64(k.t.l.Sched.NPIdle), Buf: k.idle[:]})
}

// find reads to which threads a processor is on its way, and
// calls add for each.
func (k *takers) find(r *halt.Reader, add func(tid int)) {
	k.ranges = k.ranges[:0]
	k.next = slices.Grow(k.next[:0], 8*len(k.ms))[:8*len(k.ms)]
	nextP := uint64(k.t.l.M.P) + 8
	for i, m := range k.ms {
		k.ranges = append(k.ranges, memory.Range{Addr: m + nextP, Buf: k.next[8*i:][:8]})
	}
	r.ReadRanges(k.ranges)
	for i, g := range k.ranges {
		if len(g.Buf) == 8 && slices.Contains(k.t.ps, binary.LittleEndian.Uint64(g.Buf)) {
			add(k.tids[i])
		}
	}
}

// addTakers adds the threads to which processors are on their
// way to the threads to halt, and reports whether there were any
// new ones. More processors have the status idle than are on the
// list of idle ones then.
func (ps *processors) addTakers(r *halt.Reader) (added bool) {
	idle := 0
	for i := range ps.list {
		if p := &ps.list[i]; p.m == 0 && ps.status(p) == goruntime.PIdle {
			idle++
		}
	}
	if len(ps.takers.ms) == 0 || idle <= int(binary.LittleEndian.Uint32(ps.takers.idle[:])) {
		return false
	}
	ps.takers.find(r, func(tid int) {
		if tid != 0 {
			_, isNew := ps.add(tid)
			added = added || isNew
		}
	})
	return added
}
