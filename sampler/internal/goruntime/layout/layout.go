// Package layout knows where the fields of the Go runtime's structs lie, by exact Go version and processor.
//
// The offsets come from the binary's DWARF where it has some, else from a table that the generator in
// gen builds from the DWARF of tiny programs, one for each release of Go. Both give the same Layout.
package layout

// An Offset is the place of a field in its struct in bytes, or Missing where this Go has no such field.
type Offset int32

// Missing is the offset of a field that this version's struct does not have.
const Missing Offset = -1

// Has tells whether the field exists in this version.
func (o Offset) Has() bool { return o >= 0 }

// A Source says where a layout is from, and so how far it can be trusted.
type Source uint8

const (
	// FromDWARF: the binary describes itself.
	FromDWARF Source = iota
	// FromTable: the table has this very release, or releases of the same line on both sides of it that agree.
	FromTable
	// Guessed: the nearest release's. Whoever uses it validates it first (m.procid is a thread of the
	// process, m.curg.m is m, and the like).
	Guessed
)

// Origin says in words what the layout was taken from.
func (l *Layout) Origin() string {
	switch l.Source {
	case FromTable:
		return "the known layout of " + l.Release
	case Guessed:
		return "the layout of " + l.Release + ", the nearest release that is known"
	}
	return "the program's debug information"
}

// A Layout holds the offsets that a sampler needs. The `rt` tag names the field in the runtime; a struct's size
// has the tag "-". Fields may lie inside nested structs (stack.lo).
type Layout struct {
	Source  Source `rt:""`
	Release string `rt:""` // the release that the table had it from: go1.26.8; empty FromDWARF

	G        G        `rt:"g"`
	M        M        `rt:"m"`
	P        P        `rt:"p"`
	Sched    Sched    `rt:"schedt"`
	Sudog    Sudog    `rt:"sudog"`
	Hchan    Hchan    `rt:"hchan"`
	Module   Module   `rt:"moduledata"`
	GC       GC       `rt:"gcControllerState"`
	Memstats Memstats `rt:"mstats"`
	Work     Work     `rt:"workType"`
	Timer    Timer    `rt:"timer"`
}

// G is runtime.g.
type G struct {
	Size           Offset `rt:"-"`
	StackLo        Offset `rt:"stack.lo"`
	StackHi        Offset `rt:"stack.hi"`
	M              Offset `rt:"m"`
	SchedSP        Offset `rt:"sched.sp"`
	SchedPC        Offset `rt:"sched.pc"`
	SchedLR        Offset `rt:"sched.lr"`
	SchedBP        Offset `rt:"sched.bp"`
	SyscallSP      Offset `rt:"syscallsp"`
	SyscallPC      Offset `rt:"syscallpc"`
	SyscallBP      Offset `rt:"syscallbp"`
	AtomicStatus   Offset `rt:"atomicstatus"`
	Goid           Offset `rt:"goid"`
	WaitSince      Offset `rt:"waitsince"`
	WaitReason     Offset `rt:"waitreason"`
	Preempt        Offset `rt:"preempt"`
	InMarkAssist   Offset `rt:"inMarkAssist"`
	TrackingSeq    Offset `rt:"trackingSeq"`
	LockedM        Offset `rt:"lockedm"`
	ParentGoid     Offset `rt:"parentGoid"`
	GoPC           Offset `rt:"gopc"`
	StartPC        Offset `rt:"startpc"`
	Waiting        Offset `rt:"waiting"`
	Labels         Offset `rt:"labels"`
	SleepWhen      Offset `rt:"sleepWhen"`
	Bubble         Offset `rt:"bubble"`
	GCAssistBytes  Offset `rt:"gcAssistBytes"`
	ParkingOnChan  Offset `rt:"parkingOnChan"`
	ActiveStackChn Offset `rt:"activeStackChans"`
}

// M is runtime.m.
type M struct {
	Size     Offset `rt:"-"`
	G0       Offset `rt:"g0"`
	GSignal  Offset `rt:"gsignal"`
	ProcID   Offset `rt:"procid"`
	CurG     Offset `rt:"curg"`
	P        Offset `rt:"p"`
	NextP    Offset `rt:"nextp"`
	OldP     Offset `rt:"oldp"`
	ID       Offset `rt:"id"`
	Locks    Offset `rt:"locks"`
	Spinning Offset `rt:"spinning"`
	Blocked  Offset `rt:"blocked"`
	InCgo    Offset `rt:"incgo"`
	IsExtra  Offset `rt:"isextra"`
	NCgo     Offset `rt:"ncgo"`
	AllLink  Offset `rt:"alllink"`
	LockedG  Offset `rt:"lockedg"`
	VDSOSP   Offset `rt:"vdsoSP"`
	VDSOPC   Offset `rt:"vdsoPC"`
	// SyscallTick is compared with the same of OldP to see whether a system call still owns its processor
	// (up to 1.25).
	SyscallTick Offset `rt:"syscalltick"`
}

// P is runtime.p.
type P struct {
	Size             Offset `rt:"-"`
	ID               Offset `rt:"id"`
	Status           Offset `rt:"status"`
	SchedTick        Offset `rt:"schedtick"`
	SyscallTick      Offset `rt:"syscalltick"`
	M                Offset `rt:"m"`
	RunqHead         Offset `rt:"runqhead"`
	RunqTail         Offset `rt:"runqtail"`
	Runq             Offset `rt:"runq"`
	RunNext          Offset `rt:"runnext"`
	GCMarkWorkerMode Offset `rt:"gcMarkWorkerMode"`
}

// Sched is runtime.schedt, the type of runtime.sched.
type Sched struct {
	Size       Offset `rt:"-"`
	GoidGen    Offset `rt:"goidgen"`
	LastPoll   Offset `rt:"lastpoll"`
	NMIdle     Offset `rt:"nmidle"`
	NGSys      Offset `rt:"ngsys"`
	NPIdle     Offset `rt:"npidle"`
	NMSpinning Offset `rt:"nmspinning"`
	RunqHead   Offset `rt:"runq.head"`
	RunqTail   Offset `rt:"runq.tail"`
	RunqSize   Offset `rt:"runqsize"`  // up to 1.24
	RunqLen    Offset `rt:"runq.size"` // from 1.25
	GCWaiting  Offset `rt:"gcwaiting"`
	StopWait   Offset `rt:"stopwait"`
}

// Sudog is runtime.sudog.
type Sudog struct {
	Size     Offset `rt:"-"`
	G        Offset `rt:"g"`
	Next     Offset `rt:"next"`
	Prev     Offset `rt:"prev"`
	Elem     Offset `rt:"elem"`    // a pointer up to 1.25, a pair of pointer and address from 1.26
	ElemAddr Offset `rt:"elem.vu"` // from 1.26: the address without a pointer's type
	Parent   Offset `rt:"parent"`
	WaitLink Offset `rt:"waitlink"`
	C        Offset `rt:"c"`
	CAddr    Offset `rt:"c.maybeTraceablePtr.vu"`
	IsSelect Offset `rt:"isSelect"`
	Ticket   Offset `rt:"ticket"`
}

// Hchan is runtime.hchan.
type Hchan struct {
	Size     Offset `rt:"-"`
	QCount   Offset `rt:"qcount"`
	DataSize Offset `rt:"dataqsiz"`
	Closed   Offset `rt:"closed"`
	RecvQ    Offset `rt:"recvq"`
	SendQ    Offset `rt:"sendq"`
}

// Module is runtime.moduledata.
type Module struct {
	Size     Offset `rt:"-"`
	PCHeader Offset `rt:"pcHeader"`
	MinPC    Offset `rt:"minpc"`
	MaxPC    Offset `rt:"maxpc"`
	Text     Offset `rt:"text"`
	EText    Offset `rt:"etext"`
	ROData   Offset `rt:"rodata"`
	GoFunc   Offset `rt:"gofunc"`
	TextMap  Offset `rt:"textsectmap"`
	Types    Offset `rt:"types"`
	Next     Offset `rt:"next"`
}

// GC is runtime.gcControllerState.
type GC struct {
	Size      Offset `rt:"-"`
	HeapLive  Offset `rt:"heapLive"`
	HeapInUse Offset `rt:"heapInUse"`
}

// Memstats is runtime.mstats, the type of runtime.memstats.
type Memstats struct {
	Size    Offset `rt:"-"`
	NumGC   Offset `rt:"numgc"`
	PauseNS Offset `rt:"pause_total_ns"`
}

// Work is runtime.workType, the type of runtime.work.
type Work struct {
	Size   Offset `rt:"-"`
	Cycles Offset `rt:"cycles"`
	Mode   Offset `rt:"mode"`
}

// Timer is runtime.timer.
type Timer struct {
	Size Offset `rt:"-"`
	When Offset `rt:"when"`
}
