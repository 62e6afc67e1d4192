//go:build linux

package delve

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
)

// The target's code is not changed: not before the first halt,
// not during a halt, not after the last.
func TestNothingPlanted(t *testing.T) {
	r := fixture.Start(t, fixture.Build(t, "mutex"))
	before := text(t, r.Pid())
	p, a := attach(t, r)
	if !bytes.Equal(before, text(t, r.Pid())) {
		t.Error("attaching changed the target's code")
	}
	if _, err := a.halter.during(func([]thread) error {
		if !bytes.Equal(before, text(t, r.Pid())) {
			t.Error("the target's code is changed during a halt")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	recordWith(t, ctx, p, a, sampler.Options{Rate: 200, Progress: func(p sampler.Progress) {
		if !bytes.Equal(before, text(t, r.Pid())) {
			t.Error("the target's code is changed between halts")
		}
		if p.Samples >= 10 {
			cancel()
		}
	}})
	a.Close()
	if !bytes.Equal(before, text(t, r.Pid())) {
		t.Error("the target's code is changed after the recording")
	}
}

// text reads the target's code from its memory.
func text(t *testing.T, pid int) []byte {
	t.Helper()
	exe := fmt.Sprintf("/proc/%d/exe", pid)
	x := fixture.Must(elf.Open(exe))(t)
	defer x.Close()
	section := x.Section(".text")
	mem := fixture.Must(os.Open(fmt.Sprintf("/proc/%d/mem", pid)))(t)
	defer mem.Close()
	b := make([]byte, section.Size)
	fixture.Must(mem.ReadAt(b, int64(section.Addr)))(t)
	return b
}

// However a target ends, the recording is complete and has the cause.
func TestTargetEnds(t *testing.T) {
	skipUnsupported(t)
	program := fixture.Build(t, "lifecycle")
	for _, c := range []struct {
		mode string
		want sampledata.End
	}{
		{"quit", sampledata.End{Cause: sampledata.EndExited, ExitStatus: 7, Detail: "exit status 7"}},
		{"panic", sampledata.End{Cause: sampledata.EndExited, ExitStatus: 2, Detail: "exit status 2"}},
		{"crash", sampledata.End{Cause: sampledata.EndKilled, ExitStatus: 128 + 9, Detail: "signal: killed"}},
		{"exec", sampledata.End{Cause: sampledata.EndExec, Detail: "the process executed another program"}},
	} {
		t.Run(c.mode, func(t *testing.T) {
			b := fixture.Must(Load(program))(t)
			cmd := exec.Command(program, c.mode)
			out, in, err := os.Pipe()
			fixture.Check(t, err)
			defer out.Close()
			cmd.Stdout = in
			p, err := sampler.LaunchCommand(cmd)
			in.Close()
			fixture.Check(t, err)
			defer p.Release()
			defer syscall.Kill(p.PID, syscall.SIGKILL)
			fixture.Must(io.ReadFull(out, make([]byte, len("ready\n"))))(t)
			a := fixture.Must(b.Attach(p))(t)
			defer a.Close()
			var once sync.Once
			rec := recordWith(t, t.Context(), p, a, sampler.Options{Rate: 100, Jitter: 1, Progress: func(p0 sampler.Progress) {
				if p0.Samples >= 3 {
					once.Do(func() { syscall.Kill(p.PID, syscall.SIGUSR1) })
				}
			}})
			got := sampledata.End{Cause: rec.End.Cause, ExitStatus: rec.End.ExitStatus, Detail: rec.End.Detail}
			if got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			if c.mode == "exec" {
				// The program that it executed goes on.
				if _, err := io.ReadFull(out, make([]byte, 20)); err != nil {
					t.Errorf("after the exec: %v", err)
				}
			}
		})
	}
}

// If a target dies while it is halted, the backend notices, and
// the recording ends.
func TestDeathDuringHalt(t *testing.T) {
	r := fixture.Start(t, fixture.Build(t, "lifecycle"), "wait")
	p, a := attach(t, r)
	if _, err := a.halter.during(func([]thread) error { return syscall.Kill(r.Pid(), syscall.SIGKILL) }); err != nil && err != errGone {
		t.Fatal(err)
	}
	r.Wait()
	rec := recordWith(t, t.Context(), p, a, sampler.Options{Rate: 100})
	if rec.End.Cause != sampledata.EndExited {
		t.Errorf("%+v", rec.End)
	}
}

// A target goes on after its recording is over.
func TestGoesOn(t *testing.T) {
	r := fixture.Start(t, fixture.Build(t, "lifecycle"), "wait")
	p, a := attach(t, r)
	rec := recordWith(t, t.Context(), p, a, sampler.Options{Rate: 100, Duration: 200 * time.Millisecond})
	if rec.End.Cause != sampledata.EndDuration {
		t.Errorf("%+v", rec.End)
	}
	r.Lives(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rec = recordWith(t, ctx, p, a, sampler.Options{Rate: 100})
	if rec.End.Cause != sampledata.EndInterrupted {
		t.Errorf("%+v", rec.End)
	}
	r.Lives(t)
}

// Signals reach the target while it is sampled, and a stopped
// target can be sampled and continued.
func TestSignalsReachTarget(t *testing.T) {
	r := fixture.Start(t, fixture.Build(t, "lifecycle"), "wait")
	p, a := attach(t, r)
	n := int64(0)
	ctx, cancel := context.WithCancel(t.Context())
	recordWith(t, ctx, p, a, sampler.Options{Rate: 200, Progress: func(sampler.Progress) {
		switch n++; n {
		case 5:
			syscall.Kill(r.Pid(), syscall.SIGSTOP)
		case 10:
			// After the detach, a stopped process runs for a
			// moment before it stops again.
			for !strings.HasPrefix(statusField(r.Pid(), "State:"), "T") {
				time.Sleep(time.Millisecond)
			}
			syscall.Kill(r.Pid(), syscall.SIGCONT)
		case 15:
			cancel()
		}
	}})
	r.Lives(t)
}

// statusField returns a field of a process's status.
func statusField(pid int, name string) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// By the halts that it lists, a recording uses its budget of
// halt time and no more.
func TestBudgetKept(t *testing.T) {
	const share = 0.05
	r := fixture.Start(t, fixture.Build(t, "states"), "parked", "3000")
	p, a := attach(t, r)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	// The last halt, and one that a busy machine made long, may
	// overdraw the budget; the halts after them pay it back.
	var longest time.Duration
	within := func(halted, elapsed time.Duration) bool { return float64(halted-longest) <= share*float64(elapsed) }
	rec := recordWith(t, ctx, p, a, sampler.Options{Rate: 100, Jitter: 1, MaxOverhead: share, Progress: func(p sampler.Progress) {
		longest = max(longest, p.LastHalt)
		if p.Samples >= 12 && within(p.Halted, p.Elapsed) {
			cancel()
		}
	}})
	var halted time.Duration
	for _, s := range rec.Samples.All() {
		halted += s.Halt
	}
	if rec.Samples.Len() < 12 || !within(halted, rec.End.Time) {
		t.Errorf("halted %v of %v, of which %v at once, in %d halts", halted, rec.End.Time, longest, rec.Samples.Len())
	}
}

func TestStripped(t *testing.T) {
	for _, flags := range []string{"-ldflags=-s -w", "-ldflags=-w"} {
		_, err := Load(fixture.Build(t, "mutex", flags))
		if err == nil || !strings.Contains(err.Error(), "has no symbols: build it without") {
			t.Errorf("%s: %v", flags, err)
		}
	}
}
