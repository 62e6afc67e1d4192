package sampler

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

func TestMain(m *testing.M) { fixture.Main(m) }

// startAs runs a program as another user.
func startAs(t *testing.T, program string, u User, args ...string) *fixture.Running {
	t.Helper()
	c := exec.Command(program, args...)
	c.Dir = "/"
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(u.UID), Gid: uint32(u.GID)}}
	return fixture.StartWith(t, c, nil)
}

// The kernel decides which processes a user could halt.
func TestHaltableBy(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can start programs of other users")
	}
	program := readable(t, fixture.Build(t, "lifecycle"))
	one, other := User{12345, 12345}, User{12346, 12346}
	find := func(pid int) *Process {
		p := fixture.Must(Find(pid))(t)
		t.Cleanup(p.Release)
		return p
	}
	own, foreign := find(startAs(t, program, one, "wait").Pid()), find(startAs(t, program, other, "wait").Pid())
	group := find(startAs(t, program, User{one.UID, other.GID}, "wait").Pid())
	roots := find(fixture.Start(t, program, "wait").Pid())
	all := []*Process{own, foreign, group, roots}
	for _, c := range []struct {
		user User
		want []*Process
	}{{one, []*Process{own}}, {other, []*Process{foreign}}, {User{0, 0}, all}, {User{12347, 12347}, nil}, {User{one.UID, other.GID}, []*Process{group}}} {
		if got := HaltableBy(all, c.user); fmt.Sprint(got) != fmt.Sprint(c.want) && !limitedBySystem(t) {
			t.Errorf("%v may halt %v, want %v", c.user, got, c.want)
		}
	}
	for range 50 {
		HaltableBy(all, one)
		status, err := os.ReadFile("/proc/self/status")
		if err != nil || !strings.Contains(string(status), "Uid:\t0\t0\t0\t0\n") {
			t.Fatalf("this process became another user: %s, %v", status, err)
		}
	}
}

// limitedBySystem reports whether no user may halt programs here, but root.
func limitedBySystem(t *testing.T) bool {
	scope, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	if err == nil && scope[0] != '0' {
		t.Logf("kernel.yama.ptrace_scope is %s", scope)
		return true
	}
	return false
}

// readable makes a program executable for all users.
func readable(t *testing.T, program string) string {
	t.Helper()
	dir := fixture.Must(os.MkdirTemp("/tmp", "cpprof-all-"))(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	text, err := os.ReadFile(program)
	if err == nil {
		err = os.WriteFile(dir+"/program", text, 0o755)
	}
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	fixture.Check(t, err)
	return dir + "/program"
}

// A program that executes itself is another one, also if its
// process id and its file stay.
func TestIdentity(t *testing.T) {
	target := fixture.Start(t, fixture.Build(t, "lifecycle"), "exec")
	before := IdentityOf(target.Pid())
	if before == (Identity{}) || before != IdentityOf(target.Pid()) {
		t.Fatalf("%+v", before)
	}
	fixture.Check(t, target.Process.Signal(syscall.SIGUSR1))
	fixture.Must(target.Out.ReadString('r'))(t) // "ready" again
	if after := IdentityOf(target.Pid()); after == before {
		t.Errorf("it is still %+v", after)
	}
	if none := IdentityOf(1 << 30); none != (Identity{}) {
		t.Errorf("%+v", none)
	}
}
