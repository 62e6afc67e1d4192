package lockname

import (
	"debug/dwarf"

	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/debuginfo"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// NameOfPath returns the name of the lock at the end of a path
// from an argument of a function; "" if its types don't say.
func (n *Namer) NameOfPath(p *syncflow.LockPath) (name string) {
	defer debuginfo.Damaged(new(error))
	if n.debug == nil || len(p.Offsets) == 0 {
		return ""
	}
	const anywhere = 1 << 32
	name, _ = direct(n.byPaths(&Waiter{Lock: anywhere, Paths: []syncflow.LockPath{*p}}), anywhere, isLock)
	return name
}

// byPaths returns the objects that hold the lock, by the
// variables through which the waiter's function reached it:
// those that lay in the registers of the paths. The code proves
// that, although the registers have other values by now.
func (n *Namer) byPaths(w *Waiter) (all []object) {
	abi := goruntime.ABIOf(goruntime.ArchOf(n.elf.Machine))
	if abi == nil {
		return nil
	}
	for _, path := range w.Paths {
		variables := n.debug.VariablesAt(path.PC - n.bias)
		for i := range variables {
			v := &variables[i]
			p, ok := debuginfo.Underlying(v.Type).(*dwarf.PtrType)
			from := path
			switch offsets := path.Offsets; {
			case !ok:
				continue
			case v.Captured != 0 && path.Register == abi.Closure && v.Captured == offsets[0]:
				from.Offsets = offsets[1:]
			case !v.LiesIn(abi.InDWARF(path.Register)):
				continue
			}
			if o, ok := follow(&from, object{typ: p.Type, via: nameOf(v.Name, v.In), hops: 1},
				w.Lock); ok {
				all = append(all, o)
			}
		}
	}
	return all
}

// follow goes from what a variable points to, along the pointers
// of a path, to the object that the lock lies in.
func follow(path *syncflow.LockPath, o object, lock uint64) (object, bool) {
	last := len(path.Offsets) - 1
	if last < 0 {
		return o, false
	}
	for _, offset := range path.Offsets[:last] {
		p, to, ok := pathTo(o.typ, offset, isPointer)
		if !ok {
			return o, false
		}
		o.typ, o.via = to.(*dwarf.PtrType).Type, o.via.along(p)
	}
	o.addr = lock - uint64(path.Offsets[last])
	return o, true
}
