package goruntime

import "strings"

// Bottom is the name of the function below every goroutine's first one.
const Bottom = "runtime.goexit"

// IsSystem reports whether a goroutine is the runtime's own, by
// the name of its first function, as the runtime itself decides
// it (isSystemGoroutine).
func IsSystem(first string) bool {
	return strings.HasPrefix(first, "runtime.") && first != "runtime.main" &&
		first != "runtime.handleAsyncEvent"
}

// IsCollector reports whether a goroutine works for the garbage collector, by
// the name of its first function.
func IsCollector(first string) bool { return first == "runtime.gcBgMarkWorker" }

// GrowsStack reports whether a function grows its caller's stack and then
// restarts the caller.
func GrowsStack(function string) bool { return strings.HasPrefix(function, growsStack) }

const growsStack = "runtime.morestack"

// IsRuntime reports whether a function is one of the runtime.
func IsRuntime(function string) bool {
	return strings.HasPrefix(function, "runtime.") ||
		strings.HasPrefix(function, "internal/runtime/")
}

// IsSync reports whether a function or a type is one of package sync.
func IsSync(name string) bool {
	return strings.HasPrefix(name, "sync.") || strings.HasPrefix(name, "internal/sync.")
}

// Package returns the package of a function, a variable or a
// type's field, as the linker writes it; the name itself if it
// is in none.
func Package(name string) string {
	slash := strings.LastIndexByte(name, '/') + 1
	if i := strings.IndexByte(name[slash:], '.'); i >= 0 {
		return name[:slash+i]
	}
	return name
}

// IsWrapperOf121 reports whether a function number
// (internal/abi.FuncID) of Go 1.21 marks a wrapper, which the
// compiler generated to call another function. The wrappers of
// Go 1.21 have names like closures.
func (r Release) IsWrapperOf121(funcID uint8) bool { return r.Line <= 21 && funcID == 21 }

// A CallRole is the effect of a function's call on locks,
// channels, groups and conditions.
type CallRole uint8

const (
	CallOther    CallRole = iota
	CallLock              // takes the lock at its first argument
	CallLockSlow          // the same: the slow path of Lock
	CallUnlock            // releases it
	CallRLock             // takes it for a reader
	CallRUnlock           // releases it
	CallTryLock           // takes it if it is free
	CallTryRLock          // the same for a reader
	// RLock waits for the writer: the first argument is the lock's semaphore
	CallReadSlow
	CallUnlockSlow  // nothing: the fast path before the call has released the lock
	CallRUnlockSlow // the same
	CallSend        // sends to the channel at its first argument
	CallReceive     // receives from it
	CallSelect      // does one of the cases that its arguments list
	CallClose       // closes the channel at its first argument
	CallDone        // lowers the counter of the WaitGroup at its first argument
	CallAdd         // lowers it if the second argument is below 0
	CallSignal      // wakes those who wait for the Cond at its first argument
	// takes a part of the semaphore.Weighted at its first argument, or
	// waits for it
	CallAcquire
	CallRelease // gives it back
	// takes a connection of the pool at its first argument, or
	// waits for one
	CallConnection
	CallWithConnection // runs while it has such a connection
	// gives back the connection of the pool to which the first
	// word at its first argument points
	CallReturn
	CallReturnOf // the same, with one more pointer in between
	// writes to the poll.FD at its first argument, with its lock
	// for writing
	CallWrite
	CallFDLock     // takes such a lock, or waits for it
	CallGroupWait  // waits for a WaitGroup
	CallCondWait   // waits for a Cond, and releases a lock meanwhile
	CallStops      // does not return here
	CallUnwinds    // runs deferred functions, which may release locks
	CallDefer      // defers the call of the closure at its first argument
	CallDeferStack // the same: the argument is the runtime's record of it
	CallGo         // starts a goroutine that calls the closure at its first argument
	CallBarrier    // keeps all registers but a few
	CallDuff       // writes to the frame
	CallSemacquire // waits for the semaphore at its first argument
	CallSudog      // returns the sudog that a wait needs
)

var callRoles = map[string]CallRole{
	"sync.(*Mutex).Lock":                CallLock,
	"internal/sync.(*Mutex).Lock":       CallLock,
	"sync.(*RWMutex).Lock":              CallLock,
	"sync.(*Mutex).lockSlow":            CallLockSlow,
	"internal/sync.(*Mutex).lockSlow":   CallLockSlow,
	"sync.(*Mutex).Unlock":              CallUnlock,
	"internal/sync.(*Mutex).Unlock":     CallUnlock,
	"sync.(*RWMutex).Unlock":            CallUnlock,
	"sync.(*RWMutex).RLock":             CallRLock,
	"sync.(*Mutex).TryLock":             CallTryLock,
	"internal/sync.(*Mutex).TryLock":    CallTryLock,
	"sync.(*RWMutex).TryLock":           CallTryLock,
	"sync.(*RWMutex).TryRLock":          CallTryRLock,
	"sync.(*RWMutex).RUnlock":           CallRUnlock,
	"sync.runtime_SemacquireRWMutexR":   CallReadSlow,
	"sync.(*Mutex).unlockSlow":          CallUnlockSlow,
	"internal/sync.(*Mutex).unlockSlow": CallUnlockSlow,
	"sync.(*RWMutex).rUnlockSlow":       CallRUnlockSlow,
	"sync.(*WaitGroup).Done":            CallDone,
	"sync.(*WaitGroup).Add":             CallAdd,
	"sync.(*WaitGroup).Wait":            CallGroupWait,
	"sync.(*Cond).Signal":               CallSignal,
	"sync.(*Cond).Broadcast":            CallSignal,
	"sync.(*Cond).Wait":                 CallCondWait,
	"runtime.chansend1":                 CallSend,
	"runtime.selectnbsend":              CallSend,
	"runtime.chanrecv1":                 CallReceive,
	"runtime.chanrecv2":                 CallReceive,
	"runtime.selectnbrecv":              CallReceive,
	"runtime.selectgo":                  CallSelect,
	"runtime.closechan":                 CallClose,
	"runtime.gopanic":                   CallStops,
	"runtime.throw":                     CallStops,
	"runtime.fatal":                     CallStops,
	"runtime.Goexit":                    CallUnwinds,
	"runtime.deferreturn":               CallUnwinds,
	"runtime.deferproc":                 CallDefer,
	"runtime.deferprocStack":            CallDeferStack,
	"runtime.newproc":                   CallGo,
	"runtime.wbZero":                    CallBarrier,
	"runtime.wbMove":                    CallBarrier,
	"runtime.semacquire1":               CallSemacquire,
	"runtime.acquireSudog":              CallSudog,
}

// callFamilies are functions of the runtime that are identified by prefixes
// of their names.
var callFamilies = []struct {
	prefix string
	role   CallRole
}{
	{growsStack, CallStops}, {"runtime.panic", CallStops}, {"runtime.goPanic", CallStops},
	{"runtime.gcWriteBarrier", CallBarrier}, {"runtime.duff", CallDuff},
}

// CallRoleOf returns the role of a function, given its name.
func CallRoleOf(function string) CallRole {
	if r, ok := callRoles[function]; ok {
		return r
	}
	if !strings.HasPrefix(function, "runtime.") {
		return resourceRoles[function]
	}
	for _, f := range callFamilies {
		if strings.HasPrefix(function, f.prefix) {
			return f.role
		}
	}
	return CallOther
}

// TakesOrReleases reports whether a call does something to a lock.
func (r CallRole) TakesOrReleases() bool { return CallLock <= r && r <= CallRUnlockSlow }

// UsesChannel reports whether a call sends to a channel, or
// receives from it.
func (r CallRole) UsesChannel() bool { return r == CallSend || r == CallReceive || r == CallSelect }

// EndsWaits reports whether a call may end waits for a
// WaitGroup, a Cond, a semaphore or a pool, or all waits for a
// channel.
func (r CallRole) EndsWaits() bool {
	switch r {
	case CallClose, CallDone, CallAdd, CallSignal, CallRelease, CallReturn, CallReturnOf:
		return true
	}
	return false
}

// IsSlowPath reports whether a function is what an inlined one
// calls if its atomic instruction does not suffice.
func (r CallRole) IsSlowPath() bool {
	return r == CallLockSlow || r == CallUnlockSlow || r == CallRUnlockSlow || r == CallReadSlow
}

// An AtomicEffect is the effect on a lock of the atomic addition
// in a function of package sync, if the function is inlined.
type AtomicEffect struct {
	Takes bool  // Without it, the lock is released
	Read  bool  // for a reader
	Field int64 // offset in the lock of the memory that the instruction changes
}

var atomicEffects = map[string]AtomicEffect{
	"sync.(*Mutex).Unlock":          {Field: MutexState},
	"internal/sync.(*Mutex).Unlock": {Field: MutexState},
	"sync.(*RWMutex).RLock":         {Takes: true, Read: true, Field: RWMutexReaderCount},
	"sync.(*RWMutex).RUnlock":       {Read: true, Field: RWMutexReaderCount},
}

// AtomicEffectOf returns what the atomic addition of an inlined function
// does, by the function's name.
func AtomicEffectOf(function string) (AtomicEffect, bool) {
	e, ok := atomicEffects[function]
	return e, ok
}

// balanced are prefixes of names of functions that release what
// they take in ways that are hard to analyse.
var balanced = []string{"fmt.", "internal/sync.(*HashTrieMap[", "sync.(*Map).", "sync.(*Pool).",
	"sync.(*Once).", "unique."}

// IsBalanced reports whether a function is known to release
// every lock that it takes. A function literal is not: in Go
// 1.21, sync.(*Once).doSlow.func1 is the deferred Unlock.
func IsBalanced(function string) bool {
	for _, prefix := range balanced {
		if rest, ok := strings.CutPrefix(function, prefix); ok {
			return !strings.Contains(rest, ".func")
		}
	}
	return false
}
