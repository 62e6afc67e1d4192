package layout

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ErrNoDWARF reports that a binary has no debug information: it was linked
// with -w or -s, or stripped.
var ErrNoDWARF = errors.New("no DWARF")

// maxDWARF is the maximum size of debug information that is uncompressed to
// read a few structs in it.
const maxDWARF = 1 << 30

// FromELF reads the layout from the binary's DWARF. It does not set the
// release. The error is ErrNoDWARF if the binary has none.
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

// firstPart is how much of the entries is uncompressed at first. In most
// programs, the runtime's structs are in this part.
const firstPart = 6 << 20

// readStructs returns the offsets of all wanted structs and their fields. It
// uncompresses the entries only as far as is needed: in a large program that
// takes most of the time.
func readStructs(f *elf.File) (map[string]map[string]Offset, error) {
	s := f.Section(".debug_info")
	if s == nil || s.Type == elf.SHT_NOBITS {
		return nil, ErrNoDWARF
	}
	if s.Size > maxDWARF {
		return nil, fmt.Errorf("reading DWARF: section %s has %d bytes, too many", s.Name, s.Size)
	}
	others, err := otherSections(f)
	if err != nil {
		return nil, err
	}
	want := map[string][]field{}
	(&Layout{}).eachStruct(func(name string, fields []field) { want["runtime."+name] = fields })
	var info []byte
	for from := s.Open(); ; {
		more := min(int(s.Size), max(firstPart, 2*len(info))) - len(info)
		info = append(info, make([]byte, more)...)
		if _, err := io.ReadFull(from, info[len(info)-more:]); err != nil {
			return nil, fmt.Errorf("reading DWARF: section %s: %w", s.Name, err)
		}
		whole := len(info) == int(s.Size)
		structs, err := others.structsIn(completed(info), want)
		if len(structs) == len(want) || whole && err == nil {
			return structs, nil
		}
		if whole {
			return nil, fmt.Errorf("reading DWARF: %w", err)
		}
	}
}

// completed returns a beginning of the entries in a form that can be read: if
// the last unit isn't whole, its header says that it ends where the beginning
// ends. The last entry in it may be cut, which is an error for whoever reads
// that far.
func completed(info []byte) []byte {
	for at := 0; at+4 <= len(info); {
		next := at + 4 + int(binary.LittleEndian.Uint32(info[at:]))
		if next > len(info) {
			info = slices.Clone(info)
			binary.LittleEndian.PutUint32(info[at:], uint32(len(info)-at-4))
			return info
		}
		at = next
	}
	return info
}

// structsIn returns the offsets of the wanted structs that it finds in
// entries, and the reason if it can't read all units.
func (o sections) structsIn(info []byte, want map[string][]field) (map[string]map[string]Offset,
	error) {
	d, err := o.open(info)
	if err != nil {
		return nil, err
	}
	structs := map[string]map[string]Offset{}
	for _, off := range runtimeUnits(d, info) {
		if err := readUnit(d, off, want, structs); err != nil {
			return structs, err
		}
		if len(structs) == len(want) {
			break
		}
	}
	return structs, nil
}

// debugSection reads one section of debug information, plain or compressed;
// nil if there is none.
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

// sections are those parts of debug information, beside the entries, that
// types need: lines, locations and ranges are most of it, and are left out.
type sections map[string][]byte

func otherSections(f *elf.File) (sections, error) {
	o := sections{}
	for _, name := range []string{"abbrev", "str", "addr", "str_offsets", "line_str"} {
		b, err := debugSection(f, name)
		if err != nil {
			return nil, err
		}
		if b != nil {
			o[name] = b
		}
	}
	return o, nil
}

// open returns the debug information with these entries.
func (o sections) open(info []byte) (*dwarf.Data, error) {
	d, err := dwarf.New(o["abbrev"], nil, nil, info, nil, nil, nil, o["str"])
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"addr", "str_offsets", "line_str"} {
		if b := o[name]; b != nil {
			if err := d.AddSection(".debug_"+name, b); err != nil {
				return nil, err
			}
		}
	}
	return d, nil
}

// runtimeUnits lists the offsets of the compilation units' first entries,
// package runtime's first. Stepping from header to header keeps the entries of
// other packages unread.
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
func readUnit(d *dwarf.Data, unit dwarf.Offset, want map[string][]field,
	structs map[string]map[string]Offset) error {
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
				s, err := readStruct(d, e.Offset)
				if err != nil {
					return err
				}
				if s != nil {
					offsets, err := s.offsets(d, fields)
					if err != nil {
						return err
					}
					structs[name] = offsets
				}
				if len(structs) == len(want) {
					return nil
				}
			}
		}
		if e.Children {
			r.SkipChildren()
		}
	}
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
