package monitor

import (
	"encoding/binary"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/internal/goruntime/layout"
)

// A statistic is a number that the Go runtime keeps.
type statistic struct {
	sampledata.Monitor
	value func(*runtimeReader) (uint64, bool) // false if it is not known where the runtime has it
}

// How often the runtime brings a number up to date.
const (
	eachSpan       = "when a processor has used up a span of objects"
	eachWorker     = "when a worker pauses"
	eachCollection = "once a collection"
)

// statistics are those of package runtime/metrics and of runtime.MemStats, if these have them.
var statistics = []statistic{
	{level("heap.live", "bytes", "gcController.heapLive", eachSpan), field(gcController, func(l *layout.Layout) layout.Offset { return l.GC.HeapLive })},
	{level("heap.in_use", "bytes", "gcController.heapInUse", ""), field(gcController, func(l *layout.Layout) layout.Offset { return l.GC.HeapInUse })},
	{level("heap.free", "bytes", "gcController.heapFree", ""), field(gcController, func(l *layout.Layout) layout.Offset { return l.GC.HeapFree })},
	{level("heap.released", "bytes", "gcController.heapReleased", ""), field(gcController, func(l *layout.Layout) layout.Offset { return l.GC.HeapReleased })},
	{counter("heap.allocated_bytes", "bytes", "gcController.totalAlloc", eachSpan), field(gcController, func(l *layout.Layout) layout.Offset { return l.GC.TotalAlloc })},
	{counter("heap.freed_bytes", "bytes", "gcController.totalFree", eachSpan), field(gcController, func(l *layout.Layout) layout.Offset { return l.GC.TotalFree })},
	{counter("gc.cycles", "", "memstats.numgc", eachCollection), collections},
	{counter("gc.pause", "ns", "memstats.pause_total_ns", eachCollection), field(memStats, func(l *layout.Layout) layout.Offset { return l.MemStats.PauseTotalNS })},
	{counter("gc.assist", "ns", "work.cpuStats + gcController.assistTime", ""), assistTime},
	{counter("gc.workers", "ns", "work.cpuStats + gcController.dedicatedMarkTime, fractionalMarkTime", eachWorker), workerTime},
	{counter("gc.idle_workers", "ns", "work.cpuStats + gcController.idleMarkTime", eachWorker), idleWorkerTime},
	{runtimeMonitor("gc.phase", sampledata.Nominal, "", "gcphase", ""), phase},
	{level("sched.queue", "", "sched.runq", ""), globalQueue},
	{level("sched.local_queues", "", "allp: runq, runnext", ""), localQueues},
	{level("sched.longest_queue", "", "allp: runq, runnext", ""), longestQueue},
	{level("sched.processors", "", "allp", ""), func(r *runtimeReader) (uint64, bool) { return uint64(len(r.processors)), true }},
	{level("sched.idle_processors", "", "sched.npidle", ""), idleProcessors},
	{level("sched.threads", "", "sched.mnext - sched.nmfreed", ""), threads},
}

// objectStatistics are those in runtime.memstats.heapStats.
var objectStatistics = []statistic{
	{counter("heap.allocated_objects", "", "memstats.heapStats", eachSpan+", read every "+objectsEvery.String()), allocatedObjects},
	{counter("heap.freed_objects", "", "memstats.heapStats", eachSpan+", read every "+objectsEvery.String()), freedObjects},
	{level("stacks.in_use", "bytes", "memstats.heapStats.inStacks", objectsEvery.String()), stacksInUse},
}

// phases are the values of runtime.gcphase.
var phases = [...]string{"off", "mark", "mark termination"}

func runtimeMonitor(name string, kind sampledata.Kind, unit, source, resolution string) sampledata.Monitor {
	return sampledata.Monitor{
		Name: name, Layer: sampledata.Runtime, Kind: kind, Unit: unit, Source: "the Go runtime's memory: " + source, Resolution: resolution,
	}
}

func level(name, unit, source, resolution string) sampledata.Monitor {
	return runtimeMonitor(name, sampledata.Level, unit, source, resolution)
}

func counter(name, unit, source, resolution string) sampledata.Monitor {
	return runtimeMonitor(name, sampledata.Counter, unit, source, resolution)
}

// field returns a function that returns a word of a variable.
func field(of int, at func(*layout.Layout) layout.Offset) func(*runtimeReader) (uint64, bool) {
	return func(r *runtimeReader) (uint64, bool) { return r.word(of, at(r.l)) }
}

// half returns a 32-bit number.
func (r *runtimeReader) half(of int, at layout.Offset) (uint64, bool) {
	n, ok := r.word(of, at)
	return n & (1<<32 - 1), ok
}

func collections(r *runtimeReader) (uint64, bool)    { return r.half(memCycles, r.l.MemStats.NumGC) }
func idleProcessors(r *runtimeReader) (uint64, bool) { return r.half(sched, r.l.Sched.NPIdle) }

func phase(r *runtimeReader) (uint64, bool) {
	n, ok := r.half(gcPhase, 0)
	return min(n, uint64(len(phases))), ok && n < uint64(len(phases))
}

func globalQueue(r *runtimeReader) (uint64, bool) {
	if at := r.l.Sched.RunqLen; at.Has() {
		return r.half(sched, at)
	}
	return r.half(sched, r.l.Sched.RunqSize)
}

// threads returns the number of threads (m) that the runtime has made and not freed yet.
func threads(r *runtimeReader) (uint64, bool) {
	made, ok := r.word(sched, r.l.Sched.MNext)
	freed, too := r.word(sched, r.l.Sched.NMFreed)
	return made - freed, ok && too
}

// queue returns the length of a processor's queue, with the goroutine that is to run next.
func (r *runtimeReader) queue(processor int) uint64 {
	ends, next := r.queueOf(processor)
	tail := binary.LittleEndian.Uint32(ends[len(ends)-4:])
	n := uint64(tail - binary.LittleEndian.Uint32(ends)) // both count on, and wrap around
	if binary.LittleEndian.Uint64(next) != 0 {
		n++
	}
	return n
}

func localQueues(r *runtimeReader) (sum uint64, ok bool) {
	for i := range r.processors {
		sum += r.queue(i)
	}
	return sum, true
}

func longestQueue(r *runtimeReader) (longest uint64, ok bool) {
	for i := range r.processors {
		longest = max(longest, r.queue(i))
	}
	return longest, true
}

// The time of collections is in runtime.work, except for that of the collection that is under way, which is in
// runtime.gcController.

func assistTime(r *runtimeReader) (uint64, bool) {
	c := &r.l.Collection
	return r.markTime([2]layout.Offset{c.AssistTime, c.OldAssistTime}, r.l.GC.AssistTime)
}

func workerTime(r *runtimeReader) (uint64, bool) {
	c := &r.l.Collection
	return r.markTime([2]layout.Offset{c.DedicatedTime, c.OldDedicatedTime}, r.l.GC.DedicatedMarkTime, r.l.GC.FractionalMarkTime)
}

func idleWorkerTime(r *runtimeReader) (uint64, bool) {
	c := &r.l.Collection
	return r.markTime([2]layout.Offset{c.IdleTime, c.OldIdleTime}, r.l.GC.IdleMarkTime)
}

// markTime adds the times of the collection that is under way to the time of the earlier ones, whose field has another
// name in older releases of Go.
func (r *runtimeReader) markTime(earlier [2]layout.Offset, now ...layout.Offset) (uint64, bool) {
	sum, ok := r.word(work, earlier[0])
	if !ok {
		sum, ok = r.word(work, earlier[1])
	}
	phase, known := phase(r)
	for _, at := range now {
		n, has := r.word(gcController, at)
		if ok = ok && has && known; phase != 0 {
			sum += n
		}
	}
	return sum, ok
}

// The runtime has three sets of heap statistics, whose sum counts: one is written to, one has what came before, and one is
// empty. To add them up, it goes to the next set and moves what came before into the one that was written to.

// heapSum returns the sum of a word over the sets.
func (r *runtimeReader) heapSum(at layout.Offset) (sum uint64, ok bool) {
	for set := range layout.Offset(3) {
		n, ok := r.word(heapStats, r.l.MemStats.HeapStats+set*r.l.HeapStats.Size+at)
		if !ok || !at.Has() {
			return 0, false
		}
		sum += n
	}
	return sum, true
}

// heapStatsSettled reports whether the set that is to be empty is, or whether nothing is known of the sets.
func (r *runtimeReader) heapStatsSettled() bool {
	written, ok := r.half(heapStats, r.l.MemStats.HeapStatsGen)
	if !ok || !r.l.HeapStats.Size.Has() {
		return true
	}
	empty := r.l.MemStats.HeapStats + layout.Offset((written+1)%3)*r.l.HeapStats.Size
	for at := layout.Offset(0); at < r.l.HeapStats.Size; at += 8 {
		if n, _ := r.word(heapStats, empty+at); n != 0 {
			return false
		}
	}
	return true
}

// objects returns the number of large, small and tiny objects, of which the small ones are counted by their size. The runtime
// does not count which tiny ones are freed: they count as freed at once, as in runtime.MemStats.
func (r *runtimeReader) objects(large, small layout.Offset) (uint64, bool) {
	h := &r.l.HeapStats
	sum, ok := r.heapSum(large)
	tiny, too := r.heapSum(h.TinyAllocCount)
	if !ok || !too || !small.Has() || !h.SmallAllocCount.Has() || !h.LargeFree.Has() {
		return 0, false
	}
	for at := range (h.LargeFree - h.SmallAllocCount) / 8 {
		n, ok := r.heapSum(small + 8*at)
		if !ok {
			return 0, false
		}
		sum += n
	}
	return sum + tiny, true
}

func allocatedObjects(r *runtimeReader) (uint64, bool) {
	return r.objects(r.l.HeapStats.LargeAllocCount, r.l.HeapStats.SmallAllocCount)
}

func freedObjects(r *runtimeReader) (uint64, bool) {
	return r.objects(r.l.HeapStats.LargeFreeCount, r.l.HeapStats.SmallFreeCount)
}

func stacksInUse(r *runtimeReader) (uint64, bool) { return r.heapSum(r.l.HeapStats.InStacks) }
