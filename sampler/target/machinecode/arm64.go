package machinecode

import (
	"encoding/binary"
	"math/bits"
)

// decodeARM64 appends the instructions of code, whose address is
// pc. Only a few forms matter. They are recognised by their
// bits, since arm64asm does not export offsets and does not know
// the atomic instructions of later processors. Tests compare
// with it.
func decodeARM64(dst []Instr, code []byte, pc uint64) []Instr {
	for off := 0; off+4 <= len(code); off += 4 {
		x := newInstr(pc+uint64(off), pc+uint64(off)+4)
		translateARM64(&x, binary.LittleEndian.Uint32(code[off:]))
		dst = append(dst, x)
	}
	return dst
}

// signed returns n bits of w, from bit lsb on, as a signed number.
func signed(w uint32, lsb, n uint) int64 { return int64(int32(w<<(32-lsb-n)) >> (32 - n)) }

// spARM64 is the stack pointer, or the constant zero, by the instruction.
const spARM64 Reg = 31

func translateARM64(x *Instr, w uint32) {
	rd, rn := Reg(w&31), Reg(w>>5&31)
	switch {
	case w>>26 == 0b100101: // BL
		x.Op, x.Target = OpCall, x.PC+uint64(signed(w, 0, 26)*4)
	case w>>26 == 0b000101: // B
		x.Op, x.Target = OpJump, x.PC+uint64(signed(w, 0, 26)*4)
	case w>>24 == 0b01010100, w>>25&0x3f == 0b011010: // B.cond, CBZ, CBNZ
		x.Op, x.Target = OpBranch, x.PC+uint64(signed(w, 5, 19)*4)
	case w>>25&0x3f == 0b011011: // TBZ, TBNZ
		x.Op, x.Target = OpBranch, x.PC+uint64(signed(w, 5, 14)*4)
		if w>>31 == 0 && w>>19&31 < 8 && rd != spARM64 {
			x.Cond, x.Mask, x.Operand.Base = CondZero+Condition(w>>24&1), 1<<(w>>19&31), rd
		}
	case w&0xfffffc1f == 0xd63f0000: // BLR
		x.Op, x.Indirect, x.Operand.Base = OpCall, true, rn
	case w&0xfffffc1f == 0xd61f0000: // BR
		x.Op, x.Indirect, x.Operand.Base = OpJumpTo, true, rn
	case w&0xfffffc1f == 0xd65f0000: // RET
		x.Op = OpReturn
	case w>>24 == 0xd4, w>>16 == 0: // exceptions (BRK, SVC, ...), UDF
		x.Op = OpTrap
		if w&0xffe0001f == 0xd4000001 { // SVC
			x.Op, x.Kills = OpOther, Mask(0, 1)
		}
	case w>>25&0xf == 0b1000, w>>25&0xf == 0b1001: // data processing, immediate
		immediateARM64(x, w, rd, rn)
	case w>>25&0x5 == 0b100: // loads and stores
		memoryARM64(x, w, rd, rn)
	case w>>25&0x7 == 0b101: // data processing, registers
		registersARM64(x, w, rd)
	case w>>25&0x7 == 0b111, // floating point and vectors: some set a general register
		w>>20 == 0xd53: // MRS
		killARM64(x, rd)
	}
}

func killARM64(x *Instr, r Reg) {
	if r != spARM64 { // the zero register
		x.Kills |= Mask(r)
	}
}

func immediateARM64(x *Instr, w uint32, rd, rn Reg) {
	switch {
	case w&0x9f000000 == 0x90000000: // ADRP
		pages := signed(w, 5, 19)<<2 | int64(w>>29&3)
		x.Op, x.Dst, x.Operand = OpMove, rd, constant(int64(x.PC&^0xfff)+pages<<12)
	case w&0x9f000000 == 0x10000000: // ADR
		x.Op, x.Dst, x.Operand = OpMove, rd,
			constant(int64(x.PC)+(signed(w, 5, 19)<<2|int64(w>>29&3)))
	case w&0xbf800000 == 0x91000000 && w>>31 == 1,
		w&0xff800000 == 0xd1000000: // ADD, SUB of 64 bits
		c := int64(w >> 10 & 0xfff)
		if w>>22&1 == 1 {
			c <<= 12
		}
		if w>>30&1 == 1 {
			c = -c
		}
		x.Op, x.Dst, x.Operand = OpMove, rd, Operand{Base: rn, Index: NoReg, Offset: c}
	case w&0xff800000 == 0xd2800000: // MOVZ
		x.Op, x.Dst, x.Operand = OpMove, rd, constant(int64(w>>5&0xffff)<<(w>>21&3*16))
	case w&0xff800000 == 0x92800000: // MOVN
		x.Op, x.Dst, x.Operand = OpMove, rd, constant(^(int64(w>>5&0xffff) << (w >> 21 & 3 * 16)))
	case w&0xff800000 == 0xb2000000 && rn == spARM64: // ORR with the zero register
		x.Op, x.Dst, x.Operand = OpMove, rd, constant(bitmaskARM64(w))
	default: // for one, CMP and CMN: flags, where rd is zero
		killARM64(x, rd)
	}
	if x.Op == OpMove && rd == spARM64 && x.Operand.Base == NoReg {
		x.Op = OpOther // to the zero register
	}
}

// bitmaskARM64 returns the constant of a logical instruction of
// 64 bits: a run of ones, turned to the right in an element
// whose size is a power of 2, again and again.
func bitmaskARM64(w uint32) int64 {
	ones, turn := w>>10&63, w>>16&63
	n := bits.Len32(w>>22&1<<6|^ones&63) - 1
	if n < 1 {
		return 0 // not valid
	}
	size := 1 << n
	ones, turn = ones&uint32(size-1), turn&uint32(size-1)
	run := uint64(1)<<(ones+1) - 1
	element := run>>turn | run<<(uint32(size)-turn)
	if size < 64 {
		element &= 1<<size - 1
	}
	for ; size < 64; size *= 2 {
		element |= element << size
	}
	return int64(element)
}

// registersARM64 takes moves between registers and additions of them.
func registersARM64(x *Instr, w uint32, rd Reg) {
	rn, rm := Reg(w>>5&31), Reg(w>>16&31)
	switch {
	case w&0xffe0ffe0 == 0xaa0003e0: // MOV
		if rm == spARM64 {
			x.Op, x.Dst, x.Operand = OpMove, rd, constant(0)
		} else {
			x.Op, x.Dst, x.Operand = OpMove, rd, Operand{Base: rm, Index: NoReg}
		}
	case w&0xffe00000 == 0x8b000000 && rn != spARM64 && rm != spARM64 &&
		w>>10&63 < 8: // ADD, shifted left
		x.Op, x.Dst, x.Operand = OpMove, rd,
			Operand{Base: rn, Index: rm, Scale: 1 << (w >> 10 & 63)}
	case w&0xffe0fc00 == 0x8b206000 && rm != spARM64: // ADD with the stack pointer
		x.Op, x.Dst, x.Operand = OpMove, rd, Operand{Base: rn, Index: rm, Scale: 1}
	default:
		killARM64(x, rd)
	}
	if x.Op == OpMove && rd == spARM64 && w&0xffe0fc00 != 0x8b206000 {
		x.Op = OpOther
	}
}

// memoryARM64 takes loads and stores of general registers. For vectors they
// count as stores of something unknown.
func memoryARM64(x *Instr, w uint32, rt, rn Reg) {
	address := func(off int64) Operand {
		return Operand{Base: rn, Index: NoReg, InMemory: true, Offset: off}
	}
	size := w >> 30
	if w>>26&1 == 1 && w>>23&1 == 1 { // a vector of 128 bits
		size = 4
	}
	switch {
	case w>>27&7 == 0b101 && w>>23&1 == 0 && w>>24&1 == 1,
		w>>27&7 == 0b101 && w>>25&1 == 0: // pairs
		pairARM64(x, w, rt, rn)
	case w&0x3f000000 == 0x08000000: // exclusive and ordered
		exclusiveARM64(x, w, rt, rn)
	case w&0x3b200c00 == 0x38200000: // atomic operations: LDADD and others
		x.Op, x.Operand = OpAdd, address(0)
		killARM64(x, rt)
	case w&0x3b000000 == 0x39000000: // unsigned offset
		simpleARM64(x, w, rt, address(int64(w>>10&0xfff)<<size), 1<<size)
	case w&0x3b200000 == 0x38000000: // signed offset of 9 bits: plain, before, after
		off := updateARM64(x, rn, w>>10&3, signed(w, 12, 9))
		simpleARM64(x, w, rt, address(off), 1<<size)
	case w&0x3b200c00 == 0x38200800: // register offset
		a := address(0)
		if a.Index = Reg(w >> 16 & 31); w>>13&7 != 0b011 || a.Index == spARM64 {
			a.Base = NoReg
			a.Index = NoReg
		}
		if a.Scale = 1; w>>12&1 == 1 {
			a.Scale = 1 << size
		}
		simpleARM64(x, w, rt, a, 1<<size)
	case w&0x3b000000 == 0x18000000: // literal
		simpleARM64(x, w|1<<22, rt,
			Operand{Base: NoReg, Index: NoReg, InMemory: true,
				Offset: int64(x.PC) + signed(w, 5, 19)*4}, 8)
	default: // of vectors, several at once: they move the address
		x.Op, x.Size, x.Operand = OpStore, 64, address(0)
		if rn != spARM64 {
			x.Kills = Mask(rn)
		}
	}
}

// updateARM64 sets how an access changes the register with its
// address: not at all, after it or before it. It returns the
// offset of the access from that register.
func updateARM64(x *Instr, rn Reg, mode uint32, off int64) int64 {
	switch mode {
	case 0b01: // after
		x.Update, x.Post = rn, off
		return 0
	case 0b11: // before
		x.Update, x.Pre = rn, off
		return 0
	}
	return off
}

// simpleARM64 handles one load or store; bits 22 and 23 determine which.
func simpleARM64(x *Instr, w uint32, rt Reg, a Operand, size uint8) {
	if w>>26&1 == 1 { // vectors
		if w>>22&1 == 0 {
			x.Op, x.Operand, x.Size = OpStore, a, size
		}
		return
	}
	if w>>30 == 3 && w>>22&3 == 2 { // PRFM
		return
	}
	if w>>22&3 == 0 {
		x.Op, x.Operand, x.Size = OpStore, a, size
		if rt != spARM64 && (size == 8 || size == 1) {
			x.Src = rt
		} else if size == 1 {
			x.Src = ConstantSrc
		}
		return
	}
	if rt == spARM64 {
		return
	}
	x.Op, x.Operand, x.Size, x.Dst = OpLoad, a, size, rt
	if w>>22&3 != 1 {
		x.Size = 4 // sign extended
	}
}

func pairARM64(x *Instr, w uint32, rt, rn Reg) {
	rt2 := Reg(w >> 10 & 31)
	size := uint8(8)
	switch vector := w>>26&1 == 1; {
	case vector:
		size = 4 << (w >> 30)
	case w>>30 == 0, w>>30 == 1:
		size = 4
	}
	off := updateARM64(x, rn, w>>23&3, signed(w, 15, 7)*int64(size))
	x.Operand = Operand{Base: rn, Index: NoReg, InMemory: true, Offset: off}
	load := w>>22&1 == 1
	switch {
	case w>>26&1 == 1 && load: // into vectors
	case w>>26&1 == 1 || !load && size == 4:
		x.Op, x.Size = OpStore, 2*size
	case load && size == 4:
		killARM64(x, rt)
		killARM64(x, rt2)
	case load:
		x.Op, x.Size, x.Dst, x.Dst2 = OpLoad, 8, rt, rt2
	default:
		x.Op, x.Size, x.Src, x.Src2 = OpStore, 8, rt, rt2
	}
}

// exclusiveARM64 takes the parts of compare and swap: a loop of
// load and store exclusive, or CAS.
func exclusiveARM64(x *Instr, w uint32, rt, rn Reg) {
	a := Operand{Base: rn, Index: NoReg, InMemory: true}
	rs := Reg(w >> 16 & 31)
	load, exclusive := w>>22&1 == 1, w>>23&1 == 0
	switch {
	case w>>21&1 == 1 && !exclusive: // CAS
		x.Op, x.Operand = OpSwap, a
		killARM64(x, rs)
	case !exclusive && load: // LDAR
		simpleARM64(x, w&^(1<<23), rt, a, 1<<(w>>30))
	case !exclusive: // STLR
		x.Op, x.Operand, x.Size = OpStore, a, 8
	case load: // LDXR, LDAXR
		x.Op, x.Operand = OpSwap, a
		killARM64(x, rt)
		if w>>21&1 == 1 {
			killARM64(x, Reg(w>>10&31))
		}
	default: // STXR, STLXR
		x.Op, x.Operand = OpAdd, a
		killARM64(x, rs)
	}
}

// scanARM64 searches for calls, jumps, and addresses of functions, which two
// instructions compute.
func scanARM64(code []byte, pc uint64, offsets [2]int64, yield func(target uint64)) Scanned {
	var found Scanned
	end := pc + uint64(len(code))
	for i := 0; i+4 <= len(code); i += 4 {
		w := binary.LittleEndian.Uint32(code[i:])
		switch {
		case w>>26&0x1f == 0b00101:
			if to := pc + uint64(i) + uint64(signed(w, 0, 26)*4); to < pc || to >= end {
				yield(to)
			}
		case w&0x9f000000 == 0x90000000 && i+8 <= len(code): // ADRP
			if n := binary.LittleEndian.Uint32(code[i+4:]); n&0xffc00000 == 0x91000000 &&
				n>>5&31 == w&31 {
				yield((pc+uint64(i))&^0xfff + uint64((signed(w, 5, 19)<<2|int64(w>>29&3))<<12) +
					uint64(n>>10&0xfff))
			}
		case w&0x3f000000 == 0x08000000, w&0x3b200c00 == 0x38200000:
			found.Atomic = true
		case w&0xffc00000 == 0xf9400000: // LDR
			found.load(int64(w>>10&0xfff)*8, &offsets)
		case w&0xfffffc1f == 0xd63f0000: // BLR
			found.Indirect = true
		}
	}
	return found
}
