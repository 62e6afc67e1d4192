//go:build !linux

package monitor

// system returns the sources that only Linux has.
func system() []Source { return nil }
