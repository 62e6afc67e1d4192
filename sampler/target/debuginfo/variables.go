package debuginfo

import (
	"cmp"
	"debug/dwarf"
	"encoding/binary"
	"iter"
	"slices"

	"github.com/go-delve/delve/pkg/dwarf/godwarf"
	"github.com/go-delve/delve/pkg/dwarf/op"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// A Variable is a variable of a function, at one instruction of
// the function.
type Variable struct {
	Name string // "&x" is the address of an x that has moved to the heap
	In   string // the function that it is a variable of, which may be inlined
	Type dwarf.Type
	// at the function's entry: where the closure has it, if the
	// function has captured it; 0 if not, and for all of Go
	// before 1.23
	Captured int64
	// a DWARF expression; nil if the debug information has none
	// here, as for most spilled variables
	location []byte
}

// VariablesAt returns the variables that exist at an
// instruction, innermost last. Variables of inlined calls are
// included, except calls of package sync.
func (d *Info) VariablesAt(pc uint64) (all []Variable) {
	u, f := d.functionAt(pc)
	if f == nil {
		return nil
	}
	r := d.Reader()
	r.Seek(f.at)
	e, err := r.Next()
	if err != nil || e == nil {
		return nil
	}
	if e.Children {
		name, _ := d.Attribute(e, dwarf.AttrName).(string)
		d.block(r, u, pc, name, &all, maxBlocks)
	}
	for i := range all {
		if pc != f.low {
			all[i].Captured = 0
		}
	}
	return all
}

// maxBlocks bounds how deep blocks and inlined calls are nested.
const maxBlocks = 1000

// block adds the variables of the block whose entry was read
// last, in a function, and of at most depth levels below it.
func (d *Info) block(r *dwarf.Reader, u *Unit, pc uint64, in string, all *[]Variable, depth int) {
	for {
		e, err := r.Next()
		if err != nil || e == nil || e.Tag == 0 {
			return
		}
		switch e.Tag {
		case dwarf.TagFormalParameter, dwarf.TagVariable:
			if v, ok := d.variable(u, e, pc); ok {
				v.In = in
				*all = append(*all, v)
			}
		case dwarf.TagLexDwarfBlock, dwarf.TagInlinedSubroutine:
			name, _ := d.Attribute(e, dwarf.AttrName).(string)
			if e.Children && depth > 0 && d.covers(e, pc) && !goruntime.IsSync(name) {
				d.block(r, u, pc, cmp.Or(name, in), all, depth-1)
				continue
			}
		}
		skip(r, e)
	}
}

// covers reports whether a block's code contains an instruction.
func (d *Info) covers(e *dwarf.Entry, pc uint64) bool {
	ranges, err := d.Ranges(e)
	return err == nil &&
		slices.ContainsFunc(ranges, func(r [2]uint64) bool { return pc >= r[0] && pc < r[1] })
}

// Attribute returns an attribute of an entry, or of the entry
// that it is a copy of.
func (d *Info) Attribute(e *dwarf.Entry, a dwarf.Attr) any {
	if v := e.Val(a); v != nil {
		return v
	}
	origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
	if !ok {
		return nil
	}
	r := d.Reader()
	r.Seek(origin)
	if e, err := r.Next(); err == nil && e != nil {
		return e.Val(a)
	}
	return nil
}

// variable returns what an entry says about a variable at an instruction.
func (d *Info) variable(u *Unit, e *dwarf.Entry, pc uint64) (v Variable, ok bool) {
	v.location = d.location(u, e, pc)
	at, ok := d.Attribute(e, dwarf.AttrType).(dwarf.Offset)
	if !ok {
		return v, false
	}
	var err error
	if v.Type, err = d.Type(at); err != nil {
		return v, false
	}
	v.Name, _ = d.Attribute(e, dwarf.AttrName).(string)
	v.Captured, _ = e.Val(godwarf.AttrGoClosureOffset).(int64)
	return v, true
}

// location returns the expression for the location of a variable
// at an instruction.
func (d *Info) location(u *Unit, e *dwarf.Entry, pc uint64) []byte {
	switch at := e.Val(dwarf.AttrLocation).(type) {
	case []byte:
		return at
	case int64:
		if u.version >= 5 {
			if d.lists.Empty() {
				return nil
			}
			base, _ := u.entry.Val(dwarf.AttrAddrBase).(int64)
			if entry, err := d.lists.Find(int(at), 0, u.lowPC, pc,
				d.addrs.GetSubsection(uint64(base))); err == nil && entry != nil {
				return entry.Instr
			}
			return nil
		}
		if d.loc.Empty() {
			return nil
		}
		if entry, err := d.loc.Find(int(at), 0, u.lowPC, pc, nil); err == nil && entry != nil {
			return entry.Instr
		}
	}
	return nil
}

// Address returns the address of a variable in a frame whose
// caller's stack pointer is cfa. It returns false if the
// variable lies in registers or in several pieces.
func (v *Variable) Address(cfa uint64) (uint64, bool) {
	if len(v.location) == 0 {
		return 0, false
	}
	regs := op.DwarfRegisters{CFA: int64(cfa), FrameBase: int64(cfa),
		ByteOrder: binary.LittleEndian}
	at, pieces, err := op.ExecuteStackProgram(regs, v.location, 8, nil)
	switch {
	case err != nil || len(pieces) > 1:
		return 0, false
	case len(pieces) == 1:
		return pieces[0].Val, pieces[0].Kind == op.AddrPiece
	}
	return uint64(at), at != 0
}

// LiesIn reports whether the variable lies in a register, given
// its number in debug information.
func (v *Variable) LiesIn(register uint8) bool {
	const opReg0 = 0x50 // DW_OP_reg0
	return len(v.location) == 1 && v.location[0] == opReg0+register
}

// Below yields the entries directly below the one of the
// function that contains an instruction: its parameters,
// variables and blocks. ok reports whether there is such a
// function.
func (d *Info) Below(pc uint64) (entries iter.Seq[*dwarf.Entry], ok bool) {
	_, f := d.functionAt(pc)
	if f == nil {
		return nil, false
	}
	return d.below(f.at), true
}
