package monitor

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
)

// A term is a word that a [runtimeReader] has copied. A
// statistic is a sum of terms, and not a function: the code of
// twenty functions, none in the caches, would take longer than
// all the rest.
type term struct {
	part    uint8
	half    bool  // only the lower 32 bits
	minus   bool  // it is subtracted
	marking bool  // it counts only while a collection marks
	more    uint8 // the number of words after it that are added, too
	at      layout.Offset
}

// A reading is what is needed of a statistic at each sample.
type reading struct {
	kind    sampledata.Kind
	last    int    // the number of its last term, and one
	largest uint64 // of a counter: the largest value so far
}

// value returns the monitor's value.
func (to *reading) value(n uint64) sampledata.Value {
	switch {
	case to.kind == sampledata.Level:
		return sampledata.Number(int64(n))
	case to.kind == sampledata.Counter:
		// The end of a collection moves times from one variable
		// to another. In between they are in neither.
		to.largest = max(to.largest, n)
		return sampledata.Count(to.largest)
	case n < uint64(len(phases)):
		return sampledata.Word(phases[n])
	}
	return sampledata.Value{}
}

// A sum is where a release of Go has the terms of a number.
type sum func(*layout.Layout) []term

// bind returns a sum's terms with offsets in the copies. It
// returns false if the place of a term in the runtime is not
// known.
func (r *runtimeReader) bind(s sum) ([]term, bool) {
	terms := s(r.l)
	for i := range terms {
		t := &terms[i]
		p := &r.parts[t.part]
		if !t.at.Has() || len(p.copy) == 0 || t.marking && len(r.parts[gcPhase].copy) == 0 {
			return nil, false
		}
		if t.at -= p.from; !t.at.Has() || int(t.at)+8*(1+int(t.more)) > len(p.copy) {
			return nil, false
		}
	}
	return terms, len(terms) > 0
}

// add adds up terms.
func (r *runtimeReader) add(terms []term) (sum uint64) {
	for _, t := range terms {
		from := r.parts[t.part].copy[t.at:]
		n := binary.LittleEndian.Uint64(from)
		for range t.more {
			from = from[8:]
			n += binary.LittleEndian.Uint64(from)
		}
		if t.half {
			n &= 1<<32 - 1
		}
		if t.minus {
			n = -n
		}
		if !t.marking || r.phase() != 0 {
			sum += n
		}
	}
	return sum
}

// phase returns the phase of the collector.
func (r *runtimeReader) phase() uint32 { return binary.LittleEndian.Uint32(r.parts[gcPhase].copy) }

// number returns the current value of a sum; false if it is not
// known where the runtime has it.
func (r *runtimeReader) number(s sum) (uint64, bool) {
	terms, ok := r.bind(s)
	if !ok {
		return 0, false
	}
	return r.add(terms), true
}

// field is a word of a variable.
func field(of uint8, at func(*layout.Layout) layout.Offset) sum {
	return func(l *layout.Layout) []term { return []term{{part: of, at: at(l)}} }
}

// half is a 32-bit number.
func half(of uint8, at func(*layout.Layout) layout.Offset) sum {
	return func(l *layout.Layout) []term { return []term{{part: of, at: at(l), half: true}} }
}

// counted is a number that the reader finds out of the processors.
func counted(at layout.Offset) sum {
	return func(*layout.Layout) []term { return []term{{part: ofProcessors, at: at}} }
}

var heapLive = field(gcController, func(l *layout.Layout) layout.Offset { return l.GC.HeapLive })

var phaseNow = half(gcPhase, func(*layout.Layout) layout.Offset { return 0 })

var idleProcessors = half(sched, func(l *layout.Layout) layout.Offset { return l.Sched.NPIdle })

func globalQueue(l *layout.Layout) []term {
	return []term{{part: sched, at: l.Sched.RunqLen.Or(l.Sched.RunqSize), half: true}}
}

// threads is the number of threads (m) that the runtime has made
// and not freed yet.
func threads(l *layout.Layout) []term {
	return []term{{part: sched, at: l.Sched.MNext}, {part: sched, at: l.Sched.NMFreed, minus: true}}
}

// The time of collections is in runtime.work, except for the
// collection under way: its time is in runtime.gcController.

func assistTime(l *layout.Layout) []term {
	return markTime(l.Collection.AssistTime.Or(l.Collection.OldAssistTime), l.GC.AssistTime)
}

func workerTime(l *layout.Layout) []term {
	return markTime(l.Collection.DedicatedTime.Or(l.Collection.OldDedicatedTime),
		l.GC.DedicatedMarkTime, l.GC.FractionalMarkTime)
}

func idleWorkerTime(l *layout.Layout) []term {
	return markTime(l.Collection.IdleTime.Or(l.Collection.OldIdleTime), l.GC.IdleMarkTime)
}

// markTime is the time of earlier collections, and of the one
// that is under way.
func markTime(earlier layout.Offset, now ...layout.Offset) []term {
	sum := []term{{part: work, at: earlier}}
	for _, at := range now {
		sum = append(sum, term{part: gcController, at: at, marking: true})
	}
	return sum
}

// The runtime has three sets of heap statistics, and their sum
// counts. One set is written to, one has the earlier statistics,
// and one is empty. To add them up, the runtime goes to the next
// set, and moves the earlier statistics into the set that was
// written to.

// heapSum is the sum of a number of words over the sets; nothing
// if it is missing.
func heapSum(l *layout.Layout, at layout.Offset, words int) (sum []term) {
	if !at.Has() || !l.HeapStats.Size.Has() || words < 1 || words > 256 {
		return nil
	}
	for set := range layout.Offset(3) {
		sum = append(sum, term{part: heapStats,
			at: l.MemStats.HeapStats + set*l.HeapStats.Size + at, more: uint8(words - 1)})
	}
	return sum
}

// heapStatsSettled reports whether the set that is to be empty
// is, or whether nothing is known of the sets.
func (r *runtimeReader) heapStatsSettled() bool {
	p, m, size := &r.parts[heapStats], &r.l.MemStats, r.l.HeapStats.Size
	if len(p.copy) == 0 || !m.HeapStatsGen.Has() || !size.Has() {
		return true
	}
	written := layout.Offset(binary.LittleEndian.Uint32(p.copy[m.HeapStatsGen-p.from:]) % 3)
	next := p.copy[m.HeapStats-p.from:][(written+1)%3*size:][:size]
	return len(bytes.TrimLeft(next, "\x00")) == 0
}

// objects is the number of large, small and tiny objects. Small
// ones are counted by their size. The runtime does not count
// which tiny ones are freed: they count as freed at once, as in
// runtime.MemStats.
func objects(l *layout.Layout, large, small layout.Offset) []term {
	h := &l.HeapStats
	many := heapSum(l, small, int(h.LargeFree-h.SmallAllocCount)/8)
	if !large.Has() || !h.TinyAllocCount.Has() || !h.SmallAllocCount.Has() ||
		!h.LargeFree.Has() || many == nil {
		return nil
	}
	return slices.Concat(heapSum(l, large, 1), heapSum(l, h.TinyAllocCount, 1), many)
}

func allocatedObjects(l *layout.Layout) []term {
	return objects(l, l.HeapStats.LargeAllocCount, l.HeapStats.SmallAllocCount)
}

func freedObjects(l *layout.Layout) []term {
	return objects(l, l.HeapStats.LargeFreeCount, l.HeapStats.SmallFreeCount)
}

func stacksInUse(l *layout.Layout) []term { return heapSum(l, l.HeapStats.InStacks, 1) }
