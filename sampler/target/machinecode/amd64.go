package machinecode

import (
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"
)

// Registers that have a special role in some instruction.
const (
	rax Reg = 0
	rcx Reg = 1
	rdx Reg = 2
	rbx Reg = 3
	rsp Reg = 4
	rsi Reg = 6
	rdi Reg = 7
	r11 Reg = 11
)

// decodeAMD64 appends the instructions of code, whose address is
// pc. After bytes that it can't decode, execution does not
// continue.
func decodeAMD64(dst []Instr, code []byte, pc uint64) []Instr {
	for off := 0; off < len(code); {
		at := pc + uint64(off)
		in, err := x86asm.Decode(code[off:], 64)
		if err != nil || in.Len == 0 {
			bad := newInstr(at, at+1)
			bad.Op = OpTrap
			dst = append(dst, bad)
			off++
			continue
		}
		off += in.Len
		x := newInstr(at, pc+uint64(off))
		translateAMD64(&x, &in)
		dst = append(dst, x)
	}
	return dst
}

// general returns the number of a general register of any width.
// The second-lowest byte counts as its register.
func general(r x86asm.Reg) Reg {
	switch {
	case r >= x86asm.RAX && r <= x86asm.R15:
		return Reg(r - x86asm.RAX)
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return Reg(r - x86asm.EAX)
	case r >= x86asm.AX && r <= x86asm.R15W:
		return Reg(r - x86asm.AX)
	case r >= x86asm.AL && r <= x86asm.BL:
		return Reg(r - x86asm.AL)
	case r >= x86asm.AH && r <= x86asm.BH:
		return Reg(r - x86asm.AH)
	case r >= x86asm.SPB && r <= x86asm.R15B:
		return Reg(r-x86asm.SPB) + rsp
	}
	return NoReg
}

func isWide(a x86asm.Arg) bool {
	r, ok := a.(x86asm.Reg)
	return ok && r >= x86asm.RAX && r <= x86asm.R15
}

// memory returns an operand for an address. One that depends on
// a segment is not known.
func memory(x *Instr, m x86asm.Mem) Operand {
	o := Operand{Base: NoReg, Index: NoReg, InMemory: true, Offset: m.Disp}
	switch {
	case m.Segment == x86asm.FS || m.Segment == x86asm.GS:
		return Operand{Base: NoReg, Index: NoReg, InMemory: true}
	case m.Base == x86asm.RIP:
		o.Offset += int64(x.Next)
		return o
	case m.Base != 0:
		o.Base = general(m.Base)
	}
	if m.Index != 0 && m.Scale != 0 {
		o.Index, o.Scale = general(m.Index), m.Scale
	}
	return o
}

// translateAMD64 sets what an instruction does.
func translateAMD64(x *Instr, in *x86asm.Inst) {
	switch in.Op {
	case x86asm.CALL:
		x.Op = OpCall
		flowAMD64(x, in)
	case x86asm.JMP:
		x.Op = OpJump
		flowAMD64(x, in)
		if x.Indirect {
			x.Op = OpJumpTo
		}
	case x86asm.RET:
		x.Op = OpReturn
	case x86asm.UD1, x86asm.UD2, x86asm.INT, x86asm.HLT:
		x.Op = OpTrap
	case x86asm.PUSH:
		x.Update, x.Pre = rsp, -8
		x.Op, x.Size, x.Operand = OpStore, 8, Operand{Base: rsp, Index: NoReg, InMemory: true}
		if isWide(in.Args[0]) {
			x.Src = general(in.Args[0].(x86asm.Reg))
		}
	case x86asm.POP:
		x.Update, x.Post = rsp, 8
		x.Op, x.Size, x.Operand = OpLoad, 8, Operand{Base: rsp, Index: NoReg, InMemory: true}
		x.Dst = registerOf(in.Args[0])
	case x86asm.PUSHFQ:
		x.Update, x.Pre = rsp, -8
	case x86asm.POPFQ:
		x.Update, x.Post = rsp, 8
	case x86asm.LEA:
		if m, ok := in.Args[1].(x86asm.Mem); ok {
			x.Op, x.Dst, x.Operand = OpMove, registerOf(in.Args[0]), memory(x, m)
			x.Operand.InMemory = false
		}
	case x86asm.MOV:
		moveAMD64(x, in)
	case x86asm.ADD, x86asm.SUB, x86asm.INC, x86asm.DEC:
		if !addAMD64(x, in) {
			otherAMD64(x, in)
		}
	case x86asm.XOR:
		if otherAMD64(x, in); x.Kills != 0 && in.Args[0] == in.Args[1] { // zero
			x.Op, x.Dst, x.Operand, x.Kills = OpMove, registerOf(in.Args[0]), constant(0), 0
		}
	case x86asm.CMPXCHG, x86asm.XADD:
		atomicAMD64(x, in)
	case x86asm.MOVZX:
		if otherAMD64(x, in); in.MemBytes == 1 {
			x.Op, x.Dst, x.Size, x.Operand, x.Kills = OpLoad, registerOf(in.Args[0]), 1,
				memory(x, in.Args[1].(x86asm.Mem)), 0
		}
	case x86asm.CMP, x86asm.TEST:
		testAMD64(x, in)
	case x86asm.BT, x86asm.NOP, x86asm.UCOMISD, x86asm.UCOMISS, x86asm.PREFETCHT0,
		x86asm.PREFETCHNTA:
		// They set flags only.
	default:
		if isBranch(in.Op) {
			x.Op = OpBranch
			flowAMD64(x, in)
			switch in.Op {
			case x86asm.JE:
				x.Cond = CondZero
			case x86asm.JNE:
				x.Cond = CondNotZero
			}
			return
		}
		otherAMD64(x, in)
	}
}

// isBranch reports whether an operation is a conditional jump.
func isBranch(o x86asm.Op) bool {
	switch o {
	case x86asm.JA, x86asm.JAE, x86asm.JB, x86asm.JBE, x86asm.JCXZ, x86asm.JE, x86asm.JECXZ,
		x86asm.JG, x86asm.JGE,
		x86asm.JL, x86asm.JLE, x86asm.JNE, x86asm.JNO, x86asm.JNP, x86asm.JNS, x86asm.JO, x86asm.JP,
		x86asm.JRCXZ,
		x86asm.JS, x86asm.LOOP, x86asm.LOOPE, x86asm.LOOPNE:
		return true
	}
	return false
}

func registerOf(a x86asm.Arg) Reg {
	if r, ok := a.(x86asm.Reg); ok {
		return general(r)
	}
	return NoReg
}

// flowAMD64 sets the target of a jump or call.
func flowAMD64(x *Instr, in *x86asm.Inst) {
	switch a := in.Args[0].(type) {
	case x86asm.Rel:
		x.Target = x.Next + uint64(int64(a))
	case x86asm.Reg:
		x.Indirect, x.Operand.Base = true, general(a)
	case x86asm.Mem:
		x.Indirect, x.Operand = true, memory(x, a)
	default:
		x.Indirect = true
	}
}

func moveAMD64(x *Instr, in *x86asm.Inst) {
	switch dst := in.Args[0].(type) {
	case x86asm.Reg:
		x.Dst = general(dst)
		switch src := in.Args[1].(type) {
		case x86asm.Imm:
			x.Op, x.Operand = OpMove, constant(int64(src))
		case x86asm.Reg:
			if isWide(src) && isWide(dst) {
				x.Op, x.Operand = OpMove, Operand{Base: general(src), Index: NoReg}
			}
		case x86asm.Mem:
			x.Op, x.Size, x.Operand = OpLoad, uint8(in.MemBytes), memory(x, src)
		}
		if x.Op == OpOther && x.Dst != NoReg {
			x.Kills = Mask(x.Dst)
		}
	case x86asm.Mem:
		x.Op, x.Size, x.Operand = OpStore, uint8(in.MemBytes), memory(x, dst)
		switch src := in.Args[1].(type) {
		case x86asm.Reg:
			if isWide(src) || isLowByte(src) {
				x.Src = general(src)
			}
		case x86asm.Imm:
			if x.Size == 1 {
				x.Src, x.Constant = ConstantSrc, uint8(src)
			}
		}
	}
}

// isLowByte reports whether a register is the lowest byte of a
// general one.
func isLowByte(r x86asm.Reg) bool {
	return r >= x86asm.AL && r <= x86asm.BL || r >= x86asm.SPB && r <= x86asm.R15B
}

// testAMD64 handles tests of a byte. Other comparisons only set flags.
func testAMD64(x *Instr, in *x86asm.Inst) {
	switch a := in.Args[0].(type) {
	case x86asm.Reg:
		if in.Op == x86asm.TEST && in.Args[1] == in.Args[0] && isLowByte(a) {
			x.Op, x.Mask, x.Operand = OpTest, 0xff, Operand{Base: general(a), Index: NoReg}
		}
	case x86asm.Mem:
		if in.Op == x86asm.CMP && in.MemBytes == 1 && in.Args[1] == x86asm.Imm(0) {
			x.Op, x.Mask, x.Operand = OpTest, 0xff, memory(x, a)
		}
	}
}

// addAMD64 handles additions of constants to whole registers.
func addAMD64(x *Instr, in *x86asm.Inst) bool {
	if !isWide(in.Args[0]) {
		return false
	}
	var c int64
	switch in.Op {
	case x86asm.INC:
		c = 1
	case x86asm.DEC:
		c = -1
	default:
		imm, ok := in.Args[1].(x86asm.Imm)
		if src, isReg := in.Args[1].(x86asm.Reg); isReg && in.Op == x86asm.ADD && isWide(src) {
			r := general(in.Args[0].(x86asm.Reg))
			x.Op, x.Dst, x.Operand = OpMove, r, Operand{Base: r, Index: general(src), Scale: 1}
			return true
		}
		if !ok {
			return false
		}
		c = int64(imm)
		if in.Op == x86asm.SUB {
			c = -c
		}
	}
	r := general(in.Args[0].(x86asm.Reg))
	x.Op, x.Dst, x.Operand = OpMove, r, Operand{Base: r, Index: NoReg, Offset: c}
	return true
}

func atomicAMD64(x *Instr, in *x86asm.Inst) {
	m, ok := in.Args[0].(x86asm.Mem)
	if !ok {
		otherAMD64(x, in)
		return
	}
	x.Operand = memory(x, m)
	x.Op = OpSwap
	x.Kills = Mask(rax) // CMPXCHG leaves the old value in AX
	if in.Op == x86asm.XADD {
		x.Op, x.Kills = OpAdd, 0
		if r := registerOf(in.Args[1]); r != NoReg {
			x.Kills = Mask(r)
		}
	}
}

// otherAMD64 sets the registers that any other instruction changes: its first
// operand, or implied ones.
func otherAMD64(x *Instr, in *x86asm.Inst) {
	switch in.Op {
	case x86asm.DIV, x86asm.IDIV, x86asm.MUL, x86asm.IMUL, x86asm.CQO, x86asm.CDQ, x86asm.CWD,
		x86asm.RDTSC, x86asm.RDTSCP,
		x86asm.CPUID, x86asm.XGETBV, x86asm.SYSCALL, x86asm.CDQE, x86asm.CWDE, x86asm.CMPXCHG8B,
		x86asm.CMPXCHG16B:
		x.Kills = Mask(rax, rcx, rdx, rbx, r11)
	case x86asm.STOSB, x86asm.STOSD, x86asm.STOSQ, x86asm.STOSW, x86asm.MOVSB, x86asm.MOVSW,
		x86asm.MOVSQ, x86asm.LODSB,
		x86asm.LODSD, x86asm.LODSQ, x86asm.LODSW, x86asm.SCASB, x86asm.SCASD, x86asm.SCASQ,
		x86asm.SCASW, x86asm.CMPSB,
		x86asm.CMPSW, x86asm.CMPSQ:
		x.Kills = Mask(rax, rcx, rsi, rdi)
	case x86asm.XCHG:
		if r := registerOf(in.Args[1]); r != NoReg {
			x.Kills |= Mask(r)
		}
	}
	switch a := in.Args[0].(type) {
	case x86asm.Reg:
		if r := general(a); r != NoReg {
			x.Kills |= Mask(r)
		}
	case x86asm.Mem:
		x.Op, x.Operand, x.Size = OpStore, memory(x, a), uint8(max(in.MemBytes, 8))
	}
}

// scanAMD64 searches for bytes that could be calls, jumps and
// addresses of functions, at every byte. That is much faster
// than decoding.
func scanAMD64(code []byte, pc uint64, offsets [2]int64, yield func(target uint64)) Scanned {
	var found Scanned
	const callOp, jumpOp, leaOp, lockPrefix, loadOp, indirectOp = 0xe8, 0xe9, 0x8d, 0xf0, 0x8b, 0xff
	end := pc + uint64(len(code))
	relative := func(i int) { // with the offset at code[i:]
		if i+4 > len(code) {
			return
		}
		to := pc + uint64(i) + 4 + uint64(int64(int32(binary.LittleEndian.Uint32(code[i:]))))
		if to%entryAlignment == 0 && (to < pc || to >= end) {
			yield(to)
		}
	}
	for i, c := range code {
		switch c {
		case callOp, jumpOp:
			relative(i + 1)
		case leaOp:
			if i+1 < len(code) && code[i+1]&0xc7 == 0x05 {
				relative(i + 2)
			}
		case lockPrefix:
			found.Atomic = found.Atomic || isAtomic(code[i+1:])
		case loadOp:
			// at an offset of a byte, without index
			if i+2 < len(code) && code[i+1]&0xc0 == 0x40 && code[i+1]&7 != 4 {
				found.load(int64(code[i+2]), &offsets)
			}
		case indirectOp:
			// CALL of a register
			found.Indirect = found.Indirect || i+1 < len(code) && code[i+1]&0xf8 == 0xd0
		}
	}
	return found
}

// isAtomic reports whether the bytes after a lock prefix may be
// CMPXCHG or XADD of a register.
func isAtomic(b []byte) bool {
	if len(b) > 0 && b[0]&0xf0 == 0x40 { // REX
		b = b[1:]
	}
	return len(b) > 1 && b[0] == 0x0f && (b[1] == 0xb1 || b[1] == 0xc1)
}

// entryAlignment divides the address of every function.
const entryAlignment = 16
