package monitor

import (
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
)

// A statistic is a number that the Go runtime keeps.
type statistic struct {
	sampledata.Monitor
	sum
}

// How often the runtime brings a number up to date.
const (
	eachSpan       = "when a processor has used up a span of objects"
	eachWorker     = "when a worker pauses"
	eachCollection = "once a collection"
)

// statistics have the names and meanings of package runtime/metrics and of
// runtime.MemStats, if these have them.
var statistics = []statistic{
	{level("heap.live", "bytes", "gcController.heapLive", eachSpan), heapLive},
	{level("heap.in_use", "bytes", "gcController.heapInUse", ""),
		field(gcController, func(l *layout.Layout) layout.Offset { return l.GC.HeapInUse })},
	{level("heap.free", "bytes", "gcController.heapFree", ""),
		field(gcController, func(l *layout.Layout) layout.Offset { return l.GC.HeapFree })},
	{level("heap.released", "bytes", "gcController.heapReleased", ""),
		field(gcController, func(l *layout.Layout) layout.Offset { return l.GC.HeapReleased })},
	{counter("heap.allocated_bytes", "bytes", "gcController.totalAlloc", eachSpan),
		field(gcController, func(l *layout.Layout) layout.Offset { return l.GC.TotalAlloc })},
	{counter("heap.freed_bytes", "bytes", "gcController.totalFree", eachSpan),
		field(gcController, func(l *layout.Layout) layout.Offset { return l.GC.TotalFree })},
	{counter("gc.cycles", "", "memstats.numgc", eachCollection),
		half(memCycles, func(l *layout.Layout) layout.Offset { return l.MemStats.NumGC })},
	{counter("gc.pause", "ns", "memstats.pause_total_ns", eachCollection),
		field(memStats, func(l *layout.Layout) layout.Offset { return l.MemStats.PauseTotalNS })},
	{counter("gc.assist", "ns", "work.cpuStats + gcController.assistTime", ""), assistTime},
	{counter("gc.workers", "ns",
		"work.cpuStats + gcController.dedicatedMarkTime, fractionalMarkTime", eachWorker),
		workerTime},
	{counter("gc.idle_workers", "ns", "work.cpuStats + gcController.idleMarkTime", eachWorker),
		idleWorkerTime},
	{runtimeMonitor("gc.phase", sampledata.Nominal, "", "gcphase", ""), phaseNow},
	{level("sched.queue", "", "sched.runq", ""), globalQueue},
	{level("sched.local_queues", "", "allp: runq, runnext", ""), counted(queued)},
	{level("sched.longest_queue", "", "allp: runq, runnext", ""), counted(longestQueue)},
	{level("sched.processors", "", "allp", ""), counted(processors)},
	{level("sched.idle_processors", "", "sched.npidle", ""), idleProcessors},
	{level("sched.threads", "", "sched.mnext - sched.nmfreed", ""), threads},
}

// objectStatistics are those in runtime.memstats.heapStats.
var objectStatistics = []statistic{
	{counter("heap.allocated_objects", "", "memstats.heapStats",
		eachSpan+", read every "+objectsEvery.String()), allocatedObjects},
	{counter("heap.freed_objects", "", "memstats.heapStats",
		eachSpan+", read every "+objectsEvery.String()), freedObjects},
	{level("stacks.in_use", "bytes", "memstats.heapStats.inStacks", objectsEvery.String()),
		stacksInUse},
}

// phases are the values of runtime.gcphase.
var phases = [...]string{"off", "mark", "mark termination"}

func runtimeMonitor(name string, kind sampledata.Kind, unit, source,
	resolution string) sampledata.Monitor {
	return sampledata.Monitor{
		Name: name, Layer: sampledata.Runtime, Kind: kind, Unit: unit,
		Source: "the Go runtime's memory: " + source, Resolution: resolution,
	}
}

func level(name, unit, source, resolution string) sampledata.Monitor {
	return runtimeMonitor(name, sampledata.Level, unit, source, resolution)
}

func counter(name, unit, source, resolution string) sampledata.Monitor {
	return runtimeMonitor(name, sampledata.Counter, unit, source, resolution)
}
