package machinecode

// A Reg is a general register, numbered as instructions number it.
type Reg uint8

const (
	NumRegs     = 32
	NoReg   Reg = 0xff
	// ConstantSrc is the Src of a store of a constant.
	ConstantSrc Reg = 0xfe
)

// An Op is what an instruction does.
type Op uint8

const (
	OpOther Op = iota // sets the registers of Kills to something unknown
	OpMove            // Dst = Operand (LEA, MOV between registers, ADD of a constant)
	OpLoad            // Dst = memory at Operand, of Size bytes
	// memory at Operand = Src, of Size bytes; Src is NoReg if
	// the value is not known
	OpStore
	OpCall   // of Target, or of what Operand says if Indirect
	OpJump   // to Target
	OpJumpTo // to what Operand says
	OpBranch // to Target, or on
	OpReturn // to the caller
	OpTrap   // execution never continues after it
	OpSwap   // atomic compare and swap of memory at Operand
	OpAdd    // atomic addition to memory at Operand
	OpTest   // finds out whether the bits of Mask in the low byte of Operand are zero
)

// A Condition is when a branch goes to its target.
type Condition uint8

const (
	CondOther   Condition = iota
	CondZero              // what was tested is zero
	CondNotZero           // it is not
)

// An Operand is Base + Index*Scale + Offset: an address if
// InMemory, else a value. Without Base it is the constant
// Offset.
type Operand struct {
	Base, Index Reg
	Scale       uint8
	InMemory    bool
	Offset      int64
}

func constant(c int64) Operand { return Operand{Base: NoReg, Index: NoReg, Offset: c} }

// An Instr is one instruction in the form that both processors
// share. Pushes, and accesses with update, also change a
// register: by Pre before the access, by Post after it.
type Instr struct {
	PC, Next   uint64
	Op         Op
	Dst, Src   Reg
	Dst2, Src2 Reg // of a pair: the next word
	Size       uint8
	Indirect   bool // OpCall, OpJumpTo: Operand says where to
	Operand    Operand
	Target     uint64
	Kills      uint32 // registers that are set to something unknown besides, a bit each
	Update     Reg    // that Pre and Post move; NoReg for none
	Pre, Post  int64
	Cond       Condition // OpBranch: when it goes to Target
	// OpTest: which bits of the byte; OpBranch: the bits of
	// Operand that it tests itself, or 0
	Mask     uint8
	Constant uint8 // OpStore of one byte: what it stores, if Src is ConstantSrc
}

func newInstr(pc, next uint64) Instr {
	none := Operand{Base: NoReg, Index: NoReg}
	return Instr{PC: pc, Next: next, Dst: NoReg, Src: NoReg, Dst2: NoReg, Src2: NoReg,
		Update: NoReg, Operand: none}
}

// Mask returns a set of registers, a bit each.
func Mask(rs ...Reg) (m uint32) {
	for _, r := range rs {
		m |= 1 << r
	}
	return m
}

// A Machine is the instruction set of a processor.
type Machine struct {
	SP Reg // the stack pointer
	// ZeroIsSP: in stores, the number of the stack pointer means
	// the constant 0.
	ZeroIsSP bool

	// Decode appends the instructions of code, whose address is pc.
	Decode func(dst []Instr, code []byte, pc uint64) []Instr

	// Scan calls yield with the targets of calls, the targets of
	// jumps that leave the code, and addresses that the code
	// refers to. Some of the values that it yields are none of
	// these. It does not decode the code, and is many times as
	// fast as Decode. It also searches for loads at the given
	// offsets.
	Scan func(code []byte, pc uint64, offsets [2]int64, yield func(target uint64)) Scanned
}

var machines = map[string]*Machine{
	"amd64": {Decode: decodeAMD64, Scan: scanAMD64, SP: rsp},
	"arm64": {Decode: decodeARM64, Scan: scanARM64, SP: spARM64, ZeroIsSP: true},
}

// ForArch returns the machine of a processor (GOARCH); nil if it
// is not supported.
func ForArch(arch string) *Machine { return machines[arch] }

// A Scanned has what Scan finds besides addresses.
type Scanned struct {
	Atomic   bool    // instructions that compare and swap, or add
	Indirect bool    // calls of what a register holds
	Loads    [2]bool // loads at an offset from a register, by the offsets that were asked for
}

// load records a load at an offset.
func (s *Scanned) load(offset int64, offsets *[2]int64) {
	for i := range offsets {
		s.Loads[i] = s.Loads[i] || offset == offsets[i]
	}
}
