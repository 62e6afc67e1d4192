package variable

import (
	"encoding/binary"
	"math"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// A Reader reads the numbers at some places. With one call, it
// reads everything that can be read at that moment: first the
// numbers that don't move and the first pointer of each other
// number, then what these pointers lead to, and so on.
type Reader struct {
	places []*Place
	paths  []path
	ranges []memory.Range
	which  []int // by range: the path that it is of
}

// A path is how far a place's number was followed.
type path struct {
	base  uint64
	hop   int // number of hops done
	done  bool
	value sampledata.Value
	copy  [16]byte
}

// NewReader returns a reader of some places.
func NewReader(places []*Place) *Reader {
	return &Reader{places: places, paths: make([]path, len(places))}
}

// Read appends the current values. A value is not measured if a
// pointer on its way is nil, if its index is out of range, or if
// its memory can't be read. read is called with the memory to
// read; it shortens what can't be read.
func (r *Reader) Read(values []sampledata.Value, read func([]memory.Range) int) []sampledata.Value {
	for i, p := range r.places {
		r.paths[i] = path{base: p.addr}
		if p.fixed && len(p.hops) == 0 {
			r.paths[i].done, r.paths[i].value = true, sampledata.Number(p.value)
		}
	}
	for {
		r.ranges, r.which = r.ranges[:0], r.which[:0]
		for i := range r.paths {
			if q := &r.paths[i]; !q.done {
				addr, size := r.places[i].next(q)
				r.ranges = append(r.ranges, memory.Range{Addr: addr, Buf: q.copy[:size]})
				r.which = append(r.which, i)
			}
		}
		if len(r.ranges) == 0 {
			break
		}
		read(r.ranges)
		for k, i := range r.which {
			_, size := r.places[i].next(&r.paths[i])
			r.places[i].advance(&r.paths[i], len(r.ranges[k].Buf) == size)
		}
	}
	for i := range r.paths {
		values = append(values, r.paths[i].value)
	}
	return values
}

// next returns the memory to read next.
func (p *Place) next(q *path) (addr uint64, size int) {
	if q.hop == len(p.hops) {
		return q.base + uint64(p.offset), p.number.size
	}
	h := &p.hops[q.hop]
	if h.slice {
		return q.base + uint64(h.offset), 16
	}
	return q.base + uint64(h.offset), 8
}

// advance goes on with what was read.
func (p *Place) advance(q *path, read bool) {
	if !read {
		q.done = true
		return
	}
	if q.hop == len(p.hops) {
		q.done, q.value = true, p.decode(q.copy[:])
		return
	}
	h := &p.hops[q.hop]
	q.hop++
	q.base = binary.LittleEndian.Uint64(q.copy[:])
	switch {
	case h.slice && uint64(h.index) >= binary.LittleEndian.Uint64(q.copy[8:]):
		q.done = true
	case q.base == 0:
		q.done = true
		if h.zero {
			q.value = sampledata.Number(0)
		}
	case p.fixed && q.hop == len(p.hops):
		q.done, q.value = true, sampledata.Number(p.value)
	}
	q.base += uint64(h.index * h.size)
}

// decode returns the number that was read. An unsigned one
// beyond the range of signed ones is not measured.
func (p *Place) decode(b []byte) sampledata.Value {
	word, unused := binary.LittleEndian.Uint64(b), 64-8*p.number.size
	switch n := word << unused >> unused; {
	case p.number.truth:
		return sampledata.Number(int64(min(n, 1)))
	case p.number.real && p.number.size == 4:
		return sampledata.Real(float64(math.Float32frombits(uint32(n))))
	case p.number.real:
		return sampledata.Real(math.Float64frombits(n))
	case p.number.signed:
		return sampledata.Number(int64(word<<unused) >> unused)
	case n <= math.MaxInt64:
		return sampledata.Number(int64(n))
	}
	return sampledata.Value{}
}
