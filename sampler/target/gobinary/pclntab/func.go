package pclntab

import "encoding/binary"

// recordSize is the fixed part of a function's record (runtime._func);
// offsets of pcdata and funcdata follow.
const recordSize = 44

// Numbers of the tables that a function's record points to (internal/abi).
const (
	pcdataInlTreeIndex = 2
	funcdataInlTree    = 3
	noFuncdata         = ^uint32(0)
)

// A FuncID marks functions that the runtime treats specially. The numbers
// differ between releases of Go.
type FuncID uint8

// Flags of a function (internal/abi).
type Flags uint8

const (
	// TopFrame: the function is the outermost of a stack.
	TopFrame Flags = 1 << iota
	// SPWrite: the code changes the stack pointer in ways that
	// the table does not describe.
	SPWrite
	// Asm: written in assembly.
	Asm
)

// A Func is one function of the program, valid as long as its Table.
type Func struct {
	table      *Table
	rec        []byte // the record and all bytes after it
	Entry, End uint64
	ID         FuncID
	Flags      Flags
}

// word returns the 32-bit word at offset off of the record.
func (f *Func) word(off int) uint32 { return binary.LittleEndian.Uint32(f.rec[off:]) }

// Name returns the linker's name, such as net/http.(*conn).serve.
func (f *Func) Name() string {
	return f.table.intern(f.table.names, f.table.funcname, f.word(4))
}

// StartLine returns the line of the func keyword.
func (f *Func) StartLine() int32 { return int32(f.word(36)) }

// SPDelta returns the distance in bytes from the stack pointer
// at pc up to the caller's return address (amd64) or to the
// caller's frame (arm64); false if the table does not have it.
func (f *Func) SPDelta(pc uint64) (int32, bool) {
	v := f.pcvalue(f.word(16), pc)
	return v, v >= 0
}

// pcdata returns the offset of table number i of the function; 0
// if there is none.
func (f *Func) pcdata(i int) uint32 {
	at := recordSize + 4*i
	if uint32(i) >= f.word(28) || at+4 > len(f.rec) {
		return 0
	}
	return f.word(at)
}

// funcdata returns the offset of datum number i of the function,
// relative to moduledata.gofunc.
func (f *Func) funcdata(i int) uint32 {
	npcdata := uint64(f.word(28))
	at := recordSize + 4*(npcdata+uint64(i))
	if i >= int(f.rec[43]) || at+4 > uint64(len(f.rec)) {
		return noFuncdata
	}
	return f.word(int(at))
}

// pcvalue returns the value at pc of the table at off; -1 if
// there is none. Each step moves forward in the function's code,
// so that reading a damaged table ends, too.
func (f *Func) pcvalue(off uint32, target uint64) int32 {
	tab := f.table.pctab
	if off == 0 || uint64(off) >= uint64(len(tab)) {
		return -1
	}
	tab = tab[off:]
	pc, v := f.Entry, int32(-1)
	for first := true; pc < f.End; first = false {
		dv, n := varint(tab)
		if n == 0 || dv == 0 && !first {
			return -1
		}
		tab = tab[n:]
		dpc, n := varint(tab)
		if n == 0 || dpc == 0 {
			return -1
		}
		tab = tab[n:]
		v += int32(dv>>1) ^ -int32(dv&1)
		pc += uint64(dpc) * f.table.quantum
		if target < pc {
			return v
		}
	}
	return -1
}

// varint reads a number of at most 32 bits; n is 0 if b ends
// before the number does.
func varint(b []byte) (v uint32, n int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint32(b[0]), 1
	}
	long, n := binary.Uvarint(b[:min(len(b), binary.MaxVarintLen32)])
	return uint32(long), n
}
