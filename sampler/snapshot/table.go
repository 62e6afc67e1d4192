//go:build linux && (amd64 || arm64)

package snapshot

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/internal/blame"
	"github.com/cpprof/cpprof/sampler/internal/halt"
	"github.com/cpprof/cpprof/sampler/internal/memory"
)

// A slot is a g of the target. The runtime never gives one up: a g whose goroutine ended serves a later one.
type slot struct {
	addr uint64
	raw  []byte // the g, as it was last found in this sample; of a slot that this sample has to look at

	head  head // with which the stack below was read
	stack stack

	id    sampledata.GoroutineID // the instance, where told
	told  bool                   // the sink knows the goroutine head.goid
	state sampledata.State       // what the sink knows of it
	tid   int                    // of the thread that carries it through a system call; 0 where not known
	busy  bool                   // that thread used a CPU when last looked at
	view  view
	holds bool // that thread has a processor all the same (up to Go 1.25)

	labels   sampledata.LabelSetID
	labelsAt uint64 // where they were read
	halted   uint32 // number of the sample in whose halt the goroutine was last looked at
	stood    uint32 // number of the sample after whose halt it was last found where it had been before
	change   int32  // index of its change in Backend.changes, if it has one

	seen  uint32 // number of the sample in which the slot was put on the list of those to resolve
	place int32  // of the g in the table's places
}

// A place is where the copy of a g lies, and whether there is any need to look at its slot: most goroutines are parked
// as they were at the sample before, and their slots would not stay in the processor's cache.
type place struct {
	print uint64 // of the g when it was found at rest; 0: look at the slot
	slot  int32
	at    uint32 // in the copy of its span
	known bool   // what rests is a goroutine whose stack is known, else a g without one
	// answered is what the finder knows of its stack.
	answered blame.Interest
}

// A stack is an unwound stack in the sink's codes.
type stack struct {
	node sampledata.NodeID
	torn bool
}

// A view is what the part of a sample that doesn't halt found of a g.
type view uint8

const (
	absent  view = iota // no goroutine
	known               // its stack is that of head
	moving              // to be looked at in the halt
	running             // in the halt: on a processor; head is of the halt
	queued              // in the halt: in a run queue; head and stack are of the halt, or confirmed in it
	looked              // in the halt: neither; head and stack are of the halt
)

// maxGoroutines bounds what is believed of a target's memory.
const maxGoroutines = 10_000_000

// A table holds a slot for each g.
type table struct {
	o      offsets
	slots  []slot
	index  map[uint64]int32 // by address
	spans  []span           // that cover all g, sorted by address
	first  []int32          // of the places of each span; one more than there are spans
	places []place
	covers int // slots that spans cover in few pieces; the rest was added since
	most   int // of the g that it holds; 0: all

	batch  []byte // into which spans are read, some at a time
	ranges []memory.Range
	kept   memory.Arena // copies of the g that this sample has to look at
}

// A span is a piece of the target's memory, of at most batchSize bytes.
type span struct {
	addr uint64
	size int
}

// batchSize is how much is read at once: what fits into a processor's own cache beside other things. All batches go to the
// same place, so that reading one doesn't drive out what the sampler, or the target, has there.
const batchSize = 128 << 10

// copiesKept is how much room for copies of g is left from one sample to the next.
const copiesKept = 8 << 20

// grow gives slots to the g that are new.
func (t *table) grow(p *halt.Process, allgs uint64) error {
	addrs, err := t.list(p, allgs)
	if len(addrs) > 0 {
		t.add(addrs)
	}
	return err
}

// read reads all g, and calls look for the g of each span, with their places. They stay there only until look returns.
func (t *table) read(r *halt.Reader, look func(g []byte, places []place)) error {
	t.kept.Reset()
	t.kept.Trim(copiesKept)
	for from := 0; from < len(t.spans); {
		t.ranges = t.ranges[:0]
		for size := 0; from+len(t.ranges) < len(t.spans); {
			s := t.spans[from+len(t.ranges)]
			if size+s.size > batchSize {
				break
			}
			t.ranges = append(t.ranges, memory.Range{Addr: s.addr, Buf: t.batch[size:][:s.size]})
			size += s.size
		}
		if failed := r.ReadRanges(t.ranges); failed > 0 {
			return fmt.Errorf("reading the goroutines: %d of %d ranges can't be read", failed, len(t.ranges))
		}
		for _, g := range t.ranges {
			look(g.Buf, t.places[t.first[from]:t.first[from+1]])
			from++
		}
	}
	return nil
}

// keep gives a slot a copy of its g that lasts as long as the sample.
func (t *table) keep(s *slot, raw []byte) {
	s.raw = t.kept.Get(len(raw))
	copy(s.raw, raw)
}

// wake makes the next sample look at a slot, whether or not its g changes until then.
func (t *table) wake(s *slot) { t.places[s.place].print = 0 }

// list gives the addresses of the g that have no slot yet.
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
			if a == 0 { // the length was seen before the element
				break
			}
			addrs = append(addrs, a)
		}
		return addrs, nil
	}
	return nil, fmt.Errorf("reading the list of goroutines: it keeps moving")
}

// add makes slots. All are laid out anew where many came, so that the spans stay few and large.
func (t *table) add(addrs []uint64) {
	first := len(t.slots)
	t.slots = slices.Grow(t.slots, len(addrs))
	if first == 0 {
		t.index = make(map[uint64]int32, len(addrs))
	}
	for _, a := range addrs {
		t.index[a] = int32(len(t.slots))
		t.slots = append(t.slots, slot{addr: a})
	}
	if len(t.slots)-t.covers > t.covers/8 {
		t.spans, t.first, t.places, t.covers = t.spans[:0], t.first[:0], t.places[:0], len(t.slots)
		first = 0
	}
	t.layOut(first)
}

// maxGap is between two g of one span: reading a little too much is faster than two ranges.
const maxGap = 2048

// layOut gives the slots from one on their places in spans.
func (t *table) layOut(first int) {
	order := make([]int32, 0, len(t.slots)-first)
	for i := first; i < len(t.slots); i++ {
		order = append(order, int32(i))
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(t.slots[a].addr, t.slots[b].addr) })
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
			s.place = int32(len(t.places))
			t.places = append(t.places, place{slot: order[i], at: uint32(s.addr - begin)})
		}
		t.first = append(t.first, int32(len(t.places)))
	}
}

// at gives the slot of the g at an address, nil where there is none.
func (t *table) at(addr uint64) *slot {
	if i, ok := t.index[addr]; ok {
		return &t.slots[i]
	}
	return nil
}
