//go:build linux && (amd64 || arm64)

package snapshot

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/sampler/halt"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// maxGoroutines is the largest number of goroutines that is accepted, since
// the target's memory is not trusted.
const maxGoroutines = 10_000_000

// A table has a slot for each g, and reads all g with few system
// calls. A g takes some 400 bytes, and the runtime allocates
// many of them next to each other. A span is a piece of memory
// that is read at once; it may contain hundreds. Example: for
// the g at 0x1000, 0x1200 and 0x9000, in the slots 0, 2 and 1,
//
//	slots    0x1000   0x9000   0x1200
//	spans    0x1000 … 0x1400   0x9000 … 0x9200
//	entries  slot 0 at 0, slot 2 at 0x200; slot 1 at 0
//	first    0, 2, 3
type table struct {
	o     offsets
	slots []slot           // in the order of runtime.allgs
	index map[uint64]int32 // index of the slot by address of its g
	spans []span           // together they contain all g
	// index of the first entry of each span, and the number of
	// all entries at the end
	first   []int32
	entries []entry
	// number of slots when all spans were last laid out; slots
	// that were added since may have more spans
	covers int
	most   int // maximum number of g in the table; 0: no limit

	batch  []byte // buffer into which some spans at a time are read
	ranges []memory.Range
	chosen [][]entry    // the entries of the spans in ranges
	kept   memory.Arena // copies of the g that this sample needs
}

// A span is a piece of the target's memory, of at most batchSize bytes.
type span struct {
	addr uint64
	size int
}

// batchSize is how much is read at once: as much as fits in a
// CPU core's own cache along with other data. All batches are
// read into the same buffer, so that reading one does not evict
// other data of the sampler or the target from the cache.
const batchSize = 128 << 10

// copiesKept is how much memory for copies of g is kept from one
// sample to the next.
const copiesKept = 8 << 20

// read reads the spans from an index on, except those whose
// entries skip accepts, if it is not nil. It calls scan for the g of each span,
// with their entries. The copies are valid only until scan
// returns.
func (t *table) read(ctx context.Context, from int, r *halt.Reader,
	skip func([]entry) bool, scan func(g []byte, entries []entry)) error {
	for from < len(t.spans) {
		if err := ctx.Err(); err != nil {
			return err
		}
		t.ranges, t.chosen = t.ranges[:0], t.chosen[:0]
		for size := 0; from < len(t.spans); from++ {
			s, entries := t.spans[from], t.entries[t.first[from]:t.first[from+1]]
			if size+s.size > batchSize {
				break
			}
			if skip != nil && skip(entries) {
				continue
			}
			t.ranges = append(t.ranges, memory.Range{Addr: s.addr, Buf: t.batch[size:][:s.size]})
			t.chosen = append(t.chosen, entries)
			size += s.size
		}
		if failed := r.ReadRanges(t.ranges); failed > 0 {
			return fmt.Errorf("reading the goroutines: %d of %d ranges can't be read", failed,
				len(t.ranges))
		}
		for k, g := range t.ranges {
			scan(g.Buf, t.chosen[k])
		}
	}
	return nil
}

// dropCopies drops the copies of the previous sample.
func (t *table) dropCopies() {
	t.kept.Reset()
	t.kept.Trim(copiesKept)
}

// keepCopy puts a copy of its g into a slot; the copy is valid
// for the whole sample.
func (t *table) keepCopy(s *slot, raw []byte) {
	s.raw = t.kept.Get(len(raw))
	copy(s.raw, raw)
}

// unrest makes the next sample inspect a slot even if its g does
// not change.
func (t *table) unrest(s *slot) { t.entries[s.entry].print = 0 }

// list returns the addresses of the g that have no slot yet.
func (t *table) list(p *halt.Process, allgs uint64) ([]uint64, error) {
	for range 3 {
		var h [16]byte
		if err := p.Read(allgs, h[:]); err != nil {
			return nil, fmt.Errorf("reading the list of goroutines: %w", err)
		}
		ptr, n := binary.LittleEndian.Uint64(h[:]), binary.LittleEndian.Uint64(h[8:])
		if n > maxGoroutines {
			return nil, fmt.Errorf("reading the list of goroutines: %d make no sense", n)
		}
		if t.most > 0 {
			n = min(n, uint64(t.most))
		}
		if int(n) <= len(t.slots) {
			return nil, nil
		}
		b := make([]byte, 8*(int(n)-len(t.slots)))
		if err := p.Read(ptr+8*uint64(len(t.slots)), b); err != nil {
			continue // the array was moved meanwhile
		}
		addrs := make([]uint64, 0, len(b)/8)
		for ; len(b) > 0; b = b[8:] {
			a := binary.LittleEndian.Uint64(b)
			if a == 0 { // the length was read before the element was written
				break
			}
			addrs = append(addrs, a)
		}
		return addrs, nil
	}
	return nil, fmt.Errorf("reading the list of goroutines: it keeps moving")
}

// add creates slots. If there are many new ones, it lays out all
// spans again, so that these stay few and large.
func (t *table) add(addrs []uint64) {
	first := t.addSlots(addrs)
	if len(t.slots)-t.covers > t.covers/8 {
		t.spans, t.first, t.entries, t.covers = t.spans[:0], t.first[:0], t.entries[:0],
			len(t.slots)
		first = 0
	}
	t.layOut(first)
}

// addPart creates slots for a large part of all goroutines. The
// runtime has allocated most of these next to one another, so
// the part has few and large spans of its own.
func (t *table) addPart(addrs []uint64) {
	first := t.addSlots(addrs)
	t.covers = len(t.slots)
	t.layOut(first)
}

// addSlots creates slots that are in no span yet, and returns the first.
func (t *table) addSlots(addrs []uint64) (first int) {
	first = len(t.slots)
	t.slots = slices.Grow(t.slots, len(addrs))
	if first == 0 {
		t.index = make(map[uint64]int32, len(addrs))
	}
	for _, a := range addrs {
		t.index[a] = int32(len(t.slots))
		t.slots = append(t.slots, slot{addr: a})
	}
	return first
}

// maxGap is the largest gap between two g of one span: reading a
// few extra bytes is faster than reading two ranges.
const maxGap = 2048

// layOut assigns the slots from an index on to spans.
func (t *table) layOut(first int) {
	order := make([]int32, 0, len(t.slots)-first)
	for i := first; i < len(t.slots); i++ {
		order = append(order, int32(i))
	}
	slices.SortFunc(order,
		func(a, b int32) int { return cmp.Compare(t.slots[a].addr, t.slots[b].addr) })
	size := uint64(t.o.size)
	if len(t.first) == 0 {
		t.first = append(t.first, 0)
	}
	if t.batch == nil {
		t.batch = make([]byte, batchSize)
	}
	for i := 0; i < len(order); {
		begin := t.slots[order[i]].addr
		j := i + 1
		for j < len(order) && t.slots[order[j]].addr-t.slots[order[j-1]].addr < maxGap &&
			t.slots[order[j]].addr+size-begin <= batchSize {
			j++
		}
		t.spans = append(t.spans, span{begin, int(t.slots[order[j-1]].addr + size - begin)})
		for ; i < j; i++ {
			s := &t.slots[order[i]]
			s.entry = int32(len(t.entries))
			t.entries = append(t.entries, entry{slot: order[i], at: uint32(s.addr - begin)})
		}
		t.first = append(t.first, int32(len(t.entries)))
	}
}

// at returns the slot of the g at an address, or nil.
func (t *table) at(addr uint64) *slot {
	if i, ok := t.index[addr]; ok {
		return &t.slots[i]
	}
	return nil
}
