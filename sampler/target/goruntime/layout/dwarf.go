package layout

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"strings"

	"github.com/cpprof/cpprof/sampler/target/debuginfo"
)

// FromELF reads the layout from the binary's DWARF. It does not
// set the release. The error is debuginfo.ErrNone if the binary
// has none.
func FromELF(f *elf.File) (l *Layout, err error) {
	defer debuginfo.Damaged(&err)
	d, err := debuginfo.Read(f)
	if err != nil {
		return nil, err
	}
	want := map[string]bool{}
	(&Layout{}).eachStruct(func(name string, _ []field) { want["runtime."+name] = true })
	found, err := d.Structs(want)
	if err != nil {
		return nil, fmt.Errorf("reading DWARF: %w", err)
	}
	l = Of(func(name, field string) Offset { return offsetIn(found["runtime."+name], field) })
	l.Source = FromDWARF
	if err := l.check(); err != nil {
		return nil, fmt.Errorf("reading DWARF: %w", err)
	}
	return l, nil
}

// offsetIn follows a path of field names in a struct.
func offsetIn(s *dwarf.StructType, path string) Offset {
	switch {
	case s == nil:
		return Missing
	case path == sizeField:
		return Offset(s.ByteSize)
	}
	name, rest, nested := strings.Cut(path, ".")
	for _, f := range s.Field {
		if f.Name != name {
			continue
		}
		if !nested {
			return Offset(f.ByteOffset)
		}
		inner, _ := debuginfo.Underlying(f.Type).(*dwarf.StructType)
		if at := offsetIn(inner, rest); at.Has() {
			return Offset(f.ByteOffset) + at
		}
		return Missing
	}
	return Missing
}
