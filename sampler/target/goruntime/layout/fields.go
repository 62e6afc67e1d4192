package layout

import (
	"fmt"
	"reflect"
	"strings"
)

// sizeField is the tag of a struct's size.
const sizeField = "-"

// A field is a field of one of the runtime's structs, with a
// pointer to its offset in a Layout.
type field struct {
	name     string // the runtime's
	offset   *Offset
	optional bool
}

// eachStruct calls yield with the runtime's name of each struct
// and its fields in l.
func (l *Layout) eachStruct(yield func(name string, fields []field)) {
	v := reflect.ValueOf(l).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("rt")
		if name == "" {
			continue
		}
		s := v.Field(i)
		fields := make([]field, s.NumField())
		for j := range fields {
			tag := s.Type().Field(j).Tag.Get("rt")
			f := field{offset: s.Field(j).Addr().Interface().(*Offset)}
			f.name, f.optional = strings.CutSuffix(tag, ",optional")
			fields[j] = f
		}
		yield(name, fields)
	}
}

// Of makes a layout of the offsets that a function returns for
// structs and fields, both by the runtime's names. Any of them
// may be missing.
func Of(offset func(name, field string) Offset) *Layout {
	l := &Layout{}
	l.eachStruct(func(name string, fields []field) {
		for _, f := range fields {
			*f.offset = offset(name, f.name)
		}
	})
	return l
}

// NameOf returns the runtime's name of a field of the layout,
// such as "g.goid".
func (l *Layout) NameOf(o *Offset) (name string) {
	l.eachStruct(func(of string, fields []field) {
		for _, f := range fields {
			if f.offset == o {
				name = f.of(of)
			}
		}
	})
	return name
}

// fill makes a layout of offsets by struct and field.
func fill(structs map[string]map[string]Offset) *Layout {
	return Of(func(name, field string) Offset {
		if at, ok := structs[name][field]; ok {
			return at
		}
		return Missing
	})
}

// maxStruct is larger than any of the structs.
const maxStruct = 1 << 24

// check returns an error for the first required field that l
// lacks, or that lies outside its struct.
func (l *Layout) check() error {
	var err error
	l.eachStruct(func(name string, fields []field) {
		size := Offset(maxStruct)
		for _, f := range fields {
			switch at := *f.offset; {
			case err != nil:
			case !at.Has() && f.optional:
			case !at.Has():
				err = fmt.Errorf("runtime.%s is not described", f.of(name))
			case f.name == sizeField:
				size = min(at, maxStruct)
			case at >= size:
				err = fmt.Errorf("runtime.%s lies at %d, outside of the %d bytes of the struct",
					f.of(name), at, size)
			}
		}
	})
	return err
}

// of returns the qualified name of a field: "g.goid".
func (f *field) of(structName string) string {
	if f.name == sizeField {
		return structName
	}
	return structName + "." + f.name
}
