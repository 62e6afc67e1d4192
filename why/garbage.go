package why

import (
	"math"
	"regexp"
	"slices"

	"github.com/cpprof/cpprof/internal/lists"
)

// minGarbage is the share of the program's time on processors
// that allocation and the collector have at least to be the
// problem, rather than a part of what the code does.
const minGarbage = 0.25

// A Garbage is how much a program allocates, by the counters of
// its runtime, and where, by the samples. A rate is 0 if it was
// not measured.
type Garbage struct {
	Bytes       float64 `json:"bytes_per_second,omitempty"`
	Objects     float64 `json:"objects_per_second,omitempty"`
	Collections float64 `json:"collections_per_second,omitempty"`
	Live        float64 `json:"live_bytes,omitempty"` // mean of the heap at the collections
	Waiting     float64 `json:"waiting,omitempty"`    // goroutines for the collector, on average
	// functions of the program: shares of the time of those that
	// show where it allocates, see garbageOf
	Sites []Part `json:"sites,omitempty"`
}

// garbage returns the rates of allocation in the span.
func (e *evidence) garbage() *Garbage {
	g := &Garbage{Bytes: e.rate(allocatedBytes, e.to), Collections: e.rate("gc.cycles", e.to)}
	g.Objects, g.Live = e.objectRate(g.Bytes), e.collectedHeap()
	return g
}

// The counters of what is allocated.
const (
	allocatedBytes   = "heap.allocated_bytes"
	allocatedObjects = "heap.allocated_objects"
)

// rate returns by how much a counter grew a second from the begin of
// the span to a sample; 0 if that is not known.
func (e *evidence) rate(counter string, to int32) float64 {
	perNanosecond, _ := e.monitors().MeanRate(counter, int(e.from), int(to))
	return max(0, perNanosecond) * 1e9
}

// objectRate returns how many objects a number of bytes a second is in.
// Objects are counted less often: their size is of the time until they
// were counted last.
func (e *evidence) objectRate(bytes float64) float64 {
	objects, err := e.monitors().Numbers(allocatedObjects)
	if err != nil {
		return 0
	}
	counted := e.to - 1
	for counted > e.from && objects.Column[counted] == objects.Column[counted-1] {
		counted--
	}
	until := e.rate(allocatedBytes, counted+1)
	if until == 0 {
		return 0
	}
	return bytes * e.rate(allocatedObjects, counted+1) / until
}

// collectedHeap returns the mean of the heap at the collections
// in the span, or its last size. A heap that grows has most of
// them while it is small.
func (e *evidence) collectedHeap() (size float64) {
	numbers, err := e.monitors().AllNumbers("heap.live", "gc.cycles")
	if err != nil { // collections were not counted
		_, last := e.ends("heap.live")
		return last
	}
	heap, cycles := numbers[0].Column, numbers[1].Column
	sum, all, before := 0.0, 0.0, math.NaN()
	for i := e.from; i < e.to; i++ {
		if math.IsNaN(heap[i]) || math.IsNaN(cycles[i]) {
			continue
		}
		if size = heap[i]; !math.IsNaN(before) {
			all += cycles[i] - before
			sum += (cycles[i] - before) * heap[i]
		}
		before = cycles[i]
	}
	if all > 0 {
		return sum / all
	}
	return size
}

// A HeapGrowth is what a heap that grows had after collections, in bytes.
type HeapGrowth struct {
	From float64 `json:"from"` // in the first part of the span
	To   float64 `json:"to"`   // in the last one
}

// A heap grows if it has more after the collections in each part of the
// span than in the one before.
const (
	heapParts  = 3
	growsTimes = 1.5      // the last as much as the first at least
	growsBytes = 16 << 20 // and more than it by at least
	growsEach  = 4        // from part to part, it grows by this part of that at least
)

// heapGrowth returns how the heap grows; nil if it is not known to.
func (e *evidence) heapGrowth() *HeapGrowth {
	if e.r.Picked != nil || e.r.Restricted != nil {
		return nil
	}
	numbers, err := e.monitors().AllNumbers("heap.live", "gc.cycles")
	if err != nil {
		return nil
	}
	heap, cycles := numbers[0].Column[e.from:e.to], numbers[1].Column[e.from:e.to]
	var least [heapParts]float64
	for part := range heapParts {
		from, to := part*len(heap)/heapParts, (part+1)*len(heap)/heapParts
		least[part] = leastCollected(heap[from:to], cycles[from:to])
	}
	growth := least[heapParts-1] - least[0]
	for part := 1; part < heapParts; part++ {
		if step := least[part] - least[part-1]; !(step >= growth/growsEach) {
			return nil
		}
	}
	if !(growth >= growsBytes && least[heapParts-1] >= growsTimes*least[0]) {
		return nil
	}
	return &HeapGrowth{least[0], least[heapParts-1]}
}

// leastCollected returns the least of a heap after the first collection
// that samples show; NaN if they show none.
func leastCollected(heap, cycles []float64) float64 {
	for i := 1; i < len(cycles); i++ {
		if cycles[i] > cycles[i-1] {
			return slices.Min(heap[i:])
		}
	}
	return math.NaN()
}

// eagerly is the part of the heap that is allocated from one
// collection to the next, below which they come more often than
// by default: then it is half of the heap at least.
const eagerly = 0.25

// eager reports whether collections come much more often than by default.
func (g *Garbage) eager() bool {
	return g != nil && g.Collections > 0 && g.Live > 0 && g.Bytes/g.Collections < eagerly*g.Live
}

// A heap is collected often since it is small.
const (
	smallHeap = 64 << 20 // bytes at most
	leastHeap = 4 << 20  // that the runtime lets a heap have by default
	often     = 10       // collections a second at least
	collects  = 0.4      // of the cost at least is of the collector
)

// oftenCollected reports whether most of a finding's cost is that a
// small heap is collected again and again.
func oftenCollected(_ *searcher, f *Finding) bool {
	g, collector := f.Garbage, 0.0
	for _, p := range f.Parts {
		if p.Name != allocating {
			collector += p.Share
		}
	}
	return !g.eager() && g.Live <= smallHeap && g.Collections >= often && collector >= collects &&
		g.Bytes <= g.Collections*max(g.Live, leastHeap)*2
}

// inGarbage reports whether goroutines are on a processor, with or
// without a CPU, to allocate or to collect garbage.
func (s *searcher) inGarbage(at *situation) bool {
	return at.state.Doing.Executes() &&
		(s.kinds.on(at.state.Stack, allocKind) || s.kinds.on(at.state.Stack, gcKind))
}

// makesGarbage reports whether goroutines use CPUs for that.
func (s *searcher) makesGarbage(at *situation) bool { return at.usesCPU() && s.inGarbage(at) }

// awaitsCollector reports whether goroutines of the program wait for the
// collector.
func (s *searcher) awaitsCollector(at *situation) bool {
	return s.e.activity(at) == Collecting && !s.e.classes[at.class].runtimes
}

// allocating is the part of the cost that is not the collector's.
const allocating = "allocating"

// allocation returns the hypothesis that the program is slow because it
// allocates.
func (s *searcher) allocation() *candidate {
	kinds, waits, own := make(map[string]float64), 0.0, 0.0
	var makers, waiters []*situation
	for _, at := range s.e.situations {
		c, uses := &s.e.classes[at.class], s.makesGarbage(at)
		collects := s.kinds.on(at.state.Stack, gcKind)
		switch {
		case uses && (c.collector || c.runtimes && collects): // workers, and the sweeper
			kinds["the collector"] += at.weight
		case uses && collects:
			kinds[s.assists(at)] += at.weight
			own += at.weight
		case uses:
			kinds[allocating] += at.weight
			own += at.weight
		}
		switch {
		case s.inGarbage(at) && !c.runtimes:
			makers = append(makers, at)
		case s.awaitsCollector(at):
			waiters = append(waiters, at)
			waits += at.weight
		}
	}
	by, functions := make(sums), make(map[string]float64)
	sites := make(map[int32]*heaviest) // by class
	for _, at := range s.garbageOf(makers, waiters) {
		stack := at.state.Stack
		by[at.class] += at.weight
		lists.Made(sites, at.class, s.e.places.heaviest).add(stack, at.weight)
		functions[s.e.places.at(stack)] += at.weight
	}
	class := by.most()
	if class < 0 {
		return nil
	}
	total := 0.0
	for _, w := range kinds {
		total += w
	}
	f := newFinding(AllocationKind).about(s, class)
	f.Severity = s.e.mean(total + waits)
	f.Where, f.Parts = sites[class].place(), parts(kinds, total)
	f.Garbage = s.e.garbage()
	f.Garbage.Waiting = s.e.mean(waits)
	f.Garbage.Sites = parts(functions, by.total())
	found := &candidate{f: f, asks: s.question(f), bar: s.bar(), least: minMean}
	switch {
	case f.Severity < minGarbage*s.ran:
		found.note = "it is a small part of what the program does"
	case s.e.mean(own+waits) < minGarbage/2*s.ran:
		found.note = "it is mostly the collector, which uses idle processors"
	}
	return found
}

// What goroutines of the program do for the collector.
var (
	assisting = regexp.MustCompile(`^runtime\.gc(Assist|ParkAssist)\w*$`)
	barrier   = regexp.MustCompile(`^runtime\.(gcWriteBarrier\w*|wbBufFlush\w*|wbZero|wbMove|bulkBarrier\w*|typedmemmove)$`)
)

// assists names what a goroutine does for the collector.
func (s *searcher) assists(at *situation) string {
	switch stack := at.state.Stack; {
	case s.e.places.matches(stack, assisting):
		return "assisting the collector"
	case s.e.places.matches(stack, barrier):
		return "write barriers, which tell the collector of changes"
	}
	return "other work for the collector"
}

// fewMakers is the part of the time of those that wait for the
// collector, up to which those that were seen to allocate are few.
const fewMakers = 0.01

// garbageOf returns who shows where a program allocates: whoever does,
// or, if too few were seen, also those that wait for the collector.
// Of these, some may suffer from the garbage of others.
func (s *searcher) garbageOf(makers, waiters []*situation) []*situation {
	makes, _ := weigh(makers, anywhere, anywhere)
	waits, _ := weigh(waiters, anywhere, anywhere)
	if s.hitsOf(makes) >= minNext && makes >= fewMakers*waits {
		return makers
	}
	return slices.Concat(makers, waiters)
}

// countsIn returns the function of a finding whose processor time
// has much of what a finding about allocation has.
func (a *searched) countsIn(f *Finding) string {
	if f.Kind != AllocationKind {
		return ""
	}
	for _, of := range a.Findings {
		if of.Kind != ComputeKind {
			continue
		}
		if all, part := weigh(a.e.situations, a.hits(f), a.hits(of)); part >= foreignUse*all {
			return of.Where.Function
		}
	}
	return ""
}

// copies has the functions of the runtime that make something, and copy
// into it what was there.
var copies = [...]struct{ functions, says, remedy string }{
	{`runtime\.concat(string|byte)s?\d?`,
		"strings are joined with +, and copied each time", "if that is in a loop, use a strings.Builder"},
	{`runtime\.(growslice|makeslicecopy)`,
		"append makes new slices, and copies into them", "use slices again, or make them as large as they get"},
	{`runtime\.(slicebytetostring|stringtoslicebyte)`,
		"bytes are made of strings, or strings of bytes, and copied each time", "keep one of the two"},
	{`runtime\.(hashGrow|(grow[wW]ork|evacuate)\w*)|internal/runtime/maps\.\(\*(Map|table)\)\.(growToTable|grow|rehash|split)`,
		"maps grow, and what they have is moved each time", "make them as large as they get, if that is known"},
}

// copiers matches all of them.
var copiers = named(copies[0].functions + "|" + copies[1].functions + "|" + copies[2].functions + "|" + copies[3].functions)

// copiesIn returns the sign of some of them.
func copiesIn(i int) sign {
	c := &copies[i]
	return sign{[]Kind{ComputeKind, AllocationKind}, does(named(c.functions)), c.says, c.remedy}
}
