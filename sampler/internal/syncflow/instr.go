package syncflow

import "github.com/cpprof/cpprof/sampler/internal/goruntime"

// A reg is a general register by the number that instructions have for it.
type reg uint8

const (
	numRegs     = 32
	noReg   reg = 0xff
)

// An op is what an instruction does, as far as it matters here.
type op uint8

const (
	opOther  op = iota // sets the registers of kills to something unknown
	opMove             // dst = a (LEA, MOV between registers, ADD of a constant)
	opLoad             // dst = memory at a, of size bytes
	opStore            // memory at a = src, of size bytes; src is noReg for what is not known
	opCall             // of target, or of what a says where indirect
	opJump             // to target
	opJumpTo           // to what a says: a table, or another function
	opBranch           // to target, or on
	opReturn           // to the caller
	opTrap             // never goes on
	opSwap             // atomic compare and swap of memory at a
	opAdd              // atomic addition to memory at a
)

// An operand is base + index*scale + off. An address where inMemory says so, else a value. Without base it is the
// constant off.
type operand struct {
	base, index reg
	scale       uint8
	inMemory    bool
	off         int64
}

func constant(c int64) operand { return operand{base: noReg, index: noReg, off: c} }

// An instr is one instruction in the form that both processors share. It can move the stack pointer beside, as pushes
// and writes with update do: before the access by pre, after it by post.
type instr struct {
	pc, next  uint64
	op        op
	dst, src  reg
	dst2      reg // of a pair: the next words
	src2      reg
	size      uint8
	indirect  bool // opCall: a tells where; opJumpTo: out of the function
	a         operand
	target    uint64
	kills     uint32 // registers that are set to something unknown besides
	update    reg    // register that pre and post move; noReg for none
	pre, post int64
}

func newInstr(pc, next uint64) instr {
	none := operand{base: noReg, index: noReg}
	return instr{pc: pc, next: next, dst: noReg, src: noReg, dst2: noReg, src2: noReg, update: noReg, a: none}
}

// A machine is what differs between processors.
type machine struct {
	decode func(dst []instr, code []byte, pc uint64) []instr
	// scan yields the targets of calls and of jumps out of code, and addresses that it names.
	scan      func(code []byte, pc uint64, yield func(target uint64)) scanned
	sp        reg
	closure   reg    // holds the closure in a call of one
	argument  reg    // holds a function's first argument
	arguments [5]reg // hold the first five
	kept      uint32
	barrier   uint32 // registers that the write barrier sets
	duff      uint32 // registers that duffzero and duffcopy set
}

func mask(rs ...reg) (m uint32) {
	for _, r := range rs {
		m |= 1 << r
	}
	return m
}

// machines are those of the supported processors, by GOARCH.
var machines = map[string]*machine{
	"amd64": {
		decode: decodeAMD64, scan: scanAMD64, sp: 4, closure: 2, argument: 0, arguments: [5]reg{0, 3, 1, 7, 6},
		kept: mask(4, 5, 14), barrier: mask(11), duff: mask(6, 7),
	},
	"arm64": {
		decode: decodeARM64, scan: scanARM64, sp: 31, closure: 26, argument: 0, arguments: [5]reg{0, 1, 2, 3, 4},
		kept: mask(28, 29, 31), barrier: mask(25, 27, 30), duff: mask(20, 21, 26, 27, 30),
	},
}

// A scanned is what a look over code finds, without decoding it.
type scanned struct {
	atomic        bool // instructions that compare and swap, or add
	indirect      bool // calls of what a register holds
	first, second bool // loads from where an interface's table has its first, and its second method
}

// method takes note of a load.
func (s *scanned) method(offset int64) {
	s.first = s.first || offset == goruntime.FirstMethod
	s.second = s.second || offset == goruntime.SecondMethod
}

// locks tells whether locks may be taken and given back by the code itself.
func (s *scanned) locks() bool { return s.atomic || s.indirect && s.first && s.second }
