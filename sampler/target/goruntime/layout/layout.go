// Package layout has the offsets of fields in the Go runtime's
// structs, by exact Go version and processor.
//
// They come from a binary's DWARF if it has any, else from a
// table, layouts.json. The generator in gen makes it from the
// DWARF of tiny programs, one for each release of Go. Both ways
// lead to the same Layout.
package layout

// An Offset is the offset of a field in its struct in bytes, or
// Missing if this version of Go has no such field.
type Offset int32

// Missing is the offset of a field that this version's struct
// does not have.
const Missing Offset = -1

// Has reports whether the field exists in this version.
func (o Offset) Has() bool { return o >= 0 }

// Or returns the offset. If this version has no such field, it
// returns the other one, of the field that it has instead.
func (o Offset) Or(other Offset) Offset {
	if o.Has() {
		return o
	}
	return other
}

// A Source is where a layout is from. It determines how far the
// layout can be trusted.
type Source uint8

const (
	// FromDWARF: the binary's own debug information.
	FromDWARF Source = iota
	// FromTable: the table has this very release, or releases of
	// the same line on both sides of it that agree.
	FromTable
	// Guessed: the layout of the nearest release. Callers must
	// validate it before use (m.procid is a thread of the
	// process, m.curg.m is m, and so on).
	Guessed
)

// Origin describes in words where the layout is from.
func (l *Layout) Origin() string {
	switch l.Source {
	case FromTable:
		return "the known layout of " + l.Release
	case Guessed:
		return "the layout of " + l.Release + ", the nearest release that is known"
	}
	return "the program's debug information"
}

// A Layout has the offsets that a sampler needs. The `rt` tag is
// the field's name in the runtime; the size of a struct has the
// tag "-" and comes first. Fields may be inside nested structs
// (stack.lo). A layout without one of the required fields can't
// be used.
type Layout struct {
	Source  Source `rt:""`
	Release string `rt:""` // the release that the table had it from: go1.26.8; empty FromDWARF

	G      G      `rt:"g"`
	M      M      `rt:"m"`
	P      P      `rt:"p"`
	Sched  Sched  `rt:"schedt"`
	Sudog  Sudog  `rt:"sudog"`
	Module Module `rt:"moduledata"`

	// The heap, for marking. A layout without it is of use all the same.
	Heap     Heap     `rt:"mheap"`
	Span     Span     `rt:"mspan"`
	Special  Special  `rt:"special"`
	Cleanups Cleanups `rt:"cleanupQueue"`

	// Statistics that the runtime keeps, for monitors. A layout without them
	// is of use all the same.
	GC         GC         `rt:"gcControllerState"`
	MemStats   MemStats   `rt:"mstats"`
	HeapStats  HeapStats  `rt:"heapStatsDelta"`
	Collection Collection `rt:"workType"`
}

// HasHeap reports whether the layout has what marking the heap takes.
func (l *Layout) HasHeap() bool {
	return l.Heap.AllSpans.Has() && l.Span.Limit.Has() && l.Special.Kind.Has() &&
		l.Module.Next.Has() && l.P.Timers.Has() &&
		l.Sudog.WaitLink.Has()
}

// HasStatistics reports whether the layout has the statistics of the runtime.
func (l *Layout) HasStatistics() bool {
	return l.GC.Size.Has() && l.MemStats.Size.Has() && l.HeapStats.Size.Has() &&
		l.Collection.Size.Has() && l.Sched.NPIdle.Has()
}

// G is runtime.g.
type G struct {
	Size         Offset `rt:"-"`
	StackLo      Offset `rt:"stack.lo"`
	StackHi      Offset `rt:"stack.hi"`
	M            Offset `rt:"m"`
	SchedSP      Offset `rt:"sched.sp"`
	SchedPC      Offset `rt:"sched.pc"`
	SchedLR      Offset `rt:"sched.lr"`
	SyscallSP    Offset `rt:"syscallsp"`
	SyscallPC    Offset `rt:"syscallpc"`
	AtomicStatus Offset `rt:"atomicstatus"`
	Goid         Offset `rt:"goid"`
	WaitReason   Offset `rt:"waitreason"`
	TrackingSeq  Offset `rt:"trackingSeq"`
	ParentGoid   Offset `rt:"parentGoid,optional"`
	GoPC         Offset `rt:"gopc"`
	StartPC      Offset `rt:"startpc"`
	Waiting      Offset `rt:"waiting,optional"`
	Labels       Offset `rt:"labels"`
}

// M is runtime.m.
type M struct {
	Size    Offset `rt:"-"`
	G0      Offset `rt:"g0"`
	ProcID  Offset `rt:"procid"`
	CurG    Offset `rt:"curg"`
	P       Offset `rt:"p"`
	OldP    Offset `rt:"oldp,optional"`
	ID      Offset `rt:"id"`
	AllLink Offset `rt:"alllink"`
	VDSOSP  Offset `rt:"vdsoSP,optional"`
	VDSOPC  Offset `rt:"vdsoPC,optional"`
	// SyscallTick is compared with the same of OldP to see
	// whether a system call still owns its processor (up to
	// 1.25).
	SyscallTick Offset `rt:"syscalltick,optional"`
}

// P is runtime.p.
type P struct {
	Size        Offset `rt:"-"`
	ID          Offset `rt:"id"`
	Status      Offset `rt:"status"`
	SchedTick   Offset `rt:"schedtick"`
	SyscallTick Offset `rt:"syscalltick,optional"`
	M           Offset `rt:"m"`
	RunqHead    Offset `rt:"runqhead"`
	RunqTail    Offset `rt:"runqtail"`
	Runq        Offset `rt:"runq"`
	RunNext     Offset `rt:"runnext"`
	Timers      Offset `rt:"timers,optional"`
}

// Sched is runtime.schedt, the type of runtime.sched.
type Sched struct {
	Size      Offset `rt:"-"`
	RunqHead  Offset `rt:"runq.head,optional"`
	GCWaiting Offset `rt:"gcwaiting,optional"`
	RunqSize  Offset `rt:"runqsize,optional"`  // up to 1.24
	RunqLen   Offset `rt:"runq.size,optional"` // from 1.25
	NPIdle    Offset `rt:"npidle,optional"`
	MNext     Offset `rt:"mnext,optional"`
	NMFreed   Offset `rt:"nmfreed,optional"`
}

// Sudog is runtime.sudog.
type Sudog struct {
	Size   Offset `rt:"-"`
	G      Offset `rt:"g"`
	C      Offset `rt:"c,optional"`
	CAddr  Offset `rt:"c.maybeTraceablePtr.vu,optional"`
	Ticket Offset `rt:"ticket,optional"`

	Elem     Offset `rt:"elem,optional"`
	ElemAddr Offset `rt:"elem.vu,optional"`
	Next     Offset `rt:"next,optional"`
	Prev     Offset `rt:"prev,optional"`
	WaitLink Offset `rt:"waitlink,optional"`
}

// Module is runtime.moduledata.
type Module struct {
	Size     Offset `rt:"-"`
	PCHeader Offset `rt:"pcHeader"`
	Text     Offset `rt:"text"`
	EText    Offset `rt:"etext"`
	GoFunc   Offset `rt:"gofunc"`
	TextMap  Offset `rt:"textsectmap"`

	Data  Offset `rt:"data,optional"`
	EData Offset `rt:"edata,optional"`
	BSS   Offset `rt:"bss,optional"`
	EBSS  Offset `rt:"ebss,optional"`
	// a runtime.bitvector: a bit for each word that has a pointer
	GCDataMask Offset `rt:"gcdatamask,optional"`
	GCBSSMask  Offset `rt:"gcbssmask,optional"`
	Next       Offset `rt:"next,optional"`
}

// Heap is runtime.mheap, the type of runtime.mheap_.
type Heap struct {
	Size     Offset `rt:"-,optional"`
	AllSpans Offset `rt:"allspans,optional"`
}

// Span is runtime.mspan.
type Span struct {
	Size       Offset `rt:"-,optional"`
	StartAddr  Offset `rt:"startAddr,optional"`
	NPages     Offset `rt:"npages,optional"`
	NElems     Offset `rt:"nelems,optional"` // 8 bytes up to 1.21, then 2
	SpanClass  Offset `rt:"spanclass,optional"`
	State      Offset `rt:"state,optional"`
	ElemSize   Offset `rt:"elemsize,optional"`
	Limit      Offset `rt:"limit,optional"`
	Specials   Offset `rt:"specials,optional"`
	PinnerBits Offset `rt:"pinnerBits,optional"`
}

// Special is runtime.special.
type Special struct {
	Size   Offset `rt:"-,optional"`
	Next   Offset `rt:"next,optional"`
	Offset Offset `rt:"offset,optional"` // 2 bytes up to 1.23, then 8
	Kind   Offset `rt:"kind,optional"`
}

// Cleanups is runtime.cleanupQueue, the type of runtime.gcCleanups, from
// 1.25 on.
type Cleanups struct {
	Size Offset `rt:"-,optional"`
	All  Offset `rt:"all,optional"`
}

// GC is runtime.gcControllerState, the type of runtime.gcController.
type GC struct {
	Size               Offset `rt:"-,optional"`
	HeapLive           Offset `rt:"heapLive,optional"`
	HeapInUse          Offset `rt:"heapInUse,optional"`
	HeapFree           Offset `rt:"heapFree,optional"`
	HeapReleased       Offset `rt:"heapReleased,optional"`
	TotalAlloc         Offset `rt:"totalAlloc,optional"`
	TotalFree          Offset `rt:"totalFree,optional"`
	AssistTime         Offset `rt:"assistTime,optional"`
	DedicatedMarkTime  Offset `rt:"dedicatedMarkTime,optional"`
	FractionalMarkTime Offset `rt:"fractionalMarkTime,optional"`
	IdleMarkTime       Offset `rt:"idleMarkTime,optional"`
}

// MemStats is runtime.mstats, the type of runtime.memstats.
type MemStats struct {
	Size         Offset `rt:"-,optional"`
	HeapStats    Offset `rt:"heapStats.stats,optional"` // three heapStatsDelta, whose sum counts
	HeapStatsGen Offset `rt:"heapStats.gen,optional"`   // number of the one that is written to
	NumGC        Offset `rt:"numgc,optional"`
	PauseTotalNS Offset `rt:"pause_total_ns,optional"`
}

// HeapStats is runtime.heapStatsDelta.
type HeapStats struct {
	Size            Offset `rt:"-,optional"`
	InStacks        Offset `rt:"inStacks,optional"`
	TinyAllocCount  Offset `rt:"tinyAllocCount,optional"`
	LargeAllocCount Offset `rt:"largeAllocCount,optional"`
	SmallAllocCount Offset `rt:"smallAllocCount,optional"` // an array that ends at LargeFree
	LargeFree       Offset `rt:"largeFree,optional"`
	LargeFreeCount  Offset `rt:"largeFreeCount,optional"`
	SmallFreeCount  Offset `rt:"smallFreeCount,optional"` // an array of the same length
}

// Collection is runtime.workType, the type of runtime.work.
type Collection struct {
	Size          Offset `rt:"-,optional"`
	AssistTime    Offset `rt:"cpuStats.GCAssistTime,optional"` // from 1.24
	DedicatedTime Offset `rt:"cpuStats.GCDedicatedTime,optional"`
	IdleTime      Offset `rt:"cpuStats.GCIdleTime,optional"`

	OldAssistTime    Offset `rt:"cpuStats.gcAssistTime,optional"` // up to 1.23
	OldDedicatedTime Offset `rt:"cpuStats.gcDedicatedTime,optional"`
	OldIdleTime      Offset `rt:"cpuStats.gcIdleTime,optional"`
}
