//go:build linux

package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// self returns a command that runs cpprof (see TestMain) in a
// process of its own.
func self(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	exe := fixture.Must(os.Executable())(t)
	cmd := exec.Command(exe, args...)
	cmd.Args[0] = "cpprof"
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=") // for modules that it builds
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}    // orphans of other tests are none of its own
	cmd.WaitDelay = time.Second                              // a launched target that continues keeps our pipes open
	return cmd
}

// A recorder is a cpprof process that records.
type recorder struct {
	*exec.Cmd
	file   string
	stderr written
}

// A written holds the output of a process so far. It can be read
// while the process writes.
type written struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *written) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// startRecording starts cpprof record and waits until the first
// sample is on disk.
func startRecording(t *testing.T, args ...string) *recorder {
	t.Helper()
	r := &recorder{file: filepath.Join(t.TempDir(), "run.cpprof")}
	r.Cmd = self(t, append([]string{"record", "-o", r.file, "--rate", "100", "--max-overhead", "20%", "--max-cpu", "0"}, args...)...)
	r.Stderr = &r.stderr
	fixture.Check(t, r.Start())
	t.Cleanup(func() { r.Process.Kill() })
	for {
		if rec, err := sampledata.Open(r.file); err == nil && rec.Samples.Len() > 0 {
			return r
		}
		if r.ended() {
			r.Wait()
			if strings.Contains(r.stderr.String(), "permission denied") {
				t.Skipf("ptrace is not permitted here: %s", r.stderr.String())
			}
			t.Fatalf("cpprof has ended: %s", r.stderr.String())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// ended reports whether the process has ended (and is gone, or a zombie).
func (r *recorder) ended() bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.Process.Pid))
	return err != nil || bytes.Contains(b, []byte(") Z "))
}

// recording opens the recording.
func (r *recorder) recording(t *testing.T) *sampledata.Recording {
	t.Helper()
	rec, err := sampledata.Open(r.file)
	if err != nil {
		t.Fatalf("%v; cpprof said: %s", err, r.stderr.String())
	}
	if err := rec.Check(); err != nil {
		t.Error(err)
	}
	return rec
}

// lastSample returns the time of the recording's last sample so
// far; 0 if there is none.
func (r *recorder) lastSample(t *testing.T) time.Duration {
	t.Helper()
	samples := &r.recording(t).Samples
	if samples.Len() == 0 {
		return 0
	}
	return samples.Time(samples.Len() - 1)
}

func (r *recorder) finish(t *testing.T, status int, cause sampledata.EndCause) {
	t.Helper()
	r.Wait()
	if got := r.ProcessState.ExitCode(); got != status {
		t.Errorf("cpprof ended with %d, want %d; it said: %s", got, status, r.stderr.String())
	}
	rec := r.recording(t)
	if rec.End == nil || rec.End.Cause != cause || rec.Samples.Len() == 0 {
		t.Errorf("%d samples, end %+v, want cause %d", rec.Samples.Len(), rec.End, cause)
	}
}

// TestRecordEnds ends recordings in all ways: each is complete,
// and a target that has not ended continues.
func TestRecordEnds(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the tests' targets need Linux")
	}
	program := fixture.Build(t, "lifecycle")
	testEnds(t, program, defaultBackend)
	t.Run("duration", func(t *testing.T) {
		target := fixture.Start(t, program, "wait")
		r := startRecording(t, "-d", "500ms", "-p", fmt.Sprint(target.Pid()))
		r.finish(t, 0, sampledata.EndDuration)
		if !strings.Contains(r.stderr.String(), "next: cpprof why "+r.file) {
			t.Errorf("cpprof does not say what to do next: %s", r.stderr.String())
		}
		target.Lives(t)
	})
	for _, command := range []string{"record", "why"} {
		t.Run("standard streams of "+command, func(t *testing.T) {
			cmd := self(t, command, "-o", filepath.Join(t.TempDir(), "run.cpprof"), "--", program, "stdin")
			cmd.Stdin = strings.NewReader("what was typed")
			out, err := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != 5 {
				t.Errorf("%v: status %d, want the target's 5", err, code)
			}
			if !strings.Contains(string(out), `read "what was typed"`) {
				t.Errorf("the target printed %q", out)
			}
		})
	}
	t.Run("gone before a sample", func(t *testing.T) {
		cmd := self(t, "record", "-o", filepath.Join(t.TempDir(), "run.cpprof"), "--", program, "exit", "3")
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != 3 {
			t.Errorf("status %d, want the target's 3: %s", code, out)
		}
	})
}

// Recordings of the other backends end in the same ways.
func TestRecordEndsOfOtherBackendsLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the tests' targets need Linux")
	}
	program := fixture.Build(t, "lifecycle")
	for _, backend := range backendNames() {
		if backend != defaultBackend {
			testEnds(t, program, backend)
		}
	}
}

func testEnds(t *testing.T, program, backend string) {
	t.Run(backend+"/attached", func(t *testing.T) { testAttachedEnds(t, program, backend) })
	t.Run(backend+"/launched", func(t *testing.T) { testLaunchedEnds(t, program, backend) })
}

func testAttachedEnds(t *testing.T, program, backend string) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			target := fixture.Start(t, program, "wait")
			r := startRecording(t, "--backend", backend, "-p", fmt.Sprint(target.Pid()))
			r.Process.Signal(sig)
			r.finish(t, 0, sampledata.EndInterrupted)
			target.Lives(t)
		})
	}
	t.Run("killed sampler", func(t *testing.T) {
		t.Parallel()
		target := fixture.Start(t, program, "wait")
		r := startRecording(t, "--backend", backend, "-p", fmt.Sprint(target.Pid()))
		r.Process.Kill()
		r.Wait()
		target.Lives(t)
		if rec := r.recording(t); rec.End != nil || rec.Samples.Len() == 0 {
			t.Errorf("%d samples, end %+v", rec.Samples.Len(), rec.End)
		}
	})
}

func testLaunchedEnds(t *testing.T, program, backend string) {
	t.Run("killed sampler", func(t *testing.T) {
		t.Parallel()
		r, out := launchRecording(t, program, "--backend", backend)
		r.Process.Kill()
		r.Wait()
		if _, err := io.ReadFull(out, make([]byte, 20)); err != nil {
			t.Errorf("the target has ended, too: %v", err)
		}
	})
	t.Run("terminated", func(t *testing.T) {
		t.Parallel()
		r, out := launchRecording(t, program, "--backend", backend)
		r.Process.Signal(syscall.SIGTERM)
		r.finish(t, 0, sampledata.EndInterrupted)
		if _, err := io.ReadFull(out, make([]byte, 20)); err != nil {
			t.Errorf("the target has ended, too: %v", err)
		}
	})
	for mode, want := range map[string]struct {
		status int
		cause  sampledata.EndCause
	}{
		"quit": {7, sampledata.EndExited}, "panic": {2, sampledata.EndExited},
		"crash": {128 + 9, sampledata.EndKilled},
		"exec":  {0, sampledata.EndExec},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			r := startRecording(t, "--backend", backend, "--", program, mode)
			pid := r.recording(t).Header.PID
			t.Cleanup(func() { syscall.Kill(int(pid), syscall.SIGKILL) })
			syscall.Kill(int(pid), syscall.SIGUSR1)
			r.finish(t, want.status, want.cause)
		})
	}
}

// The recording has the bounds that the flags set, and the default bounds.
func TestRecordBounds(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the tests' targets need Linux")
	}
	target := fixture.Start(t, fixture.Build(t, "lifecycle"), "wait")
	needsTracing(t, target.Pid())
	for _, c := range []struct {
		args          []string
		overhead, cpu float64
	}{
		{nil, 0.01, 0.05},
		{[]string{"--max-cpu", "20%", "--max-overhead", "0.5"}, 0.5, 0.2},
		{[]string{"--max-cpu", "0"}, 0.01, 0},
	} {
		file := filepath.Join(t.TempDir(), "run.cpprof")
		args := append([]string{"record", "-o", file, "-d", "100ms", "-p", fmt.Sprint(target.Pid())}, c.args...)
		if out, err := self(t, args...).CombinedOutput(); err != nil {
			t.Fatalf("record %q: %v: %s", c.args, err, out)
		}
		rec := fixture.Must(sampledata.Open(file))(t)
		if got := rec.Header.Sampler; got.MaxOverhead != c.overhead || got.MaxCPU != c.cpu {
			t.Errorf("record %q: bounds %v and %v, want %v and %v", c.args, got.MaxOverhead, got.MaxCPU, c.overhead, c.cpu)
		}
	}
}

// cpprof keeps exactly to a bound on processor time that is
// given; without one, it uses less on a busy machine.
func TestYieldFlag(t *testing.T) {
	for _, args := range [][]string{nil, {"--rate", "50"}, {"--max-cpu", "5%"}, {"--max-cpu", "0"}} {
		var f samplerFlags
		c := &cobra.Command{}
		f.add(c)
		fixture.Check(t, c.ParseFlags(args))
		fixture.Check(t, f.check(c))
		if asked := slices.Contains(args, "--max-cpu"); f.options.Yield == asked {
			t.Errorf("%q: yields %v", args, f.options.Yield)
		}
	}
}

// launchRecording launches lifecycle under a recorder, and returns the target's output.
func launchRecording(t *testing.T, program string, args ...string) (*recorder, io.Reader) {
	t.Helper()
	out, in, err := os.Pipe()
	fixture.Check(t, err)
	t.Cleanup(func() { out.Close() })
	r := &recorder{file: filepath.Join(t.TempDir(), "run.cpprof")}
	args = append([]string{"record", "-o", r.file, "--rate", "100", "--max-overhead", "20%", "--max-cpu", "0"}, args...)
	r.Cmd = self(t, append(args, "--", program, "wait")...)
	// Standard error is a file: the target has it, too, and Wait
	// would wait for both to close a pipe.
	errs := fixture.Must(os.Create(filepath.Join(t.TempDir(), "stderr")))(t)
	t.Cleanup(func() { errs.Close() })
	r.Stdout, r.Stderr = in, errs
	fixture.Check(t, r.Start())
	in.Close()
	for {
		rec, err := sampledata.Open(r.file)
		if err == nil && rec.Samples.Len() > 0 {
			t.Cleanup(func() { syscall.Kill(int(rec.Header.PID), syscall.SIGKILL) })
			return r, out
		}
		if r.ended() {
			said, _ := os.ReadFile(errs.Name())
			t.Fatalf("cpprof has ended: %s", said)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// writeForeign copies a program, and marks the copy in its
// header as one for another processor.
func writeForeign(t *testing.T, program, to string) {
	t.Helper()
	text := fixture.Must(os.ReadFile(program))(t)
	const machine = 18 // offset of e_machine in an ELF header
	binary.LittleEndian.PutUint16(text[machine:], uint16(elf.EM_386))
	fixture.Check(t, os.WriteFile(to, text, 0o755))
}

// If a program can't be recorded, one line says why, and what to do.
func TestRecordRefuses(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the messages are Linux's")
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	text := filepath.Join(dir, "text")
	stripped := fixture.Build(t, "lifecycle", "-ldflags=-s -w")
	foreign := filepath.Join(dir, "foreign")
	writeForeign(t, stripped, foreign)
	for name, mode := range map[string]os.FileMode{script: 0o755, text: 0o644} {
		fixture.Check(t, os.WriteFile(name, []byte("#!/bin/sh\nsleep 1\n"), mode))
	}
	sleep := exec.Command("sleep", "100")
	if err := sleep.Start(); err != nil {
		t.Skip("no sleep to try it on")
	}
	t.Cleanup(func() { sleep.Process.Kill(); sleep.Wait() })
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{nil, exitUsage, "give a command"},
		{[]string{"--", foreign}, exitFailed, "foreign was built for linux/386: this cpprof records only programs for linux/" + runtime.GOARCH},
		{[]string{"--backend", "delve", "--", foreign}, exitFailed, "foreign was built for linux/386"},
		{[]string{"-p", "1", "--", "true"}, exitUsage, "not both"},
		{[]string{"--rate", "0", "--", "true"}, exitUsage, "--rate 0"},
		{[]string{"--rate", "-1", "--", "true"}, exitUsage, "rate -1"},
		{[]string{"--jitter", "2", "--", "true"}, exitUsage, `"2" for "--jitter" flag`},
		{[]string{"--max-overhead", "200%", "--", "true"}, exitUsage, `"200%" for "--max-overhead" flag`},
		{[]string{"--max-overhead", "much", "--", "true"}, exitUsage, `"much" for "--max-overhead" flag: want a share such as 5%`},
		{[]string{"--max-cpu", "much", "--", "true"}, exitUsage, `"much" for "--max-cpu" flag: want a share such as 5%`},
		{[]string{"--max-cpu", "-5%", "--", "true"}, exitUsage, `"-5%" for "--max-cpu" flag: want a share`},
		{[]string{"--backend", "magic", "--", "true"}, exitUsage, "no such backend"},
		{[]string{"-p", "0"}, exitFailed, "no such process"},
		{[]string{"-p", "99999999"}, exitFailed, "attach to 99999999: no such process: look for the pid"},
		{[]string{"-p", fmt.Sprint(sleep.Process.Pid)}, exitFailed, "is not a Go program"},
		{[]string{"--", "no-such-command"}, exitFailed, "command not found"},
		{[]string{"4711"}, exitFailed, "give -p 4711"},
		{[]string{"--", "./no/such/file"}, exitFailed, "no such file"},
		{[]string{"--", text}, exitFailed, "not executable"},
		{[]string{"--child", "[", "--", "true"}, exitUsage, "a pattern such as '*.test'"},
		{[]string{"--backend", "delve", "--", script}, exitFailed, "nothing was recorded: script started no Go program"},
		{[]string{"--", "sleep", "0.1"}, exitFailed, "nothing was recorded: sleep started no Go program"},
		{[]string{"--child", "server", "--", stripped, "exit", "0"}, exitFailed, "nothing was recorded"},
		{[]string{"--backend", "delve", "--", stripped, "wait"}, exitFailed, "has no symbols: build it without"},
		{[]string{"-o", dir, "--", stripped, "wait"}, exitFailed, "already exists: give another name"},
		{[]string{"-o", filepath.Join(dir, "no/such/folder"), "--", stripped, "wait"}, exitFailed, "there is no folder"},
	} {
		cmd := self(t, append([]string{"record"}, c.args...)...)
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.status || !strings.Contains(string(out), c.want) {
			t.Errorf("record %q ends with %d, want %d; it says %q, want %q", c.args, code, c.status, out, c.want)
		}
		if n := strings.Count(string(out), "\n"); c.status == exitFailed && n != 1 {
			t.Errorf("record %q says it in %d lines: %s", c.args, n, out)
		}
	}
}

// A process that another process traces can't be recorded; the
// error names the tracer.
func TestRecordTraced(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("ptrace is Linux's")
	}
	target := fixture.Start(t, fixture.Build(t, "lifecycle"), "wait")
	traced, release := make(chan error), make(chan bool)
	go func() {
		runtime.LockOSThread() // and never unlocked: the tracer ends with the thread
		traced <- syscall.PtraceAttach(target.Pid())
		<-release
		syscall.Wait4(target.Pid(), nil, 0, nil)
		syscall.PtraceDetach(target.Pid())
	}()
	if err := <-traced; err != nil {
		t.Skipf("ptrace is not permitted here: %v", err)
	}
	out, _ := self(t, "record", "-p", fmt.Sprint(target.Pid())).CombinedOutput()
	close(release)
	if want := fmt.Sprintf("already traced by process %d", os.Getpid()); !strings.Contains(string(out), want) {
		t.Errorf("it says %q, want %q", out, want)
	}
}
