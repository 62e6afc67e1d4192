// Package debuginfo reads the DWARF of a program: its units,
// functions, variables and types. All addresses are link
// addresses.
//
//	d, err := debuginfo.Read(f)           // f: an *elf.File
//	name, vs := d.VariablesAt(pc)         // the variables of a function at an instruction
//	d.Globals("main")                     // the variables of a package
//	d.Type(offset)                        // as package debug/dwarf
//
// Files are not trusted. The readers of debug information panic
// if it is damaged: whoever calls them defers Damaged.
package debuginfo

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"
	"github.com/go-delve/delve/pkg/dwarf/loclist"

	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampler/target/elffile"
)

// ErrNone reports that a program has no debug information: it
// was linked with
// -w or -s, or stripped.
var ErrNone = errors.New("no DWARF")

// An Info is a program's debug information.
type Info struct {
	*dwarf.Data
	Units   []*Unit
	globals map[string][]Global           // by package
	types   map[dwarf.Offset]godwarf.Type // those that GoType has read
	sound   map[dwarf.Offset]bool         // types that checkType has looked at
	unsound error                         // why types can't be read
	loc     *loclist.Dwarf2Reader         // DWARF 4
	lists   *loclist.Dwarf5Reader         // DWARF 5
	addrs   *godwarf.DebugAddrSection
}

// A Unit has the entries of one Go package, or of a part of one.
type Unit struct {
	Name      string // the package's import path
	entry     *dwarf.Entry
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

// Damaged converts a panic to an error.
func Damaged(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the debug information is damaged: %v", r)
	}
}

// Read reads the sections that describe types, functions and
// variables, without line tables and frame tables. The error is
// ErrNone if there are none.
func Read(f *elf.File) (d *Info, err error) {
	defer Damaged(&err)
	parts, budget := map[string][]byte{}, memory.NewBudget(0)
	for _, name := range []string{"info", "abbrev", "ranges", "str", "addr", "str_offsets",
		"line_str", "rnglists", "loc", "loclists"} {
		if parts[name], err = section(f, name, budget); err != nil {
			return nil, fmt.Errorf("reading debug information: %w", err)
		}
	}
	if parts["info"] == nil {
		return nil, ErrNone
	}
	d = &Info{globals: map[string][]Global{}, types: map[dwarf.Offset]godwarf.Type{},
		sound: map[dwarf.Offset]bool{}, addrs: godwarf.ParseAddr(parts["addr"]),
		loc:   loclist.NewDwarf2Reader(parts["loc"], 8),
		lists: loclist.NewDwarf5Reader(parts["loclists"])}
	if d.Data, err = dwarf.New(parts["abbrev"], nil, nil, parts["info"], nil, nil,
		parts["ranges"], parts["str"]); err != nil {
		return nil, err
	}
	for _, name := range []string{"addr", "str_offsets", "line_str", "rnglists"} {
		if b := parts[name]; b != nil {
			if err := d.AddSection(".debug_"+name, b); err != nil {
				return nil, err
			}
		}
	}
	return d, d.readUnits(parts["info"])
}

// section reads one section of debug information, unpacked; nil
// if there is none.
func section(f *elf.File, name string, budget *memory.Budget) ([]byte, error) {
	s := f.Section(".debug_" + name)
	if s == nil || s.Type == elf.SHT_NOBITS {
		return nil, nil
	}
	return elffile.Data(s, budget)
}

// readUnits goes from header to header, and leaves the contents
// of the units unread.
func (d *Info) readUnits(info []byte) error {
	r := d.Reader()
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
			u := &Unit{entry: e, version: version}
			u.Name, _ = e.Val(dwarf.AttrName).(string)
			u.lowPC, _ = e.Val(dwarf.AttrLowpc).(uint64)
			if u.ranges, err = d.Ranges(e); err != nil {
				return err
			}
			d.Units = append(d.Units, u)
		}
		at += 4 + length
	}
	return nil
}

// functionAt returns the function that contains an instruction.
func (d *Info) functionAt(pc uint64) (*Unit, *function) {
	for _, u := range d.Units {
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

// readFunctions lists the functions of a unit, once. The list
// ends at the first entry that can't be read.
func (d *Info) readFunctions(u *Unit) {
	if u.read {
		return
	}
	u.read = true
	for e := range d.below(u.entry.Offset) {
		if e.Tag != dwarf.TagSubprogram {
			continue
		}
		if ranges, err := d.Ranges(e); err == nil {
			for _, r := range ranges {
				u.functions = append(u.functions, function{r[0], r[1], e.Offset})
			}
		}
	}
	slices.SortFunc(u.functions, func(a, b function) int { return cmp.Compare(a.high, b.high) })
}

// below yields the entries directly below one, up to the first
// that can't be read.
func (d *Info) below(at dwarf.Offset) iter.Seq[*dwarf.Entry] {
	return func(yield func(*dwarf.Entry) bool) {
		r := d.Reader()
		r.Seek(at)
		if e, err := r.Next(); err != nil || e == nil || !e.Children {
			return
		}
		for {
			e, err := r.Next()
			if err != nil || e == nil || e.Tag == 0 || !yield(e) {
				return
			}
			skip(r, e)
		}
	}
}

// skip goes on behind what is below an entry that was just read.
// The one of package debug/dwarf needs stack for each level.
func skip(r *dwarf.Reader, e *dwarf.Entry) {
	if !e.Children {
		return
	}
	if next, ok := e.Val(dwarf.AttrSibling).(dwarf.Offset); ok && next > e.Offset {
		r.Seek(next)
		return
	}
	for depth := 1; depth > 0; {
		e, err := r.Next()
		switch {
		case err != nil || e == nil:
			return
		case e.Tag == 0:
			depth--
		case e.Children:
			depth++
		}
	}
}

// A Global is a variable of a package.
type Global struct {
	Name string // "main.server"
	Addr uint64
	Type dwarf.Offset
}

// PackageAt returns the package that an instruction is in; "" if
// that is not known.
func (d *Info) PackageAt(pc uint64) string {
	if u, f := d.functionAt(pc); f != nil {
		return u.Name
	}
	return ""
}

// Globals lists the variables of a package, once.
func (d *Info) Globals(pkg string) []Global {
	if all, ok := d.globals[pkg]; ok {
		return all
	}
	var all []Global
	for _, u := range d.Units {
		if u.Name != pkg {
			continue
		}
		for e := range d.below(u.entry.Offset) {
			const opAddr = 0x03 // DW_OP_addr
			location, _ := e.Val(dwarf.AttrLocation).([]byte)
			at, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
			if e.Tag != dwarf.TagVariable || !ok || len(location) != 9 || location[0] != opAddr {
				continue
			}
			name, _ := e.Val(dwarf.AttrName).(string)
			all = append(all, Global{name, binary.LittleEndian.Uint64(location[1:]), at})
		}
	}
	d.globals[pkg] = all
	return all
}

// Structs returns the structs of these names, as far as the
// program has them. The runtime's own unit comes first: it has
// the runtime's.
func (d *Info) Structs(names map[string]bool) (map[string]godwarf.Type, error) {
	found := map[string]godwarf.Type{}
	units := slices.Clone(d.Units)
	if i := slices.IndexFunc(units, func(u *Unit) bool { return u.Name == "runtime" }); i > 0 {
		units[0], units[i] = units[i], units[0]
	}
	for _, u := range units {
		for e := range d.below(u.entry.Offset) {
			name, _ := e.Val(dwarf.AttrName).(string)
			if e.Tag != dwarf.TagStructType || !names[name] || found[name] != nil {
				continue
			}
			t, err := d.GoType(e.Offset)
			if err != nil {
				return nil, err
			}
			if s, ok := t.(*godwarf.StructType); ok && s.ByteSize > 0 && !s.Incomplete {
				found[name] = s
			}
			if len(found) == len(names) {
				return found, nil
			}
		}
	}
	return found, nil
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
