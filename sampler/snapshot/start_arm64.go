//go:build linux

package snapshot

import "encoding/binary"

// callTargets lists where the calls in a function's code go, in the order of the code.
func callTargets(code []byte, pc uint64) []uint64 {
	var to []uint64
	for at := 0; at+4 <= len(code); at += 4 {
		in := binary.LittleEndian.Uint32(code[at:])
		if in>>26 == 0b100101 { // BL
			offset := int64(int32(in<<6)>>6) * 4
			to = append(to, pc+uint64(at)+uint64(offset))
		}
	}
	return to
}
