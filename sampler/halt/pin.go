//go:build linux && (amd64 || arm64)

package halt

import _ "unsafe" // for linkname

// Go's scheduler interrupts a goroutine that has had its
// processor for 10 ms, and one that is to stand still for the
// garbage collector. The worker is bound to its OS thread, so
// the scheduler then passes the processor to another thread of
// the sampler, which passes it back. That one has no raised
// priority: on a busy machine it first waits 5 to 20 ms for a
// CPU. In a halt, the threads of the program would stand still
// for so long. So the worker is pinned from the sleep before a
// halt on until its late threads have gone: the scheduler waits
// for it.
//
// What is pinned must not block in Go: not on a channel, not for
// a mutex, not in time.Sleep. The runtime would end the sampler.
// System calls are allowed. Package fmt is not: it may wait for
// a lock of its pools. An error is put into words after unpin,
// or when it is printed.

// procPin and procUnpin are the functions of the runtime by
// which package sync does the same. The runtime keeps them for
// other packages, too.
//
//go:linkname procPin runtime.procPin
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()

func (w *worker) pin() {
	if !w.pinned {
		w.pinned = true
		procPin()
	}
}

func (w *worker) unpin() {
	if w.pinned {
		w.pinned = false
		procUnpin()
	}
}

// breathe lets the scheduler interrupt the worker, if that is
// what it waits for.
func (w *worker) breathe() {
	w.unpin()
	safePoint()
	w.pin()
}

// safePoint is a function that begins with a check whether the
// scheduler waits. Those that are inlined, or that call no
// other, have no such check.
//
//go:noinline
func safePoint() { ThreadTime() }
