package heap

import (
	"errors"
	"slices"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
	"github.com/cpprof/cpprof/sampler/target/gostate"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// A goroutine is what one halt shows of a goroutine.
type goroutine struct {
	addr       uint64
	id         int64
	status     uint32
	seq        byte
	reason     goruntime.WaitReason
	lo, hi     uint64 // of its stack
	sp, pc, lr uint64 // where it is parked
	sysSP      uint64
	sysPC      uint64
	waiting    uint64
	raw        []byte   // its runtime.g
	used       uint64   // where the used part of its stack begins
	stack      []byte   // that part
	words      []uint64 // words of the stack that count; nil before wordsOf

	sudogs  []uint64 // what it is in queues with
	content []uint64 // of the sudogs
	awaits  []uint64 // channels, semaphores, list of a condition

	candidate bool   // it waits for something that may be out of reach
	never     bool   // it waits for nothing
	live      bool   // it was a candidate, and something can wake it
	doubt     string // why no claim is made
}

// waits reports whether a goroutine is parked.
func (g *goroutine) waits() bool {
	return g.status == goruntime.GWaiting || g.status == goruntime.GLeaked
}

// A world is what one halt reads: all but the heap and the globals.
type world struct {
	gs       []goroutine
	all      []uint64 // addresses of every runtime.g, including unused ones
	waiters  map[uint64]gostate.Waiter
	semas    []uint64 // sudogs of all semaphores
	channels map[uint64][]byte
	inQueue  map[uint64]bool // sudogs
	loose    [][]uint64      // words of system stacks and registers
	rest     []memory.Range
	doubts   []string
	sps      map[uint64]uint64 // stack pointers of threads, by g
	byThread map[int]mRecord
}

// A mRecord is a runtime.m.
type mRecord struct {
	curg, p            uint64
	systemLo, systemHi uint64 // stack of the system
	signalLo, signalHi uint64
}

const (
	maxGoroutines = 1 << 24
	maxStack      = 1 << 30
	maxThreads    = 1 << 16
	maxLoose      = 64 << 10 // what is read of a stack that is not Go's
)

// doubt takes note of a reason why nothing can be claimed.
func (w *world) doubt(why string) {
	if !slices.Contains(w.doubts, why) {
		w.doubts = append(w.doubts, why)
	}
}

var errGoroutines = errors.New("reading the heap: the list of goroutines can't be read")

// readWorld reads goroutines, what they wait for, and stacks.
// The target is halted.
//
// If lazy is set, the stacks of candidates and what they wait
// for are left to finish. That changes only if they run, and a
// claim needs that they have not run. For others it would be
// wrong: one that sleeps wakes, and moves a pointer from its
// stack to the heap.
func (x *Examination) readWorld(c gostate.Copier, threads []Thread, lazy bool) (*world, error) {
	w := &world{sps: map[uint64]uint64{}, byThread: map[int]mRecord{}}
	all, ok := c.Slice(x.bin.Globals.AllGs, maxGoroutines)
	if !ok {
		return nil, errGoroutines
	}
	w.all = all
	at := &x.bin.Layout.G
	w.gs = make([]goroutine, 0, len(all))
	for i, b := range c.Structs(all, int(at.Size)) {
		g := goroutine{addr: all[i]}
		if b == nil {
			w.doubt("a goroutine can't be read")
			continue
		}
		if g.decode(b, at, x.Reasons) {
			w.gs = append(w.gs, g)
		}
	}
	if !lazy {
		x.readWaits(c, w)
	}
	x.readThreads(c, w)
	for _, t := range threads {
		x.addThread(c, w, t)
	}
	x.readStacks(c, w, lazy)
	return w, nil
}

// decode reads a g. It returns false if there is no goroutine in it.
func (g *goroutine) decode(b []byte, at *layout.G, reasons goruntime.Reasons) bool {
	g.raw, g.status = b, memory.Half(b, at.AtomicStatus)&^goruntime.GScan
	if !goruntime.HasGoroutine(g.status) {
		return false
	}
	field := func(o layout.Offset) uint64 { return memory.Word(b, o) }
	g.id, g.seq = int64(field(at.Goid)), b[at.TrackingSeq]
	g.lo, g.hi = field(at.StackLo), field(at.StackHi)
	g.sp, g.pc, g.lr = field(at.SchedSP), field(at.SchedPC), field(at.SchedLR)
	g.sysSP, g.sysPC, g.waiting = field(at.SyscallSP), field(at.SyscallPC), field(at.Waiting)
	if g.waits() {
		g.reason = reasons.At(b[at.WaitReason])
	}
	return true
}

// readThreads reads the list of threads.
func (x *Examination) readThreads(c gostate.Copier, w *world) {
	l := &x.bin.Layout.M
	size := int(max(l.ProcID+goruntime.MGSignalAfterProcID, l.CurG, l.P, l.AllLink, l.G0)) + 8
	bounds := func(g uint64) (lo, hi uint64) {
		if b := x.stackBounds[g]; b[1] != 0 {
			return b[0], b[1]
		}
		b := c.Get(g, 16)
		x.stackBounds[g] = [2]uint64{memory.Word(b, 0), memory.Word(b, 8)}
		return memory.Word(b, 0), memory.Word(b, 8)
	}
	at := c.Word(x.bin.Globals.AllM)
	for n := 0; at != 0; n++ {
		b := c.Get(at, size)
		if b == nil || n == maxThreads {
			w.doubt("a thread of the runtime can't be read")
			return
		}
		m := mRecord{curg: memory.Word(b, l.CurG), p: memory.Word(b, l.P)}
		m.systemLo, m.systemHi = bounds(memory.Word(b, l.G0))
		m.signalLo, m.signalHi = bounds(memory.Word(b, int(l.ProcID)+goruntime.MGSignalAfterProcID))
		w.byThread[x.Outer(int(memory.Word(b, l.ProcID)))] = m
		at = memory.Word(b, l.AllLink)
	}
}

// addThread adds the registers of a halted thread, and its
// system stack if it is on that.
func (x *Examination) addThread(c gostate.Copier, w *world, t Thread) {
	m, ok := w.byThread[t.ID]
	if !ok {
		w.loose = append(w.loose, t.Words, x.readLoose(c, t.SP, t.SP+maxLoose))
		return
	}
	delete(w.byThread, t.ID)
	if m.curg != 0 {
		w.sps[m.curg] = t.SP
	}
	onSystem, onSignal := t.SP >= m.systemLo && t.SP < m.systemHi,
		t.SP >= m.signalLo && t.SP < m.signalHi
	if m.curg == 0 && m.p == 0 && onSystem && x.isIdle(t.PC) {
		return // it sleeps in the scheduler. Its stack has what was there before
	}
	// In a system call, Go code has no pointer in a register:
	// its caller's are on the stack.
	at := m.curg + uint64(x.bin.Layout.G.AtomicStatus)
	status := memory.Half(c.Get(at, 4), 0) &^ goruntime.GScan
	if m.curg == 0 || status != goruntime.GSyscall || !x.inGo(t.PC) {
		w.loose = append(w.loose, t.Words)
	}
	switch {
	case onSignal: // what the signal has interrupted may have been on the system stack
		w.loose = append(w.loose, x.readLoose(c, t.SP, m.signalHi),
			x.readLoose(c, m.systemLo, m.systemHi))
	case onSystem:
		w.loose = append(w.loose, x.readLoose(c, t.SP, m.systemHi))
	}
}

// readLoose reads a system stack, as far as it can.
func (x *Examination) readLoose(c gostate.Copier, lo, hi uint64) []uint64 {
	lo &^= 7
	if hi <= lo {
		return nil
	}
	r := [1]memory.Range{{Addr: lo, Buf: c.Arena.Get(int(min(hi-lo, 16*maxLoose)) &^ 7)}}
	c.Reader.ReadRanges(r[:])
	return gostate.Words(r[0].Buf)
}

// idleFunctions are those in which a thread waits for work.
var idleFunctions = []string{"runtime.futex", "runtime.usleep", "runtime.epollwait",
	"runtime.osyield", "internal/runtime/syscall.Syscall6",
	"internal/runtime/syscall/linux.Syscall6", "runtime/internal/syscall.Syscall6"}

// isIdle reports whether a thread that is at an address on its
// system stack waits for work.
func (x *Examination) isIdle(pc uint64) bool {
	f, ok := x.bin.Table.Func(pc)
	return ok && slices.Contains(idleFunctions, f.Name())
}

// inGo reports whether an address is in Go code.
func (x *Examination) inGo(pc uint64) bool {
	lo, hi := x.bin.Table.Text()
	return pc >= lo && pc < hi
}

// checkThreads takes note of threads that were not halted, and run code.
func (w *world) checkThreads() {
	running := map[uint64]bool{}
	for i := range w.gs {
		if w.gs[i].status == goruntime.GRunning {
			running[w.gs[i].addr] = true
		}
	}
	for id, m := range w.byThread {
		if id != 0 && (m.p != 0 || running[m.curg]) {
			w.doubt("the registers of a thread are not known")
		}
	}
}

// readStacks reads the used parts of the goroutines' stacks.
func (x *Examination) readStacks(c gostate.Copier, w *world, lazy bool) {
	var now []memory.Range
	for i := range w.gs {
		g := &w.gs[i]
		g.used = g.usedFrom(w.sps[g.addr])
		if g.hi < g.used || g.hi-g.used > maxStack {
			g.doubt = "its stack makes no sense"
			w.doubt("a stack makes no sense")
			continue
		}
		n := int(g.hi-g.used) &^ 7
		g.stack = c.Arena.Get(n)
		r := memory.Range{Addr: g.used, Buf: g.stack}
		if lazy && g.waits() && mayBeCandidate(g.reason) {
			w.rest = append(w.rest, r)
		} else {
			now = append(now, r)
		}
	}
	if c.Reader.ReadRanges(now) > 0 {
		w.doubt("a stack can't be read")
	}
}

// usedFrom returns where the used part of a goroutine's stack
// begins. sp is the stack pointer of its thread.
func (g *goroutine) usedFrom(sp uint64) uint64 {
	lo := g.sp
	switch g.status {
	case goruntime.GRunning, goruntime.GCopystack:
		lo = g.lo // on another stack, the end of its own is not known
		if sp >= g.lo && sp < g.hi {
			lo = sp
		}
	case goruntime.GSyscall:
		if g.sysSP >= g.lo && (g.sysSP < lo || lo < g.lo) {
			lo = g.sysSP
		}
		if sp >= g.lo && sp < lo {
			lo = sp
		}
	}
	if lo < g.lo || lo > g.hi {
		lo = g.lo
	}
	return lo &^ 7
}
