// Package memory represents memory that a sampler copied from another
// process. It reads nothing itself.
package memory

import "encoding/binary"

// A Range is a piece of a process's memory, and the buffer for its copy.
type Range struct {
	Addr uint64
	Buf  []byte
}

// A Copy is the copied memory of one goroutine and its thread: a
// few pieces that don't overlap.
type Copy []Range

// Segment returns the piece that contains an address, and the
// piece's own address; no bytes if the address was not copied.
func (c Copy) Segment(addr uint64) (base uint64, data []byte) {
	for _, r := range c {
		if addr >= r.Addr && addr-r.Addr < uint64(len(r.Buf)) {
			return r.Addr, r.Buf
		}
	}
	return 0, nil
}

// Word returns the word at an address, and reports whether all
// of it was copied.
func (c Copy) Word(addr uint64) (uint64, bool) {
	base, b := c.Segment(addr)
	if off := addr - base; uint64(len(b)) >= 8 && off <= uint64(len(b))-8 {
		return binary.LittleEndian.Uint64(b[off:]), true
	}
	return 0, false
}

// Word returns the 64-bit number at an offset; 0 beyond the end
// or if the field is absent.
func Word[O ~int | ~int32](b []byte, off O) uint64 {
	if off < 0 || int(off)+8 > len(b) {
		return 0
	}
	return binary.LittleEndian.Uint64(b[off:])
}

// Half returns the 32-bit number at an offset.
func Half[O ~int | ~int32](b []byte, off O) uint32 {
	if off < 0 || int(off)+4 > len(b) {
		return 0
	}
	return binary.LittleEndian.Uint32(b[off:])
}
