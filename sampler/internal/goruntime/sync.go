package goruntime

// Offsets in sync.Mutex and sync.RWMutex. The first field of a RWMutex is the Mutex that its writers compete for.
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

// Bits in the state of a sync.Mutex, all in its lowest byte. The rest is the number of goroutines that wait.
const (
	MutexLocked   = 1
	MutexWoken    = 2
	MutexStarving = 4
)
