package delve

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// A memory is what was copied of a target during one halt. What lies outside of the copy is read from the target as it
// is now: fit for what never changes, such as code and type information, and for nothing else.
type memory struct {
	halter halter
	groups [][]span // as copied one after the other; each is in order of addresses
	arena  []byte   // the spans' data
	used   int      // of the arena
	asked  int      // in all since the last reset
	shown  [8]byte  // at slot
}

var errReadOnly = errors.New("a profiler does not write into its target")

// reset forgets the copy, and makes room for one a quarter larger. Every page of new room is touched, which is better
// done now than during the halt.
func (m *memory) reset() {
	if m.asked > len(m.arena) {
		m.arena = make([]byte, m.asked+m.asked/4)
		for i := 0; i < len(m.arena); i += 4096 {
			m.arena[i] = 1
		}
	}
	m.groups, m.used, m.asked = m.groups[:0], 0, 0
}

// alloc returns room for n bytes of the copy.
func (m *memory) alloc(n int) []byte {
	m.asked += n
	if m.used+n > len(m.arena) {
		m.arena = make([]byte, max(n, 1<<20)) // spans given before keep the old one
		m.used = 0
	}
	b := m.arena[m.used : m.used+n : m.used+n]
	m.used += n
	return b
}

// A place is a piece of the target's memory to be copied.
type place struct {
	addr uint64
	size int
}

// copy reads the places into the copy. Places that lie close together are read as one.
func (m *memory) copy(places []place) {
	const gap = 1024 // less than a page, so that there is memory wherever there is on both sides
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.addr, b.addr) })
	group := make([]span, 0, len(places))
	for i := 0; i < len(places); {
		start, end := places[i].addr, places[i].addr+uint64(places[i].size)
		for i++; i < len(places) && places[i].addr <= end+gap && places[i].addr-start < 1<<20; i++ {
			end = max(end, places[i].addr+uint64(places[i].size))
		}
		group = append(group, span{addr: start, data: m.alloc(int(end - start))})
	}
	m.halter.read(group)
	m.groups = append(m.groups, group)
}

// one copies a single place, and gives it; nil if it can't be read.
func (m *memory) one(addr uint64, size int) []byte {
	if addr == 0 || size <= 0 {
		return nil
	}
	m.copy([]place{{addr, size}})
	return m.get(addr, size)
}

// get returns what was copied of a place; nil if it wasn't.
func (m *memory) get(addr uint64, size int) []byte {
	if addr == 0 {
		return nil
	}
	for g := len(m.groups) - 1; g >= 0; g-- {
		group := m.groups[g]
		i, found := slices.BinarySearchFunc(group, addr, func(s span, a uint64) int { return cmp.Compare(s.addr, a) })
		if !found {
			i-- // the span that begins before
		}
		if i < 0 {
			continue
		}
		if off := addr - group[i].addr; off+uint64(size) <= uint64(len(group[i].data)) {
			return group[i].data[off : off+uint64(size)]
		}
	}
	return nil
}

// show puts a pointer where Delve looks for one.
func (m *memory) show(pointer uint64) { binary.LittleEndian.PutUint64(m.shown[:], pointer) }

// ReadMemory implements Delve's memory.
func (m *memory) ReadMemory(buf []byte, addr uint64) (int, error) {
	if len(buf) == 0 {
		return 0, nil
	}
	if addr == slot && len(buf) == len(m.shown) {
		return copy(buf, m.shown[:]), nil
	}
	if b := m.get(addr, len(buf)); b != nil {
		return copy(buf, b), nil
	}
	s := []span{{addr: addr, data: buf}}
	m.halter.read(s)
	if len(s[0].data) < len(buf) {
		return len(s[0].data), fmt.Errorf("reading %d bytes at %#x: not there", len(buf), addr)
	}
	return len(buf), nil
}

// WriteMemory implements Delve's memory.
func (m *memory) WriteMemory(uint64, []byte) (int, error) { return 0, errReadOnly }

// word reads the pointer-sized number at an offset; 0 beyond the end or where the field is absent.
func word(b []byte, off int) uint64 {
	if off < 0 || off+8 > len(b) {
		return 0
	}
	return binary.LittleEndian.Uint64(b[off:])
}

// half reads the 32-bit number at an offset.
func half(b []byte, off int) uint32 {
	if off < 0 || off+4 > len(b) {
		return 0
	}
	return binary.LittleEndian.Uint32(b[off:])
}
