package syncflow

import (
	"cmp"
	"iter"
	"slices"

	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// A flow is the data flow over one function: what is known
// before each of its blocks.
type flow struct {
	a      *Analyzer
	f      pclntab.Func
	depth  int // how many helpers in a row called this function; see effectsOf
	code   []machinecode.Instr
	blocks []block
	values *values
	// atomics are the atomic additions of functions of package
	// sync that are inlined, by address. (On arm64, the loop
	// that adds begins with what looks like part of a compare
	// and swap.)
	atomics      map[uint64]goruntime.AtomicEffect
	addressTaken map[int64]bool // words of the frame whose address the code takes, by their offsets
	current      int            // index of the instruction that is stepped over
	log          *[]lockEvent   // for what it does to locks; nil if that is not recorded
	// what the code will release, by blocks; nil if that was not
	// needed yet
	futures   []future
	noFutures bool // that takes too long

	actions     []action // nil if they are not listed yet
	actionDepth int      // how many functions that call one another are followed for actions
}

// maxSteps bounds the work on one function, in instructions times visits.
const maxSteps = 1 << 18

// newFlow analyses a function. It returns nil if that is not possible.
func (a *Analyzer) newFlow(f pclntab.Func, depth int) *flow {
	text := a.text(f, maxCode)
	if text == nil {
		return nil
	}
	w := &flow{
		a: a, f: f, depth: depth, values: newValues(), atomics: map[uint64]goruntime.AtomicEffect{},
		addressTaken: map[int64]bool{}, actionDepth: maxActionDepth,
	}
	w.code = a.machine.Decode(make([]machinecode.Instr, 0, len(text)/4+1), text, f.Entry)
	a.spend(len(w.code))
	if len(w.code) == 0 || !w.splitBlocks() {
		return nil
	}
	w.findAtomics()
	w.findSlowPaths()
	if !w.run() {
		return nil
	}
	return w
}

// indexOf returns the index of the instruction at an address, -1 for none.
func (w *flow) indexOf(pc uint64) int {
	i, ok := slices.BinarySearchFunc(w.code, pc,
		func(x machinecode.Instr, pc uint64) int { return cmp.Compare(x.PC, pc) })
	if !ok {
		return -1
	}
	return i
}

// callBefore returns the index of the call that returns to an
// address, -1 for none.
func (w *flow) callBefore(pc uint64) int {
	i := w.indexOf(pc)
	if i < 0 { // the end of the function
		i = len(w.code)
	}
	if i == 0 || w.code[i-1].Next != pc || w.code[i-1].Op != machinecode.OpCall {
		return -1
	}
	return i - 1
}

// instructionAt returns the index of the instruction of a frame:
// the one at pc if pc is exact, else the call that returns to
// pc; -1 if there is none.
func (w *flow) instructionAt(pc uint64, exact bool) int {
	if exact {
		return w.indexOf(pc)
	}
	return w.callBefore(pc)
}

// takesAddress marks, in Instr.Size, a move that makes an
// address of the frame. Moves have no size.
const takesAddress = 1

// findAtomics finds the atomic additions that lock and unlock if
// those functions are inlined, and marks the instructions that
// take the address of a word of the frame. Which word that is,
// step finds out, as the stack pointer is not known yet.
func (w *flow) findAtomics() {
	var frames []pclntab.Frame
	sp := w.a.machine.SP
	for i := range w.code {
		x := &w.code[i]
		// Below the stack pointer is no word of the frame: the
		// check of the stack's size computes such an address.
		if x.Op == machinecode.OpMove && x.Operand.Base == sp && x.Dst != sp && x.Operand.Offset >= 0 {
			x.Size = takesAddress
		}
		if x.Op != machinecode.OpAdd && x.Op != machinecode.OpSwap {
			continue
		}
		frames = w.f.Frames(frames[:0], x.PC)
		for _, f := range frames {
			if e, ok := goruntime.AtomicEffectOf(f.Func); ok {
				w.atomics[x.PC] = e
				break
			}
		}
	}
}

// run finds the state before each block. It reports false if
// that takes too long.
func (w *flow) run() bool {
	w.blocks[0].in = w.entryState()
	work, queued := []int{0}, make([]bool, len(w.blocks))
	steps := 0
	for len(work) > 0 {
		// In the order of the code, in which most blocks come
		// after those that lead to them.
		next := slices.Index(work, slices.Min(work))
		i := work[next]
		work[next] = work[len(work)-1]
		work, queued[i] = work[:len(work)-1], false
		b := &w.blocks[i]
		s := b.in.clone()
		b.events = b.events[:0]
		w.log = &b.events
		for k := b.first; k <= b.last; k++ {
			w.current = k
			w.step(s, &w.code[k])
		}
		w.log = nil
		steps += b.last - b.first + 1
		w.a.spend((b.last - b.first + 1) / 4)
		if steps > maxSteps {
			return false
		}
		for n, j := range b.next {
			if w.propagate(s, i, n) && !queued[j] {
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

// entryState returns the state when the function is entered: each register
// holds what it then holds.
func (w *flow) entryState() *state {
	s := &state{}
	for r := range machinecode.Reg(machinecode.NumRegs) {
		s.regs[r] = w.values.entry(r)
	}
	s.regs[w.a.machine.SP] = w.values.frame(0)
	if w.a.callee(w.f.Entry).role == goruntime.CallUnlock {
		w.acquire(s, s.regs[w.a.machine.argument], Write) // up to its own atomic instruction
	}
	return s
}

// visitsUntilShrinking is the number of visits after which a
// block's state only loses, so that the analysis comes to an
// end.
const visitsUntilShrinking = 12

// propagate brings the state at the end of a block to the n-th
// of those that follow it. It reports whether that changed
// anything.
func (w *flow) propagate(s *state, i, n int) bool {
	from, next := &w.blocks[i], &w.blocks[w.blocks[i].next[n]]
	s = s.clone()
	if w.code[from.last].Op == machinecode.OpBranch && n < len(from.onEdge) {
		from.onEdge[n] = from.onEdge[n][:0]
		w.log = &from.onEdge[n]
		if n == 0 {
			from.test = w.conditionOf(s, &w.code[from.last], true)
		}
		w.branch(s, from, n)
		w.log = nil
	}
	if k := slices.Index(next.from, i); k >= 0 {
		next.out[k] = s
	} else {
		next.from, next.out = append(next.from, i), append(next.out, s)
	}
	in := next.out[0].clone()
	for _, o := range next.out[1:] {
		in.join(w.values, o)
	}
	if next.visits++; next.visits > visitsUntilShrinking {
		in.join(w.values, next.in)
	}
	in.sort()
	if next.in != nil && in.equal(next.in) {
		return false
	}
	next.in = in
	return true
}

// states yields the instructions to which paths lead, in the
// order of the code, each with the state before it.
func (w *flow) states() iter.Seq2[int, *state] {
	return func(yield func(int, *state) bool) {
		for i := range w.blocks {
			b := &w.blocks[i]
			if b.in == nil {
				continue
			}
			s := b.in.clone()
			for k := b.first; k <= b.last; k++ {
				if !yield(k, s) {
					return
				}
				w.step(s, &w.code[k])
			}
		}
	}
}

// stateBefore returns the state before an instruction, nil if no
// path leads there.
func (w *flow) stateBefore(i int) *state {
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
