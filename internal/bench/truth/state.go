//go:build linux

package main

import (
	"strings"

	"golang.org/x/exp/trace"
)

// A state is what a goroutine did, as far as both a trace and a
// recording know it.
type state uint8

const (
	running state = iota // also without a CPU
	calling              // in a system call, or in C
	ready
	locked // waits for a lock
	waiting
	numStates
)

var stateNames = [numStates]string{"running", "in a system call", "ready", "waiting for a lock", "waiting"}

func (s state) String() string { return stateNames[s] }

// stateOf returns the state that a transition leads to.
func stateOf(st trace.StateTransition, to trace.GoState) state {
	switch {
	case to == trace.GoRunning:
		return running
	case to == trace.GoRunnable:
		return ready
	case to == trace.GoSyscall:
		return calling
	case awaitsLock(st):
		return locked
	}
	return waiting
}

// awaitsLock reports whether a goroutine waits for a lock. The
// trace has "sync" as the reason for that and for other waits,
// and no reason if the wait began before the trace. So the stack
// decides.
func awaitsLock(st trace.StateTransition) bool {
	if st.Reason != "" && st.Reason != "sync" {
		return false
	}
	for fr := range st.Stack.Frames() {
		switch strings.TrimPrefix(fr.Func, "internal/") {
		case "sync.runtime_SemacquireMutex", "sync.runtime_SemacquireRWMutex", "sync.runtime_SemacquireRWMutexR",
			"sync.(*Mutex).lockSlow", "sync.(*Mutex).Lock", "sync.(*RWMutex).Lock", "sync.(*RWMutex).RLock":
			return true
		}
		if !strings.HasPrefix(fr.Func, "runtime.") {
			return false
		}
	}
	return false
}

// startOf returns the function that the stack of a transition
// begins with: the function of the go statement, unless the
// compiler wrapped it.
func startOf(st trace.StateTransition) (start string) {
	for fr := range st.Stack.Frames() {
		if fr.Func != "" && fr.Func != "runtime.goexit" && (start == "" || !strings.Contains(fr.Func, ".gowrap")) {
			start = fr.Func
		}
	}
	if st.Resource.Goroutine() == 1 { // its stack does not reach runtime.main
		return "runtime.main"
	}
	return start
}
