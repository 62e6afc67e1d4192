package syncflow

// An expr describes how to compute an address from a frame:
// [sp+24]+16 is the word 24 bytes from the stack pointer, plus
// 16.
type expr struct {
	kind kind
	a, b *expr
	c    int64
}

// exprOf returns the expression for a node that is made from others.
func exprOf(n node, a, b *expr) *expr {
	if n.kind == kByte {
		return &expr{kind: kLow, a: &expr{kind: kLoad, a: a}}
	}
	return &expr{kind: n.kind, a: a, b: b, c: n.c}
}

// inFrame reports whether an expression is a word or a byte of
// the frame itself, which nothing else changes; nil is one.
func (e *expr) inFrame() bool {
	return e == nil || e.kind == kStackWord || e.kind == kEntry ||
		e.kind == kLow && e.a.inFrame()
}

// A frame is what expressions are evaluated in.
type frame struct {
	sp       uint64
	m        Memory
	register func(r int) (uint64, bool) // nil if they are not known any more
}

// Memory is what a goroutine's frames and the pointers in them
// are read from.
type Memory interface {
	// Stack returns a word of the goroutine's stack, as it was copied.
	Stack(addr uint64) (uint64, bool)
	// Heap returns another word of the target's memory.
	Heap(addr uint64) (uint64, bool)
}

// eval returns an expression's value. It reports false if memory
// can't be read.
func (e *expr) eval(f *frame) (uint64, bool) {
	if e == nil {
		return 0, false
	}
	switch e.kind {
	case kConst:
		return uint64(e.c), true
	case kStackWord:
		return f.m.Stack(f.sp + uint64(e.c))
	case kEntry:
		if f.register == nil {
			return 0, false
		}
		return f.register(int(e.c))
	}
	a, ok := e.a.eval(f)
	if !ok {
		return 0, false
	}
	switch e.kind {
	case kAdd:
		return a + uint64(e.c), true
	case kSum:
		b, ok := e.b.eval(f)
		return a + b*uint64(e.c), ok
	case kLow:
		return a & 0xff, true
	}
	if w, ok := f.m.Stack(a); ok {
		return w, true
	}
	return f.m.Heap(a)
}
