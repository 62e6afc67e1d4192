package syncflow

// A Term says how to compute an address from a frame.
type Term struct {
	kind termKind
	a, b *Term
	c    int64
}

type termKind uint8

const (
	tConst    termKind = iota
	tSlot              // the word of the stack c bytes from the stack pointer
	tRegister          // register c
	tAdd               // a + c
	tSum               // a + b*c
	tLoad              // the word at a
)

// made gives the term of a node that is made from others.
func made(n node, a, b *Term) *Term {
	switch n.kind {
	case kAdd:
		return &Term{kind: tAdd, a: a, c: n.c}
	case kSum:
		return &Term{kind: tSum, a: a, b: b, c: n.c}
	}
	return &Term{kind: tLoad, a: a}
}

// A frame is what terms are evaluated in.
type frame struct {
	sp       uint64
	m        Memory
	register func(r int) (uint64, bool) // nil where the registers are gone
}

// Memory is what a goroutine's frames and the pointers in them are read from.
type Memory interface {
	// Stack gives a word of the goroutine's stack, as it was copied.
	Stack(addr uint64) (uint64, bool)
	// Heap gives another word of the target's memory.
	Heap(addr uint64) (uint64, bool)
}

// eval gives a term's value, false where memory can't be read.
func (t *Term) eval(f *frame) (uint64, bool) {
	if t == nil {
		return 0, false
	}
	switch t.kind {
	case tConst:
		return uint64(t.c), true
	case tSlot:
		return f.m.Stack(f.sp + uint64(t.c))
	case tRegister:
		if f.register == nil {
			return 0, false
		}
		return f.register(int(t.c))
	}
	a, ok := t.a.eval(f)
	if !ok {
		return 0, false
	}
	switch t.kind {
	case tAdd:
		return a + uint64(t.c), true
	case tSum:
		b, ok := t.b.eval(f)
		return a + b*uint64(t.c), ok
	}
	if w, ok := f.m.Stack(a); ok {
		return w, true
	}
	return f.m.Heap(a)
}
