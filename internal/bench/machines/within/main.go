//go:build linux

// Within runs a command that may do less than its parent:
// without capabilities (-bare), or with system calls that are
// refused (-deny).
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// calls are the system calls that can be refused.
var calls = map[string]uint32{
	"process_vm_readv": unix.SYS_PROCESS_VM_READV,
	"ptrace":           unix.SYS_PTRACE,
	"perf_event_open":  unix.SYS_PERF_EVENT_OPEN,
	"bpf":              unix.SYS_BPF,
}

func main() {
	bare := flag.Bool("bare", false, "without any capability")
	deny := flag.String("deny", "", "refuse these system calls")
	flag.Parse()
	if err := run(*bare, *deny, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "within:", err)
		os.Exit(128)
	}
}

func run(bare bool, deny string, args []string) error {
	runtime.LockOSThread()
	path, err := exec.LookPath(args[0])
	if err != nil {
		return err
	}
	if bare {
		for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
				return err
			}
		}
	}
	if deny != "" {
		if err := refuse(strings.Split(deny, ",")); err != nil {
			return err
		}
	}
	return syscall.Exec(path, args, os.Environ())
}

// refuse lets system calls fail with EPERM, in this thread and
// what it executes.
func refuse(names []string) error {
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}} // the number
	for _, name := range names {
		number, ok := calls[name]
		if !ok {
			return fmt.Errorf("-deny: unknown system call %s", name)
		}
		filter = append(filter,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: number},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)})
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}
