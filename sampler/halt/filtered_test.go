//go:build linux && (amd64 || arm64)

package halt

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A program goes on when its sleeps are interrupted, if its
// filter knows nothing of restart_syscall and kills the program
// there.
func TestFiltered(t *testing.T) {
	g := start(t, "sleeps")
	if said := g.line(); said != "on" {
		t.Skipf("there can be no filter here: %s", said)
	}
	p := open(t, g)
	haltOften(t, p, 50)
	for range 20 {
		g.line()
	}
	g.free()
}

// sleepFiltered sleeps on several threads. A filter kills the
// process if a sleep goes on by restart_syscall.
func sleepFiltered() {
	number := map[string]uint32{"amd64": 219, "arm64": 128}[runtime.GOARCH]
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the system call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: number},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_KILL_PROCESS},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	const setFilter, allThreads = 1, unix.SECCOMP_FILTER_FLAG_TSYNC
	runtime.LockOSThread() // the thread that may gain no privileges installs the filter
	unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, setFilter, allThreads, uintptr(unsafe.Pointer(&program))); e != 0 {
		fmt.Println("refused:", e)
		os.Exit(0)
	}
	for range 3 {
		go func() {
			runtime.LockOSThread()
			for {
				pause(500_000)
			}
		}()
	}
	printLines(time.Millisecond)
}

// The pinned worker must not wait for a lock: the runtime would
// end the process. In a test, os.Open has one, which others hold
// here.
func TestFilterWhilePinned(t *testing.T) {
	done := make(chan bool)
	var others sync.WaitGroup
	for range 8 {
		others.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					os.Stat("/proc/self/status")
				}
			}
		})
	}
	runtime.LockOSThread()
	var w worker
	for range 20000 {
		w.pin()
		filtered := isFiltered(os.Getpid(), unix.Gettid())
		w.unpin()
		if filtered {
			t.Fatal("the test's own thread has a filter")
		}
	}
	runtime.UnlockOSThread()
	close(done)
	others.Wait()
}
