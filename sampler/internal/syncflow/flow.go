package syncflow

import (
	"encoding/binary"
	"slices"

	"github.com/cpprof/cpprof/sampler/internal/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/internal/goruntime"
	"github.com/cpprof/cpprof/sampler/internal/machinecode"
)

// A block is code that runs from its first instruction to its last.
type block struct {
	first, last int // of flow.code
	next        []int
	slow        goruntime.CallRole // it leads to this slow path of a function of package sync before anything else
	in          *state             // nil where nothing leads here
	from        []int              // blocks that were seen to lead here
	out         []*state           // the state with which each of them does
	visits      int
}

// A flow is the data flow over one function.
type flow struct {
	a      *Analyzer
	f      pclntab.Func
	depth  int // of helpers that led to this function
	code   []machinecode.Instr
	blocks []block
	values *values
	events map[uint64]goruntime.AtomicEffect // atomic instructions that are part of an inlined Lock or Unlock, by address
	taken  map[int64]bool                    // words of the frame whose address the code takes
	uses   []use                             // nil where not known yet
	wakers int                               // functions in a row, called from this one, that are looked into for uses
}

// maxSteps bounds the work on one function, in instructions times visits.
const maxSteps = 1 << 18

// newFlow analyses a function; nil where it can't be.
func (a *Analyzer) newFlow(f pclntab.Func, depth int) *flow {
	text := a.text(f, maxCode)
	if text == nil {
		return nil
	}
	w := &flow{a: a, f: f, depth: depth, values: newValues(), events: map[uint64]goruntime.AtomicEffect{}, taken: map[int64]bool{},
		wakers: maxWakers}
	w.code = a.machine.Decode(make([]machinecode.Instr, 0, len(text)/4+1), text, f.Entry)
	a.spend(len(w.code))
	if len(w.code) == 0 || !w.cut() {
		return nil
	}
	w.findEvents()
	w.findSlow()
	if !w.run() {
		return nil
	}
	return w
}

// at gives the instruction at an address, -1 for none.
func (w *flow) at(pc uint64) int {
	i, ok := slices.BinarySearchFunc(w.code, pc, func(x machinecode.Instr, pc uint64) int {
		switch {
		case x.PC < pc:
			return -1
		case x.PC > pc:
			return 1
		}
		return 0
	})
	if !ok {
		return -1
	}
	return i
}

// ends tells whether an instruction ends a block.
func ends(o machinecode.Op) bool {
	switch o {
	case machinecode.OpJump, machinecode.OpJumpTo, machinecode.OpBranch, machinecode.OpReturn, machinecode.OpTrap:
		return true
	}
	return false
}

// cut makes the blocks, false where it is not known where the code goes.
func (w *flow) cut() bool {
	starts := make([]bool, len(w.code)+1)
	starts[0] = true
	tables := map[int][]int{}
	for i := range w.code {
		x := &w.code[i]
		if ends(x.Op) || w.stops(x) {
			starts[i+1] = true
		}
		switch x.Op {
		case machinecode.OpJump, machinecode.OpBranch:
			if j := w.at(x.Target); j >= 0 {
				starts[j] = true
			}
		case machinecode.OpJumpTo:
			to, ok := w.table(i)
			if !ok {
				return false
			}
			x.Indirect = len(to) == 0 // out of the function
			tables[i] = to
			for _, j := range to {
				starts[j] = true
			}
		}
	}
	index := make([]int, len(w.code)+1) // of the block that begins there
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
			if j := w.at(x.Target); j >= 0 {
				b.next = append(b.next, index[j])
			}
		case machinecode.OpJumpTo:
			for _, j := range tables[b.last] {
				b.next = append(b.next, index[j])
			}
		}
		if goesOn := x.Op == machinecode.OpBranch || !ends(x.Op) && !w.stops(x); goesOn && b.last+1 < len(w.code) {
			b.next = append(b.next, i+1)
		}
	}
	return true
}

// stops tells whether an instruction calls what does not return here: a panic, or the growing of the stack, after
// which the function begins anew.
func (w *flow) stops(x *machinecode.Instr) bool {
	return x.Op == machinecode.OpCall && !x.Indirect && w.a.callee(x.Target).role == goruntime.CallStops
}

// maxTable bounds the table of a switch.
const maxTable = 1024

// table gives where an indirect jump goes: through the table of a switch, which the code names shortly before it, or
// out of the function, where it names none.
func (w *flow) table(i int) ([]int, bool) {
	at := uint64(0)
	if x := &w.code[i]; x.Operand.InMemory && x.Operand.Base == machinecode.NoReg {
		at = uint64(x.Operand.Offset)
	}
	for k := i - 1; k >= 0 && k >= i-12 && at == 0; k-- {
		x := &w.code[k]
		if x.Op != machinecode.OpMove || x.Operand.Base != machinecode.NoReg || x.Operand.Offset <= 0 || x.Operand.Offset < 1<<12 {
			continue
		}
		at = uint64(x.Operand.Offset)
		// arm64 makes addresses in two steps.
		if n := &w.code[k+1]; n.Op == machinecode.OpMove && n.Operand.Base == x.Dst && n.Operand.Index == machinecode.NoReg {
			at += uint64(n.Operand.Offset)
		}
	}
	if at == 0 {
		return nil, true
	}
	b := make([]byte, 8*maxTable)
	for len(b) > 0 && w.a.p.Read(at, b) != nil {
		b = b[:len(b)/2/8*8]
	}
	var to []int
	for ; len(b) >= 8; b = b[8:] {
		j := w.at(binary.LittleEndian.Uint64(b))
		if j < 0 {
			break
		}
		to = append(to, j)
	}
	return to, len(to) > 0
}

// findEvents finds the atomic additions that lock and unlock where those functions are inlined.
func (w *flow) findEvents() {
	var frames []pclntab.Frame
	for i := range w.code {
		x := &w.code[i]
		if x.Op != machinecode.OpAdd {
			if x.Op == machinecode.OpMove && x.Operand.Base == w.a.machine.SP && x.Dst != w.a.machine.SP {
				w.noteTaken(i)
			}
			continue
		}
		frames = w.f.Frames(frames[:0], x.PC)
		for _, f := range frames {
			if e, ok := goruntime.AtomicEffectOf(f.Func); ok {
				w.events[x.PC] = e
				break
			}
		}
	}
}

// noteTaken notes that the code takes the address of a word of the frame. The stack pointer is not known yet: the
// instruction is marked, and step notes the word.
func (w *flow) noteTaken(i int) { w.code[i].Size = takesAddress }

// takesAddress marks an machinecode.OpMove that makes an address of the frame.
const takesAddress = 1

// findSlow marks the blocks that lead to slow paths.
func (w *flow) findSlow() {
	for i := range w.blocks {
		b := &w.blocks[i]
		for at, n := b.first, 0; n < 24; n++ {
			x := &w.code[at]
			if x.Op == machinecode.OpCall {
				if r := w.a.callee(x.Target).role; !x.Indirect && r.IsSlowPath() {
					b.slow = r
				}
			}
			if x.Op == machinecode.OpJump {
				if at = w.at(x.Target); at < 0 {
					break
				}
				continue
			}
			if at++; x.Op == machinecode.OpCall || ends(x.Op) || at >= len(w.code) {
				break
			}
		}
	}
}

// run finds the state before each block, false where it takes too long.
func (w *flow) run() bool {
	s := &state{}
	for r := range machinecode.Reg(machinecode.NumRegs) {
		s.regs[r] = w.values.entry(r)
	}
	s.regs[w.a.machine.SP] = w.values.frame(0)
	if w.a.callee(w.f.Entry).role == goruntime.CallUnlock {
		s.acquire(s.regs[w.a.machine.argument], Write, true) // up to its own atomic instruction
	}
	w.blocks[0].in = s
	work, queued := []int{0}, make([]bool, len(w.blocks))
	steps := 0
	for len(work) > 0 {
		// In the order of the code, in which most blocks come after those that lead to them.
		next := slices.Index(work, slices.Min(work))
		i := work[next]
		work[next] = work[len(work)-1]
		work, queued[i] = work[:len(work)-1], false
		b := &w.blocks[i]
		s := b.in.clone()
		for k := b.first; k <= b.last; k++ {
			w.step(s, &w.code[k])
		}
		steps += b.last - b.first + 1
		w.a.spend((b.last - b.first + 1) / 4)
		if steps > maxSteps {
			return false
		}
		for _, j := range b.next {
			if w.enter(s, i, j) && !queued[j] {
				queued[j] = true
				work = append(work, j)
			}
		}
	}
	for i := range w.blocks {
		w.blocks[i].from, w.blocks[i].out = nil, nil
	}
	return true
}

// settled is the number of visits after which a block's state only loses, so that the analysis comes to an end.
const settled = 12

// enter brings the state at the end of a block to the one that follows, and tells whether that changed anything.
func (w *flow) enter(s *state, i, to int) bool {
	from, next := &w.blocks[i], &w.blocks[to]
	s = s.clone()
	if w.code[from.last].Op == machinecode.OpBranch {
		w.branch(s, from, next)
	}
	if k := slices.Index(next.from, i); k >= 0 {
		next.out[k] = s
	} else {
		next.from, next.out = append(next.from, i), append(next.out, s)
	}
	in := next.out[0].clone()
	for _, o := range next.out[1:] {
		in.join(o)
	}
	if next.visits++; next.visits > settled {
		in.join(next.in)
	}
	in.sort()
	if next.in != nil && in.equal(next.in) {
		return false
	}
	next.in = in
	return true
}

// blockOf gives the block that an instruction is in.
func (w *flow) blockOf(i int) int {
	k, ok := slices.BinarySearchFunc(w.blocks, i, func(b block, i int) int { return b.first - i })
	if !ok {
		k--
	}
	return k
}

// before gives the state before an instruction, nil where nothing leads there.
func (w *flow) before(i int) *state {
	b := &w.blocks[w.blockOf(i)]
	if b.in == nil {
		return nil
	}
	s := b.in.clone()
	for j := b.first; j < i; j++ {
		w.step(s, &w.code[j])
	}
	return s
}
