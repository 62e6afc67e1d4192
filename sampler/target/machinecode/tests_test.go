package machinecode

import "testing"

// Instructions that test a byte, and branches by the result.
func TestByteTests(t *testing.T) {
	for _, c := range []struct {
		arch string
		code []byte
		want Instr
	}{
		{"amd64", []byte{0x84, 0xc0}, Instr{Op: OpTest, Mask: 0xff, Operand: Operand{Base: rax, Index: NoReg}}},                          // TESTB AX, AX
		{"amd64", []byte{0x84, 0xc8}, Instr{Op: OpOther, Operand: Operand{Base: NoReg, Index: NoReg}}},                                   // TESTB CX, AX
		{"amd64", []byte{0x84, 0xe4}, Instr{Op: OpOther, Operand: Operand{Base: NoReg, Index: NoReg}}},                                   // TESTB AH, AH
		{"amd64", []byte{0x80, 0x78, 8, 0}, Instr{Op: OpTest, Mask: 0xff, Operand: Operand{rax, NoReg, 0, true, 8}}},                     // CMPB 8(AX), $0
		{"amd64", []byte{0x80, 0x78, 8, 1}, Instr{Op: OpOther, Operand: Operand{Base: NoReg, Index: NoReg}}},                             // CMPB 8(AX), $1
		{"amd64", []byte{0x74, 2}, Instr{Op: OpBranch, Cond: CondZero, Operand: Operand{Base: NoReg, Index: NoReg}}},                     // JE
		{"amd64", []byte{0x75, 2}, Instr{Op: OpBranch, Cond: CondNotZero, Operand: Operand{Base: NoReg, Index: NoReg}}},                  // JNE
		{"amd64", []byte{0x77, 2}, Instr{Op: OpBranch, Operand: Operand{Base: NoReg, Index: NoReg}}},                                     // JA
		{"arm64", []byte{0x41, 0, 0, 0x36}, Instr{Op: OpBranch, Cond: CondZero, Mask: 1, Operand: Operand{1, NoReg, 0, false, 0}}},       // TBZ $0, R1
		{"arm64", []byte{0x41, 0, 0x10, 0x37}, Instr{Op: OpBranch, Cond: CondNotZero, Mask: 4, Operand: Operand{1, NoReg, 0, false, 0}}}, // TBNZ $2, R1
		{"arm64", []byte{0x41, 0, 0x40, 0x37}, Instr{Op: OpBranch, Operand: Operand{Base: NoReg, Index: NoReg}}},                         // TBNZ $8, R1
	} {
		all := ForArch(c.arch).Decode(nil, c.code, 0x1000)
		if x := all[0]; len(all) != 1 || x.Op != c.want.Op || x.Cond != c.want.Cond || x.Mask != c.want.Mask || x.Operand != c.want.Operand {
			t.Errorf("%s % x: %+v, want %+v", c.arch, c.code, all, c.want)
		}
	}
}

// Stores of a byte, and loads that extend it with zeros.
func TestBytes(t *testing.T) {
	for _, c := range []struct {
		arch string
		code []byte
		op   Op
		reg  Reg // stored, or loaded into
		c    uint8
	}{
		{"amd64", []byte{0x40, 0x88, 0x7c, 0x24, 8}, OpStore, rdi, 0},      // MOVB DI, 8(SP)
		{"amd64", []byte{0x88, 0x64, 0x24, 8}, OpStore, NoReg, 0},          // MOVB AH, 8(SP)
		{"amd64", []byte{0xc6, 0x44, 0x24, 8, 3}, OpStore, ConstantSrc, 3}, // MOVB $3, 8(SP)
		{"amd64", []byte{0x0f, 0xb6, 0x44, 0x24, 8}, OpLoad, rax, 0},       // MOVBLZX 8(SP), AX
		{"arm64", []byte{0xe1, 0x23, 0, 0x39}, OpStore, 1, 0},              // MOVB R1, 8(RSP)
		{"arm64", []byte{0xff, 0x23, 0, 0x39}, OpStore, ConstantSrc, 0},    // MOVB ZR, 8(RSP)
		{"arm64", []byte{0xe1, 0x23, 0x40, 0x39}, OpLoad, 1, 0},            // MOVBU 8(RSP), R1
	} {
		all := ForArch(c.arch).Decode(nil, c.code, 0x1000)
		x := all[0]
		reg := x.Src
		if c.op == OpLoad {
			reg = x.Dst
		}
		if len(all) != 1 || x.Op != c.op || x.Size != 1 || reg != c.reg || x.Constant != c.c || x.Operand.Offset != 8 {
			t.Errorf("%s % x: %+v", c.arch, c.code, all)
		}
	}
}
