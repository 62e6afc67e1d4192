package layout

import (
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"strings"
)

// A dwarfStruct is a struct as DWARF describes it. Unlike a dwarf.Type, it
// can be read without the types of its fields.
type dwarfStruct struct {
	size    int64
	members map[string]member
}

// A member is a field of a struct.
type member struct {
	offset int64
	of     dwarf.Offset // its type
}

// maxTypedefs is the longest chain of typedefs that is followed.
const maxTypedefs = 10

// readStruct reads the struct that a type, or what a typedef stands for, is;
// nil if it is no struct.
func readStruct(d *dwarf.Data, at dwarf.Offset) (*dwarfStruct, error) {
	r := d.Reader()
	for range maxTypedefs {
		r.Seek(at)
		e, err := r.Next()
		if err != nil {
			return nil, err
		}
		if e == nil {
			return nil, fmt.Errorf("there is no type at %#x", at)
		}
		switch e.Tag {
		case dwarf.TagStructType:
			return readMembers(r, e)
		case dwarf.TagTypedef:
			to, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
			if !ok {
				return nil, nil
			}
			at = to
		default:
			return nil, nil
		}
	}
	return nil, nil
}

// readMembers reads the members of a struct, whose entry the reader has just read.
func readMembers(r *dwarf.Reader, e *dwarf.Entry) (*dwarfStruct, error) {
	s := &dwarfStruct{members: map[string]member{}}
	s.size, _ = e.Val(dwarf.AttrByteSize).(int64)
	if declared, _ := e.Val(dwarf.AttrDeclaration).(bool); declared || s.size <= 0 || !e.Children {
		return nil, nil
	}
	for {
		kid, err := r.Next()
		switch {
		case err != nil:
			return nil, err
		case kid == nil:
			return nil, fmt.Errorf("the struct at %#x has no end", e.Offset)
		case kid.Tag == 0:
			return s, nil
		case kid.Tag == dwarf.TagMember:
			name, _ := kid.Val(dwarf.AttrName).(string)
			of, _ := kid.Val(dwarf.AttrType).(dwarf.Offset)
			offset, err := memberOffset(kid)
			if err != nil {
				return nil, err
			}
			if _, known := s.members[name]; !known {
				s.members[name] = member{offset, of}
			}
		}
		if kid.Children {
			r.SkipChildren()
		}
	}
}

// memberOffset reads where a member is in its struct: a number, or an
// expression that adds one.
func memberOffset(e *dwarf.Entry) (int64, error) {
	switch at := e.Val(dwarf.AttrDataMemberLoc).(type) {
	case nil:
		return 0, nil // the first member may have none
	case int64:
		return at, nil
	case []byte:
		const plusUconst = 0x23 // DW_OP_plus_uconst
		if len(at) > 1 && at[0] == plusUconst {
			if n, used := binary.Uvarint(at[1:]); used == len(at)-1 && n < 1<<31 {
				return int64(n), nil
			}
		}
	}
	return 0, fmt.Errorf("the member at %#x has an unknown kind of location", e.Offset)
}

// offsets returns the struct's size, and the offsets of the fields that it has.
func (s *dwarfStruct) offsets(d *dwarf.Data, fields []field) (map[string]Offset, error) {
	all := map[string]Offset{sizeField: Offset(s.size)}
	for _, f := range fields {
		off, ok, err := s.offset(d, f.name)
		if err != nil {
			return nil, err
		}
		if ok {
			all[f.name] = Offset(off)
		}
	}
	return all, nil
}

// offset follows a path of field names; ok reports whether there is such a field.
func (s *dwarfStruct) offset(d *dwarf.Data, path string) (at int64, ok bool, err error) {
	name, rest, nested := strings.Cut(path, ".")
	m, ok := s.members[name]
	if !ok || !nested {
		return m.offset, ok, nil
	}
	inner, err := readStruct(d, m.of)
	if err != nil || inner == nil {
		return 0, false, err
	}
	at, ok, err = inner.offset(d, rest)
	return m.offset + at, ok, err
}
