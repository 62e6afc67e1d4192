//go:build unix

package main

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

var (
	// endSignals end a recording. SIGQUIT (Ctrl-\) is among them, so that
	// only a second one ends cpprof.
	endSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

	// keepSignals ask for what --keep keeps.
	keepSignals = []os.Signal{syscall.SIGUSR1}

	// suspendSignals stop this process until it is continued: Ctrl-Z, and the
	// use of the terminal from the background.
	suspendSignals = []os.Signal{syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU}
)

// ignored returns the signals that were ignored when this
// process started, as a set of bits. To handle a signal changes
// the set, so it is read before any signal is handled.
var ignored = sync.OnceValue(ignoredSignals)

func ignoredAtStart(sig os.Signal) bool {
	n, ok := sig.(syscall.Signal)
	return ok && ignored()>>(n-1)&1 != 0
}

// inForeground reports whether the terminal's keys send signals to the group
// of this process.
func inForeground() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
