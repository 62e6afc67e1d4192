package callpath

import (
	"encoding/binary"
	"slices"

	"github.com/cpprof/cpprof/views/calltree"
)

// A class is what a matcher needs to know of a frame. There are
// few classes.
type class struct {
	match   bitset // the elements that the frame matches
	begins  bool   // begins another goroutine's part
	neutral bool   // matches no element and begins no part
}

type bitset []uint64

func (b bitset) has(i int) bool { return b[i>>6]&(1<<(i&63)) != 0 }
func (b bitset) add(i int)      { b[i>>6] |= 1 << (i & 63) }

// classify assigns every Func to a class, and reports whether
// every element of the path matches some frame.
func (a *Matcher) classify(t *calltree.Tree, m *calltree.Membership, p Path) bool {
	syms := t.Symbols()
	named, aspects := elementsOf(t, m, p)
	bits := func() bitset { return make(bitset, (len(p.Elements)+63)/64) }
	occurs := bits()
	a.class = make([]int32, syms.Len())
	index := make(map[string]int32)
	var key []byte
	for f := range calltree.Func(syms.Len()) {
		key = key[:0]
		elements := named[f]
		if len(elements) > 0 {
			key = binary.AppendVarint(key, int64(f))
		}
		if len(aspects) > 0 {
			for _, set := range m.Of(f) {
				if es := aspects[set]; len(es) > 0 {
					key = binary.AppendVarint(key, -int64(set)-1)
					elements = append(elements[:len(elements):len(elements)], es...)
				}
			}
		}
		begins := t.BeginsPart(f)
		if begins {
			key = append(key, "begins"...)
		}
		c, ok := index[string(key)]
		if !ok {
			c = int32(len(a.classes))
			index[string(key)] = c
			match := bits()
			for _, e := range elements {
				match.add(e)
				occurs.add(e)
			}
			a.classes = append(a.classes, class{match, begins, len(key) == 0})
		}
		a.class[f] = c
	}
	for i := range p.Elements {
		if !occurs.has(i) {
			return false
		}
	}
	return true
}

// elementsOf returns two maps of the elements of a path:
// elements that name a frame, by Func, and elements that name an
// aspect, by set.
func elementsOf(t *calltree.Tree, m *calltree.Membership, p Path) (named map[calltree.Func][]int,
	aspects map[int32][]int) {
	named = make(map[calltree.Func][]int)
	aspects = make(map[int32][]int)
	for i, e := range p.Elements {
		if !e.Aspect() {
			f := t.Named(e.Name)
			named[f] = append(named[f], i)
		} else if set := m.Set(e.Name); set >= 0 {
			aspects[set] = append(aspects[set], i)
		}
	}
	return named, aspects
}

// root returns the state at the root, which begins the stack's
// own part whatever its frame is.
func (a *Matcher) root(t *calltree.Tree, p Path) State {
	f := t.Funcs()[0]
	s := a.advance(0, waiting, a.classes[a.class[f]])
	if e := p.Elements[0]; s>>flags == 0 && !e.Aspect() && t.Named(e.Name) == f && onlyRoot(t) {
		s &^= waiting
	}
	return s
}

// onlyRoot reports whether no frame below the root, in the
// root's own part, is the root's frame.
func onlyRoot(t *calltree.Tree) bool {
	fns := t.Funcs()
	return t.BeginsPart(fns[0]) || !slices.Contains(fns[1:], fns[0])
}
