package globals

import (
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"
)

// references returns the addresses that code refers to, in the
// order in which they first appear. pc is the address of the
// code; keep selects the addresses.
func references(arch string, code []byte, pc uint64, keep func(uint64) bool) []uint64 {
	var order []uint64
	seen := map[uint64]bool{}
	yield := func(addr uint64) {
		if !seen[addr] && keep(addr) {
			seen[addr] = true
			order = append(order, addr)
		}
	}
	if arch == "arm64" {
		referencesARM64(code, pc, yield)
	} else {
		referencesAMD64(code, pc, yield)
	}
	return order
}

// referencesAMD64 yields operands relative to the instruction
// pointer, absolute ones, and addresses as constants, which
// occur in programs at fixed addresses.
func referencesAMD64(code []byte, pc uint64, yield func(uint64)) {
	for off := 0; off < len(code); {
		in, err := x86asm.Decode(code[off:], 64)
		if err != nil {
			off++
			continue
		}
		off += in.Len
		for _, a := range in.Args {
			switch a := a.(type) {
			case x86asm.Mem:
				if a.Base == x86asm.RIP {
					yield(pc + uint64(off) + uint64(a.Disp))
				} else if a.Base == 0 && a.Disp > 0 {
					yield(uint64(a.Disp))
				}
			case x86asm.Imm:
				if in.Op == x86asm.MOV && a > 0 {
					yield(uint64(a))
				}
			}
		}
	}
}

// referencesARM64 yields addresses that a pair of instructions
// computes: one sets a register to a page (ADRP), the other adds
// to it (ADD) or uses it with an offset (loads and stores).
func referencesARM64(code []byte, pc uint64, yield func(uint64)) {
	const none = ^uint64(0)
	var page [32]uint64
	for i := range page {
		page[i] = none
	}
	for off := 0; off+4 <= len(code); off += 4 {
		in := binary.LittleEndian.Uint32(code[off:])
		rd, rn, imm := in&31, in>>5&31, uint64(in>>10&0xfff)
		switch {
		case in&0x9f000000 == 0x90000000: // ADRP
			pages := int64(int32(in<<8)>>13)<<2 | int64(in>>29&3)
			page[rd] = (pc+uint64(off))&^0xfff + uint64(pages<<12)
		case in&0xffc00000 == 0x91000000: // ADD (immediate)
			if page[rn] != none {
				yield(page[rn] + imm)
			}
			page[rd] = none
		case in&0x3b000000 == 0x39000000: // load or store, unsigned offset
			if page[rn] == none {
				break
			}
			size := in >> 30
			if in&0x04800000 == 0x04800000 { // 128-bit vector register
				size = 4
			}
			yield(page[rn] + imm<<size)
			if in&0x04c00000 != 0 && in&0x04000000 == 0 { // a load sets the register
				page[rd] = none
			}
		}
	}
}
