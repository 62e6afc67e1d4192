package delve

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-delve/delve/service/api"
	"github.com/go-delve/delve/service/rpc2"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
)

// serveRunning starts a Delve server for a program that runs already.
func serveRunning(t *testing.T, r *fixture.Running, args ...string) string {
	t.Helper()
	address, _ := fixture.DelveServer(t, append([]string{"attach", fmt.Sprint(r.Pid())}, args...)...)
	return address
}

// connectTo connects to a server.
func connectTo(t *testing.T, address, program string) (*sampler.Process, *Backend) {
	t.Helper()
	p, a, err := Connect(address, program)
	fixture.Check(t, err)
	t.Cleanup(func() { a.Close() })
	return p, a
}

var several = []string{"--accept-multiclient", "--continue"}

// A program of a Delve server is recorded as if it were here:
// its goroutines, their states, and the addresses of their
// locks.
func TestRemoteLong(t *testing.T) {
	fixture.Long(t) // it builds dlv
	program := fixture.Build(t, "mutex")
	for _, args := range [][]string{several, nil} {
		r := fixture.Start(t, program)
		awaitParked(t, r, "main.reader", "main.writer")
		var mu, rw, read uint64
		fixture.Must(fmt.Sscanf(r.Line, "%v %v %v", &mu, &rw, &read))(t)
		p, a := connectTo(t, serveRunning(t, r, args...), program)
		rec := take(t, p, a, 5)
		if h := rec.Header; h.PID != int64(r.Pid()) || h.GOMAXPROCS < 1 || len(h.Command) != 1 || h.Command[0] != program {
			t.Errorf("the header is %+v", h)
		}
		for i, now := range samples(rec, "main.worker", "main.reader", "main.writer") {
			holders := 0
			for _, s := range now {
				want := map[string]uint64{"main.worker": mu, "main.reader": rw, "main.writer": read}[s.start]
				switch {
				case s.state.Torn:
					t.Errorf("sample %d: the stack of %s is torn: %v", i, s.start, s.stack())
				case s.has("main.hold"):
					holders++
				case s.state.Run == sampledata.Blocked && s.state.Lock != want:
					t.Errorf("sample %d: %s waits for %#x, want %#x", i, s.start, s.state.Lock, want)
				}
			}
			if len(now) != 8+4+1 || holders > 1 {
				t.Errorf("sample %d has %d goroutines, %d of which hold the lock", i, len(now), holders)
			}
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		awaitState(t, r.Pid(), args == nil)
	}
}

// awaitState waits until a process is not halted; if free, until
// nobody traces it.
func awaitState(t *testing.T, pid int, free bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		state, tracer := statusField(pid, "State:"), statusField(pid, "TracerPid:")
		if !strings.HasPrefix(strings.TrimSpace(state), "t") && (!free || tracer == "0") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("process %d is in the state %s, traced by %s", pid, state, tracer)
		}
	}
}

// If cpprof is killed while it samples, the server lets the
// program go on. Now and then it then answers nobody.
func TestRemoteKilledLong(t *testing.T) {
	fixture.LongInTurn(t, 2)
	program := fixture.Build(t, "lifecycle")
	for _, c := range []struct {
		args   []string
		rounds int
	}{{several, 12}, {nil, 1}} {
		r := fixture.Start(t, program, "wait")
		address := serveRunning(t, r, c.args...)
		for i := range c.rounds {
			client := exec.Command(os.Args[0], "-test.run", "^TestRemoteClient$")
			client.Env = append(os.Environ(), "CPPROF_TEST_SERVER="+address, "CPPROF_TEST_PROGRAM="+program)
			started := fixture.StartWith(t, client, nil)
			if started.Line != "sampling" {
				why, _ := io.ReadAll(started.Out)
				if i > 0 && strings.Contains(string(why), "no answer within") {
					t.Logf("round %d: after the earlier kill, the server does not answer any more", i)
					break
				}
				t.Fatalf("the client said %q, %s", started.Line, why)
			}
			time.Sleep(time.Duration(i) * 3 * time.Millisecond)
			client.Process.Kill()
			client.Wait()
			r.Lives(t)
		}
		r.Lives(t)
		awaitState(t, r.Pid(), c.args == nil)
	}
}

// TestRemoteClient samples as often as it can, until it is
// killed by TestRemoteKilledLong.
func TestRemoteClient(t *testing.T) {
	address, program := os.Getenv("CPPROF_TEST_SERVER"), os.Getenv("CPPROF_TEST_PROGRAM")
	if address == "" {
		t.Skip("this is a part of TestRemoteKilledLong")
	}
	_, a := connectTo(t, address, program)
	b := sampledata.NewBuilder(a.Header())
	fmt.Println("sampling")
	for {
		fixture.Must(a.Observe(context.Background(), b, sampledata.Sample{Time: time.Since(a.Header().Start)}))(t)
	}
}

// What a client has left in the server that was killed just
// before it halted the program, does not keep later ones from
// sampling.
func TestRemoteLeftoverLong(t *testing.T) {
	fixture.Long(t) // it builds dlv
	program := fixture.Build(t, "lifecycle")
	r := fixture.Start(t, program, "wait")
	address := serveRunning(t, r, several...)
	_, a := connectTo(t, address, program)
	b := sampledata.NewBuilder(a.Header())
	for range 3 {
		w := fixture.Must(dial(address))(t)
		w.pipe.keep = true
		w.begin("ListThreads", rpc2.ListThreadsIn{}, &rpc2.ListThreadsOut{})
		w.begin("Command", api.DebuggerCommand{Name: api.Continue}, &rpc2.CommandOut{})
		fixture.Check(t, w.pipe.flush())
		w.close()
		fixture.Must(a.Observe(t.Context(), b, sampledata.Sample{Time: time.Since(a.Header().Start)}))(t)
		r.Lives(t)
	}
}

// However the program or the server ends, so does the recording.
func TestRemoteEndsLong(t *testing.T) {
	fixture.Long(t) // it builds dlv
	program := fixture.Build(t, "lifecycle")
	for _, c := range []struct {
		name string
		end  func(r *fixture.Running, server *exec.Cmd)
		want sampledata.EndCause
		says string
	}{
		{"program", func(r *fixture.Running, _ *exec.Cmd) { r.Process.Kill() }, sampledata.EndExited, "exit"},
		{"server", func(_ *fixture.Running, server *exec.Cmd) { server.Process.Kill() }, sampledata.EndFailed, "is gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := fixture.Start(t, program, "wait")
			address, server := fixture.DelveServer(t, append([]string{"attach", fmt.Sprint(r.Pid())}, several...)...)
			p, a := connectTo(t, address, program)
			ended := false
			rec := recordWith(t, t.Context(), p, a, sampler.Options{Rate: 50, Progress: func(p sampler.Progress) {
				if p.Samples >= 3 && !ended {
					ended = true
					c.end(r, server)
				}
			}})
			if e := rec.End; e.Cause != c.want || !strings.Contains(e.Detail, c.says) {
				t.Errorf("the recording ends with %+v", e)
			}
		})
	}
}

// What would harm the program, or can't work, is refused, and
// the error says what to do.
func TestRemoteRefusedLong(t *testing.T) {
	fixture.Long(t) // it builds dlv
	program, other := fixture.Build(t, "lifecycle"), fixture.Build(t, "mutex")
	refused := func(address, program string, says ...string) {
		t.Helper()
		_, a, err := Connect(address, program)
		if err == nil {
			a.Close()
			t.Fatalf("connected, want %q", says)
		}
		for _, s := range says {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%v; want %q", err, s)
			}
		}
	}
	web := fixture.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	go func() {
		for {
			c, err := web.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
			c.Close()
		}
	}()
	refused(web.Addr().String(), program, "not a headless Delve server")
	web.Close()
	refused(web.Addr().String(), program, "refused", "is a server there")

	launched, _ := fixture.DelveServer(t, "exec", program, "--allow-non-terminal-interactive", "--", "exit", "0")
	refused(launched, program, "would kill its program", "--accept-multiclient --continue")

	r := fixture.Start(t, program, "wait")
	halted := serveRunning(t, r, "--accept-multiclient")
	refused(halted, program, "has halted the program", "--continue")

	r = fixture.Start(t, program, "wait")
	address := serveRunning(t, r, several...)
	refused(address, other, "is not the program that the server debugs", "--program")
	stripped := fixture.Build(t, "lifecycle", "-ldflags=-s -w")
	refused(address, stripped, "has no symbols")
	r.Lives(t)
}
