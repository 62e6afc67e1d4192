//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"

	"github.com/cpprof/cpprof/sampler/internal/memory"
)

// A stackMemory reads a goroutine's stack from the copy, and everything else that pointers lead to from the running
// target: from there, each block once in a sample. The frames of many goroutines lead to the same objects, and to several
// fields of them, and a system call takes as long for a block as for a word. What was read first is closer to the halt.
type stackMemory struct {
	memory.Copy
	t      *target
	sample uint32 // the current one
	blocks [heapBlocks]heapBlock
}

const (
	heapBlocks    = 512
	heapBlockSize = 128 // a page is a multiple of it, so that a block is there as a whole, or not at all
)

// A heapBlock is what a sample has read of the target's memory at an address. Blocks whose addresses differ by a multiple of
// heapBlocks*heapBlockSize take each other's place.
type heapBlock struct {
	addr   uint64
	sample uint32
	there  bool
	data   [heapBlockSize]byte
}

func (m *stackMemory) Stack(addr uint64) (uint64, bool) { return m.Word(addr) }

func (m *stackMemory) Heap(addr uint64) (uint64, bool) {
	at := addr % heapBlockSize
	if at > heapBlockSize-8 {
		w, err := m.t.word(addr)
		return w, err == nil
	}
	b := &m.blocks[addr/heapBlockSize%heapBlocks]
	if b.addr != addr-at || b.sample != m.sample {
		b.addr, b.sample = addr-at, m.sample
		b.there = m.t.Read(b.addr, b.data[:]) == nil
	}
	return binary.LittleEndian.Uint64(b.data[at:]), b.there
}
