//go:build linux && (amd64 || arm64)

package snapshot

import (
	"github.com/cpprof/cpprof/sampler/internal/halt"
	"github.com/cpprof/cpprof/sampler/internal/memory"
)

// A batch is memory that is read at once.
type batch struct {
	ranges []memory.Range
	to     []*[]byte // what is to be cut to the part of each range that could be read; or nil
}

// add asks for a piece of memory. It goes to the slice at to, which is cut if not all can be read, and must not be moved
// until then.
func (b *batch) add(addr uint64, to *[]byte) {
	b.ranges, b.to = append(b.ranges, memory.Range{Addr: addr, Buf: *to}), append(b.to, to)
}

// addFixed asks for a piece of memory. What can't be read stays as it was.
func (b *batch) addFixed(addr uint64, to []byte) {
	b.ranges, b.to = append(b.ranges, memory.Range{Addr: addr, Buf: to}), append(b.to, nil)
}

// addAll asks for several ranges.
func (b *batch) addAll(rs []memory.Range) {
	for i := range rs {
		b.add(rs[i].Addr, &rs[i].Buf)
	}
}

// read reads all that was asked for, in that order.
func (b *batch) read(r *halt.Reader) {
	r.ReadRanges(b.ranges)
	for i, to := range b.to {
		if to != nil {
			*to = b.ranges[i].Buf
		}
	}
	b.ranges, b.to = b.ranges[:0], b.to[:0]
}
