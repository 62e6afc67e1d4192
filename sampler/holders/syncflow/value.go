package syncflow

import "github.com/cpprof/cpprof/sampler/target/machinecode"

// A value represents the content of a register or a word of the
// stack: it is the number of a node. Equal values have the same
// number. 0 means unknown. After
//
//	mov rcx, [rax+16]   // rcx: the word at (rax at entry) + 16
//	lea rbx, [rcx+24]   // rbx: that word + 24
//
// rbx has a value of four nodes, kAdd of kLoad of kAdd of
// kEntry, whatever the program has in memory. If the stack has
// the value of rcx somewhere, the value of rbx can be computed
// from it later on, when the registers are gone.
type value int32

// A kind is the kind of value that a node represents.
type kind uint8

const (
	kUnknown kind = iota
	// These are kinds of expressions, too, and have their
	// numbers in what was learned.
	kConst     // c
	kStackWord // of expressions only: the word of the stack c bytes from the stack pointer
	kEntry     // register c when the function was entered; in an expression, that of the frame
	kAdd       // a + c
	kSum       // a + b*c
	kLoad      // the word at address a
	kLow       // the low byte of a
	// These are not.
	kByte  // the byte at address a
	kFrame // the address c bytes above the stack pointer at entry
	kNamed // what was first used at the instruction at c, as number a of that instruction
)

type node struct {
	kind kind
	a, b value
	c    int64
}

// values are the nodes of one function, each once.
type values struct {
	nodes  []node
	levels []uint8 // how deep each is made of others
	index  map[node]value
}

func newValues() *values {
	return &values{nodes: make([]node, 1, 64), levels: make([]uint8, 1, 64),
		index: map[node]value{{}: 0}}
}

// Bounds of what one function can make.
const (
	maxNodes = 1 << 16
	maxLevel = 8
)

func (v *values) of(n node) value {
	id, ok := v.index[n]
	if !ok {
		level := uint8(0)
		switch n.kind {
		case kAdd, kLoad, kByte, kLow:
			level = v.levels[n.a] + 1
		case kSum:
			level = max(v.levels[n.a], v.levels[n.b]) + 1
		}
		if len(v.nodes) >= maxNodes || level > maxLevel {
			return 0
		}
		id = value(len(v.nodes))
		v.nodes, v.levels = append(v.nodes, n), append(v.levels, level)
		v.index[n] = id
	}
	return id
}

func (v *values) constant(c int64) value        { return v.of(node{kind: kConst, c: c}) }
func (v *values) frame(off int64) value         { return v.of(node{kind: kFrame, c: off}) }
func (v *values) entry(r machinecode.Reg) value { return v.of(node{kind: kEntry, c: int64(r)}) }
func (v *values) named(pc uint64, n int) value {
	return v.of(node{kind: kNamed, a: value(n), c: int64(pc)})
}

// add returns a + c.
func (v *values) add(a value, c int64) value {
	if a == 0 || c == 0 {
		return a
	}
	switch n := v.nodes[a]; n.kind {
	case kConst, kFrame, kAdd:
		n.c += c
		if n.kind == kAdd && n.c == 0 {
			return n.a
		}
		return v.of(n)
	}
	return v.of(node{kind: kAdd, a: a, c: c})
}

// sum returns a + b*scale.
func (v *values) sum(a, b value, scale int64) value {
	if a == 0 || b == 0 {
		return 0
	}
	if n := v.nodes[b]; n.kind == kConst {
		return v.add(a, n.c*scale)
	}
	base, off := v.split(a)
	index, more := v.split(b)
	if scale == 1 && base > index {
		base, index = index, base
	}
	return v.add(v.of(node{kind: kSum, a: base, b: index, c: scale}), off+more*scale)
}

// load returns the word at an address that is not in the frame.
func (v *values) load(a value) value {
	if a == 0 {
		return 0
	}
	return v.of(node{kind: kLoad, a: a})
}

// loadedFromNamed reports whether a value is the word at an
// address that an instruction made: the code of a closure that a
// call has returned, for one.
func (v *values) loadedFromNamed(a value) bool {
	n := v.nodes[a]
	return n.kind == kLoad && v.nodes[n.a].kind == kNamed
}

// byteAt returns the byte at an address.
func (v *values) byteAt(a value) value {
	if a == 0 {
		return 0
	}
	return v.of(node{kind: kByte, a: a})
}

// byteInFrame returns the offset of a byte that is one of the frame.
func (v *values) byteInFrame(b value) (int64, bool) {
	if n := v.nodes[b]; n.kind == kByte {
		return v.inFrame(n.a)
	}
	return 0, false
}

// low returns the low byte of a value.
func (v *values) low(a value) value {
	switch n := v.nodes[a]; {
	case a == 0 || n.kind == kByte || n.kind == kLow:
		return a
	case n.kind == kConst:
		return v.constant(n.c & 0xff)
	}
	return v.of(node{kind: kLow, a: a})
}

// split returns a value as another one plus a constant.
func (v *values) split(a value) (base value, off int64) {
	if n := v.nodes[a]; n.kind == kAdd {
		return n.a, n.c
	}
	return a, 0
}

// inFrame returns the offset of an address in the frame.
func (v *values) inFrame(a value) (int64, bool) {
	n := v.nodes[a]
	return n.c, n.kind == kFrame
}

// depends reports whether a value is made from another one.
func (v *values) depends(a, on value) bool {
	for a > on || a == on { // parts have smaller numbers
		if a == on {
			return true
		}
		switch n := v.nodes[a]; n.kind {
		case kAdd, kLoad, kByte, kLow:
			a = n.a
		case kSum:
			if v.depends(n.a, on) {
				return true
			}
			a = n.b
		default:
			return false
		}
	}
	return false
}
