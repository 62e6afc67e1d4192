package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
)

// While cpprof is suspended (Ctrl-Z), every thread of its target
// runs on, even one that was in the kernel when cpprof wanted to
// halt it. When cpprof is continued, it records again, and the
// samples do not stand for the time of the suspensions.
func TestRecordSuspended(t *testing.T) {
	t.Parallel()
	const suspensions, atLeast = 40, 5 * 2 * time.Millisecond
	target := fixture.Start(t, fixture.Build(t, "fsync"), t.TempDir())
	r := startRecording(t, "-p", fmt.Sprint(target.Pid()))
	suspendOften(t, r.Process, target, suspensions)
	before := r.recording(t).Samples.Len()
	await(t, "samples after the suspensions", func() bool { return r.recording(t).Samples.Len() > before })
	target.Lives(t)
	r.Process.Signal(syscall.SIGINT)
	r.finish(t, 0, sampledata.EndInterrupted)
	rec := r.recording(t)
	var suspended time.Duration
	for _, s := range rec.Samples.All() {
		suspended += s.Suspended
	}
	if suspended < suspensions*atLeast {
		t.Errorf("cpprof was suspended for %v, but %v are recorded", suspensions*atLeast, suspended)
	}
	n := rec.Samples.Len()
	if w := time.Duration(rec.Weights().Of(0, n)); w > rec.Stats().Duration-suspended+time.Duration(n) {
		t.Errorf("the samples stand for %v of %v, in which cpprof was suspended for %v", w, rec.Stats().Duration, suspended)
	}
}

// While an examination is suspended, its target runs on, and it
// comes to its result afterwards.
func TestStuckSuspended(t *testing.T) {
	t.Parallel()
	target := fixture.Start(t, fixture.Build(t, "stuck"))
	needsTracing(t, target.Pid())
	var out written
	c := self(t, "stuck", "-p", fmt.Sprint(target.Pid()), "--max-halt", "500ms")
	c.Stdout = &out
	fixture.Check(t, c.Start())
	suspendOften(t, c.Process, target, 20)
	if err := c.Wait(); err != nil || !strings.Contains(out.String(), "are stuck for good") {
		t.Errorf("%v: %s", err, out.String())
	}
}

// suspendOften suspends and continues cpprof until it ends, and
// checks each time that the target runs on.
func suspendOften(t *testing.T, cpprof *os.Process, target *fixture.Running, times int) {
	t.Helper()
	for range times {
		cpprof.Signal(syscall.SIGTSTP)
		state := ""
		await(t, "cpprof is suspended, or has ended", func() bool {
			state = stateOf(cpprof.Pid, cpprof.Pid)
			return state == "T" || state == "Z"
		})
		if state == "Z" {
			return
		}
		for range 5 {
			if traced := tracedThreads(target.Pid()); traced != "" {
				t.Fatalf("threads of the target are traced while cpprof is suspended:\n%s", traced)
			}
			time.Sleep(2 * time.Millisecond) // time for a thread with a pending stop to reach it
		}
		cpprof.Signal(syscall.SIGCONT)
		time.Sleep(time.Duration(rand.IntN(30)) * time.Millisecond)
	}
}

// The same is true of a cpprof that probes.
func TestProbeSuspendedLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	target := startProbed(t)
	p := startProbe(t, target)
	suspendOften(t, p.Process, target, 40)
	p.end(t)
}

// cpprof is not suspended while it detaches from its target for good.
func TestCloseIsNotSuspended(t *testing.T) {
	s := &signals{backends: map[*suspendable]bool{}}
	inner := &closes{s: s}
	if err := s.suspendable(inner).Close(); err != nil || !inner.closed || !inner.safe {
		t.Errorf("%v; closed: %v; while suspending had to wait: %v", err, inner.closed, inner.safe)
	}
}

// closes is a backend that only finds out what holds while it is closed.
type closes struct {
	sampler.Backend
	s            *signals
	closed, safe bool
}

func (c *closes) Close() error {
	c.closed, c.safe = true, !c.s.halting.TryLock()
	return nil
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		began := time.Now()
		if ok() {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
		// To read a recording again and again would take a processor.
		time.Sleep(min(2*time.Millisecond+5*time.Since(began), 100*time.Millisecond))
	}
}

// stateOf returns the letter of a thread's state: "T" for stopped.
func stateOf(pid, tid int) string { return threadStatus(pid, fmt.Sprint(tid), "State")[:1] }

// threadStatus returns a line of a thread's status, "?" if there
// is no such thread.
func threadStatus(pid int, tid, name string) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/status", pid, tid))
	for line := range bytes.Lines(b) {
		if value, ok := bytes.CutPrefix(line, []byte(name+":")); ok {
			return string(bytes.TrimSpace(value))
		}
	}
	return "?"
}

// tracedThreads lists the threads of a process that somebody traces.
func tracedThreads(pid int) string {
	var traced strings.Builder
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, task := range tasks {
		if tracer := threadStatus(pid, task.Name(), "TracerPid"); tracer != "0" && tracer != "?" {
			fmt.Fprintf(&traced, "thread %s: %s, traced by %s\n", task.Name(), threadStatus(pid, task.Name(), "State"), tracer)
		}
	}
	return traced.String()
}

// Under nohup, the hang-up of the terminal ends neither cpprof
// nor the program that it launched. The same is true for the
// other signals that were ignored when cpprof started.
func TestRecordKeepsIgnoredSignals(t *testing.T) {
	t.Parallel()
	program := fixture.Build(t, "lifecycle")
	out, in, err := os.Pipe()
	fixture.Check(t, err)
	defer out.Close()
	file := filepath.Join(t.TempDir(), "run.cpprof")
	cpprof := filepath.Join(t.TempDir(), "cpprof") // under this name the test binary runs as cpprof
	fixture.Check(t, os.Symlink(self(t).Path, cpprof))
	cmd := exec.Command("sh", "-c", `trap "" HUP INT TSTP; exec "$@"`, "sh",
		cpprof, "record", "-o", file, "--rate", "100", "--max-overhead", "20%", "--max-cpu", "0", "--", program, "wait")
	cmd.Stdout = in
	fixture.Check(t, cmd.Start())
	in.Close()
	defer cmd.Wait()
	defer cmd.Process.Kill()
	var launched int
	await(t, "a first sample", func() bool {
		rec, err := sampledata.Open(file)
		if err != nil || rec.Samples.Len() == 0 {
			return false
		}
		launched = int(rec.Header.PID)
		return true
	})
	defer syscall.Kill(launched, syscall.SIGKILL)
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTSTP} {
		for who, pid := range map[string]int{"cpprof": cmd.Process.Pid, "the program": launched} {
			if !ignores(t, pid, sig) {
				t.Errorf("%s does not ignore %v", who, sig)
			}
			syscall.Kill(pid, sig)
		}
	}
	if _, err := io.ReadFull(out, make([]byte, 20)); err != nil {
		t.Errorf("the program has ended: %v", err)
	}
	rec := fixture.Must(sampledata.Open(file))(t)
	before := rec.Samples.Len()
	await(t, "samples after the signals", func() bool {
		rec, err := sampledata.Open(file)
		return err == nil && rec.Samples.Len() > before && rec.End == nil
	})
}

func ignores(t *testing.T, pid int, sig syscall.Signal) bool {
	t.Helper()
	var mask uint64
	fixture.Must(fmt.Sscanf(threadStatus(pid, fmt.Sprint(pid), "SigIgn"), "%x", &mask))(t)
	return mask>>(sig-1)&1 != 0
}

// Whenever a signal asks for the end, or nobody reads the output
// any more, each command ends, its target runs on without a
// probe, and what was recorded can be read.
func TestSignalsAtAnyMomentLong(t *testing.T) {
	fixture.Long(t)
	target := fixture.Start(t, fixture.Build(t, "lifecycle"), "wait")
	needsTracing(t, target.Pid())
	pid := fmt.Sprint(target.Pid())
	for _, line := range fixture.Third([]string{
		"record -o FILE -d 400ms -p PID", "record -o FILE -d 400ms --backend delve -p PID", "record -o FILE --keep 10s -d 400ms -p PID",
		"why -o FILE -d 400ms -p PID", "why -o FILE --probes -d 400ms -p PID", "stuck -p PID", "probe -o FILE -d 400ms -p PID main.*",
		"top -i 100ms -n 5 -p PID", "dump-goroutines -p PID", "agent --listen 127.0.0.1:0 -d 1s --match lifecycle",
	}) {
		t.Run(strings.NewReplacer(" -o FILE", "", " -p PID", "", " -d 400ms", "").Replace(line), func(t *testing.T) {
			for _, ends := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE} {
				var longest time.Duration
				for range 2 {
					file := filepath.Join(t.TempDir(), "run.cpprof")
					c := self(t, strings.Fields(strings.NewReplacer("FILE", file, "PID", pid).Replace(line))...)
					longest = max(longest, endAtAnyMoment(t, c, ends))
					if rec, err := sampledata.Open(file); err == nil {
						err = rec.Check()
						if err != nil {
							t.Errorf("%v: the recording: %v", ends, err)
						}
					} else if _, there := os.Stat(filepath.Join(file, "SampleData")); there == nil && !strings.Contains(err.Error(), "is empty") {
						t.Errorf("%v: the recording: %v", ends, err)
					}
					if traced := tracedThreads(target.Pid()); traced != "" {
						t.Errorf("%v: still traced: %s", ends, traced)
					}
					await(t, "the code is that of the file", func() bool { return len(changed(t, target.Pid())) == 0 })
					target.Lives(t)
				}
				t.Logf("%v: it ended within %v", ends, longest)
			}
		})
	}
}

// endAtAnyMoment starts a command, sends it a signal at a random
// moment, and returns how long it took to end. In place of
// SIGPIPE, it closes the output, which brings the signal when
// something is written.
func endAtAnyMoment(t *testing.T, c *exec.Cmd, ends syscall.Signal) time.Duration {
	t.Helper()
	out, in, err := os.Pipe()
	fixture.Check(t, err)
	defer out.Close()
	c.Stdout, c.Stderr = in, in
	fixture.Check(t, c.Start())
	in.Close()
	if ends != syscall.SIGPIPE {
		go io.Copy(io.Discard, out)
	}
	time.Sleep(rand.N(700 * time.Millisecond))
	began := time.Now()
	if ends == syscall.SIGPIPE {
		out.Close()
	} else {
		c.Process.Signal(ends)
	}
	endsSoon(t, c)
	return time.Since(began)
}

// If nobody reads what cpprof says, its recording is whole, and
// a program that it must end is ended.
func TestRecordUnread(t *testing.T) {
	t.Parallel()
	program := fixture.Build(t, "states")
	target := fixture.Start(t, program, "parked", "10")
	needsTracing(t, target.Pid())
	for line, status := range map[string]int{"record -p PID": 0, "probe main.* -- PROGRAM parked 10": exitUnread} {
		file := filepath.Join(t.TempDir(), "run.cpprof")
		words := strings.NewReplacer("PID", fmt.Sprint(target.Pid()), "PROGRAM", program).Replace(line)
		command, rest, _ := strings.Cut(words, " ")
		c := self(t, append([]string{command, "-d", "200ms", "-o", file}, strings.Fields(rest)...)...)
		out, in, err := os.Pipe()
		fixture.Check(t, err)
		c.Stdout, c.Stderr = in, in
		fixture.Check(t, c.Start())
		in.Close()
		lines := bufio.NewScanner(out)
		for strings.Contains(line, "PROGRAM") && lines.Scan() && lines.Text() != "ready" { // it says that itself
		}
		fixture.Check(t, lines.Err())
		out.Close()
		if err := c.Wait(); c.ProcessState.ExitCode() != status {
			t.Errorf("%s: %v, want status %d", line, err, status)
		}
		if rec, err := sampledata.Open(file); err != nil || rec.End == nil {
			t.Errorf("%s: the recording is not whole: %v", line, err)
		}
		if syscall.Kill(-c.Process.Pid, syscall.SIGKILL) == nil {
			t.Errorf("%s: the program is left", line)
		}
	}
}

// The same is true of a cpprof that has launched its target,
// which then runs on alone.
func TestSignalsAtAnyMomentLaunchedLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	program := fixture.Build(t, "lifecycle")
	alone := 0
	for i := range 24 {
		out, in, err := os.Pipe()
		fixture.Check(t, err)
		file := filepath.Join(t.TempDir(), "run.cpprof")
		c := self(t, "record", "-o", file, "--", program, "wait")
		c.Stdout = in
		fixture.Check(t, c.Start())
		in.Close()
		time.Sleep(rand.N(700 * time.Millisecond))
		c.Process.Signal([]syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}[i%3])
		endsSoon(t, c)
		before := make([]byte, 1)
		if _, err := out.Read(before); err == nil { // it was launched
			if _, err := io.ReadFull(out, make([]byte, 100)); err != nil {
				t.Errorf("the program has ended, too: %v", err)
			}
			alone++
		}
		syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		out.Close()
		if rec, err := sampledata.Open(file); err == nil {
			if err := rec.Check(); err != nil {
				t.Error(err)
			}
		}
	}
	if alone == 0 {
		t.Error("no program was launched in time")
	}
}
