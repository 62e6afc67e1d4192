package main

import (
	"bytes"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// suspend stops this process until somebody continues it. It
// sends the signal to its own thread, which handles it before it
// continues. A signal to the process could be handled by another
// thread, and later.
func suspend() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGSTOP)
}

// ignoredSignals reads from the kernel which signals this
// process ignores: bit n-1 is signal n. (Package os/signal knows
// this only for signals that the Go runtime handles by itself.
// SIGTSTP is not one of them.)
func ignoredSignals() uint64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		if mask, ok := bytes.CutPrefix(line, []byte("SigIgn:")); ok {
			bits, _ := strconv.ParseUint(string(bytes.TrimSpace(mask)), 16, 64)
			return bits
		}
	}
	return 0
}
