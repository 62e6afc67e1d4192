package sampledata

import (
	"encoding/binary"
	"errors"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// A reading is a Value of a monitor that is known, without pointers: there may be many millions of them. The bits of a word
// are its index into Series.Words; those of what was not measured are 0.
type reading struct {
	measured bool
	bits     uint64
}

// step returns the difference between the bits of two readings, as a number that is small if little has changed.
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

// A column holds the points of a series: the samples at which its value changed, and the readings then. A point is a varint
// of twice the number of samples that it skips, plus 1 if nothing was measured, and otherwise a second varint, the step from
// the reading before (its bits are 0 if nothing was measured). For example, a counter that is 7 in samples 0 and 1, 10 in
// sample 2, and not measured in sample 3, is
//
//	0 14    sample 0, +7 in zigzag encoding
//	2 6     sample 2: sample 1 was skipped; +3
//	1       sample 3; nothing was measured
//
// So a point takes a few bytes: a million samples of 60 monitors fit into memory.
type column struct {
	data   []byte
	points int
	end    int32 // the sample after the last point
}

// add adds a point at a sample, which is not before c.end.
func (c *column) add(f form, sample int32, before, now reading) {
	if cap(c.data)-len(c.data) < 2*binary.MaxVarintLen64 {
		c.data = slices.Grow(c.data, len(c.data)+2*binary.MaxVarintLen64) // doubled: columns grow all at the same time, and slowly
	}
	n, room := len(c.data), c.data[:cap(c.data)]
	head := 2 * uint64(sample-c.end)
	if now.measured {
		n += binary.PutUvarint(room[n:], head)
		n += binary.PutUvarint(room[n:], f.step(before.bits, now.bits))
	} else {
		n += binary.PutUvarint(room[n:], head+1)
	}
	c.data = room[:n]
	c.points++
	c.end = sample + 1
}

var errColumn = errors.New("its column is damaged")

// uvarint is binary.Uvarint, but faster for numbers below 128, which are the most frequent.
func uvarint(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return binary.Uvarint(b)
}

// A cursor goes over the points of a column.
type cursor struct {
	form form
	rest []byte
	next uint64 // the sample after the point

	// The point that the cursor is at.
	sample  int32
	reading reading
}

func (c *column) cursor(f form) cursor { return cursor{form: f, rest: c.data} }

// advance goes to the next point. It returns false if there is none, and an error if it can't be read.
func (c *cursor) advance() (bool, error) {
	if len(c.rest) == 0 {
		return false, nil
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
