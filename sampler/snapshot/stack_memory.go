//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"

	"github.com/cpprof/cpprof/sampler/halt"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// A stackMemory reads a goroutine's stack from the copy, and
// everything else that pointers lead to from the running target:
// from there, each block once in a sample. The frames of many
// goroutines lead to the same objects, and to several fields of
// them, and a system call takes as long for a block as for a
// word. What was read first is closer to the halt.
//
// One system call also reads many blocks in a fraction of the
// time of one for each. So the first one of a sample reads all
// blocks that the previous sample used: a server's goroutines go
// on using the same objects.
type stackMemory struct {
	memory.Copy
	t      *target
	reader *halt.Reader
	sample uint32 // the current one
	blocks [heapBlocks]heapBlock
	used   []uint64 // the addresses of the blocks that this sample has used
	before []uint64 // the previous sample's; none if they have been read
	ranges []memory.Range
}

const (
	heapBlocks = 512
	// a page is a multiple of it, so that a block is there as a
	// whole, or not at all
	heapBlockSize = 128
)

// A heapBlock is what a sample has read of the target's memory
// at an address. Blocks whose addresses differ by a multiple of
// heapBlocks*heapBlockSize take each other's place.
type heapBlock struct {
	addr   uint64
	sample uint32
	used   uint32 // the last sample that used it
	there  bool
	data   [heapBlockSize]byte
}

// begin forgets what was read in the previous sample.
func (m *stackMemory) begin(sample uint32) {
	m.sample = sample
	m.used, m.before = m.before[:0], m.used
}

func (m *stackMemory) Stack(addr uint64) (uint64, bool) { return m.Word(addr) }

func (m *stackMemory) Heap(addr uint64) (uint64, bool) {
	at := addr % heapBlockSize
	if at > heapBlockSize-8 {
		w, err := m.t.word(addr)
		return w, err == nil
	}
	b := m.block(addr)
	if !m.has(b, addr-at) {
		m.readBefore()
	}
	if !m.has(b, addr-at) {
		b.addr, b.sample, b.used = addr-at, m.sample, 0
		b.there = m.t.Read(b.addr, b.data[:]) == nil
	}
	if b.used != m.sample {
		b.used = m.sample
		m.used = append(m.used, b.addr)
	}
	return binary.LittleEndian.Uint64(b.data[at:]), b.there
}

// block returns the place of the block that has an address.
func (m *stackMemory) block(addr uint64) *heapBlock { return &m.blocks[addr/heapBlockSize%heapBlocks] }

// has reports whether a place has the block at an address, read
// in this sample.
func (m *stackMemory) has(b *heapBlock, addr uint64) bool {
	return b.addr == addr && b.sample == m.sample
}

// readBefore reads the blocks that the previous sample used,
// once in a sample. If two of them have one place, the first is
// read.
func (m *stackMemory) readBefore() {
	m.ranges = m.ranges[:0]
	for _, addr := range m.before {
		if b := m.block(addr); b.sample != m.sample {
			b.addr, b.sample, b.used = addr, m.sample, 0
			m.ranges = append(m.ranges, memory.Range{Addr: addr, Buf: b.data[:]})
		}
	}
	m.before = m.before[:0]
	m.reader.ReadRanges(m.ranges)
	for _, r := range m.ranges {
		m.block(r.Addr).there = len(r.Buf) == heapBlockSize
	}
}
