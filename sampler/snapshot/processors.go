//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/cpprof/cpprof/sampler/halt"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// Which threads does a halt stop? Those that hold a processor,
// one of the runtime's p: no other thread can change the state
// of a goroutine. A thread that sleeps in the kernel is read
// without stopping it. If it wakes, it needs a processor, and
// all are held.
//
// But while the halt stops the holder of one processor, another
// processor may get a new holder. So the halt reads the holders,
// stops them, and reads again, until all holders are stopped.
// Example with two processors:
//
//	round 1   p0 held by thread 71, p1 by none     stops 71
//	round 2   p0 held by thread 71, p1 by 72       72 has just woken: stops 72
//	round 3   p0 held by thread 71, p1 by 72       no new holder: nothing can change any more
//
// A processor may also be on its way to a thread that nobody
// holds yet: the runtime takes it off the list of idle ones,
// notes it in the thread (m.nextp), and wakes the thread. That
// takes the processor as soon as it gets a CPU, such as the one
// that a halted thread gives up, and would run goroutines during
// the halt. So such threads are halted, too (takers.go).
//
// Each p counts how often it has begun to run another goroutine
// (p.schedtick). At the end of the halt, the holders and these
// counts are read again. If any differ, something has run after
// all, and the states in this sample may be from different
// moments. The recording then gets a warning.

// maxRounds limits the number of these rounds in one halt.
const maxRounds = 8

// A processor is a p of the target, with the thread that holds
// it and that thread's goroutine.
type processor struct {
	addr   uint64
	raw    []byte // copy of the p
	m, g   uint64 // the holder (its m) and the goroutine (its g); 0 if none
	tid    int    // thread id of the holder
	tick   uint32 // p.schedtick
	halted bool
	thread halt.Thread // if it is late, it has no registers yet, and its stacks are not copied
	mRaw   []byte
	gRaw   []byte
	head   head            // of the goroutine
	pieces [3]memory.Range // copies of the stacks
	// bounds of the thread's system stack, if the thread isn't
	// on the goroutine's stack
	system [16]byte
	before // the halt of the thread
	verdict
}

// A before is what is known of a thread just before it is halted.
type before struct {
	awake  bool // it was on a CPU, or ready for one
	asleep bool // it slept in the kernel; neither is set if that is not known
	turns  turns
}

// onThread reports whether the processor runs a goroutine whose thread is
// halted.
func (p *processor) onThread() bool { return p.g != 0 && p.halted }

// processors are the target's processors during one halt.
type processors struct {
	t       *target
	threads *threadStates
	list    []processor
	tids    []int         // ids of the threads to halt
	befores []before      // of these
	halted  []halt.Thread // the halted threads among them
	ranges  []memory.Range
	// when the sampler got the CPU that it has; without a time
	// if it sleeps until the halt
	got          arrival
	small        []byte // buffer for the part of each processor that is read several times
	takers       takers
	changed      bool // whether a processor changed hands during the copy
	turnsUnknown bool // whether the kernel does not say if threads wait for a CPU
}

// prepare allocates memory before the halt, for the p at these addresses.
func (ps *processors) prepare(addrs []uint64, a *memory.Arena) {
	ps.list, ps.tids, ps.befores, ps.halted, ps.changed = ps.list[:0], ps.tids[:0], ps.befores[:0],
		ps.halted[:0], false
	ps.turnsUnknown = false
	for _, addr := range addrs {
		ps.list = append(ps.list, processor{addr: addr, raw: a.Get(ps.t.pLen)})
	}
	ps.small = a.Get(len(addrs) * max(ps.t.pHead, ps.t.procLen))
}

// halt halts the threads that hold processors, until no other
// thread holds one.
func (ps *processors) halt(h *halt.Halted) error {
	for range maxRounds {
		if err := ps.readHolders(h.Reader()); err != nil {
			return err
		}
		holders := ps.addHolders()
		if !ps.addTakers(h.Reader()) && !holders {
			ps.matchThreads()
			return nil
		}
		var err error
		if ps.halted, err = h.Threads(ps.tids); err != nil {
			return err
		}
	}
	ps.matchThreads()
	ps.changed = true
	return nil
}

// addHolders adds new holders to the threads to halt, and
// reports whether there were any.
func (ps *processors) addHolders() (added bool) {
	for i := range ps.list {
		if p := &ps.list[i]; p.m != 0 && p.tid != 0 {
			k, isNew := ps.add(p.tid)
			p.before = ps.befores[k]
			added = added || isNew
		}
	}
	return added
}

// add adds a thread to those to halt, unless it is among them.
// It returns its place among them, and reports whether it is
// new.
func (ps *processors) add(tid int) (k int, isNew bool) {
	if k = slices.Index(ps.tids, tid); k >= 0 {
		return k, false
	}
	b := before{turns: ps.threads.turns(tid)}
	awake, known := ps.threads.awake(tid)
	b.awake, b.asleep = awake, known && !awake
	ps.tids, ps.befores = append(ps.tids, tid), append(ps.befores, b)
	return len(ps.tids) - 1, true
}

// matchThreads finds the halted thread of each processor.
func (ps *processors) matchThreads() {
	for i := range ps.list {
		for _, th := range ps.halted {
			if p := &ps.list[i]; p.m != 0 && th.TID == p.tid {
				p.thread, p.halted = th, true
				p.noCPU = th.Late || ps.waited(p)
				// A thread that has stopped has been given a
				// CPU, if it was new before.
				ps.turnsUnknown = ps.turnsUnknown ||
					p.turns.number == 0 && !th.Late && ps.threads.turns(p.tid).number == 0
			}
		}
	}
}

// settleLate finds out whether the sampler displaced the late
// threads. The sampler still has the CPU that it got before.
func (ps *processors) settleLate() {
	ps.got.readClock(ps.threads)
	for i := range ps.list {
		if p := &ps.list[i]; p.halted && p.thread.Late {
			p.verdict = ps.threads.judge(p.tid, ps.got)
		}
	}
}

// waited reports whether the thread of a processor waited for a
// CPU when it was to be halted. It has stopped since.
func (ps *processors) waited(p *processor) bool {
	return p.turns.waitedUntil(ps.threads.turns(p.tid), time.Since(ps.got.at))
}

// lateWaited does the same for a late thread, which has just stopped.
func (ps *processors) lateWaited(p *processor) bool {
	return p.turns.lateWaited(ps.threads.turns(p.tid), p.verdict, time.Since(ps.got.at))
}

var errProcessors = errors.New("reading the processors: they can't be read")

// readHolders reads the holders of the processors.
func (ps *processors) readHolders(r *halt.Reader) error {
	t := ps.t
	ps.ranges = ps.ranges[:0]
	for i := range ps.list {
		ps.ranges = append(ps.ranges,
			memory.Range{Addr: ps.list[i].addr, Buf: ps.list[i].raw[:t.pHead]})
	}
	ps.ranges = ps.takers.addIdle(ps.ranges)
	if r.ReadRanges(ps.ranges) > 0 {
		return errProcessors
	}
	ps.ranges = ps.ranges[:0]
	for i := range ps.list {
		p := &ps.list[i]
		m := binary.LittleEndian.Uint64(p.raw[t.l.P.M:])
		if m != p.m {
			*p = processor{addr: p.addr, raw: p.raw, m: m}
		}
		p.tick = binary.LittleEndian.Uint32(p.raw[t.l.P.SchedTick:])
		if m != 0 {
			ps.ranges = append(ps.ranges,
				memory.Range{Addr: m + uint64(t.procID), Buf: ps.small[i*t.procLen:][:t.procLen]})
		}
	}
	r.ReadRanges(ps.ranges)
	read := ps.ranges
	for i := range ps.list {
		if p := &ps.list[i]; p.m != 0 {
			ps.setHolder(p, read[0].Buf)
			read = read[1:]
		}
	}
	return nil
}

// setHolder decodes what was read of the m that holds a
// processor. A thread's id never changes, but its goroutine may
// differ at each read.
func (ps *processors) setHolder(p *processor, m []byte) {
	t := ps.t
	if len(m) != t.procLen {
		return
	}
	if p.tid == 0 {
		p.tid = t.numbers.Outer(int(binary.LittleEndian.Uint64(m[int(t.l.M.ProcID)-t.procID:])))
	}
	p.g = binary.LittleEndian.Uint64(m[int(t.l.M.CurG)-t.procID:])
}

// verify records whether a processor changed hands during the copy.
func (ps *processors) verify(r *halt.Reader) error {
	t := ps.t
	ps.ranges = ps.ranges[:0]
	for i := range ps.list {
		ps.ranges = append(ps.ranges,
			memory.Range{Addr: ps.list[i].addr, Buf: ps.small[i*t.pHead:][:t.pHead]})
	}
	if r.ReadRanges(ps.ranges) > 0 {
		return errProcessors
	}
	for i := range ps.list {
		b := ps.ranges[i].Buf
		if binary.LittleEndian.Uint64(b[t.l.P.M:]) != ps.list[i].m ||
			binary.LittleEndian.Uint32(b[t.l.P.SchedTick:]) != ps.list[i].tick {
			ps.changed = true
		}
	}
	return nil
}

// holds reports whether a goroutine has a processor and its
// thread is halted.
func (ps *processors) holds(g uint64) bool {
	for i := range ps.list {
		if ps.list[i].g == g && ps.list[i].halted {
			return true
		}
	}
	return false
}

// status returns p.status.
func (ps *processors) status(p *processor) uint32 {
	return binary.LittleEndian.Uint32(p.raw[ps.t.l.P.Status:])
}
