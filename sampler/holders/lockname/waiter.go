package lockname

import (
	"cmp"
	"debug/dwarf"
	"encoding/binary"
	"slices"

	"github.com/cpprof/cpprof/sampler/target/debuginfo"
)

// scannedFrames is the number of frames in which every word is
// tried as a value of each pointer variable.
const scannedFrames = 4

func (n *Namer) variablesAt(pc uint64) []debuginfo.Variable {
	vs, ok := n.places[pc]
	if !ok {
		vs = n.debug.VariablesAt(pc - 1)
		n.places[pc] = vs
	}
	return vs
}

// byWaiter names a lock by the variables of a goroutine that
// waits for it. It tries these ways in turn:
//
//   - By the code: if it proves through which variable the lock was reached, that one's type has the lock's name.
//   - By a variable with a known location that points to the object that the lock lies in.
//   - By a spilled variable. The debug information rarely has the location of a variable that was spilled because of the
//     very call that waits. But its value is some word of the frame. So each word is tried as the value of each pointer
//     variable: it fits if the lock would lie in what it points to. A word that is the lock's own address does not show
//     in what the lock lies: the function may have taken another lock through the variable, and this one through a map.
//   - By a variable of one of the functions' packages, if it points to what the lock lies in: "var slots = make(chan bool, 3)".
//   - By a search along the pointers in the objects.
//   - By the name of a function's variable that points to the lock itself. That says least, so it comes last.
//
// A way that leads to several names proves none of them. Of a
// goroutine that waits for several things, only the first two
// ways, and a package's variable, say which one it is.
func (n *Namer) byWaiter(w *Waiter) string {
	proved, is := n.byPaths(w), n.isLockOf(w)
	var located, tried []object
	for i, f := range w.Frames[:min(len(w.Frames), maxFrames)] {
		located = append(located, n.located(w, f)...)
		if i < scannedFrames && !w.Several {
			tried = append(tried, n.tried(w, i, is)...)
		}
	}
	local := ""
	for _, objects := range [][]object{proved, located, tried} {
		name, own := direct(objects, w.Lock, is)
		if name != "" {
			return name
		}
		local = cmp.Or(local, own)
	}
	if name, _ := direct(n.ofPackages(w), w.Lock, is); name != "" {
		return name
	}
	if w.Several {
		return local
	}
	for _, objects := range [][]object{proved, located, tried} {
		s := &search{lock: w.Lock, is: is,
			read: func(addr uint64, b []byte) error { return n.memory(w, addr, b) }, queue: objects}
		if name := s.run(); name != "" {
			return name
		}
	}
	return local
}

// located returns what the variables of a frame with a known
// location point to.
func (n *Namer) located(w *Waiter, f Frame) (all []object) {
	vs := n.variablesAt(f.PC - n.bias)
	for i := range vs {
		v := &vs[i]
		at, ok := v.Address(f.CFA)
		p, isPointer := debuginfo.Underlying(v.Type).(*dwarf.PtrType)
		var b [8]byte
		switch {
		case !ok:
		case !isPointer:
			all = append(all, object{at, v.Type, nameOf(v.Name, v.In), 0})
		case n.memory(w, at, b[:]) == nil:
			all = append(all, object{binary.LittleEndian.Uint64(b[:]), p.Type,
				nameOf(v.Name, v.In), 1})
		}
	}
	return all
}

// ofPackages returns what the variables of the packages point to
// whose functions are on the stack.
func (n *Namer) ofPackages(w *Waiter) (all []object) {
	var seen []string
	for _, f := range w.Frames[:min(len(w.Frames), maxFrames)] {
		pkg := n.debug.PackageAt(f.PC - n.bias - 1)
		if slices.Contains(seen, pkg) {
			continue
		}
		seen = append(seen, pkg)
		for _, v := range n.pointersOf(pkg) {
			var b [8]byte
			if n.read(v.addr+n.bias, b[:]) != nil {
				continue
			}
			to := binary.LittleEndian.Uint64(b[:])
			all = append(all, object{to, v.typ, v.via, 1})
		}
	}
	return all
}

// maxPointers limits the variables of a package that are read.
const maxPointers = 1000

// pointersOf returns the variables of a package that are
// pointers, with the types of what they point to.
func (n *Namer) pointersOf(pkg string) []object {
	all, known := n.pointers[pkg]
	if known {
		return all
	}
	for _, v := range n.debug.Globals(pkg) {
		t, _ := n.debug.Type(v.Type)
		if p, ok := debuginfo.Underlying(t).(*dwarf.PtrType); ok && len(all) < maxPointers {
			all = append(all, object{v.Addr, p.Type, variableName{name: v.Name}, 0})
		}
	}
	n.pointers[pkg] = all
	return all
}

// argumentSpace is the size of the area above a frame in which a
// function may store its register arguments.
const argumentSpace = 64

// tried returns what each pointer variable of a frame would
// point to, for each word of the frame that may be its value.
func (n *Namer) tried(w *Waiter, frame int, is func(dwarf.Type) bool) (all []object) {
	f := w.Frames[frame]
	vs := n.variablesAt(f.PC - n.bias)
	end := min(f.CFA+argumentSpace-w.Base, uint64(len(w.Stack)))
	for at := f.SP - w.Base; at+8 <= end; at += 8 {
		word := binary.LittleEndian.Uint64(w.Stack[at:])
		if word == 0 || word%8 != 0 && word != w.Lock {
			continue
		}
		for i := range vs {
			v := &vs[i]
			p, ok := debuginfo.Underlying(v.Type).(*dwarf.PtrType)
			if ok && (word != w.Lock || is(debuginfo.Underlying(p.Type))) {
				all = append(all, object{word, p.Type, nameOf(v.Name, v.In), 1})
			}
		}
	}
	return all
}

// direct names the lock by the objects that contain it. own is
// the name of a variable that points to the lock itself or to a
// type without a name.
func direct(objects []object, lock uint64, is func(dwarf.Type) bool) (name, own string) {
	var names, locals []string
	for _, o := range objects {
		switch got, local, ok := nameIn(o, lock, is); {
		case !ok:
		case local:
			locals = append(locals, got)
		default:
			names = append(names, got)
		}
	}
	return only(names), only(locals)
}

// only returns the name that all names are; "" if there are
// several or none.
func only(names []string) string {
	if len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return n != names[0] }) {
		return ""
	}
	return names[0]
}
