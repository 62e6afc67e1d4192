package machinecode

import (
	"encoding/binary"
	"strings"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"
)

// What is decoded of arm64 by its bits agrees with the decoder
// of golang.org/x/arch, over all of a program's code.
func TestDecodeARM64(t *testing.T) {
	counts := map[Op]int{}
	for _, f := range functions(t, "arm64") {
		code := f.code
		for k, x := range decodeARM64(nil, code, f.addr) {
			in, err := arm64asm.Decode(code[4*k:])
			if err != nil {
				continue // of later processors, or data
			}
			counts[x.Op]++
			if want, ok := wantedARM64(&in); ok && x.Op != want {
				t.Fatalf("%#x in %s: %v (%#08x) is taken for op %d, want %d", x.PC, f.name, in, in.Enc, x.Op, want)
			}
			checkOperandsARM64(t, &x, &in, binary.LittleEndian.Uint32(code[4*k:]))
		}
	}
	for _, o := range []Op{OpMove, OpLoad, OpStore, OpCall, OpJump, OpBranch, OpReturn, OpSwap, OpAdd} {
		if counts[o] < 10 {
			t.Errorf("op %d was met %d times", o, counts[o])
		}
	}
}

// wantedARM64 returns what an instruction does, if its name shows that.
func wantedARM64(in *arm64asm.Inst) (Op, bool) {
	switch in.Op {
	case arm64asm.BL, arm64asm.BLR:
		return OpCall, true
	case arm64asm.B:
		if _, conditional := in.Args[0].(arm64asm.Cond); conditional {
			return OpBranch, true
		}
		return OpJump, true
	case arm64asm.BR:
		return OpJumpTo, true
	case arm64asm.CBZ, arm64asm.CBNZ, arm64asm.TBZ, arm64asm.TBNZ:
		return OpBranch, true
	case arm64asm.RET:
		return OpReturn, true
	case arm64asm.LDAXR, arm64asm.LDXR, arm64asm.LDAXRB:
		return OpSwap, true
	case arm64asm.STLXR, arm64asm.STXR, arm64asm.STLXRB:
		return OpAdd, true
	case arm64asm.STR, arm64asm.STRB, arm64asm.STRH, arm64asm.STUR, arm64asm.STP, arm64asm.STLR:
		return OpStore, true
	case arm64asm.BRK, arm64asm.HLT:
		return OpTrap, true
	case arm64asm.ADRP, arm64asm.ADR:
		return OpMove, true
	}
	return 0, false
}

// checkOperandsARM64 compares where jumps go, and which
// registers loads, moves and everything else set.
func checkOperandsARM64(t *testing.T, x *Instr, in *arm64asm.Inst, w uint32) {
	t.Helper()
	for _, a := range in.Args {
		if rel, ok := a.(arm64asm.PCRel); ok && (x.Op == OpCall || x.Op == OpJump || x.Op == OpBranch) && x.Target != x.PC+uint64(rel) {
			t.Fatalf("%#x: %v goes to %#x, want %#x", x.PC, in, x.Target, x.PC+uint64(rel))
		}
	}
	first, isReg := in.Args[0].(arm64asm.Reg)
	if r, ok := in.Args[0].(arm64asm.RegSP); ok {
		first, isReg = arm64asm.Reg(r), true
	}
	if !isReg || first < arm64asm.W0 || first > arm64asm.SP || first == arm64asm.XZR || first == arm64asm.WZR {
		return
	}
	n := Reg(first - arm64asm.W0)
	if first >= arm64asm.X0 {
		n = Reg(first - arm64asm.X0)
	}
	if imm, ok := in.Args[1].(arm64asm.Imm64); ok && in.Op == arm64asm.MOV && x.Op == OpMove && x.Operand.Offset != int64(imm.Imm) {
		t.Fatalf("%#x: %v (%#08x) is taken for the constant %#x", x.PC, in, w, x.Operand.Offset)
	}
	name := in.Op.String()
	for _, reads := range []string{"ST", "CB", "TB", "B", "CMP", "CMN", "TST", "CCM", "MSR", "PRF", "RET", "SYS", "DC", "IC"} {
		if strings.HasPrefix(name, reads) && name != "BFI" && name != "BFXIL" && name != "BIC" && name != "BFM" && name != "BICS" {
			return
		}
	}
	if x.Dst != n && x.Kills>>n&1 == 0 && n != spARM64 {
		t.Fatalf("%#x: %v (%#08x) sets register %d, which is not noticed: %+v", x.PC, in, w, n, *x)
	}
}
