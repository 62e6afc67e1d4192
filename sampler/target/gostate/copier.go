// Package gostate reads what the runtime of a Go program knows
// of its goroutines, from memory of the program: of a process, a
// core dump, or a debugger.
package gostate

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/cpprof/cpprof/sampler/target/memory"
)

// A Reader reads memory of a target. It shortens ranges that it
// can't read completely, and returns their number.
type Reader interface {
	ReadRanges(rs []memory.Range) (failed int)
}

// Words returns memory as words. Memory of an arena begins at a
// multiple of 8.
func Words(b []byte) []uint64 {
	if len(b) < 8 {
		return nil
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)
}

// A Copier reads a target into an arena.
type Copier struct {
	Reader
	Arena *memory.Arena
}

// Get reads n bytes; nil if it can't read all of them.
func (c Copier) Get(addr uint64, n int) []byte {
	rs := [1]memory.Range{{Addr: addr, Buf: c.Arena.Get(n)}}
	if addr == 0 || c.ReadRanges(rs[:]) > 0 {
		return nil
	}
	return rs[0].Buf
}

// Word reads a word; 0 if it can't.
func (c Copier) Word(addr uint64) uint64 { return memory.Word(c.Get(addr, 8), 0) }

// Slice reads the elements of a slice of words at an address: at
// most a given number.
func (c Copier) Slice(addr uint64, most int) (ws []uint64, ok bool) {
	h := c.Get(addr, 16)
	n := memory.Word(h, 8)
	if h == nil || n > uint64(most) {
		return nil, false
	}
	if n == 0 {
		return nil, true
	}
	b := c.Get(memory.Word(h, 0), 8*int(n))
	return Words(b), b != nil
}

const (
	nearGap  = 1024     // structs that are so near are read together
	nearSize = 64 << 10 // up to this size
)

// Structs reads structs of one size: nil for those that can't be
// read. A system call takes a microsecond for each range, so
// neighbours are read together.
func (c Copier) Structs(addrs []uint64, size int) [][]byte {
	order := make([]int32, len(addrs))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(addrs[a], addrs[b]) })
	var rs []memory.Range
	var firsts []int // of the structs of each range, in order
	for i := 0; i < len(order); {
		first, j := addrs[order[i]], i+1
		for j < len(order) && addrs[order[j]]-addrs[order[j-1]] < uint64(size)+nearGap &&
			addrs[order[j]]-first < nearSize {
			j++
		}
		rs = append(rs, memory.Range{Addr: first,
			Buf: c.Arena.Get(int(addrs[order[j-1]]-first) + size)})
		firsts = append(firsts, i)
		i = j
	}
	c.ReadRanges(rs)
	out := make([][]byte, len(addrs))
	for k, r := range rs {
		end := len(order)
		if k+1 < len(rs) {
			end = firsts[k+1]
		}
		for _, i := range order[firsts[k]:end] {
			if off := int(addrs[i] - r.Addr); off+size <= len(r.Buf) {
				out[i] = r.Buf[off : off+size : off+size]
			}
		}
	}
	return out
}
