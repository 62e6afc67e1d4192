package syncflow

import (
	"encoding/binary"
	"slices"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// A block is code that runs from its first instruction to its last.
type block struct {
	first, last int   // in flow.code
	next        []int // the blocks that can follow it
	// slow is the slow path of a function of package sync that
	// the block calls before anything else.
	slow goruntime.CallRole

	// under which its branch goes to the first of the blocks
	// that follow; none if that is not known
	test   condition
	events []lockEvent    // what its instructions do to locks, and
	onEdge [2][]lockEvent // what is done on the way to the blocks that follow a branch

	// Of the data flow.
	in     *state   // before the first instruction; nil if no path leads here
	from   []int    // blocks that were seen to lead here, and
	out    []*state // the state with which each of them does
	visits int
}

// splitBlocks makes the blocks of a function. It reports false
// if it can't find where an indirect jump goes.
func (w *flow) splitBlocks() bool {
	starts, tables, ok := w.blockStarts()
	if !ok {
		return false
	}
	index := make([]int, len(w.code)+1) // of the block that begins at an instruction
	for i := range w.code {
		if starts[i] {
			index[i] = len(w.blocks)
			w.blocks = append(w.blocks, block{first: i})
		}
		w.blocks[len(w.blocks)-1].last = i
	}
	for i := range w.blocks {
		b := &w.blocks[i]
		x := &w.code[b.last]
		switch x.Op {
		case machinecode.OpJump, machinecode.OpBranch:
			if j := w.indexOf(x.Target); j >= 0 {
				b.next = append(b.next, index[j])
			}
		case machinecode.OpJumpTo:
			for _, j := range tables[b.last] {
				b.next = append(b.next, index[j])
			}
		}
		fallsThrough := x.Op == machinecode.OpBranch || !endsBlock(x.Op) && !w.neverReturns(x)
		if fallsThrough && b.last+1 < len(w.code) {
			b.next = append(b.next, i+1)
		}
	}
	return true
}

// blockStarts marks the instructions at which blocks begin, and returns where
// the indirect jumps go, by their indices.
func (w *flow) blockStarts() (starts []bool, tables map[int][]int, ok bool) {
	starts, tables = make([]bool, len(w.code)+1), map[int][]int{}
	starts[0] = true
	for i := range w.code {
		x := &w.code[i]
		if endsBlock(x.Op) || w.neverReturns(x) {
			starts[i+1] = true
		}
		switch x.Op {
		case machinecode.OpJump, machinecode.OpBranch:
			if j := w.indexOf(x.Target); j >= 0 {
				starts[j] = true
			}
		case machinecode.OpJumpTo:
			to, ok := w.jumpTable(i)
			if !ok {
				return nil, nil, false
			}
			x.Indirect = len(to) == 0 // out of the function
			tables[i] = to
			for _, j := range to {
				starts[j] = true
			}
		}
	}
	return starts, tables, true
}

// endsBlock reports whether an instruction is the last of its block.
func endsBlock(o machinecode.Op) bool {
	switch o {
	case machinecode.OpJump, machinecode.OpJumpTo, machinecode.OpBranch, machinecode.OpReturn,
		machinecode.OpTrap:
		return true
	}
	return false
}

// neverReturns reports whether an instruction calls a function
// that does not return here: a panic, or the growing of the
// stack, after which the function begins anew.
func (w *flow) neverReturns(x *machinecode.Instr) bool {
	return x.Op == machinecode.OpCall && !x.Indirect &&
		w.a.callee(x.Target).role == goruntime.CallStops
}

// leavesFunction reports whether an instruction calls another function, or
// jumps to it.
func (w *flow) leavesFunction(x *machinecode.Instr) bool {
	switch x.Op {
	case machinecode.OpCall:
		return true
	case machinecode.OpJumpTo:
		return x.Indirect
	case machinecode.OpJump:
		return x.Target < w.f.Entry || x.Target >= w.f.End
	}
	return false
}

// exits reports whether the function ends with an instruction:
// it returns, or jumps to another function.
func (w *flow) exits(x *machinecode.Instr) bool {
	return x.Op == machinecode.OpReturn || x.Op != machinecode.OpCall && w.leavesFunction(x)
}

// Bounds of the search for the table of a switch.
const (
	maxTable  = 1024 // entries
	tableNear = 12   // instructions before the jump that may name it
)

// jumpTable returns the instructions that an indirect jump goes
// to, by the table of a switch, whose address the code names
// shortly before the jump. If the code names none, the jump
// leaves the function.
func (w *flow) jumpTable(i int) ([]int, bool) {
	at := w.tableAddress(i)
	if at == 0 {
		return nil, true
	}
	b := make([]byte, 8*maxTable)
	for len(b) > 0 && w.a.p.Read(at, b) != nil {
		b = b[:len(b)/2/8*8]
	}
	var to []int
	for ; len(b) >= 8; b = b[8:] {
		j := w.indexOf(binary.LittleEndian.Uint64(b))
		if j < 0 {
			break
		}
		to = append(to, j)
	}
	return to, len(to) > 0
}

// tableAddress returns the address of the table for an indirect
// jump, 0 if there is none.
func (w *flow) tableAddress(i int) uint64 {
	at := uint64(0)
	if o := &w.code[i].Operand; o.InMemory && o.Base == machinecode.NoReg {
		at = uint64(o.Offset)
	}
	for k := i - 1; k >= 0 && k >= i-tableNear && at == 0; k-- {
		x := &w.code[k]
		if o := &x.Operand; x.Op != machinecode.OpMove || o.Base != machinecode.NoReg ||
			o.Offset < 1<<12 {
			continue
		}
		at = uint64(x.Operand.Offset)
		// arm64 makes addresses in two steps.
		n := &w.code[k+1]
		if o := &n.Operand; n.Op == machinecode.OpMove && o.Base == x.Dst &&
			o.Index == machinecode.NoReg {
			at += uint64(o.Offset)
		}
	}
	return at
}

// slowNear is how many instructions a block may have before it
// calls a slow path.
const slowNear = 24

// findSlowPaths marks the blocks that lead to slow paths of
// functions of package sync.
func (w *flow) findSlowPaths() {
	for i := range w.blocks {
		b := &w.blocks[i]
		for at, n := b.first, 0; n < slowNear; n++ {
			x := &w.code[at]
			if x.Op == machinecode.OpCall {
				if r := w.a.callee(x.Target).role; !x.Indirect && r.IsSlowPath() {
					b.slow = r
				}
			}
			if x.Op == machinecode.OpJump {
				if at = w.indexOf(x.Target); at < 0 {
					break
				}
				continue
			}
			if at++; x.Op == machinecode.OpCall || endsBlock(x.Op) || at >= len(w.code) {
				break
			}
		}
	}
}

// blockOf returns the block that an instruction is in.
func (w *flow) blockOf(i int) int {
	k, ok := slices.BinarySearchFunc(w.blocks, i, func(b block, i int) int { return b.first - i })
	if !ok {
		k--
	}
	return k
}

// walk visits blocks, and those that follow each as long as
// visit returns true, each once. It returns which blocks it has
// visited.
func (w *flow) walk(blocks []int, visit func(k int) (goOn bool)) (visited []bool) {
	visited = make([]bool, len(w.blocks))
	for work := slices.Clone(blocks); len(work) > 0; {
		k := work[len(work)-1]
		work = work[:len(work)-1]
		if !visited[k] {
			visited[k] = true
			if visit(k) {
				work = append(work, w.blocks[k].next...)
			}
		}
	}
	return visited
}

// reachableFrom returns a function that reports whether the code
// can come to an instruction after a given one.
func (w *flow) reachableFrom(from int) func(i int) bool {
	own := w.blockOf(from)
	reached := w.walk(w.blocks[own].next, func(int) bool { return true })
	return func(i int) bool {
		k := w.blockOf(i)
		return reached[k] || k == own && i > from
	}
}
