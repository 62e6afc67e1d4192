// Package layout has the offsets of fields in the Go runtime's structs, by exact Go version and processor.
//
// They come from a binary's DWARF if it has any, else from a table, layouts.txt. The generator in gen makes it from the DWARF of
// tiny programs, one for each release of Go. Both ways lead to the same Layout.
package layout

// An Offset is the offset of a field in its struct in bytes, or Missing if this version of Go has no such field.
type Offset int32

// Missing is the offset of a field that this version's struct does not have.
const Missing Offset = -1

// Has reports whether the field exists in this version.
func (o Offset) Has() bool { return o >= 0 }

// A Source is where a layout is from. It determines how far the layout can be trusted.
type Source uint8

const (
	// FromDWARF: the binary's own debug information.
	FromDWARF Source = iota
	// FromTable: the table has this very release, or releases of the same line on both sides of it that agree.
	FromTable
	// Guessed: the layout of the nearest release. Callers must validate it before use (m.procid is a thread of the
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

// A Layout has the offsets that a sampler needs. The `rt` tag is the field's name in the runtime; the size of a struct
// has the tag "-" and comes first. Fields may be inside nested structs (stack.lo). A layout without one of the required
// fields can't be used.
type Layout struct {
	Source  Source `rt:""`
	Release string `rt:""` // the release that the table had it from: go1.26.8; empty FromDWARF

	G      G      `rt:"g"`
	M      M      `rt:"m"`
	P      P      `rt:"p"`
	Sched  Sched  `rt:"schedt"`
	Sudog  Sudog  `rt:"sudog"`
	Module Module `rt:"moduledata"`
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
	// SyscallTick is compared with the same of OldP to see whether a system call still owns its processor
	// (up to 1.25).
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
}

// Sched is runtime.schedt, the type of runtime.sched.
type Sched struct {
	Size      Offset `rt:"-"`
	RunqHead  Offset `rt:"runq.head,optional"`
	GCWaiting Offset `rt:"gcwaiting,optional"`
}

// Sudog is runtime.sudog.
type Sudog struct {
	Size   Offset `rt:"-"`
	G      Offset `rt:"g"`
	C      Offset `rt:"c,optional"`
	CAddr  Offset `rt:"c.maybeTraceablePtr.vu,optional"`
	Ticket Offset `rt:"ticket,optional"`
}

// Module is runtime.moduledata.
type Module struct {
	Size     Offset `rt:"-"`
	PCHeader Offset `rt:"pcHeader"`
	Text     Offset `rt:"text"`
	EText    Offset `rt:"etext"`
	GoFunc   Offset `rt:"gofunc"`
	TextMap  Offset `rt:"textsectmap"`
}
