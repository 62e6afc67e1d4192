package probe

import (
	"debug/dwarf"
	"errors"
	"iter"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/debuginfo"
	"github.com/cpprof/cpprof/sampler/target/elffile"
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

// AddArguments finds out which registers hold the arguments of
// functions. If that is not known, the function's NoteArgs says
// why.
func (p *Program) AddArguments(functions []Function) {
	d, err := p.debugInfo()
	for i := range functions {
		f := &functions[i]
		f.NoteArgs = "the debug information does not have the function"
		if fn, ok := p.bin.Table.Func(f.Entry); err == nil && ok {
			err = f.readArguments(d, p.bin.Arch, fn.Entry-p.bin.Bias)
		}
		if err != nil {
			f.NoteArgs = err.Error()
		}
	}
}

func (p *Program) debugInfo() (*debuginfo.Info, error) {
	f, err := elffile.New(p.file)
	if err != nil {
		return nil, err
	}
	d, err := debuginfo.Read(f)
	if errors.Is(err, debuginfo.ErrNone) {
		return nil, errNoArguments
	}
	return d, err
}

// readArguments reads the parameters of a function, given its link address.
func (f *Function) readArguments(d *debuginfo.Info, arch string, entry uint64) (err error) {
	defer debuginfo.Damaged(&err)
	if below, ok := d.Below(entry); ok {
		a := assignment{data: d, numbers: numberRegisters[arch], reals: realRegisters[arch]}
		f.NoteArgs = a.parameters(below)
		f.Arguments = a.list
	}
	return nil
}

// An assignment gives registers to arguments, in the order of their
// declaration, as Go's internal ABI does.
type assignment struct {
	data           *debuginfo.Info
	numbers, reals int // that pass arguments
	number, real   int // the next ones
	looked         int // at types
	list           []Argument
}

// parameters reads the parameters among the entries below a
// function's. It returns why some are not known; "" if all are.
func (a *assignment) parameters(below iter.Seq[*dwarf.Entry]) string {
	for e := range below {
		result, _ := e.Val(dwarf.AttrVarParam).(bool)
		if e.Tag != dwarf.TagFormalParameter || result {
			continue
		}
		at, ok := a.data.Attribute(e, dwarf.AttrType).(dwarf.Offset)
		name, _ := a.data.Attribute(e, dwarf.AttrName).(string)
		if !ok || name == "" {
			return "the debug information does not name all arguments"
		}
		t, err := a.data.Type(at)
		if err != nil {
			return "the debug information has an unknown type: " + err.Error()
		}
		a.add(name, t)
	}
	return ""
}

// add assigns registers to an argument. If there are too few for
// all of its parts, it is on the stack, and takes none.
func (a *assignment) add(name string, t dwarf.Type) {
	number, real, n := a.number, a.real, len(a.list)
	if !a.assign(name, t, 0) || a.number > a.numbers || a.real > a.reals {
		a.number, a.real, a.list = number, real, a.list[:n]
	}
	if len(a.list) > sampledata.MaxArguments {
		a.list = a.list[:sampledata.MaxArguments]
	}
}

// Limits of how deep types are nested, and of their number in
// one function.
const (
	maxNested = 20
	maxLooked = 10_000
)

// assign finds registers to a value of a type. It returns false
// if the value is passed on the stack.
func (a *assignment) assign(name string, t dwarf.Type, depth int) bool {
	if a.looked++; depth > maxNested || a.looked > maxLooked {
		return false
	}
	switch t := t.(type) {
	case *dwarf.TypedefType:
		return a.assign(name, t.Type, depth+1)
	case *dwarf.IntType, *dwarf.CharType:
		a.take(name, sampledata.ValueArgument, t.Size(), true)
	case *dwarf.UintType, *dwarf.UcharType:
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

// assignStruct finds registers to the fields of a struct. Of
// strings and slices, the length is reported; of interfaces,
// whether there is a value.
func (a *assignment) assignStruct(name string, t *dwarf.StructType, depth int) bool {
	is := func(fields ...string) bool {
		return slices.EqualFunc(t.Field, fields,
			func(f *dwarf.StructField, name string) bool { return f.Name == name })
	}
	switch {
	case is("str", "len"), is("array", "len", "cap"):
		a.number++
		a.take(name, sampledata.LengthArgument, 8, true)
		a.number += len(t.Field) - 2 // a capacity
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
