//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// used returns what else an ended program and all its children
// took, as the kernel counts it.
func used(s *os.ProcessState) []quantity {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return nil
	}
	unit := float64(1 << 10) // of Maxrss
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		unit = 1
	}
	return []quantity{
		{"peak resident", "bytes", float64(u.Maxrss) * unit},
		{"minor faults", "", float64(u.Minflt)},
		{"major faults", "", float64(u.Majflt)},
		{"voluntary switches", "", float64(u.Nvcsw)},
		{"involuntary switches", "", float64(u.Nivcsw)},
		{"blocks read", "", float64(u.Inblock)},
		{"blocks written", "", float64(u.Oublock)},
	}
}
