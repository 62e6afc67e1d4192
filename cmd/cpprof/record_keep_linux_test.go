package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// stalling starts a server with a number of stalls. Its output
// says what they are.
func stalling(t *testing.T, stalls int) (target *fixture.Running, dir string) {
	t.Helper()
	target = fixture.Start(t, fixture.Build(t, "stalls"), strconv.Itoa(stalls))
	needsTracing(t, target.Pid())
	return target, t.TempDir()
}

// keeping starts 'record --keep', and returns what it says, line by line.
func keeping(t *testing.T, dir string, args ...string) (c *exec.Cmd, said *bufio.Scanner) {
	t.Helper()
	c = self(t, append([]string{"record", "-o", filepath.Join(dir, "run.cpprof")}, args...)...)
	errs := fixture.Must(c.StderrPipe())(t)
	fixture.Check(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill() })
	return c, bufio.NewScanner(errs)
}

// awaitLine returns the next line with a text.
func awaitLine(t *testing.T, said *bufio.Scanner, text string) string {
	t.Helper()
	var all []string
	for said.Scan() {
		if all = append(all, said.Text()); strings.Contains(said.Text(), text) {
			return said.Text()
		}
	}
	t.Fatalf("it never says %q, but:\n%s", text, strings.Join(all, "\n"))
	return ""
}

// keptRecording opens the nth recording that was kept.
func keptRecording(t *testing.T, dir string, n int) (string, *sampledata.Recording) {
	t.Helper()
	name := "run.cpprof"
	if n > 1 {
		name = fmt.Sprintf("run.%d.cpprof", n)
	}
	r := fixture.Must(sampledata.Open(filepath.Join(dir, name)))(t)
	return filepath.Join(dir, name), r
}

// Each stall of a server is kept, though nobody knew when it
// would come, and its cause is the first finding of each
// recording.
func TestKeepStallsLong(t *testing.T) {
	fixture.Long(t)
	const stalls = 4
	target, dir := stalling(t, stalls)
	c, said := keeping(t, dir, "--keep", "4s", "-n", "9", "--when", "calls(main.(*server).handle) > 400ms", "-p", strconv.Itoa(target.Pid()))
	for i := range stalls {
		awaitLine(t, said, "main.(*server).handle took ")
		file, r := keptRecording(t, dir, i+1)
		if !r.Complete() || !strings.Contains(r.End.Detail, ", since main.(*server).handle took ") {
			t.Errorf("%s ended: %+v", file, r.End)
		}
		if d := r.End.Time; d < 3500*time.Millisecond && i > 0 || d > 4100*time.Millisecond {
			t.Errorf("%s has %v, want 4 s", file, d)
		}
		out := fixture.Must(self(t, "why", "--json", file).Output())(t)
		var answer struct {
			Findings []any
		}
		if err := json.Unmarshal(out, &answer); err != nil || len(answer.Findings) == 0 {
			t.Fatalf("%s: no finding: %v: %s", file, err, out)
		}
		kind := fixture.Must(target.Out.ReadString('\n'))(t)
		want := "main.(*server)." + strings.TrimSpace(kind)
		if first, _ := json.Marshal(answer.Findings[0]); !strings.Contains(string(first), want) {
			t.Errorf("%s: the first finding does not name %s: %s", file, want, first)
		}
	}
	awaitLine(t, said, "the program ended: kept the last 4s in ")
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// SIGUSR1 keeps the last seconds, and the recording goes on. So
// does the end of a program that is killed.
func TestKeepIfAsked(t *testing.T) {
	t.Parallel()
	target, dir := stalling(t, 9)
	c, said := keeping(t, dir, "--keep", "1s", "-p", strconv.Itoa(target.Pid()))
	time.Sleep(2 * time.Second)
	fixture.Check(t, c.Process.Signal(syscall.SIGUSR1))
	awaitLine(t, said, "it was asked for (user defined signal 1): kept the last 1s in ")
	file, r := keptRecording(t, dir, 1)
	if n := r.Samples.Len(); n == 0 || r.End.Time > 1100*time.Millisecond || !strings.Contains(r.End.Detail, "it was asked for") {
		t.Errorf("%d samples, ended %+v", n, r.End)
	}
	if status, out, _ := runLine(t, "info "+file); status != exitFine || !strings.Contains(out, ", since it was asked for") {
		t.Errorf("info: %s", out)
	}
	time.Sleep(time.Second / 2) // there are samples since then
	fixture.Check(t, target.Process.Kill())
	awaitLine(t, said, "kept the last 1s in ")
	if _, r := keptRecording(t, dir, 2); r.Samples.Len() == 0 || r.End.Cause != sampledata.EndKilled && r.End.Cause != sampledata.EndExited {
		t.Errorf("after the program was killed: %d samples, %+v", r.Samples.Len(), r.End)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// The recording of a launched program that crashes is written,
// and cpprof ends with the program's status.
func TestKeepCrash(t *testing.T) {
	t.Parallel()
	_, dir := stalling(t, 9)
	c, said := keeping(t, dir, "--keep", "1s", "--", fixture.Build(t, "stalls"), "0", "panic")
	awaitLine(t, said, "the program ended with status 2: kept the last 1s in ")
	if _, r := keptRecording(t, dir, 1); r.End.Cause != sampledata.EndExited || r.End.ExitStatus != 2 || r.Samples.Len() == 0 {
		t.Errorf("ended %+v", r.End)
	}
	if _ = c.Wait(); c.ProcessState.ExitCode() != 2 {
		t.Errorf("cpprof ended with %v", c.ProcessState)
	}
}

// If a recording can't be written, cpprof says so, leaves
// nothing, and goes on. The recording that can be written has
// the free name.
func TestKeepNotWritable(t *testing.T) {
	t.Parallel()
	target, dir := stalling(t, 9)
	c, said := keeping(t, dir, "--keep", "1s", "-n", "1", "-p", strconv.Itoa(target.Pid()))
	time.Sleep(2 * time.Second)
	other := dir + ".elsewhere"
	fixture.Check(t, os.Rename(dir, other))
	t.Cleanup(func() { os.RemoveAll(other) })
	fixture.Check(t, c.Process.Signal(syscall.SIGUSR1))
	if line := awaitLine(t, said, "but the last seconds can't be kept: "); !strings.Contains(line, "no such file") {
		t.Error(line)
	}
	fixture.Check(t, os.Rename(other, dir))
	fixture.Check(t, c.Process.Signal(syscall.SIGUSR1))
	awaitLine(t, said, "(1 of 1)")
	awaitLine(t, said, "1 recording kept, as many as --count allows")
	if _, r := keptRecording(t, dir, 1); r.Samples.Len() == 0 {
		t.Error("no samples")
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// A full disk is as a folder that is missing: nothing is left of
// the recording that did not fit, and the next one has its name.
func TestKeepFullDisk(t *testing.T) {
	t.Parallel()
	target, dir := stalling(t, 9)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=32k"); err != nil {
		t.Skipf("a small file system can't be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	c, said := keeping(t, dir, "--keep", "1s", "-n", "1", "-p", strconv.Itoa(target.Pid()))
	time.Sleep(2 * time.Second)
	fill := filepath.Join(dir, "fill")
	if err := os.WriteFile(fill, make([]byte, 40<<10), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	fixture.Check(t, c.Process.Signal(syscall.SIGUSR1))
	awaitLine(t, said, "no space left on device")
	if _, err := os.Stat(filepath.Join(dir, "run.cpprof")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
	fixture.Check(t, os.Remove(fill))
	fixture.Check(t, c.Process.Signal(syscall.SIGUSR1))
	awaitLine(t, said, "(1 of 1)")
	if _, r := keptRecording(t, dir, 1); r.Samples.Len() == 0 {
		t.Error("no samples")
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

func TestKeepRefuses(t *testing.T) {
	refuses(t, []refusal{
		{"record --keep 0 -p 1", exitUsage, "--keep 0s: want a time from 1s to 1h"},
		{"record --keep -3s -p 1", exitUsage, "--keep -3s: want a time from 1s"},
		{"record --keep 3h -p 1", exitUsage, "without --keep, all is written"},
		{"record --keep 10s -d 10s -p 1", exitUsage, "--duration 10s is not longer"},
		{"record --when x -p 1", exitUsage, "--when goes with --keep"},
		{"record --count 3 -p 1", exitUsage, "--count goes with --keep"},
		{"record --keep 5s -n 0 -p 1", exitUsage, "want 1 or more"},
		{"record --keep 5s --when= -p 1", exitUsage, "--when is empty"},
		{"record --keep 5s --when calls(main.f) -p 1", exitUsage, "calls(main.f) > 500ms"},
		{"record --keep 5s --when calls(main.f -p 1", exitUsage, "want calls(FUNCTION)"},
		{"record --keep 5s --view -p 1", exitUsage, "leave --view and --web out"},
		{"record --keep 5s --max-memory 1MB -p 1", exitUsage, "at least 16MB"},
	})
}

// What --when names must be there.
func TestKeepUnknown(t *testing.T) {
	t.Parallel()
	target, dir := stalling(t, 9)
	for when, want := range map[string]string{
		"goroutines.blockd > 3":       "did you mean goroutines.blocked?",
		"calls(main.servr.f) > 500ms": "the program has no such function",
		"goroutines.blocked":          "is not true or false",
	} {
		c := self(t, "record", "--keep", "1s", "-o", filepath.Join(dir, "run.cpprof"), "--when", when, "-p", strconv.Itoa(target.Pid()))
		out, err := c.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("--when %q: %v: %s", when, err, out)
		}
		if _, err := os.Stat(filepath.Join(dir, "run.cpprof")); err == nil {
			t.Errorf("--when %q: something was written", when)
		}
	}
}

// Of several programs, each keeps its own last seconds, and what
// is written is counted together.
func TestKeepProgramsLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	_, dir := stalling(t, 9)
	script := "for i in 1 2 3; do " + fixture.Build(t, "stalls") + " 1 panic & done; wait"
	c, said := keeping(t, dir, "--keep", "1s", "-n", "2", "--max-memory", "64MB", "--", "sh", "-c", script)
	pids := map[int64]bool{}
	for i := range 2 {
		line := awaitLine(t, said, "): the program ended: kept the last ")
		if !strings.HasPrefix(line, "cpprof: stalls (process ") || !strings.Contains(line, fmt.Sprintf("(%d of 2)", i+1)) {
			t.Errorf("got %q", line)
		}
		_, r := keptRecording(t, dir, i+1)
		if r.Samples.Len() == 0 || pids[r.Header.PID] {
			t.Errorf("%d samples of process %d", r.Samples.Len(), r.Header.PID)
		}
		pids[r.Header.PID] = true
	}
	awaitLine(t, said, "2 recordings kept, as many as --count allows")
	_ = c.Wait()
	if files, _ := filepath.Glob(filepath.Join(dir, "*.cpprof")); len(files) != 2 {
		t.Errorf("there are %q", files)
	}
}
