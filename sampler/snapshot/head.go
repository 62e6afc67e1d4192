//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"
	"unsafe"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
)

// A head has the fields of a goroutine's g that a sample needs.
type head struct {
	goid             int64
	status           uint32 // without goruntime.GScan
	seq, reason      uint8
	lo, hi           uint64 // bounds of the stack
	schedPC, schedSP uint64
	schedLR          uint64 // arm64
	sysPC, sysSP     uint64
	m                uint64
	labels           uint64
}

// exists reports whether the g has a goroutine.
func (h *head) exists() bool {
	return goruntime.HasGoroutine(h.status) && h.goid != 0 && h.hi != 0
}

// still reports whether the goroutine's stack does not change,
// so that it can be read without a halt.
func (h *head) still() bool {
	switch h.status {
	case goruntime.GRunnable, goruntime.GSyscall, goruntime.GWaiting, goruntime.GPreempted,
		goruntime.GLeaked:
		return true
	}
	return false
}

// sp returns the lower end of the part of the stack that the
// unwinder needs, for a goroutine that has no thread or is in a
// system call. A call of C saves its position deeper in the
// stack than a system call does.
func (h *head) sp() uint64 {
	switch {
	case h.sysSP == 0, h.within(h.schedSP) && h.schedSP < h.sysSP:
		return h.schedSP
	}
	return h.sysSP
}

// within reports whether an address is in the goroutine's stack.
func (h *head) within(sp uint64) bool { return sp >= h.lo && sp < h.hi }

// sameStack reports whether the goroutine did not run between
// this head and a later one, so that its stack is the same. A
// goroutine that was waiting and is runnable now has not run;
// one that was runnable and is waiting now has.
func (h *head) sameStack(o *head) bool {
	if h.status == goruntime.GRunnable && o.status == goruntime.GWaiting {
		return false
	}
	return h.goid == o.goid && h.seq == o.seq && h.schedSP == o.schedSP && h.schedPC == o.schedPC &&
		h.sysSP == o.sysSP && h.sysPC == o.sysPC && h.hi == o.hi && h.still() && o.still()
}

// offsets are the offsets of a head's fields in a g, checked once.
type offsets struct {
	*layout.G
	size     int    // number of bytes that are read of a g
	words    [7]int // the word-sized fields that unchanged compares
	schedule int    // g.schedlink: the next goroutine in a queue
}

func newOffsets(g *layout.G) offsets {
	o := offsets{G: g, schedule: int(g.Goid) + 8}
	for _, at := range []layout.Offset{g.StackHi, g.SchedPC, g.SchedSP, g.SchedLR, g.SyscallPC,
		g.SyscallSP, g.M, g.Labels,
		g.Goid + 8, g.AtomicStatus, g.WaitReason, g.TrackingSeq, g.GoPC, g.StartPC, g.ParentGoid,
		g.Waiting} {
		o.size = max(o.size, int(at)+8)
	}
	o.words = [...]int{int(g.Goid), int(g.SchedSP), int(g.SchedPC), int(g.SyscallSP),
		int(g.SyscallPC), int(g.StackHi), int(g.Labels)}
	return o
}

// decode decodes a head from the copy of a g.
func (o *offsets) decode(b []byte) head {
	word := func(at layout.Offset) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	return head{
		goid:    int64(word(o.Goid)),
		status:  binary.LittleEndian.Uint32(b[o.AtomicStatus:]) &^ goruntime.GScan,
		seq:     b[o.TrackingSeq],
		reason:  b[o.WaitReason],
		lo:      word(o.StackLo),
		hi:      word(o.StackHi),
		schedPC: word(o.SchedPC),
		schedSP: word(o.SchedSP),
		schedLR: word(o.SchedLR),
		sysPC:   word(o.SyscallPC),
		sysSP:   word(o.SyscallSP),
		m:       word(o.M),
		labels:  word(o.Labels),
	}
}

// unchanged reports whether a g is the same as at an earlier
// head. It does not decode all of it.
func (o *offsets) unchanged(b []byte, h *head) bool {
	word := func(at layout.Offset) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	return b[o.TrackingSeq] == h.seq &&
		binary.LittleEndian.Uint32(b[o.AtomicStatus:])&^goruntime.GScan == h.status &&
		int64(word(o.Goid)) == h.goid &&
		word(o.SchedSP) == h.schedSP && word(o.SchedPC) == h.schedPC &&
		word(o.SyscallSP) == h.sysSP && word(o.SyscallPC) == h.sysPC &&
		word(o.StackHi) == h.hi && word(o.Labels) == h.labels && b[o.WaitReason] == h.reason
}

// printKeys are odd, so that a change of a single word always
// changes the print. They are otherwise arbitrary.
var printKeys = [...]uint64{
	0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb, 0xd6e8feb86659fd93,
	0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3, 0x589965cc75374cc3,
}

// print returns a hash, other than 0, of everything that
// unchanged compares. Two different heads have the same hash
// with a probability of about 2^-64.
func (o *offsets) print(b []byte) uint64 {
	_ = b[o.size-1] // all fields lie before that; checking the bounds of each would double the time
	g, w, k := unsafe.Pointer(unsafe.SliceData(b)), &o.words, &printKeys
	term := func(at int, key uint64) uint64 {
		word := *(*uint64)(unsafe.Add(g, at))
		return (word ^ word>>32) * key
	}
	sum := term(w[0], k[0]) + term(w[1], k[1]) + term(w[2], k[2]) + term(w[3], k[3]) +
		term(w[4], k[4]) + term(w[5], k[5]) +
		term(w[6], k[6])
	status := *(*uint32)(unsafe.Add(g, o.AtomicStatus)) &^ goruntime.GScan
	sum += (uint64(status) | uint64(b[o.TrackingSeq])<<32 | uint64(b[o.WaitReason])<<40) * k[7]
	return max(sum, 1)
}

// waitingOf returns the first sudog of what a goroutine waits for
// (g.waiting), from the copy of its g.
func (o *offsets) waitingOf(b []byte) uint64 {
	if !o.Waiting.Has() {
		return 0
	}
	return binary.LittleEndian.Uint64(b[o.Waiting:])
}

// deferredOf returns the first entry in the goroutine's list of deferred
// functions, likewise.
func (o *offsets) deferredOf(b []byte) uint64 {
	return binary.LittleEndian.Uint64(b[o.M-goruntime.DeferBeforeM:])
}

// A creation has the fields of a g that describe how its
// goroutine was created.
type creation struct {
	goPC, startPC uint64
	parent        int64
}

func (o *offsets) creation(b []byte) creation {
	c := creation{
		goPC:    binary.LittleEndian.Uint64(b[o.GoPC:]),
		startPC: binary.LittleEndian.Uint64(b[o.StartPC:]),
	}
	if o.ParentGoid.Has() {
		c.parent = int64(binary.LittleEndian.Uint64(b[o.ParentGoid:]))
	}
	return c
}
