//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

func notifySuspend(c chan<- os.Signal) { signal.Notify(c, syscall.SIGTSTP) }

// suspend stops this process until somebody continues it.
func suspend() { syscall.Kill(os.Getpid(), syscall.SIGSTOP) }

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
