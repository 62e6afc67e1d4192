//go:build linux && (amd64 || arm64)

package snapshot

import (
	"github.com/cpprof/cpprof/sampler/halt"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// A batch is a list of memory ranges to be read at once.
type batch struct {
	ranges []memory.Range
	to     []*[]byte // the slice to shorten to what could be read of each range; or nil
}

// add adds a piece of memory. The copy is stored in *to, which
// is shortened if not all can be read. *to must not move before
// read returns.
func (b *batch) add(addr uint64, to *[]byte) {
	b.ranges, b.to = append(b.ranges, memory.Range{Addr: addr, Buf: *to}), append(b.to, to)
}

// addFixed adds a piece of memory. Bytes of to that can't be
// read stay unchanged.
func (b *batch) addFixed(addr uint64, to []byte) {
	b.ranges, b.to = append(b.ranges, memory.Range{Addr: addr, Buf: to}), append(b.to, nil)
}

// addAll adds several ranges.
func (b *batch) addAll(rs []memory.Range) {
	for i := range rs {
		b.add(rs[i].Addr, &rs[i].Buf)
	}
}

// read reads all ranges, in the order in which they were added.
func (b *batch) read(r *halt.Reader) {
	r.ReadRanges(b.ranges)
	for i, to := range b.to {
		if to != nil {
			*to = b.ranges[i].Buf
		}
	}
	b.ranges, b.to = b.ranges[:0], b.to[:0]
}
