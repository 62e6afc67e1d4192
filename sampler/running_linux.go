//go:build amd64 || arm64

package sampler

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/sampler/halt"
)

// Running returns the Go programs that run on this system and
// that this process may halt, by their pid. It leaves out other
// users' programs, programs that a debugger holds, the Go
// toolchain's, and this process itself. It touches none.
func Running() []*Process {
	pids, err := halt.Processes()
	if err != nil {
		return nil
	}
	pids = slices.DeleteFunc(pids, func(pid int) bool { return pid == os.Getpid() })
	kinds := map[image]programKind{}
	asked := map[uint64]bool{} // file systems: all at once
	for _, pid := range pids {
		if i, err := imageOf(executableOf(pid, "")); err == nil && !asked[i.device] {
			asked[i.device] = true
			_, _ = ask(pid)
		}
	}
	var list []*Process
	for _, pid := range pids {
		if p := runningGo(pid, kinds); p != nil && mayHalt(pid) {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b *Process) int { return a.PID - b.PID })
	return list
}

// runningGo returns the process of a pid if it runs a Go
// program, or nil. kinds has what is known of files, and gets
// more.
func runningGo(pid int, kinds map[image]programKind) *Process {
	path, identity := executableOf(pid, ""), IdentityOf(pid)
	now := identity.image
	if now == (image{}) {
		return nil
	}
	var err error
	kind, known := kinds[now]
	if !known {
		if kind, err = readKind(pid, now); err != nil {
			return nil
		}
		kinds[now] = kind
	}
	name, err := os.Readlink(path)
	if kind != goProgram || err != nil {
		return nil
	}
	cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if IdentityOf(pid) != identity {
		return nil // it is just executing another program
	}
	return &Process{
		PID: pid, Executable: path, Name: strings.TrimSuffix(name, " (deleted)"),
		arguments: splitArguments(cmdline), identity: identity,
	}
}

// mayHalt reports whether this process may halt another one.
// Opening a process's memory needs the same permission as
// halting it, and does nothing to the process.
func mayHalt(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return false
	}
	if tracer := field(status, "TracerPid"); tracer != "" && tracer != "0" {
		return false
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return false
	}
	mem.Close()
	return true
}
