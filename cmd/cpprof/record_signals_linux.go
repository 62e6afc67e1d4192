package main

import (
	"bytes"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// suspend stops this process until somebody continues it. The signal is for this very thread, which takes it before it goes
// on: one for the process may be taken by another thread, later.
func suspend() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGSTOP)
}

// ignoredSignals reads from the kernel which signals this process ignores: bit n-1 stands for signal n. (The package
// os/signal knows that only of signals that the Go runtime would handle by itself, and SIGTSTP is none.)
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
