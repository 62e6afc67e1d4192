//go:build unix && !linux

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// suspend stops this process until somebody continues it.
func suspend() { syscall.Kill(os.Getpid(), syscall.SIGSTOP) }

// ignoredSignals returns the signals that this process ignores,
// as far as the Go runtime knows: bit n-1 is signal n.
func ignoredSignals() (bits uint64) {
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(sig) {
			bits |= 1 << (sig - 1)
		}
	}
	return bits
}
