//go:build linux && (amd64 || arm64)

package halt

import (
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/internal/fixture"
)

// TestIgnoreStops halts a target many times. The kernel must not
// signal that, but still the end of a child.
func TestIgnoreStops(t *testing.T) {
	g := start(t, "spin")
	p := open(t, g)
	haltOften(t, p, 1)
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGCHLD)
	defer signal.Stop(told)
	haltOften(t, p, 20)
	select {
	case <-told:
		t.Error("halts raise SIGCHLD")
	case <-time.After(10 * time.Millisecond):
	}
	if err := exec.Command("true").Run(); err != nil {
		t.Skipf("no program that ends at once: %v", err)
	}
	select {
	case <-told:
	case <-time.After(time.Minute):
		t.Error("the end of a child does not raise SIGCHLD any more")
	}
}

// TestAlarm waits for a child that does not end. The alarm
// interrupts that again and again.
func TestAlarm(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	child := start(t, "sleep")
	a := newAlarm()
	defer a.close()
	if !a.works {
		t.Fatal("there is no alarm")
	}
	a.set(time.Millisecond, time.Millisecond)
	for range 2 {
		var in siginfo
		if err := waitid(child.Process.Pid, &in, unix.WEXITED); err != unix.EINTR {
			t.Fatalf("waiting for a child that goes on: %v, want %v", err, unix.EINTR)
		}
	}
	a.set(0, 0)
	fixture.Check(t, child.Process.Kill())
	var in siginfo
	if err := waitid(child.Process.Pid, &in, unix.WEXITED|unix.WNOWAIT); err != nil || !in.ended() {
		t.Errorf("waiting for a child that was killed: %v, ended: %v", err, in.ended())
	}
}
