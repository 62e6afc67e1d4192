package goruntime

// Statuses of a goroutine (runtime.g.atomicstatus).
const (
	GIdle      = 0
	GRunnable  = 1
	GRunning   = 2
	GSyscall   = 3
	GWaiting   = 4
	GDead      = 6
	GCopystack = 8
	GPreempted = 9
	GLeaked    = 10 // it waits for something that no other goroutine can reach
	GDeadExtra = 11 // it belongs to a thread that C made, and that is in C now

	GScan = 0x1000 // set in addition to any of them while the collector reads the stack
)

// HasGoroutine reports whether a g with a status, without GScan,
// has a goroutine. The runtime keeps the others for later
// goroutines.
func HasGoroutine(status uint32) bool {
	return status != GIdle && status != GDead && status != GDeadExtra
}

// Statuses of a processor (runtime.p.status). From Go 1.26 on no
// processor is PSyscall.
const (
	PIdle    = 0
	PRunning = 1
	PSyscall = 2
	PGCStop  = 3
)
