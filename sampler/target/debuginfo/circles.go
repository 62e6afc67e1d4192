package debuginfo

import (
	"debug/dwarf"
	"fmt"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"
)

// Limits of types: how many in a row may only stand for the next
// one, and how many one type may lead to that no other one
// before it led to.
const (
	maxAliases = 64
	maxTypes   = 200_000
)

// Type returns the type whose entry is at an offset.
func (d *Info) Type(at dwarf.Offset) (dwarf.Type, error) {
	if err := d.checkType(at); err != nil {
		return nil, err
	}
	return d.Data.Type(at)
}

// GoType returns the same type as Delve describes it, with the
// kinds of Go.
func (d *Info) GoType(at dwarf.Offset) (godwarf.Type, error) {
	if err := d.checkType(at); err != nil {
		return nil, err
	}
	return godwarf.ReadType(d.Data, 0, at, d.types)
}

// checkType returns an error if a type can't be read. Readers of
// types overflow the stack, which no program survives, if types
// stand for one another in a circle, or lead to others without
// end. So checkType looks at each entry that they would read,
// once.
func (d *Info) checkType(at dwarf.Offset) error {
	found := 0
	for todo := []dwarf.Offset{at}; len(todo) > 0 && d.unsound == nil; {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if d.sound[next] {
			continue
		}
		d.sound[next] = true
		d.unsound = d.checkAliases(next)
		if found++; found > maxTypes {
			d.unsound = fmt.Errorf("the debug information has more than %d types below the one at %#x",
				maxTypes, at)
		}
		if e := d.entryAt(next); e != nil {
			todo = appendType(todo, e)
		}
		for e := range d.below(next) {
			todo = appendType(todo, e)
		}
	}
	return d.unsound
}

func appendType(list []dwarf.Offset, e *dwarf.Entry) []dwarf.Offset {
	if at, ok := e.Val(dwarf.AttrType).(dwarf.Offset); ok {
		return append(list, at)
	}
	return list
}

// checkAliases returns an error if a type stands for others without end.
func (d *Info) checkAliases(at dwarf.Offset) error {
	begin := at
	for range maxAliases {
		e := d.entryAt(at)
		if e == nil {
			return nil
		}
		switch e.Tag {
		case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, dwarf.TagArrayType:
		default:
			return nil
		}
		next, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
		if !ok {
			return nil
		}
		at = next
	}
	return fmt.Errorf("the debug information has a circle of types at %#x", begin)
}

// entryAt returns the entry at an offset; nil if it can't be read.
func (d *Info) entryAt(at dwarf.Offset) *dwarf.Entry {
	r := d.Reader()
	r.Seek(at)
	e, err := r.Next()
	if err != nil {
		return nil
	}
	return e
}
