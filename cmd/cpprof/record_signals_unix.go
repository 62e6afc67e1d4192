//go:build unix

package main

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

var (
	// endSignals end a recording. SIGQUIT (Ctrl-\) is one of them, so that its second one, not its first, ends cpprof.
	endSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

	// suspendSignals stop this process until it is continued: Ctrl-Z, and the use of the terminal from the background.
	suspendSignals = []os.Signal{syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU}
)

// ignored returns the signals that were ignored when this process started, as a set of bits. Handling a signal changes that, so
// it is read first of all.
var ignored = sync.OnceValue(ignoredSignals)

func ignoredAtStart(sig os.Signal) bool {
	n, ok := sig.(syscall.Signal)
	return ok && ignored()>>(n-1)&1 != 0
}

// inForeground holds where this process's group is the one that the terminal's keys send signals to.
func inForeground() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
