package probe

import (
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"

	"github.com/cpprof/cpprof/sampledata"
)

// An Argument is a number that a register holds when a function is called.
type Argument struct {
	Name     string
	Kind     sampledata.ArgumentKind
	Register int // number among those that pass integers, in their order
	Size     int // bytes
	Signed   bool
}

// numberRegisters is the number of registers that pass integers and pointers
// (Go's internal ABI), by GOARCH; realRegisters of those that pass
// floating-point numbers.
var (
	numberRegisters = map[string]int{"amd64": 9, "arm64": 16}
	realRegisters   = map[string]int{"amd64": 15, "arm64": 16}
)

var errNoArguments = errors.New("the program has no debug information, which says what registers hold: build it without -ldflags=-w and -s")

// AddArguments finds out which registers hold the arguments of functions. If
// that is not known, the function's NoteArgs says why.
func (p *Program) AddArguments(functions []Function) {
	byEntry := map[uint64]*Function{}
	for i := range functions {
		f := &functions[i]
		if fn, ok := p.bin.Table.Func(f.Entry); ok {
			byEntry[fn.Entry-p.bin.Bias] = f
		}
		f.NoteArgs = "the debug information does not have the function"
	}
	if err := readArguments(p.file, p.bin.Arch, byEntry); err != nil {
		for i := range functions {
			functions[i].NoteArgs = err.Error()
		}
	}
}

// readArguments reads the parameters of functions, which it finds by their
// link addresses.
func readArguments(file io.ReaderAt, arch string, byEntry map[uint64]*Function) (err error) {
	defer func() { // the readers of debug information panic if it is damaged
		if r := recover(); r != nil {
			err = fmt.Errorf("the debug information is damaged: %v", r)
		}
	}()
	f, err := elf.NewFile(file)
	if err != nil {
		return err
	}
	if s := f.Section(".debug_info"); s == nil || s.Type == elf.SHT_NOBITS {
		return errNoArguments
	}
	data, err := f.DWARF()
	if err != nil {
		return fmt.Errorf("reading debug information: %w", err)
	}
	r := data.Reader()
	for found := 0; found < len(byEntry); {
		e, err := r.Next()
		if err != nil || e == nil {
			return err
		}
		if e.Tag == dwarf.TagCompileUnit {
			continue // its children follow
		}
		low, _ := e.Val(dwarf.AttrLowpc).(uint64)
		target := byEntry[low]
		if e.Tag != dwarf.TagSubprogram || target == nil || low == 0 {
			r.SkipChildren()
			continue
		}
		found++
		a := assignment{data: data, numbers: numberRegisters[arch], reals: realRegisters[arch]}
		target.Arguments, target.NoteArgs = a.parameters(r, e)
	}
	return nil
}

// An assignment gives registers to arguments, in the order of their
// declaration, as Go's internal ABI does.
type assignment struct {
	data           *dwarf.Data
	numbers, reals int // that pass arguments
	number, real   int // the next ones
	list           []Argument
}

// parameters reads the parameters of a function, whose entry was read last.
func (a *assignment) parameters(r *dwarf.Reader, function *dwarf.Entry) ([]Argument, string) {
	if !function.Children {
		return nil, ""
	}
	for {
		e, err := r.Next()
		if err != nil || e == nil || e.Tag == 0 {
			break
		}
		if e.Children {
			r.SkipChildren()
		}
		if e.Tag != dwarf.TagFormalParameter {
			continue
		}
		if result, _ := e.Val(dwarf.AttrVarParam).(bool); result {
			continue
		}
		at, ok := a.origin(e, dwarf.AttrType).(dwarf.Offset)
		name, _ := a.origin(e, dwarf.AttrName).(string)
		if !ok || name == "" {
			return a.list, "the debug information does not name all arguments"
		}
		t, err := a.data.Type(at)
		if err != nil {
			return a.list, "the debug information has an unknown type: " + err.Error()
		}
		a.add(name, t)
	}
	return a.list, ""
}

// origin returns an attribute of an entry, or of the entry that it is an
// instance of.
func (a *assignment) origin(e *dwarf.Entry, attr dwarf.Attr) any {
	if v := e.Val(attr); v != nil {
		return v
	}
	at, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
	if !ok {
		return nil
	}
	r := a.data.Reader()
	r.Seek(at)
	if abstract, err := r.Next(); err == nil && abstract != nil {
		return abstract.Val(attr)
	}
	return nil
}

// add assigns registers to an argument. If there are too few for all of its
// parts, it is on the stack, and takes none.
func (a *assignment) add(name string, t dwarf.Type) {
	number, real, n := a.number, a.real, len(a.list)
	if !a.assign(name, t, 0) || a.number > a.numbers || a.real > a.reals {
		a.number, a.real, a.list = number, real, a.list[:n]
	}
	if len(a.list) > sampledata.MaxArguments {
		a.list = a.list[:sampledata.MaxArguments]
	}
}

// maxNested limits how deep types are nested.
const maxNested = 20

// assign finds registers to a value of a type. It returns false if the value
// is passed on the stack.
func (a *assignment) assign(name string, t dwarf.Type, depth int) bool {
	if depth > maxNested {
		return false
	}
	switch t := t.(type) {
	case *dwarf.TypedefType:
		return a.assign(name, t.Type, depth+1)
	case *dwarf.IntType:
		a.take(name, sampledata.ValueArgument, t.Size(), true)
	case *dwarf.UintType:
		a.take(name, sampledata.ValueArgument, t.Size(), false)
	case *dwarf.CharType:
		a.take(name, sampledata.ValueArgument, t.Size(), true)
	case *dwarf.UcharType:
		a.take(name, sampledata.ValueArgument, t.Size(), false)
	case *dwarf.BoolType:
		a.take(name, sampledata.ValueArgument, 1, false)
	case *dwarf.FloatType:
		a.real++
	case *dwarf.ComplexType:
		a.real += 2
	case *dwarf.PtrType, *dwarf.FuncType:
		a.take(name, sampledata.PointerArgument, 8, false)
	case *dwarf.StructType:
		return a.assignStruct(name, t, depth)
	case *dwarf.ArrayType:
		if t.Count > 1 {
			return false
		}
		return t.Count == 0 || a.assign(name, t.Type, depth+1)
	default:
		return false
	}
	return true
}

// assignStruct finds registers to the fields of a struct. Of strings and
// slices, the length is reported; of interfaces, whether there is a value.
func (a *assignment) assignStruct(name string, t *dwarf.StructType, depth int) bool {
	is := func(fields ...string) bool {
		if len(t.Field) != len(fields) {
			return false
		}
		for i, f := range t.Field {
			if f.Name != fields[i] {
				return false
			}
		}
		return true
	}
	switch {
	case is("str", "len"):
		a.number++
		a.take(name, sampledata.LengthArgument, 8, true)
	case is("array", "len", "cap"):
		a.number++
		a.take(name, sampledata.LengthArgument, 8, true)
		a.number++
	case is("_type", "data"), is("tab", "data"):
		a.take(name, sampledata.PointerArgument, 8, false)
		a.number++
	default:
		for _, f := range t.Field {
			if !a.assign(name+"."+f.Name, f.Type, depth+1) {
				return false
			}
		}
	}
	return true
}

func (a *assignment) take(name string, kind sampledata.ArgumentKind, size int64, signed bool) {
	a.list = append(a.list,
		Argument{Name: name, Kind: kind, Register: a.number, Size: int(size), Signed: signed})
	a.number++
}

// value returns the value of an argument that is in a register.
func (a *Argument) value(register uint64) int64 {
	switch a.Kind {
	case sampledata.PointerArgument:
		if register == 0 {
			return 0
		}
		return 1
	case sampledata.LengthArgument:
		return int64(register)
	}
	shift := 64 - 8*min(max(a.Size, 1), 8)
	if a.Signed {
		return int64(register<<shift) >> shift
	}
	return int64(min(register<<shift>>shift, 1<<63-1))
}
