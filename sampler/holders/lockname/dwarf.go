package lockname

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"sort"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"
	"github.com/go-delve/delve/pkg/dwarf/loclist"
)

// maxSection bounds the unpacked size of a section.
const maxSection = 1 << 30

var errNoDWARF = errors.New("no DWARF")

// debugInfo is a program's debug information. Its addresses are link addresses.
type debugInfo struct {
	data  *dwarf.Data
	units []*unit
	loc   *loclist.Dwarf2Reader // DWARF 4
	lists *loclist.Dwarf5Reader // DWARF 5
	addrs *godwarf.DebugAddrSection
}

// A unit has the entries of one Go package, or of a part of one.
type unit struct {
	entry     *dwarf.Entry
	name      string // the package's import path
	version   uint16
	lowPC     uint64
	ranges    [][2]uint64
	functions []function // in order of addresses; nil until read
	read      bool
}

// A function is a function's entry.
type function struct {
	low, high uint64
	at        dwarf.Offset
}

// readDebugInfo reads the sections that describe variables, without line
// tables and frame tables.
func readDebugInfo(f *elf.File) (*debugInfo, error) {
	info, err := section(f, "info")
	if err != nil {
		return nil, err
	}
	if info == nil {
		return nil, errNoDWARF
	}
	var parts [4][]byte
	for i, name := range []string{"abbrev", "ranges", "str", "addr"} {
		if parts[i], err = section(f, name); err != nil {
			return nil, err
		}
	}
	d := &debugInfo{addrs: godwarf.ParseAddr(parts[3])}
	if d.data, err = dwarf.New(parts[0], nil, nil, info, nil, nil, parts[1], parts[2]); err != nil {
		return nil, err
	}
	for _, name := range []string{"addr", "str_offsets", "line_str", "rnglists"} {
		if b, err := section(f, name); err != nil {
			return nil, err
		} else if b != nil {
			if err := d.data.AddSection(".debug_"+name, b); err != nil {
				return nil, err
			}
		}
	}
	loc, err := section(f, "loc")
	if err != nil {
		return nil, err
	}
	lists, err := section(f, "loclists")
	if err != nil {
		return nil, err
	}
	d.loc, d.lists = loclist.NewDwarf2Reader(loc, 8), loclist.NewDwarf5Reader(lists)
	return d, d.readUnits(info)
}

// section reads one section of debug information, unpacked; nil if there is none.
func section(f *elf.File, name string) ([]byte, error) {
	s := f.Section(".debug_" + name)
	if s == nil || s.Type == elf.SHT_NOBITS {
		return nil, nil
	}
	if s.Size > maxSection {
		return nil, fmt.Errorf("section %s has %d bytes, too many", s.Name, s.Size)
	}
	return s.Data()
}

// readUnits goes from header to header, and leaves the contents of the units
// unread.
func (d *debugInfo) readUnits(info []byte) error {
	r := d.data.Reader()
	for at := uint64(0); at+12 <= uint64(len(info)); {
		length, version := uint64(binary.LittleEndian.Uint32(info[at:])),
			binary.LittleEndian.Uint16(info[at+4:])
		first := dwarf.Offset(at + 11)
		if version >= 5 {
			first++
		}
		r.Seek(first)
		e, err := r.Next()
		if err != nil {
			return err
		}
		if e != nil && e.Tag == dwarf.TagCompileUnit {
			u := &unit{entry: e, version: version}
			u.name, _ = e.Val(dwarf.AttrName).(string)
			u.lowPC, _ = e.Val(dwarf.AttrLowpc).(uint64)
			if u.ranges, err = d.data.Ranges(e); err != nil {
				return err
			}
			d.units = append(d.units, u)
		}
		at += 4 + length
	}
	return nil
}

// functionAt returns the function that contains an instruction.
func (d *debugInfo) functionAt(pc uint64) (*unit, *function) {
	for _, u := range d.units {
		for _, r := range u.ranges {
			if pc >= r[0] && pc < r[1] {
				d.readFunctions(u)
				i := sort.Search(len(u.functions),
					func(i int) bool { return u.functions[i].high > pc })
				if i < len(u.functions) && u.functions[i].low <= pc {
					return u, &u.functions[i]
				}
				return nil, nil
			}
		}
	}
	return nil, nil
}

// readFunctions lists the functions of a unit, once. The list ends at the
// first entry that can't be read.
func (d *debugInfo) readFunctions(u *unit) {
	if u.read {
		return
	}
	u.read = true
	d.children(u.entry.Offset, func(_ *dwarf.Reader, e *dwarf.Entry) {
		if e.Tag != dwarf.TagSubprogram {
			return
		}
		if ranges, err := d.data.Ranges(e); err == nil {
			for _, r := range ranges {
				u.functions = append(u.functions, function{r[0], r[1], e.Offset})
			}
		}
	})
	sort.Slice(u.functions,
		func(i, j int) bool { return u.functions[i].high < u.functions[j].high })
}

// children calls each with the entries directly below one, up to the first
// that can't be read.
func (d *debugInfo) children(at dwarf.Offset, each func(*dwarf.Reader, *dwarf.Entry)) {
	r := d.data.Reader()
	r.Seek(at)
	if e, err := r.Next(); err != nil || e == nil || !e.Children {
		return
	}
	for {
		e, err := r.Next()
		if err != nil || e == nil || e.Tag == 0 {
			return
		}
		each(r, e)
		if e.Children {
			r.SkipChildren()
		}
	}
}
