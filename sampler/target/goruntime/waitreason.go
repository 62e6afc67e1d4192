package goruntime

// An Awaited is the kind of thing that a parked goroutine waits for.
type Awaited uint8

const (
	AwaitsOther   Awaited = iota // a thing about which cpprof finds out nothing more
	AwaitsLock                   // a sync.Mutex or a sync.RWMutex: the goroutine is blocked
	AwaitsChannel                // one channel
	AwaitsGroup                  // a sync.WaitGroup, a sync.Cond, a semaphore or a pool, perhaps
)

// A WaitReason is the reason for which the runtime parked a goroutine (runtime.waitReason), with its meaning.
type WaitReason struct {
	Text      string // the runtime's own: "chan receive"
	Awaits    Awaited
	Semaphore uint64 // AwaitsLock: the offset in the lock of the semaphore that the goroutine waits for
	Readers   bool   // AwaitsLock: readers keep the goroutine waiting. Without it, the lock's writer does
	Sends     bool   // AwaitsChannel: the goroutine waits until another one receives. Without it, until another one sends
}

// The reasons that code asks for by name.
const (
	ChanReceive = "chan receive" // every release has it
	MutexLock   = "sync.Mutex.Lock"
	ReadLock    = "sync.RWMutex.RLock"
)

// waitReasons has the reasons about which cpprof finds out more.
var waitReasons = map[string]WaitReason{
	MutexLock:           {Awaits: AwaitsLock, Semaphore: MutexSema},
	"sync.RWMutex.Lock": {Awaits: AwaitsLock, Semaphore: RWMutexWriterSem, Readers: true},
	ReadLock:            {Awaits: AwaitsLock, Semaphore: RWMutexReaderSem},

	ChanReceive: {Awaits: AwaitsChannel},
	"chan send": {Awaits: AwaitsChannel, Sends: true},

	"sync.Cond.Wait":      {Awaits: AwaitsGroup},
	"sync.WaitGroup.Wait": {Awaits: AwaitsGroup}, // from Go 1.24 on
	"select":              {Awaits: AwaitsGroup}, // in a semaphore or a pool, and for channels
	"semacquire":          {Awaits: AwaitsGroup}, // up to Go 1.23 for a WaitGroup. Other waits have it in every release
}

// otherReasons are the rest: cpprof finds out nothing more about what their goroutines wait for.
var otherReasons = []string{
	"", "coroutine", "debug call", "dumping heap", "IO wait", "page trace flush", "panicwait", "preempted",
	"select (no cases)", "sleep", "stopping the world", "chan receive (nil chan)", "chan send (nil chan)",

	// The runtime's own goroutines wait for work.
	"cleanup wait", "finalizer wait", "force gc (idle)", "GC scavenge wait", "GC sweep wait", "GC worker (idle)",
	"GOMAXPROCS updater (idle)", "trace reader (blocked)",

	// The collector's work and the tracer's.
	"flushing proc caches", "garbage collection", "garbage collection scan", "GC assist marking", "GC assist wait",
	"GC mark termination", "GC weak to strong wait", "GC worker (active)", "trace goroutine status", "trace proc status",
	"wait for GC cycle",

	// Of package testing/synctest.
	"chan receive (durable)", "chan receive (synctest)", "chan send (durable)", "chan send (synctest)", "select (durable)",
	"select (synctest)", "sync.WaitGroup.Wait (durable)", "sync.WaitGroup.Wait (synctest)", "synctest.Run",
	"synctest.Wait", "synctest.run", "synctest.wait",
}

// ReasonOf returns the meaning of a reason, given its text.
func ReasonOf(text string) WaitReason {
	r := waitReasons[text]
	r.Text = text
	return r
}

// LockAt returns the address of the lock that a goroutine waits for, given the address of the semaphore in it; 0 if the
// reason is not a wait for a lock.
func (r WaitReason) LockAt(semaphore uint64) uint64 {
	if r.Awaits != AwaitsLock || semaphore < r.Semaphore {
		return 0
	}
	return semaphore - r.Semaphore
}
