package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"golang.org/x/sys/unix"
)

// dialAs connects as another user, from a thread that ends with it.
func dialAs(uid, gid int, network, address string) (c net.Conn, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			defer runtime.UnlockOSThread()
			c, err = dialAs(uid, gid, network, address) // the main thread does not end
			return
		}
		if _, _, e := unix.RawSyscall(unix.SYS_SETRESGID, uintptr(gid), uintptr(gid), uintptr(gid)); e != 0 {
			err = e
		}
		if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)); e != 0 {
			err = e
		}
		if err == nil {
			c, err = net.Dial(network, address)
		}
	}()
	<-done
	return c, err
}

// startAs runs a program that all users can read, as another user.
func startAs(t *testing.T, program string, uid, gid int, args ...string) *fixture.Running {
	t.Helper()
	dir := fixture.Must(os.MkdirTemp("/tmp", "cpprof-all-"))(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	file := filepath.Join(dir, filepath.Base(program))
	fixture.Check(t, errors.Join(os.Link(program, file), os.Chmod(dir, 0o755)))
	c := exec.Command(file, args...)
	c.Dir = "/"
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return fixture.StartWith(t, c, nil)
}

// Without a token, a user gets only programs that this user may
// trace, at a port and at a socket.
func TestAgentServesUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can ask as another user")
	}
	if scope, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); err == nil && scope[0] != '0' {
		t.Skipf("kernel.yama.ptrace_scope is %s: no user may trace programs but root", scope)
	}
	const daemon, nobodys = 1, 12345 // the first is in /etc/passwd, the second is not
	program := fixture.Build(t, "lifecycle")
	roots := fixture.Start(t, program, "wait")
	needsTracing(t, roots.Pid())
	own, foreign := startAs(t, program, daemon, daemon, "wait"), startAs(t, program, nobodys, nobodys, "wait")
	socket := filepath.Join(t.TempDir(), "agent")
	fixture.Check(t, os.Chmod(filepath.Dir(socket), 0o755))
	fixture.Check(t, os.Chmod(filepath.Dir(filepath.Dir(socket)), 0o755))
	atPort := startAgent(t, "--max-duration", "200ms", "--match", "lifecycle")
	atSocket := startAgent(t, "--max-duration", "200ms", "--match", "lifecycle", "--listen", "unix:"+socket)
	if !strings.HasPrefix(atSocket.url, "curl --unix-socket "+socket+" http://localhost") {
		t.Errorf("it says %q", atSocket.url)
	}
	for _, c := range []struct {
		uid              int
		network, address string
		served, refused  []*fixture.Running
	}{
		{0, "tcp", strings.TrimPrefix(atPort.url, "http://"), []*fixture.Running{roots, own, foreign}, nil},
		{daemon, "tcp", strings.TrimPrefix(atPort.url, "http://"), []*fixture.Running{own}, []*fixture.Running{roots, foreign}},
		{nobodys, "tcp", strings.TrimPrefix(atPort.url, "http://"), nil, []*fixture.Running{roots, own, foreign}},
		{0, "unix", socket, []*fixture.Running{roots, own, foreign}, nil},
		{daemon, "unix", socket, []*fixture.Running{own}, []*fixture.Running{roots, foreign}},
		{nobodys, "unix", socket, []*fixture.Running{foreign}, []*fixture.Running{roots, own}},
	} {
		client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{
			DialContext: func(context.Context, string, string) (net.Conn, error) {
				return dialAs(c.uid, c.uid, c.network, c.address)
			},
		}}
		get := func(path string) (int, string) {
			answer := fixture.Must(client.Get("http://localhost" + path))(t)
			defer answer.Body.Close()
			body := fixture.Must(io.ReadAll(answer.Body))(t)
			return answer.StatusCode, string(body)
		}
		_, list := get("/discovery")
		for wanted, all := range map[bool][]*fixture.Running{true: c.served, false: c.refused} {
			for _, p := range all {
				if strings.Contains(list, fmt.Sprintf(`"pid":"%d"`, p.Pid())) != wanted {
					t.Errorf("user %d at a %s socket, process %d: served %v, but the list is %s", c.uid, c.network, p.Pid(), wanted, list)
				}
				status, text := get(fmt.Sprintf("/debug/pprof/wall?pid=%d", p.Pid()))
				if wanted != (status == http.StatusOK || status == http.StatusTooManyRequests) || !wanted && status != http.StatusForbidden {
					t.Errorf("user %d at a %s socket, process %d: %d %.200s", c.uid, c.network, p.Pid(), status, text)
				}
			}
		}
		client.CloseIdleConnections()
	}
}

// What is kept belongs to a program, not to a process id: the
// process executed itself.
func TestAgentNoticesExec(t *testing.T) {
	target := fixture.Start(t, fixture.Build(t, "lifecycle"), "exec")
	needsTracing(t, target.Pid())
	a := startAgent(t, "--max-duration", "500ms", "--every", "1h", "--match", "lifecycle")
	path := fmt.Sprintf("/debug/pprof/%%s?pid=%d", target.Pid())
	a.get(fmt.Sprintf(path, "wall"), http.StatusOK)
	a.busy(fmt.Sprintf(path, "wall"), http.StatusTooManyRequests)
	fixture.Check(t, target.Process.Signal(syscall.SIGUSR1))
	fixture.Must(target.Out.ReadString('r'))(t) // "ready", again
	executed := time.Now()
	if p := a.parsed(fmt.Sprintf(path, "mutexholders")); p.TimeNanos < executed.UnixNano() {
		t.Errorf("the profile is of %v, and the program was executed at %v", time.Unix(0, p.TimeNanos), executed)
	}
	target.Lives(t)
}

// Nor to a process id that was used again.
func TestAgentNoticesReuse(t *testing.T) {
	const last = "/proc/sys/kernel/ns_last_pid"
	first := fixture.Start(t, fixture.Build(t, "lifecycle"), "wait")
	needsTracing(t, first.Pid())
	a := startAgent(t, "--max-duration", "500ms", "--every", "1h", "--match", "lifecycle", "--match", "mutex")
	pid := first.Pid()
	a.get(fmt.Sprintf("/debug/pprof/wall?pid=%d", pid), http.StatusOK)
	program := fixture.Build(t, "mutex")
	fixture.Check(t, first.Process.Kill())
	_ = first.Wait()
	for range 300 {
		if err := os.WriteFile(last, fmt.Append(nil, pid-1), 0); err != nil {
			t.Skipf("a process id can't be chosen here: %v", err)
		}
		if second := fixture.Start(t, program); second.Pid() == pid {
			holders := a.parsed(fmt.Sprintf("/debug/pprof/mutexholders?pid=%d", pid))
			if stacks := stacksOf(holders, "waiting_class", "go:main.worker"); !strings.Contains(stacks, " main.hold ") {
				t.Errorf("the profile is of another program: %v", holders)
			}
			return
		} else {
			_ = second.Process.Kill()
		}
	}
	t.Skipf("process id %d was not given again", pid)
}

// A file with a token that everybody can read is worth a
// warning, and a lack of open files ends the agent at its start.
func TestAgentSaysWhatIsWrongLong(t *testing.T) {
	fixture.Long(t)
	file := filepath.Join(t.TempDir(), "token")
	for mode, want := range map[os.FileMode]bool{0o600: false, 0o640: false, 0o644: true, 0o602: true} {
		fixture.Check(t, os.WriteFile(file, []byte("secret\n"), 0o600))
		fixture.Check(t, os.Chmod(file, mode))
		var said strings.Builder
		status := run(t.Context(), strings.Fields("agent --listen 127.0.0.1:0 --duration 1ms --token-file "+file), terminal{out: io.Discard, err: &said})
		if warned := strings.Contains(said.String(), "all users of this host can read or write it: chmod o= "+file); status != exitFine || warned != want {
			t.Errorf("mode %o: status %d, warning %q", mode, status, said.String())
		}
	}
	out, err := exec.Command("sh", "-c", "ulimit -n 20; exec "+ownCommand(t)+" agent --listen 127.0.0.1:0 --duration 1ms").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "may open 20 files at a time, and needs 328") || !strings.Contains(string(out), "ulimit -n 328") {
		t.Errorf("%v, %s", err, out)
	}
}

// A socket that a killed agent left behind is replaced; one in
// use, or another file, is not.
func TestAgentSockets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent")
	first := startAgent(t, "--listen", "unix:"+path)
	refuses(t, []refusal{{"agent --duration 1ms --listen unix:" + path, exitFailed, "address already in use"}})
	fixture.Check(t, first.Process.Kill())
	_ = first.Wait()
	startAgent(t, "--listen", "unix:"+path)
	file := filepath.Join(t.TempDir(), "file")
	fixture.Check(t, os.WriteFile(file, nil, 0o600))
	refuses(t, []refusal{{"agent --duration 1ms --listen unix:" + file, exitFailed, "address already in use"}})
}
