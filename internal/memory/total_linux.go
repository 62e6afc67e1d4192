package memory

import "syscall"

// total returns the machine's memory in bytes, 0 if it is not known.
func total() int64 {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}
