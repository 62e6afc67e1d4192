package layout

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// ErrNoDWARF reports that a binary has no debug information: it was linked with -w or -s, or stripped.
var ErrNoDWARF = errors.New("no DWARF")

// maxDWARF is the maximum size of debug information that is uncompressed to read a few structs in it.
const maxDWARF = 1 << 30

// FromELF reads the layout from the binary's DWARF. It does not set the release. The error is ErrNoDWARF if the
// binary has none.
func FromELF(f *elf.File) (*Layout, error) {
	structs, err := readStructs(f)
	if err != nil {
		return nil, err
	}
	l := fill(structs)
	l.Source = FromDWARF
	if err := l.check(); err != nil {
		return nil, fmt.Errorf("reading DWARF: %w", err)
	}
	return l, nil
}

// readStructs returns the offsets of all wanted structs and their fields.
func readStructs(f *elf.File) (map[string]map[string]Offset, error) {
	info, err := debugSection(f, "info")
	if err != nil {
		return nil, err
	}
	if info == nil {
		return nil, ErrNoDWARF
	}
	d, err := openDWARF(f, info)
	if err != nil {
		return nil, fmt.Errorf("reading DWARF: %w", err)
	}
	want := map[string][]field{}
	(&Layout{}).eachStruct(func(name string, fields []field) { want["runtime."+name] = fields })
	structs := map[string]map[string]Offset{}
	for _, off := range runtimeUnits(d, info) {
		if err := readUnit(d, off, want, structs); err != nil {
			return nil, fmt.Errorf("reading DWARF: %w", err)
		}
		if len(structs) == len(want) {
			break
		}
	}
	return structs, nil
}

// debugSection reads one section of debug information, plain or compressed; nil if there is none.
func debugSection(f *elf.File, name string) ([]byte, error) {
	s := f.Section(".debug_" + name)
	if s == nil || s.Type == elf.SHT_NOBITS {
		return nil, nil
	}
	if s.Size > maxDWARF {
		return nil, fmt.Errorf("reading DWARF: section %s has %d bytes, too many", s.Name, s.Size)
	}
	b, err := s.Data()
	if err != nil {
		return nil, fmt.Errorf("reading DWARF: section %s: %w", s.Name, err)
	}
	return b, nil
}

// openDWARF loads only the sections that types need: lines and locations are most of the debug information.
func openDWARF(f *elf.File, info []byte) (*dwarf.Data, error) {
	abbrev, err := debugSection(f, "abbrev")
	if err != nil {
		return nil, err
	}
	str, err := debugSection(f, "str")
	if err != nil {
		return nil, err
	}
	d, err := dwarf.New(abbrev, nil, nil, info, nil, nil, nil, str)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"addr", "str_offsets", "line_str", "rnglists"} {
		b, err := debugSection(f, name)
		if err != nil {
			return nil, err
		}
		if b != nil {
			if err := d.AddSection(".debug_"+name, b); err != nil {
				return nil, err
			}
		}
	}
	return d, nil
}

// runtimeUnits lists the offsets of the compilation units' first entries, those of package runtime first. Stepping
// from header to header keeps the entries of other packages unread.
func runtimeUnits(d *dwarf.Data, info []byte) []dwarf.Offset {
	var first, rest []dwarf.Offset
	r := d.Reader()
	for at := uint64(0); at+12 <= uint64(len(info)); {
		length := uint64(binary.LittleEndian.Uint32(info[at:]))
		version := binary.LittleEndian.Uint16(info[at+4:])
		if length >= 0xfffffff0 {
			break // 64-bit DWARF, which no Go linker writes
		}
		entry := dwarf.Offset(at + 11)
		if version >= 5 {
			entry++
		}
		r.Seek(entry)
		e, err := r.Next()
		if err != nil {
			break
		}
		if e != nil && e.Tag == dwarf.TagCompileUnit {
			if name, _ := e.Val(dwarf.AttrName).(string); name == "runtime" {
				first = append(first, entry)
			} else {
				rest = append(rest, entry)
			}
		}
		at += 4 + length
	}
	return append(first, rest...)
}

// readUnit adds the wanted structs that a unit describes.
func readUnit(d *dwarf.Data, unit dwarf.Offset, want map[string][]field, structs map[string]map[string]Offset) error {
	r := d.Reader()
	r.Seek(unit)
	if e, err := r.Next(); err != nil || e == nil || !e.Children {
		return err
	}
	for {
		e, err := r.Next()
		if err != nil {
			return err
		}
		if e == nil || e.Tag == 0 || e.Tag == dwarf.TagCompileUnit {
			return nil
		}
		if e.Tag == dwarf.TagStructType || e.Tag == dwarf.TagTypedef {
			name, _ := e.Val(dwarf.AttrName).(string)
			fields, wanted := want[name]
			name = strings.TrimPrefix(name, "runtime.")
			if wanted && structs[name] == nil {
				t, err := d.Type(e.Offset)
				if err != nil {
					return err
				}
				if s := offsetsOf(t, fields); s != nil {
					structs[name] = s
				}
			}
		}
		if e.Children {
			r.SkipChildren()
		}
	}
}

// offsetsOf returns the offsets of the wanted fields in a struct; nil if the type is not a struct.
func offsetsOf(t dwarf.Type, fields []field) map[string]Offset {
	s, ok := Underlying(t).(*dwarf.StructType)
	if !ok || s.Incomplete || s.ByteSize <= 0 {
		return nil
	}
	all := map[string]Offset{sizeField: Offset(s.ByteSize)}
	for _, f := range fields {
		if off, ok := fieldOffset(s, f.name); ok {
			all[f.name] = off
		}
	}
	return all
}

// fieldOffset follows a path of field names.
func fieldOffset(t *dwarf.StructType, path string) (Offset, bool) {
	name, rest, nested := strings.Cut(path, ".")
	for _, f := range t.Field {
		if f.Name != name {
			continue
		}
		if !nested {
			return Offset(f.ByteOffset), true
		}
		s, ok := Underlying(f.Type).(*dwarf.StructType)
		if !ok {
			return 0, false
		}
		off, ok := fieldOffset(s, rest)
		return Offset(f.ByteOffset) + off, ok
	}
	return 0, false
}

// Underlying returns the type that typedefs stand for.
func Underlying(t dwarf.Type) dwarf.Type {
	for range 10 {
		def, ok := t.(*dwarf.TypedefType)
		if !ok {
			break
		}
		t = def.Type
	}
	return t
}
