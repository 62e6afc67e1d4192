package syncflow

import (
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"
)

// decodeAMD64 appends the instructions of code, which stands at pc. What can't be decoded never goes on.
func decodeAMD64(dst []instr, code []byte, pc uint64) []instr {
	for off := 0; off < len(code); {
		at := pc + uint64(off)
		in, err := x86asm.Decode(code[off:], 64)
		if err != nil || in.Len == 0 {
			bad := newInstr(at, at+1)
			bad.op = opTrap
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

// general gives the number of a general register of whatever width. A byte above the lowest counts as its register.
func general(r x86asm.Reg) reg {
	switch {
	case r >= x86asm.RAX && r <= x86asm.R15:
		return reg(r - x86asm.RAX)
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return reg(r - x86asm.EAX)
	case r >= x86asm.AX && r <= x86asm.R15W:
		return reg(r - x86asm.AX)
	case r >= x86asm.AL && r <= x86asm.BL:
		return reg(r - x86asm.AL)
	case r >= x86asm.AH && r <= x86asm.BH:
		return reg(r - x86asm.AH)
	case r >= x86asm.SPB && r <= x86asm.R15B:
		return reg(r-x86asm.SPB) + 4
	}
	return noReg
}

func isWide(a x86asm.Arg) bool {
	r, ok := a.(x86asm.Reg)
	return ok && r >= x86asm.RAX && r <= x86asm.R15
}

// memory makes an operand of an address. One that depends on a segment is not known.
func memory(x *instr, m x86asm.Mem) operand {
	o := operand{base: noReg, index: noReg, inMemory: true, off: m.Disp}
	switch {
	case m.Segment == x86asm.FS || m.Segment == x86asm.GS:
		return operand{base: noReg, index: noReg, inMemory: true}
	case m.Base == x86asm.RIP:
		o.off += int64(x.next)
		return o
	case m.Base != 0:
		o.base = general(m.Base)
	}
	if m.Index != 0 && m.Scale != 0 {
		o.index, o.scale = general(m.Index), m.Scale
	}
	return o
}

// translateAMD64 fills in what an instruction does.
func translateAMD64(x *instr, in *x86asm.Inst) {
	switch in.Op {
	case x86asm.CALL:
		x.op = opCall
		flowAMD64(x, in)
	case x86asm.JMP:
		x.op = opJump
		flowAMD64(x, in)
		if x.indirect {
			x.op = opJumpTo
		}
	case x86asm.RET:
		x.op = opReturn
	case x86asm.UD1, x86asm.UD2, x86asm.INT, x86asm.HLT:
		x.op = opTrap
	case x86asm.PUSH:
		x.update, x.pre = 4, -8
		x.op, x.size, x.a = opStore, 8, operand{base: 4, index: noReg, inMemory: true}
		if isWide(in.Args[0]) {
			x.src = general(in.Args[0].(x86asm.Reg))
		}
	case x86asm.POP:
		x.update, x.post = 4, 8
		x.op, x.size, x.a = opLoad, 8, operand{base: 4, index: noReg, inMemory: true}
		x.dst = registerOf(in.Args[0])
	case x86asm.PUSHFQ:
		x.update, x.pre = 4, -8
	case x86asm.POPFQ:
		x.update, x.post = 4, 8
	case x86asm.LEA:
		if m, ok := in.Args[1].(x86asm.Mem); ok {
			x.op, x.dst, x.a = opMove, registerOf(in.Args[0]), memory(x, m)
			x.a.inMemory = false
		}
	case x86asm.MOV:
		moveAMD64(x, in)
	case x86asm.ADD, x86asm.SUB, x86asm.INC, x86asm.DEC:
		if !addAMD64(x, in) {
			otherAMD64(x, in)
		}
	case x86asm.XOR:
		if otherAMD64(x, in); x.kills != 0 && in.Args[0] == in.Args[1] { // zero
			x.op, x.dst, x.a, x.kills = opMove, registerOf(in.Args[0]), constant(0), 0
		}
	case x86asm.CMPXCHG, x86asm.XADD:
		atomicAMD64(x, in)
	case x86asm.CMP, x86asm.TEST, x86asm.BT, x86asm.NOP, x86asm.UCOMISD, x86asm.UCOMISS, x86asm.PREFETCHT0, x86asm.PREFETCHNTA:
		// They set flags only.
	default:
		if isBranch(in.Op) {
			x.op = opBranch
			flowAMD64(x, in)
			return
		}
		otherAMD64(x, in)
	}
}

// isBranch tells whether an operation is a conditional jump.
func isBranch(o x86asm.Op) bool {
	switch o {
	case x86asm.JA, x86asm.JAE, x86asm.JB, x86asm.JBE, x86asm.JCXZ, x86asm.JE, x86asm.JECXZ, x86asm.JG, x86asm.JGE,
		x86asm.JL, x86asm.JLE, x86asm.JNE, x86asm.JNO, x86asm.JNP, x86asm.JNS, x86asm.JO, x86asm.JP, x86asm.JRCXZ,
		x86asm.JS, x86asm.LOOP, x86asm.LOOPE, x86asm.LOOPNE:
		return true
	}
	return false
}

func registerOf(a x86asm.Arg) reg {
	if r, ok := a.(x86asm.Reg); ok {
		return general(r)
	}
	return noReg
}

// flowAMD64 says where a jump or call goes.
func flowAMD64(x *instr, in *x86asm.Inst) {
	switch a := in.Args[0].(type) {
	case x86asm.Rel:
		x.target = x.next + uint64(int64(a))
	case x86asm.Reg:
		x.indirect, x.a.base = true, general(a)
	case x86asm.Mem:
		x.indirect, x.a = true, memory(x, a)
	default:
		x.indirect = true
	}
}

func moveAMD64(x *instr, in *x86asm.Inst) {
	switch dst := in.Args[0].(type) {
	case x86asm.Reg:
		x.dst = general(dst)
		switch src := in.Args[1].(type) {
		case x86asm.Imm:
			x.op, x.a = opMove, constant(int64(src))
		case x86asm.Reg:
			if isWide(src) && isWide(dst) {
				x.op, x.a = opMove, operand{base: general(src), index: noReg}
			}
		case x86asm.Mem:
			x.op, x.size, x.a = opLoad, uint8(in.MemBytes), memory(x, src)
		}
		if x.op == opOther && x.dst != noReg {
			x.kills = mask(x.dst)
		}
	case x86asm.Mem:
		x.op, x.size, x.a = opStore, uint8(in.MemBytes), memory(x, dst)
		if isWide(in.Args[1]) {
			x.src = general(in.Args[1].(x86asm.Reg))
		}
	}
}

// addAMD64 takes additions of constants to whole registers.
func addAMD64(x *instr, in *x86asm.Inst) bool {
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
			x.op, x.dst, x.a = opMove, r, operand{base: r, index: general(src), scale: 1}
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
	x.op, x.dst, x.a = opMove, r, operand{base: r, index: noReg, off: c}
	return true
}

func atomicAMD64(x *instr, in *x86asm.Inst) {
	m, ok := in.Args[0].(x86asm.Mem)
	if !ok {
		otherAMD64(x, in)
		return
	}
	x.a = memory(x, m)
	x.op = opSwap
	x.kills = mask(0) // CMPXCHG gives the old value in AX
	if in.Op == x86asm.XADD {
		x.op, x.kills = opAdd, 0
		if r := registerOf(in.Args[1]); r != noReg {
			x.kills = mask(r)
		}
	}
}

// otherAMD64 says what any other instruction sets: its first operand, or the registers that it implies.
func otherAMD64(x *instr, in *x86asm.Inst) {
	switch in.Op {
	case x86asm.DIV, x86asm.IDIV, x86asm.MUL, x86asm.IMUL, x86asm.CQO, x86asm.CDQ, x86asm.CWD, x86asm.RDTSC, x86asm.RDTSCP,
		x86asm.CPUID, x86asm.XGETBV, x86asm.SYSCALL, x86asm.CDQE, x86asm.CWDE, x86asm.CMPXCHG8B, x86asm.CMPXCHG16B:
		x.kills = mask(0, 1, 2, 3, 11)
	case x86asm.STOSB, x86asm.STOSD, x86asm.STOSQ, x86asm.STOSW, x86asm.MOVSB, x86asm.MOVSW, x86asm.MOVSQ, x86asm.LODSB,
		x86asm.LODSD, x86asm.LODSQ, x86asm.LODSW, x86asm.SCASB, x86asm.SCASD, x86asm.SCASQ, x86asm.SCASW, x86asm.CMPSB,
		x86asm.CMPSW, x86asm.CMPSQ:
		x.kills = mask(0, 1, 6, 7)
	case x86asm.XCHG:
		if r := registerOf(in.Args[1]); r != noReg {
			x.kills |= mask(r)
		}
	}
	switch a := in.Args[0].(type) {
	case x86asm.Reg:
		if r := general(a); r != noReg {
			x.kills |= mask(r)
		}
	case x86asm.Mem:
		x.op, x.a, x.size = opStore, memory(x, a), uint8(max(in.MemBytes, 8))
	}
}

// scanAMD64 looks for what could be calls, jumps and addresses of functions, at every byte: that is much faster than
// decoding.
func scanAMD64(code []byte, pc uint64, yield func(target uint64)) scanned {
	var found scanned
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
			found.atomic = found.atomic || isAtomic(code[i+1:])
		case loadOp:
			if i+2 < len(code) && code[i+1]&0xc0 == 0x40 && code[i+1]&7 != 4 { // at an offset of a byte, without index
				found.method(int64(code[i+2]))
			}
		case indirectOp:
			found.indirect = found.indirect || i+1 < len(code) && code[i+1]&0xf8 == 0xd0 // CALL of a register
		}
	}
	return found
}

// isAtomic tells whether what follows a lock prefix may be CMPXCHG or XADD of a register.
func isAtomic(b []byte) bool {
	if len(b) > 0 && b[0]&0xf0 == 0x40 { // REX
		b = b[1:]
	}
	return len(b) > 1 && b[0] == 0x0f && (b[1] == 0xb1 || b[1] == 0xc1)
}

// entryAlignment is a divisor of where functions begin.
const entryAlignment = 16
