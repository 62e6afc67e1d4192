// Package machinecode decodes the machine code of amd64 and
// arm64 into operations of one form, as far as following values
// through registers and the stack needs it:
//
//	m := machinecode.ForArch("amd64")
//	code := m.Decode(nil, text, 0x401000)
//	// 48 8b 44 24 08  mov rax, [rsp+8]  Op: OpLoad, Dst: 0, Operand: [4 + 8], Size: 8
//	// 48 83 c0 10     add rax, 16       Op: OpMove, Dst: 0, Operand: 0 + 16
//	// e8 ...          call f            Op: OpCall, Target: f
//
// What an instruction does beside, and everything that other
// instructions do, is in Kills: the registers that hold
// something unknown from there on.
package machinecode
