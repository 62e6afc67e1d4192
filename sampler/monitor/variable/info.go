package variable

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"

	"github.com/cpprof/cpprof/internal/edit"
)

// ErrNoDebugInfo reports that a program has no debug information, and says what
// can be had instead.
var ErrNoDebugInfo = errors.New("the program has no debug information: build it without -ldflags=-s and -w (go run and go test need -ldflags= too), " +
	"or let it publish its numbers by HTTP (expvar, Prometheus) and give the address: --monitor http://HOST:PORT/metrics")

// An Info is a program's debug information about the variables of packages.
type Info struct {
	data  *dwarf.Data
	bias  uint64
	units map[string][]dwarf.Offset // by package
	vars  map[string]map[string]global
	types map[dwarf.Offset]godwarf.Type
}

// A global is a variable of a package.
type global struct {
	addr uint64 // in the process
	typ  dwarf.Offset
}

// Open reads the debug information of an executable. Addresses in the process
// are the file's plus bias. Large programs take a second.
func Open(executable io.ReaderAt, bias uint64) (_ *Info, err error) {
	defer damaged(&err)
	f, err := elf.NewFile(executable)
	if err != nil {
		return nil, err
	}
	if s := f.Section(".debug_info"); s == nil || s.Type == elf.SHT_NOBITS {
		return nil, ErrNoDebugInfo
	}
	in := &Info{bias: bias, units: map[string][]dwarf.Offset{},
		vars: map[string]map[string]global{}, types: map[dwarf.Offset]godwarf.Type{}}
	if in.data, err = f.DWARF(); err != nil {
		return nil, fmt.Errorf("reading debug information: %w", err)
	}
	for r := in.data.Reader(); ; r.SkipChildren() {
		e, err := r.Next()
		if err != nil {
			return nil, fmt.Errorf("reading debug information: %w", err)
		}
		if e == nil {
			return in, nil
		}
		if name, ok := e.Val(dwarf.AttrName).(string); ok && e.Tag == dwarf.TagCompileUnit {
			in.units[name] = append(in.units[name], e.Offset)
		}
	}
}

// damaged converts a panic to an error: the readers of debug information panic
// if it is damaged, and files are not trusted.
func damaged(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the debug information is damaged: %v", r)
	}
}

// globals lists the variables of a package, once.
func (in *Info) globals(pkg string) map[string]global {
	if all, ok := in.vars[pkg]; ok {
		return all
	}
	all := map[string]global{}
	for _, unit := range in.units[pkg] {
		r := in.data.Reader()
		r.Seek(unit)
		r.Next()
		for {
			e, err := r.Next()
			if err != nil || e == nil || e.Tag == 0 {
				break
			}
			const opAddr = 0x03 // DW_OP_addr
			location, _ := e.Val(dwarf.AttrLocation).([]byte)
			at, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
			if name, _ := e.Val(dwarf.AttrName).(string); e.Tag == dwarf.TagVariable &&
				ok && len(location) == 9 && location[0] == opAddr {
				all[name[strings.LastIndexByte(name,
					'/')+1:]] = global{binary.LittleEndian.Uint64(location[1:]) + in.bias, at}
			}
			if e.Children {
				r.SkipChildren()
			}
		}
	}
	in.vars[pkg] = all
	return all
}

// find finds the variable that a name begins with, and returns the names of
// fields that follow. The last part of a package's path may have dots: of
// gopkg.in/yaml.v3.size it is yaml.v3.
func (in *Info) find(e *Expr) (v global, fields []string, err error) {
	slash := strings.LastIndexByte(e.name, '/') + 1
	parts := strings.Split(e.name[slash:], ".")
	pkg := ""
	for n := 1; n < len(parts); n++ {
		pkg = strings.ReplaceAll(e.name[:slash]+strings.Join(parts[:n], "."), "%2e", ".")
		last := strings.ReplaceAll(pkg[slash:], ".", "%2e")
		if v, ok := in.globals(pkg)[last+"."+parts[n]]; ok {
			return v, parts[n+1:], nil
		}
	}
	return v, nil, in.unknown(e, e.name[:slash]+parts[0])
}

// unknown returns an error with the names that are most similar.
func (in *Info) unknown(e *Expr, pkg string) error {
	where := ""
	if _, ok := in.units[pkg]; !ok {
		where = fmt.Sprintf("the program has no package %s", pkg)
		if near := edit.Similar(pkg, slices.Sorted(maps.Keys(in.units))); len(near) > 0 {
			where += "; there is " + strings.Join(near, ", ")
		}
		return e.errorf(len(e.name), "%s", where)
	}
	path := pkg[:strings.LastIndexByte(pkg, '/')+1]
	var names []string
	for _, name := range slices.Sorted(maps.Keys(in.globals(pkg))) {
		names = append(names, path+name)
	}
	near := edit.Similar(e.name, names)
	if len(near) == 0 {
		near = names[:min(len(names), 8)]
	}
	where = fmt.Sprintf("package %s has no such variable, or the program does not use it", pkg)
	if len(near) > 0 {
		where += "; there is " + strings.Join(near, ", ")
	}
	return e.errorf(len(e.name), "%s", where)
}

// typeAt returns a type of the debug information.
func (in *Info) typeAt(at dwarf.Offset) (godwarf.Type, error) {
	return godwarf.ReadType(in.data, 0, at, in.types)
}

// errorf returns an error that points at the end of its subject, n bytes after
// the beginning of the name.
func (e *Expr) errorf(n int, format string, args ...any) error {
	p := parser{text: e.Text, at: min(e.at+n, len(e.Text)) - 1}
	return p.errorf(format, args...)
}
