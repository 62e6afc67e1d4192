package syncflow

// A Term says how to compute an address from a frame.
type expr struct {
	kind exprKind
	a, b *expr
	c    int64
}

type exprKind uint8

const (
	exprConst     exprKind = iota
	exprStackWord          // the word of the stack c bytes from the stack pointer
	exprRegister           // register c
	exprAdd                // a + c
	exprSum                // a + b*c
	exprLoad               // the word at a
)

// made gives the term of a node that is made from others.
func exprOf(n node, a, b *expr) *expr {
	switch n.kind {
	case kAdd:
		return &expr{kind: exprAdd, a: a, c: n.c}
	case kSum:
		return &expr{kind: exprSum, a: a, b: b, c: n.c}
	}
	return &expr{kind: exprLoad, a: a}
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
func (t *expr) eval(f *frame) (uint64, bool) {
	if t == nil {
		return 0, false
	}
	switch t.kind {
	case exprConst:
		return uint64(t.c), true
	case exprStackWord:
		return f.m.Stack(f.sp + uint64(t.c))
	case exprRegister:
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
	case exprAdd:
		return a + uint64(t.c), true
	case exprSum:
		b, ok := t.b.eval(f)
		return a + b*uint64(t.c), ok
	}
	if w, ok := f.m.Stack(a); ok {
		return w, true
	}
	return f.m.Heap(a)
}
