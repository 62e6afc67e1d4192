package delve

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	copied "github.com/cpprof/cpprof/sampler/target/memory"
)

// A memory is the copy of a target's memory that was made during
// one halt. Reads outside the copy return the target's memory at
// the time of the read. That is right only for memory that never
// changes, such as code and type information.
type memory struct {
	halter halter
	groups [][]copied.Range // each group is the result of one call of copy, in order of addresses
	arena  copied.Arena
	slot   [8]byte // the memory at the address slot
}

// reset drops the copy.
func (m *memory) reset() {
	m.groups = m.groups[:0]
	m.arena.Reset()
}

// A region is a piece of the target's memory to be copied.
type region struct {
	addr uint64
	size int
}

// copy adds the regions to the copy. It reads regions that lie
// close together as one.
func (m *memory) copy(regions []region) {
	const gap = 1024 // less than a page, so that all memory between two readable ends is readable
	slices.SortFunc(regions, func(a, b region) int { return cmp.Compare(a.addr, b.addr) })
	group := make([]copied.Range, 0, len(regions))
	for i := 0; i < len(regions); {
		start, end := regions[i].addr, regions[i].addr+uint64(regions[i].size)
		for i++; i < len(regions) && regions[i].addr <= end+gap &&
			regions[i].addr-start < 1<<20; i++ {
			end = max(end, regions[i].addr+uint64(regions[i].size))
		}
		group = append(group, copied.Range{Addr: start, Buf: m.arena.Get(int(end - start))})
	}
	m.halter.read(group)
	m.groups = append(m.groups, group)
}

// copyOne copies a single region and returns its bytes; nil if
// it can't be read.
func (m *memory) copyOne(addr uint64, size int) []byte {
	if addr == 0 || size <= 0 {
		return nil
	}
	m.copy([]region{{addr, size}})
	return m.get(addr, size)
}

// get returns the copied bytes of a region; nil if it was not copied.
func (m *memory) get(addr uint64, size int) []byte {
	if addr == 0 {
		return nil
	}
	for g := len(m.groups) - 1; g >= 0; g-- {
		group := m.groups[g]
		i, found := slices.BinarySearchFunc(group, addr,
			func(s copied.Range, a uint64) int { return cmp.Compare(s.Addr, a) })
		if !found {
			i-- // the span that begins before
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
	m.halter.read(s)
	if len(s[0].Buf) < len(buf) {
		return len(s[0].Buf), fmt.Errorf("reading %d bytes at %#x: not there", len(buf), addr)
	}
	return len(buf), nil
}

// WriteMemory implements proc.MemoryReadWriter.
func (m *memory) WriteMemory(uint64, []byte) (int, error) { return 0, errNotHere }

// word returns the 64-bit number at an offset; 0 if it is not there.
func word[O ~int | ~int32](b []byte, off O) uint64 { return copied.Word(b, off) }

// half returns the 32-bit number at an offset.
func half[O ~int | ~int32](b []byte, off O) uint32 { return copied.Half(b, off) }
