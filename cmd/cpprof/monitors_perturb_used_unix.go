//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// used returns what an ended program and all its children took, as the kernel
// counts it.
func used(s *os.ProcessState) []quantity {
	list := []quantity{
		{"processor time", "s", (s.UserTime() + s.SystemTime()).Seconds()},
		{"of the kernel", "s", s.SystemTime().Seconds()},
	}
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return list
	}
	unit := float64(1 << 10) // of Maxrss
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		unit = 1
	}
	return append(list,
		quantity{"peak resident", "bytes", float64(u.Maxrss) * unit},
		quantity{"minor faults", "", float64(u.Minflt)},
		quantity{"major faults", "", float64(u.Majflt)},
		quantity{"voluntary switches", "", float64(u.Nvcsw)},
		quantity{"involuntary switches", "", float64(u.Nivcsw)},
		quantity{"blocks read", "", float64(u.Inblock)},
		quantity{"blocks written", "", float64(u.Oublock)},
	)
}
