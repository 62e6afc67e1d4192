package goruntime

// Offsets in sync.Mutex and sync.RWMutex. The first field of a
// RWMutex is the Mutex that its writers compete for.
const (
	MutexState = 0 // a bit set, see below
	MutexSema  = 4
	MutexSize  = 8

	RWMutexWriterSem   = 8
	RWMutexReaderSem   = 12
	RWMutexReaderCount = 16
	RWMutexReaderWait  = 20 // how many readers a writer waits for
	RWMutexSize        = 24
)

// Bits in the state of a sync.Mutex, all in its lowest byte. The
// rest is the number of goroutines that wait.
const (
	MutexLocked   = 1
	MutexWoken    = 2
	MutexStarving = 4
)

// WaitGroupCount is the offset in a sync.WaitGroup of the number of
// goroutines that it waits for (4 bytes).
const WaitGroupCount = 4

// WaitGroupSema is the offset in a sync.WaitGroup of the semaphore that
// goroutines in Wait are parked at.
const WaitGroupSema = 8

// Offsets in a golang.org/x/sync/semaphore.Weighted, 8 bytes each.
const (
	WeightedSize  = 0 // the sum of all parts
	WeightedTaken = 8 // of those that were taken
)

// Offsets in a channel (runtime.hchan), 8 bytes each.
const (
	ChannelLength   = 0 // number of elements in its buffer
	ChannelCapacity = 8
	ChannelHead     = 16 // bytes that have both
)
