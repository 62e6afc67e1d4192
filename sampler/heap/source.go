package heap

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/cpprof/cpprof/sampler/target/memory"
)

// A Reader reads memory of a target. It shortens ranges that it
// can't read completely, and returns their number.
type Reader interface {
	ReadRanges(rs []memory.Range) (failed int)
}

// A Thread is a halted thread.
type Thread struct {
	ID     int
	PC, SP uint64
	Words  []uint64 // its registers, including vector registers
}

// A Source is a target: a process, or a core dump.
type Source interface {
	Reader

	// Halt halts all threads and calls now. The limit bounds the halt.
	//
	// A thread that gets no CPU runs no code, but its registers
	// are not known in the halt. Halt calls later with such a
	// thread when it stops. unknown is the number of threads
	// whose registers have not become known.
	Halt(limit time.Duration, now func(r Reader, threads []Thread) error, later func(r Reader,
		t Thread)) (
		took time.Duration, unknown int, err error)

	// Now returns the present time of the runtime's clock; 0 if
	// it is not known.
	Now() time.Duration
}

// ErrLong reports that a halt was ended since it would have been too long.
var ErrLong = errors.New("the halt was ended before all was read")

// A locked source holds a lock while it halts.
type locked struct {
	Source
	halting sync.Locker
}

// Halt implements Source.
func (s *locked) Halt(limit time.Duration, now func(r Reader, threads []Thread) error,
	later func(r Reader, t Thread)) (
	took time.Duration, unknown int, err error) {
	s.halting.Lock()
	defer s.halting.Unlock()
	return s.Source.Halt(limit, now, later)
}

// wordsOf returns memory as words. Memory of an arena begins at
// a multiple of 8.
func wordsOf(b []byte) []uint64 {
	if len(b) < 8 {
		return nil
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)
}

// A copier reads a target into an arena.
type copier struct {
	r     Reader
	arena *memory.Arena
}

// get reads n bytes; nil if it can't read all of them.
func (c copier) get(addr uint64, n int) []byte {
	rs := [1]memory.Range{{Addr: addr, Buf: c.arena.Get(n)}}
	if addr == 0 || c.r.ReadRanges(rs[:]) > 0 {
		return nil
	}
	return rs[0].Buf
}

// word reads a word; 0 if it can't.
func (c copier) word(addr uint64) uint64 { return memory.Word(c.get(addr, 8), 0) }

// slice reads the elements of a slice of words at an address: at
// most a given number.
func (c copier) slice(addr uint64, most int) (ws []uint64, ok bool) {
	h := c.get(addr, 16)
	n := memory.Word(h, 8)
	if h == nil || n > uint64(most) {
		return nil, false
	}
	if n == 0 {
		return nil, true
	}
	b := c.get(memory.Word(h, 0), 8*int(n))
	return wordsOf(b), b != nil
}

const (
	nearGap  = 1024     // structs that are so near are read together
	nearSize = 64 << 10 // up to this size
)

// structs reads structs of one size: nil for those that can't be
// read. A system call takes a microsecond for each range, so
// neighbours are read together.
func (c copier) structs(addrs []uint64, size int) [][]byte {
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
			Buf: c.arena.Get(int(addrs[order[j-1]]-first) + size)})
		firsts = append(firsts, i)
		i = j
	}
	c.r.ReadRanges(rs)
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
