package monitor

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/gobinary/globals"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// runtimeStatistics reads the statistics that the Go runtime keeps in the
// program's memory.
var runtimeStatistics = runtimeSource(statistics, 0)

// heapObjects reads those that the runtime adds up over many
// sizes of objects.
var heapObjects = runtimeSource(objectStatistics, objectsEvery)

// objectsEvery is how often they are read: their memory is read
// for nothing else, which takes a system call.
const objectsEvery = time.Second

func runtimeSource(list []statistic, every time.Duration) Source {
	s := Source{Every: every, Open: func(t Target) (Reader, error) { return openRuntime(t, list) }}
	for i := range list {
		s.Monitors = append(s.Monitors, list[i].Monitor)
	}
	return s
}

// A runtimeReader copies the memory that has the statistics, and
// takes the statistics out of the copy. What was copied for the
// sample is not read again: queues and idle processors belong to
// the stacks. The rest takes one system call, and the program
// runs meanwhile.
type runtimeReader struct {
	process  *process
	seen     func() memory.Copy
	l        *layout.Layout
	monitors []sampledata.Monitor
	readings []reading // by monitor
	terms    []term    // of all readings
	parts    [parts]part
	ranges   []memory.Range // one for each part that is read, then two for each processor

	allp       []byte // runtime.allp when the addresses of the processors were read
	processors []uint64
	queues     []byte // copies of the ends of the processors' queues: what lies between is long
	endsSize   int    // of the head and tail of a queue
}

// nextSize is the size of a copy of the goroutine that is to run next.
const nextSize = 8

// A part is a piece of one of the runtime's variables.
type part struct {
	addr uint64
	from layout.Offset // of the piece in the variable
	copy []byte        // own, or what the halt has copied, which is there until the next one
	own  []byte
}

// The parts that are read.
const (
	gcController = iota
	heapStats    // of memstats
	memStats     // likewise: what comes after a long table
	memCycles    // likewise: what comes after two more
	work
	sched
	gcPhase
	allP
	ofProcessors // not in the program: what is counted of the processors' queues
	parts
)

// Offsets in ofProcessors.
const (
	queued layout.Offset = 8 * iota // in all queues
	longestQueue
	processors
	sizeOfProcessors
)

func openRuntime(t Target, list []statistic) (_ *runtimeReader, err error) {
	p, err := openProcess(t)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	b, err := p.binary(t)
	if err != nil {
		return nil, err
	}
	l := b.Layout
	if !l.HasStatistics() {
		if l, err = p.ownLayout(); err != nil {
			l, err = b.Layout, nil
		}
	}
	r := &runtimeReader{process: p, seen: t.Seen, l: l}
	if r.seen == nil {
		r.seen = func() memory.Copy { return nil }
	}
	r.lay(&b.Globals, &list[0] == &objectStatistics[0])
	r.join()
	r.ask(t)
	if err := r.copy(); err != nil {
		return nil, err
	}
	for _, s := range list {
		m := s.Monitor
		terms, ok := r.bind(s.sum)
		if !ok {
			m.Unmeasured = fmt.Sprintf(
				"%s doesn't say where %s has it: build the program without -ldflags=-w or -s",
				r.l.Origin(), b.Version)
		}
		r.monitors, r.terms = append(r.monitors, m), append(r.terms, terms...)
		r.readings = append(r.readings, reading{kind: s.Kind, last: len(r.terms)})
	}
	return r, r.check()
}

// lay finds out which memory has the statistics.
func (r *runtimeReader) lay(g *globals.Globals, objects bool) {
	l := r.l
	if objects {
		r.parts[heapStats] = newPart(g.MemStats, l.MemStats.HeapStats, l.MemStats.HeapStatsGen)
		return
	}
	r.parts = [parts]part{
		gcController: newPart(g.GCController, l.GC.HeapLive, l.GC.HeapInUse, l.GC.HeapFree,
			l.GC.HeapReleased, l.GC.TotalAlloc,
			l.GC.TotalFree, l.GC.AssistTime, l.GC.DedicatedMarkTime, l.GC.FractionalMarkTime,
			l.GC.IdleMarkTime),
		memStats:  newPart(g.MemStats, l.MemStats.PauseTotalNS),
		memCycles: newPart(g.MemStats, l.MemStats.NumGC),
		work: newPart(g.Work, l.Collection.AssistTime, l.Collection.DedicatedTime,
			l.Collection.IdleTime,
			l.Collection.OldAssistTime, l.Collection.OldDedicatedTime, l.Collection.OldIdleTime),
		sched: newPart(g.Sched, l.Sched.RunqSize, l.Sched.RunqLen, l.Sched.NPIdle,
			l.Sched.MNext, l.Sched.NMFreed),
		gcPhase: newPart(g.GCPhase, 0),
		allP:    newPart(g.AllP, 0, 8),

		ofProcessors: {own: make([]byte, sizeOfProcessors)},
	}
	r.endsSize = int(l.P.RunqTail) + 4 - int(l.P.RunqHead)
}

// join puts the copies next to each other: to touch one page of
// memory takes less time than to touch ten.
func (r *runtimeReader) join() {
	var all []byte
	for i := range r.parts {
		all = append(all, r.parts[i].own...)
	}
	for i := range r.parts {
		p := &r.parts[i]
		n := len(p.own)
		p.own, all = all[:n:n], all[n:]
		p.copy = p.own
	}
}

// ask asks for what is read at each sample, and what halts don't
// copy anyway.
func (r *runtimeReader) ask(t Target) {
	for _, i := range []int{gcController, memStats, memCycles, work} {
		if p := &r.parts[i]; t.ReadAlso != nil && len(p.own) > 0 {
			t.ReadAlso(p.addr, len(p.own))
		}
	}
}

// newPart returns the part of a variable from the first of these
// fields to the last, as far as they exist.
func newPart(variable uint64, fields ...layout.Offset) part {
	fields = slices.DeleteFunc(fields, func(o layout.Offset) bool { return !o.Has() })
	if variable == 0 || len(fields) == 0 {
		return part{}
	}
	from := slices.Min(fields)
	return part{addr: variable + uint64(from), from: from,
		own: make([]byte, slices.Max(fields)+8-from)}
}

func (r *runtimeReader) Monitors() []sampledata.Monitor { return r.monitors }

func (r *runtimeReader) Read(values []sampledata.Value) ([]sampledata.Value, error) {
	if err := r.copy(); err != nil {
		return values, err
	}
	first := 0
	for i := range r.readings {
		to := &r.readings[i]
		terms := r.terms[first:to.last]
		first = to.last
		if len(terms) == 0 {
			values = append(values, sampledata.Value{})
			continue
		}
		values = append(values, to.value(r.add(terms)))
	}
	return values, nil
}

func (r *runtimeReader) Close() error { return r.process.Close() }

var errRuntime = errors.New("the statistics of the Go runtime can't be read from the program's memory")

// copy copies the parts. It copies them again if the runtime is
// adding up its heap statistics: some are then in two places.
func (r *runtimeReader) copy() error {
	for range 10 {
		if err := r.copyOnce(); err != nil {
			return err
		}
		if r.heapStatsSettled() {
			break
		}
	}
	return nil
}

// copyOnce makes one system call, or three if the runtime has
// made another list of processors.
func (r *runtimeReader) copyOnce() error {
	for range 3 {
		seen := r.seen()
		r.ranges = r.ranges[:0]
		for i := range r.parts {
			if p := &r.parts[i]; p.addr != 0 {
				p.copy = r.take(seen, p.addr, p.own)
			}
		}
		for i, p := range r.processors {
			ends, next := r.queueOf(i)
			copy(ends, r.take(seen, p+uint64(r.l.P.RunqHead), ends))
			copy(next, r.take(seen, p+uint64(r.l.P.RunNext), next))
		}
		if r.process.ReadRanges(r.ranges) > 0 {
			return errRuntime
		}
		if bytes.Equal(r.allp, r.parts[allP].copy) {
			r.count()
			return nil
		}
		if err := r.readProcessors(); err != nil {
			return err
		}
	}
	return nil
}

// take returns a piece of memory out of what was seen, or own,
// which it adds to the ranges to be read.
func (r *runtimeReader) take(seen memory.Copy, addr uint64, own []byte) []byte {
	base, copied := seen.Segment(addr)
	if at := addr - base; at < uint64(len(copied)) && uint64(len(copied))-at >= uint64(len(own)) {
		return copied[at:][:len(own)]
	}
	r.ranges = append(r.ranges, memory.Range{Addr: addr, Buf: own})
	return own
}

// queueOf returns the copies of the ends of a processor's queue,
// and of the goroutine that it runs next.
func (r *runtimeReader) queueOf(processor int) (ends, next []byte) {
	size := r.endsSize + nextSize
	copied := r.queues[size*processor:][:size]
	return copied[:r.endsSize], copied[r.endsSize:]
}

// count counts the goroutines in the processors' queues, with
// those that are to run next.
func (r *runtimeReader) count() {
	to := r.parts[ofProcessors].copy
	if len(to) == 0 {
		return // the processors are not read
	}
	var sum, longest uint64
	for i := range r.processors {
		ends, next := r.queueOf(i)
		tail := binary.LittleEndian.Uint32(ends[len(ends)-4:])
		n := uint64(tail - binary.LittleEndian.Uint32(ends)) // both count on, and wrap around
		if binary.LittleEndian.Uint64(next) != 0 {
			n++
		}
		sum, longest = sum+n, max(longest, n)
	}
	binary.LittleEndian.PutUint64(to[queued:], sum)
	binary.LittleEndian.PutUint64(to[longestQueue:], longest)
	binary.LittleEndian.PutUint64(to[processors:], uint64(len(r.processors)))
}

// maxProcessors is more than any program has.
const maxProcessors = 1 << 16

// readProcessors reads the addresses of the processors.
func (r *runtimeReader) readProcessors() error {
	allp := slices.Clone(r.parts[allP].copy)
	at, n := binary.LittleEndian.Uint64(allp), binary.LittleEndian.Uint64(allp[8:])
	if n == 0 || n > maxProcessors {
		return fmt.Errorf("%w: it has %d processors", errRuntime, n)
	}
	list := make([]byte, 8*n)
	if err := r.process.Read(at, list); err != nil {
		return err
	}
	r.processors = r.processors[:0]
	for ; len(list) > 0; list = list[8:] {
		r.processors = append(r.processors, binary.LittleEndian.Uint64(list))
	}
	r.allp, r.queues = allp, make([]byte, (r.endsSize+nextSize)*int(n))
	return nil
}

// check returns an error if what was read makes no sense: the
// layout belongs to another release.
func (r *runtimeReader) check() error {
	n := uint64(len(r.processors))
	if n == 0 {
		return nil // the processors are not read
	}
	idle, _ := r.number(idleProcessors)
	longest, _ := r.number(counted(longestQueue))
	phase, _ := r.number(phaseNow)
	threads, known := r.number(threads)
	live, _ := r.number(heapLive)
	if idle > n || longest > goruntime.RunqLen+1 || phase >= uint64(len(phases)) ||
		known && (threads == 0 || threads > 1<<20) || live > 1<<48 {
		return fmt.Errorf("%w: by %s, %d of %d processors are idle, and there are %d threads",
			errRuntime, r.l.Origin(), idle, n, threads)
	}
	return nil
}
