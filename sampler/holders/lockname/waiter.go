package lockname

import (
	"debug/dwarf"
	"encoding/binary"
	"slices"

	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
)

// scannedFrames is the number of frames in which every word is tried as a value of each pointer variable.
const scannedFrames = 4

// variables are a function's variables at one instruction.
type variables struct {
	function string
	all      []variable
}

func (n *Namer) variablesAt(pc uint64) variables {
	vs, ok := n.places[pc]
	if !ok {
		vs.function, vs.all = n.debug.variablesAt(pc - 1)
		n.places[pc] = vs
	}
	return vs
}

// A candidate is an object that a variable may point to.
type candidate struct {
	object
	age uint64 // age of the variable
}

// byWaiter names a lock by the variables of a goroutine that waits for it. It tries these ways in turn:
//
//   - By the argument: if the code proves through which argument the lock was reached, the lock lies in what that one
//     pointed to.
//   - By a variable with a known location that points to the object that the lock lies in.
//   - By a spilled variable. The debug information rarely has the location of a variable that was spilled because of the
//     very call that
//
// waits. But its value is some word of the frame. So each word is tried as the value of each pointer variable: it fits if
// the lock would lie in what it points to. If variables of different types fit, the one that was used last is taken.
//   - By a search along the pointers in the objects.
//   - By the name of a function's variable that points to the lock itself. That says least, so it comes last.
func (n *Namer) byWaiter(w *Waiter) string {
	byArgument := n.byArgument(w)
	var located, tried []candidate
	for i, f := range w.Frames[:min(len(w.Frames), maxFrames)] {
		located = append(located, n.located(w, f)...)
		if i < scannedFrames {
			tried = append(tried, n.tried(w, i)...)
		}
	}
	local := ""
	for _, candidates := range [][]candidate{byArgument, located, tried} {
		name, own := direct(candidates, w.Lock)
		if name != "" {
			return name
		}
		if local == "" {
			local = own
		}
	}
	for _, candidates := range [][]candidate{byArgument, located, tried} {
		s := &search{lock: w.Lock, read: func(addr uint64, b []byte) error { return n.memory(w, addr, b) }}
		for _, c := range candidates {
			s.queue = append(s.queue, c.object)
		}
		if name := s.run(); name != "" {
			return name
		}
	}
	return local
}

// located returns what the variables of a frame with a known location point to.
func (n *Namer) located(w *Waiter, f Frame) (all []candidate) {
	vs := n.variablesAt(f.PC - n.bias)
	for i := range vs.all {
		v := &vs.all[i]
		at, ok := v.address(f.CFA)
		p, isPointer := layout.Underlying(v.typ).(*dwarf.PtrType)
		var b [8]byte
		switch {
		case !ok:
		case !isPointer:
			all = append(all, candidate{object: object{at, v.typ, nameOf(v.name, vs.function), 0}})
		case n.memory(w, at, b[:]) == nil:
			all = append(all, candidate{object: object{binary.LittleEndian.Uint64(b[:]), p.Type, nameOf(v.name, vs.function), 1}})
		}
	}
	return all
}

// argumentSpace is the size of the area above a frame in which a function may store its register arguments.
const argumentSpace = 64

// tried returns what each pointer variable of a frame would point to, for each word of the frame that may be its value.
func (n *Namer) tried(w *Waiter, frame int) (all []candidate) {
	f := w.Frames[frame]
	vs := n.variablesAt(f.PC - n.bias)
	end := min(f.CFA+argumentSpace-w.Base, uint64(len(w.Stack)))
	for at := f.SP - w.Base; at+8 <= end; at += 8 {
		word := binary.LittleEndian.Uint64(w.Stack[at:])
		if word == 0 || word%8 != 0 && word != w.Lock {
			continue
		}
		for i := range vs.all {
			v := &vs.all[i]
			if p, ok := layout.Underlying(v.typ).(*dwarf.PtrType); ok {
				all = append(all, candidate{object{word, p.Type, nameOf(v.name, vs.function), 1}, v.age})
			}
		}
	}
	return all
}

// direct names the lock by the candidates that contain it. own is the name of a variable that points to the lock itself
// or to a type without a name.
func direct(candidates []candidate, lock uint64) (name, own string) {
	var fit []candidate
	for _, c := range candidates {
		got, local, ok := nameIn(c.object, lock)
		switch {
		case !ok:
		case local && own == "":
			own = got
		case !local:
			fit = append(fit, c)
		}
	}
	if len(fit) == 0 {
		return "", own
	}
	last := slices.MinFunc(fit, func(a, b candidate) int { return int(a.age) - int(b.age) })
	name, _, _ = nameIn(last.object, lock)
	return name, own
}
