//go:build !unix

package main

import "os"

// used returns what an ended program took.
func used(s *os.ProcessState) []quantity {
	return []quantity{
		{"processor time", "s", (s.UserTime() + s.SystemTime()).Seconds()},
		{"of the kernel", "s", s.SystemTime().Seconds()},
	}
}
