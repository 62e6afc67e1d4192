//go:build !unix

package tui

// canSuspend reports whether this system has the signals that
// stop and continue a process.
const canSuspend = false

func stop() error { return nil }
