package delve

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/sampler/target/gostate"
	copied "github.com/cpprof/cpprof/sampler/target/memory"
)

// A memory is the copy of a target's memory that was made during
// one halt. Reads of Delve outside the copy return the target's
// memory at the time of the read. That is right only for memory
// that never changes, such as code and type information.
type memory struct {
	halter halter
	groups [][]copied.Range // each is what one call of ReadRanges has read, by address
	arena  copied.Arena
	slot   [8]byte // the memory at the address slot
}

// reset drops the copy.
func (m *memory) reset() {
	m.groups = m.groups[:0]
	m.arena.Reset()
}

// copier adds to the copy what it reads.
func (m *memory) copier() gostate.Copier { return gostate.Copier{Reader: m, Arena: &m.arena} }

// ReadRanges implements gostate.Reader. It adds the ranges to the copy.
func (m *memory) ReadRanges(rs []copied.Range) (failed int) {
	failed = m.halter.ReadRanges(rs)
	group := slices.Clone(rs)
	slices.SortFunc(group, func(a, b copied.Range) int { return cmp.Compare(a.Addr, b.Addr) })
	m.groups = append(m.groups, group)
	return failed
}

// add adds a piece of memory to a list of those to be read. Its
// copy is in the arena.
func (m *memory) add(rs []copied.Range, addr uint64, size int) []copied.Range {
	return append(rs, copied.Range{Addr: addr, Buf: m.arena.Get(size)})
}

// get returns the copied bytes of a piece of memory; nil if it
// was not copied.
func (m *memory) get(addr uint64, size int) []byte {
	if addr == 0 {
		return nil
	}
	for g := len(m.groups) - 1; g >= 0; g-- {
		group := m.groups[g]
		i, found := slices.BinarySearchFunc(group, addr,
			func(s copied.Range, a uint64) int { return cmp.Compare(s.Addr, a) })
		if !found {
			i-- // the range that begins before
		}
		if i < 0 {
			continue
		}
		if off := addr - group[i].Addr; off+uint64(size) <= uint64(len(group[i].Buf)) {
			return group[i].Buf[off : off+uint64(size)]
		}
	}
	return nil
}

// setSlot stores the pointer that Delve will read at the address slot.
func (m *memory) setSlot(pointer uint64) { binary.LittleEndian.PutUint64(m.slot[:], pointer) }

// ReadMemory implements proc.MemoryReadWriter.
func (m *memory) ReadMemory(buf []byte, addr uint64) (int, error) {
	if len(buf) == 0 {
		return 0, nil
	}
	if addr == slot && len(buf) == len(m.slot) {
		return copy(buf, m.slot[:]), nil
	}
	if b := m.get(addr, len(buf)); b != nil {
		return copy(buf, b), nil
	}
	s := []copied.Range{{Addr: addr, Buf: buf}}
	if m.halter.ReadRanges(s) > 0 {
		return len(s[0].Buf), fmt.Errorf("reading %d bytes at %#x: not there", len(buf), addr)
	}
	return len(buf), nil
}

// read copies memory as ReadMemory does, all of it.
func (m *memory) read(addr uint64, b []byte) error {
	_, err := m.ReadMemory(b, addr)
	return err
}

// WriteMemory implements proc.MemoryReadWriter.
func (m *memory) WriteMemory(uint64, []byte) (int, error) { return 0, errNotHere }

// word returns the 64-bit number at an offset; 0 if it is not there.
func word[O ~int | ~int32](b []byte, off O) uint64 { return copied.Word(b, off) }

// half returns the 32-bit number at an offset.
func half[O ~int | ~int32](b []byte, off O) uint32 { return copied.Half(b, off) }
