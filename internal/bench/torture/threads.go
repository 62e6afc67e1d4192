//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// eachThread calls f with the folder in /proc of each thread of
// a process, and with what the file status in it says.
func eachThread(pid int, f func(folder string, status []byte)) {
	folders, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	for _, folder := range folders {
		if status, err := os.ReadFile(folder + "/status"); err == nil {
			f(folder, status)
		}
	}
}

// stuck lists the threads of a process that are traced or stopped.
func stuck(pid int) string {
	var list strings.Builder
	eachThread(pid, func(folder string, status []byte) {
		state, tracer := field(status, "State"), field(status, "TracerPid")
		if tracer != "0" && tracer != "" || strings.HasPrefix(state, "T") || strings.HasPrefix(state, "t") {
			fmt.Fprintf(&list, "%s: %s, traced by %s\n", folder, state, tracer)
		}
	})
	return list.String()
}

// traced is stuck without the threads that somebody has only stopped.
func traced(pid int) (list string) {
	for line := range strings.Lines(stuck(pid)) {
		if !strings.HasSuffix(line, "traced by 0\n") {
			list += line
		}
	}
	return list
}

// field returns a field of a file such as /proc/PID/status; ""
// if there is none.
func field(status []byte, name string) string {
	for line := range bytes.Lines(status) {
		if value, ok := bytes.CutPrefix(line, []byte(name+":")); ok {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}
