package sampledata

import (
	"encoding/binary"
	"errors"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// A reading is a known Value of a monitor, without pointers:
// there may be many millions. A word's bits are its index into
// Series.Words. Bits are 0 for what was not measured.
type reading struct {
	measured bool
	bits     uint64
}

// step returns the difference between the bits of two readings,
// as a number that is small if little has changed.
func (f form) step(before, now uint64) uint64 {
	switch f {
	case word:
		return now
	case real:
		return before ^ now
	}
	return protowire.EncodeZigZag(int64(now - before))
}

// apply is the inverse of step: it returns the bits of the second reading.
func (f form) apply(before, step uint64) uint64 {
	switch f {
	case word:
		return step
	case real:
		return before ^ step
	}
	return before + uint64(protowire.DecodeZigZag(step))
}

// A column holds the points of a series: the samples at which
// its value changed, and the readings then. A point is one or
// two varints. The first is twice the number of samples that the
// point skips, plus 1 if nothing was measured. If something was
// measured, the second is the step from the reading before. The
// bits of a reading are 0 if nothing was measured. For example,
// a counter is 7 in samples 0 and 1, 10 in sample 2, and not
// measured in sample 3:
//
//	0 14    sample 0, +7 in zigzag encoding
//	2 6     sample 2: sample 1 was skipped; +3
//	1       sample 3; nothing was measured
//
// A point takes a few bytes: a million samples of 60 monitors
// fit into memory. The bytes are in chunks, because all columns
// grow at the same time. A point lies within one chunk.
type column struct {
	full   [][]byte // the chunks before data
	data   []byte   // the first used bytes have points, the rest is room for more
	used   int
	points int
	end    int32 // the sample after the last point
}

const (
	columnChunk  = 4 << 10
	longestPoint = 2 * binary.MaxVarintLen64
)

// add adds a point at a sample, which is not before c.end. It
// writes no pointers, unless the column has to grow.
func (c *column) add(sample int32, m *measurement) {
	if len(c.data)-c.used < longestPoint {
		c.grow()
	}
	head := 2 * uint64(sample-c.end)
	switch {
	case !m.measured:
		c.used = putUvarint(c.data, c.used, head+1)
	case m.varint != nil:
		c.used = putUvarint(c.data, c.used, head)
		if cap(m.varint) >= binary.MaxVarintLen64 { // a copy of constant size is faster
			copy(c.data[c.used:], m.varint[:binary.MaxVarintLen64])
		} else {
			copy(c.data[c.used:], m.varint)
		}
		c.used += len(m.varint)
	default:
		c.used = putUvarint(c.data, c.used, head)
		c.used = putUvarint(c.data, c.used, m.step)
	}
	c.points++
	c.end = sample + 1
}

// grow makes room for a point. The first chunk grows step by
// step: many columns are short.
func (c *column) grow() {
	if len(c.data) < columnChunk {
		data := make([]byte, min(max(2*len(c.data), 4*longestPoint), columnChunk))
		copy(data, c.data[:c.used])
		c.data = data
		return
	}
	c.full = append(c.full, c.data[:c.used])
	c.data, c.used = make([]byte, columnChunk), 0
}

// clip returns the column so far. Points that are added to c
// later do not change the result.
func (c *column) clip() column {
	clipped := *c
	clipped.full, clipped.data = slices.Clip(c.full), slices.Clip(c.data[:c.used])
	return clipped
}

// putUvarint writes a varint to b[at:], and returns the index after it.
func putUvarint(b []byte, at int, x uint64) int {
	for x >= 0x80 {
		b[at] = byte(x) | 0x80
		x >>= 7
		at++
	}
	b[at] = byte(x)
	return at + 1
}

var errColumn = errors.New("its column is damaged")

// uvarint is protowire.ConsumeVarint, but faster for numbers below 128, which
// are the most frequent.
func uvarint(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return protowire.ConsumeVarint(b)
}

// A cursor goes over the points of a column.
type cursor struct {
	form form
	rest []byte   // of a chunk
	full [][]byte // the chunks after that
	last []byte   // the chunk after those; nil if it is in rest
	next uint64   // the sample after the point

	// The point that the cursor is at.
	sample  int32
	reading reading
}

func (c *column) cursor(f form) cursor {
	return cursor{form: f, full: c.full, last: c.data[:c.used]}
}

// chunk goes to the next chunk, if there is one.
func (c *cursor) chunk() {
	if len(c.full) > 0 {
		c.rest, c.full = c.full[0], c.full[1:]
	} else {
		c.rest, c.last = c.last, nil
	}
}

// advance goes to the next point. It returns false if there is
// none, and an error if it can't be read.
func (c *cursor) advance() (bool, error) {
	if len(c.rest) == 0 {
		if c.chunk(); len(c.rest) == 0 {
			return false, nil
		}
	}
	head, n := uvarint(c.rest)
	if n <= 0 || head>>1 > maxSamples-c.next {
		return false, errColumn
	}
	c.rest = c.rest[n:]
	sample := c.next + head>>1
	c.next, c.sample = sample+1, int32(sample)
	if head&1 == 1 {
		c.reading = reading{}
		return true, nil
	}
	step, n := uvarint(c.rest)
	if n <= 0 {
		return false, errColumn
	}
	c.rest = c.rest[n:]
	c.reading = reading{true, c.form.apply(c.reading.bits, step)}
	return true, nil
}
