package goruntime

import (
	"encoding/binary"
	"fmt"
)

// An Awaited is the kind of thing that a parked goroutine waits for.
type Awaited uint8

const (
	AwaitsOther    Awaited = iota // a thing about which cpprof finds out nothing more
	AwaitsLock                    // a sync.Mutex or a sync.RWMutex: the goroutine is blocked
	AwaitsChannel                 // one channel
	AwaitsChannels                // several channels, perhaps for a semaphore or a pool
	AwaitsGroup                   // a sync.WaitGroup or a sync.Cond, perhaps
)

// A WaitReason is the reason for which the runtime parked a
// goroutine (runtime.waitReason), with its meaning.
type WaitReason struct {
	Text   string // the runtime's own: "chan receive"
	Awaits Awaited
	// AwaitsLock: the offset in the lock of the semaphore that
	// the goroutine waits for
	Semaphore uint64
	// AwaitsLock: readers keep the goroutine waiting. Without it, the lock's
	// writer does
	Readers bool
	// AwaitsChannel: the goroutine waits until another one receives. Without
	// it, until another one sends
	Sends bool
	Never bool // nothing ends the wait
	// a goroutine of the runtime's own waits for work. It holds
	// nothing of the program's
	Idle bool
}

// The reasons that code asks for by name.
const (
	ChanReceive = "chan receive" // every release has it
	MutexLock   = "sync.Mutex.Lock"
	ReadLock    = "sync.RWMutex.RLock"
	Select      = "select"
	NoCases     = "select (no cases)"
	CondWait    = "sync.Cond.Wait"
)

// waitReasons has the reasons about which cpprof finds out more.
var waitReasons = map[string]WaitReason{
	MutexLock:           {Awaits: AwaitsLock, Semaphore: MutexSema},
	"sync.RWMutex.Lock": {Awaits: AwaitsLock, Semaphore: RWMutexWriterSem, Readers: true},
	ReadLock:            {Awaits: AwaitsLock, Semaphore: RWMutexReaderSem},

	ChanReceive: {Awaits: AwaitsChannel},
	"chan send": {Awaits: AwaitsChannel, Sends: true},

	CondWait:              {Awaits: AwaitsGroup},
	"sync.WaitGroup.Wait": {Awaits: AwaitsGroup}, // from Go 1.24 on
	Select:                {Awaits: AwaitsChannels},
	// up to Go 1.23 for a WaitGroup. Other waits have it in every release
	"semacquire": {Awaits: AwaitsGroup},

	NoCases: {Never: true}, "chan receive (nil chan)": {Never: true},
	"chan send (nil chan)": {Never: true},

	"cleanup wait": {Idle: true}, "finalizer wait": {Idle: true}, "force gc (idle)": {Idle: true},
	"GC scavenge wait": {Idle: true}, "GC sweep wait": {Idle: true}, "GC worker (idle)": {Idle: true},
	"GOMAXPROCS updater (idle)": {Idle: true},
}

// otherReasons are the rest: cpprof finds out nothing more about
// what their goroutines wait for.
var otherReasons = []string{
	"", "coroutine", "debug call", "dumping heap", "IO wait", "page trace flush", "panicwait",
	"preempted", "sleep", "stopping the world", "trace reader (blocked)",

	// The collector's work and the tracer's.
	"flushing proc caches", "garbage collection", "garbage collection scan", "GC assist marking",
	"GC assist wait",
	"GC mark termination", "GC weak to strong wait", "GC worker (active)", "trace goroutine status",
	"trace proc status",
	"wait for GC cycle",

	// Of package testing/synctest.
	"chan receive (durable)", "chan receive (synctest)", "chan send (durable)",
	"chan send (synctest)", "select (durable)",
	"select (synctest)", "sync.WaitGroup.Wait (durable)", "sync.WaitGroup.Wait (synctest)",
	"synctest.Run",
	"synctest.Wait", "synctest.run", "synctest.wait",
}

// ReasonOf returns the meaning of a reason, given its text.
func ReasonOf(text string) WaitReason {
	r := waitReasons[text]
	r.Text = text
	return r
}

// LockAt returns the address of the lock that a goroutine waits
// for, given the address of the semaphore in it; 0 if the reason
// is not a wait for a lock.
func (r WaitReason) LockAt(semaphore uint64) uint64 {
	if r.Awaits != AwaitsLock || semaphore < r.Semaphore {
		return 0
	}
	return semaphore - r.Semaphore
}

// Reasons are the wait reasons of one release of Go, by their
// numbers.
type Reasons []WaitReason

// At returns the reason with a number; one without a text if
// there is none.
func (r Reasons) At(number byte) WaitReason {
	if int(number) < len(r) {
		return r[number]
	}
	return WaitReason{}
}

// ReadReasons reads the texts of runtime.waitReasonStrings from
// a program's memory. Their number is not known, but what
// follows them is hardly ever a valid string.
func ReadReasons(read func(addr uint64, b []byte) error, at uint64) (reasons Reasons, err error) {
	const most = 64
	headers := make([]byte, 16*most)
	for len(headers) > 0 && read(at, headers) != nil {
		headers = headers[:len(headers)-16] // past the end of mapped memory
	}
	known := false
	for ; len(headers) > 0; headers = headers[16:] {
		s, ok := shortText(read, binary.LittleEndian.Uint64(headers),
			binary.LittleEndian.Uint64(headers[8:]))
		if !ok || s == "" && len(reasons) > 0 {
			break
		}
		known = known || s == ChanReceive
		reasons = append(reasons, ReasonOf(s))
	}
	if !known {
		return nil, fmt.Errorf("%d texts read", len(reasons))
	}
	return reasons, nil
}

// shortText reads a string that must be short and printable.
func shortText(read func(addr uint64, b []byte) error, at, n uint64) (text string, ok bool) {
	const most = 200
	if n > most {
		return "", false
	}
	b := make([]byte, n)
	if n > 0 && read(at, b) != nil {
		return "", false
	}
	for _, c := range b {
		if c < ' ' || c > '~' {
			return "", false
		}
	}
	return string(b), true
}
