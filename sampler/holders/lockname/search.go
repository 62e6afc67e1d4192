package lockname

import (
	"debug/dwarf"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/sampler/target/debuginfo"
)

// Limits of a search for a lock.
const (
	maxFrames   = 12      // frames of a stack that have variables
	maxHops     = 4       // pointers on the way from a variable
	maxObjects  = 4096    // objects searched
	maxBytes    = 4 << 20 // bytes read
	maxElements = 64      // elements of an array or a slice
	maxObject   = 64 << 10
	maxDepth    = 32 // structs within structs
)

// An object is memory of a known type.
type object struct {
	addr uint64
	typ  dwarf.Type
	via  variableName // its name, from the variable and fields that led to it
	hops int
}

// A search goes from variables along pointers to a lock, the
// nearest objects first. Example: "s" in main.run points to a
// main.server, whose field cache points to a main.cache, in
// which the lock is the field mu. It is found after two
// pointers.
type search struct {
	lock  uint64
	is    func(dwarf.Type) bool // whether a type can be the lock's
	read  func(addr uint64, b []byte) error
	queue []object
	seen  map[place]bool
	bytes int
	found []string // distinct names of the lock, all found after the same number of pointers
	hops  int      // number of pointers to those
}

type place struct {
	addr uint64
	typ  string
}

// run searches the objects of the queue and what they point to,
// nearest first. If several names are equally near, one of the
// variables is not what it was taken for, and run returns no
// name.
func (s *search) run() string {
	s.seen = make(map[place]bool)
	for n := 0; n < len(s.queue) && n < maxObjects &&
		(len(s.found) == 0 || s.queue[n].hops < s.hops); n++ {
		s.expand(s.queue[n])
	}
	if len(s.found) == 1 {
		return s.found[0]
	}
	return ""
}

// nameIn returns the name of a lock in an object. It returns
// false if the lock does not lie there, or if the object's type
// has no such lock at that offset.
func nameIn(o object, lock uint64, is func(dwarf.Type) bool) (name string, local, ok bool) {
	if lock < o.addr || lock-o.addr >= uint64(max(0, o.typ.Size())) {
		return "", false, false
	}
	p, _, ok := pathTo(o.typ, int64(lock-o.addr), is)
	v := o.via.along(p)
	return v.String(), v.in != "", ok
}

// add puts what a pointer leads to on the queue. If the lock
// lies in it, add records the lock's name instead.
func (s *search) add(o object) {
	size := o.typ.Size()
	if o.addr == 0 || size <= 0 {
		return
	}
	if name, _, ok := nameIn(o, s.lock, s.is); ok {
		if s.hops = o.hops; !slices.Contains(s.found, name) {
			s.found = append(s.found, name)
		}
		return
	}
	if o.hops > maxHops || len(s.queue) >= maxObjects {
		return
	}
	k := place{o.addr, o.typ.String()}
	if !s.seen[k] {
		s.seen[k] = true
		s.queue = append(s.queue, o)
	}
}

// expand reads an object and adds what it points to.
func (s *search) expand(o object) {
	size := min(o.typ.Size(), maxObject)
	if s.bytes += int(size); s.bytes > maxBytes {
		return
	}
	b := make([]byte, size)
	if s.read(o.addr, b) == nil {
		s.walk(o, o.typ, b, o.via, 0)
	}
}

// walk goes through a value of type t with the bytes b, which is
// depth levels deep in the object. via is its name.
func (s *search) walk(o object, t dwarf.Type, b []byte, via variableName, depth int) {
	if def, ok := t.(*dwarf.TypedefType); ok && strings.HasPrefix(def.Name, "map[") {
		return
	}
	t = debuginfo.Underlying(t)
	if int64(len(b)) < t.Size() || depth > maxDepth {
		return
	}
	switch t := t.(type) {
	case *dwarf.PtrType:
		if len(b) >= 8 {
			s.add(object{binary.LittleEndian.Uint64(b), t.Type, via, o.hops + 1})
		}
	case *dwarf.StructType:
		if strings.HasPrefix(t.StructName, "[]") {
			s.slice(o, t, b, via)
			return
		}
		if isLock(t) {
			return
		}
		for _, f := range t.Field {
			if f.ByteOffset < int64(len(b)) {
				p := fieldPath{owner: named(t), field: "." + f.Name, whole: "." + f.Name}
				s.walk(o, f.Type, b[f.ByteOffset:], via.along(p), depth+1)
			}
		}
	case *dwarf.ArrayType:
		size := t.Type.Size()
		for i := int64(0); i < min(t.Count, maxElements) && size > 0; i++ {
			s.walk(o, t.Type, b[i*size:], via.element(), depth+1)
		}
	}
}

// slice adds the elements of a slice: all of them are searched
// for the lock itself, the first ones for pointers, too.
func (s *search) slice(o object, t *dwarf.StructType, b []byte, via variableName) {
	if len(t.Field) < 2 || len(b) < 16 {
		return
	}
	p, ok := t.Field[0].Type.(*dwarf.PtrType)
	if !ok {
		return
	}
	at, n := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	size := uint64(max(0, p.Type.Size()))
	if size == 0 || n > 1<<32 {
		return
	}
	if s.lock >= at && s.lock-at < n*size {
		i := (s.lock - at) / size
		s.add(object{at + i*size, p.Type, via.element(), o.hops + 1})
		return
	}
	for i := range min(n, maxElements) {
		s.add(object{at + i*size, p.Type, via.element(), o.hops + 1})
	}
}
