package layout

import (
	"debug/elf"
	"fmt"
	"strings"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

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
	l = Of(func(name, field string) Offset { return OffsetIn(found["runtime."+name], field) })
	l.Source = FromDWARF
	if err := l.check(); err != nil {
		return nil, fmt.Errorf("reading DWARF: %w", err)
	}
	return l, nil
}

// OffsetIn follows a path of names of fields through nested
// structs. If the type does not have it, it returns Missing.
func OffsetIn(t godwarf.Type, path string) Offset {
	st, ok := godwarf.ResolveTypedef(t).(*godwarf.StructType)
	switch {
	case !ok:
		return Missing
	case path == sizeField:
		return Offset(st.Size())
	}
	name, rest, nested := strings.Cut(path, ".")
	for _, f := range st.Field {
		if f.Name != name {
			continue
		}
		at := Offset(f.ByteOffset)
		if nested {
			inner := OffsetIn(f.Type, rest)
			if at += inner; !inner.Has() {
				return Missing
			}
		}
		return at
	}
	return Missing
}
