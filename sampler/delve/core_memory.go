package delve

import (
	"encoding/binary"

	copied "github.com/cpprof/cpprof/sampler/target/memory"
)

// coreMemory are the stacks of a goroutine and its thread in a
// core dump. Each is read when it is needed.
type coreMemory struct {
	l      *coreLocks
	bounds [][2]uint64
	pieces copied.Copy
}

// addStack adds the stack of a g, given its copy.
func (m *coreMemory) addStack(g []byte) {
	at := &m.l.a.capture.l.G
	if lo, hi := word(g, at.StackLo), word(g, at.StackHi); lo < hi {
		m.bounds = append(m.bounds, [2]uint64{lo, hi})
	}
}

// Segment returns the part of a stack from an address on, at
// most as much as of running programs.
func (m *coreMemory) Segment(addr uint64) (base uint64, data []byte) {
	if base, data = m.pieces.Segment(addr); data != nil {
		return base, data
	}
	for _, b := range m.bounds {
		if addr < b[0] || addr >= b[1] {
			continue
		}
		data = make([]byte, min(b[1]-addr, maxStack))
		if m.l.a.capture.mem.read(addr, data) != nil {
			return 0, nil
		}
		m.pieces = append(m.pieces, copied.Range{Addr: addr, Buf: data})
		return addr, data
	}
	return 0, nil
}

// Stack returns a word of the stacks.
func (m *coreMemory) Stack(addr uint64) (uint64, bool) {
	m.Segment(addr) // reads it
	return m.pieces.Word(addr)
}

// Heap returns any other word.
func (m *coreMemory) Heap(addr uint64) (uint64, bool) {
	var b [8]byte
	err := m.l.a.capture.mem.read(addr, b[:])
	return binary.LittleEndian.Uint64(b[:]), err == nil
}
