//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// makeWaiter returns a module's folder and its program, and a
// file that doesn't exist yet. The program gets files as
// arguments, and waits for them one after the other. When one
// exists, it executes itself; after the last one, it ends with
// status 5. A test of the module's packages ends when a file
// exists.
func makeWaiter(t *testing.T) (dir, program, stop string) {
	t.Helper()
	return filepath.Join(fixture.Root(), "testdata/programs/waiter"), fixture.Build(t, "waiter"), newStop(t)
}

// newStop returns a file that doesn't exist yet. It is created
// at the end of the test, so that no waiter stays.
func newStop(t *testing.T) string {
	t.Helper()
	stop := filepath.Join(t.TempDir(), "stop")
	t.Cleanup(func() { touch(t, stop) })
	return stop
}

func touch(t *testing.T, file string) {
	t.Helper()
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Error(err)
	}
}

// sampled waits until a recording has a sample.
func (r *recorder) sampled(t *testing.T, file string) {
	t.Helper()
	for {
		if rec, err := sampledata.Open(file); err == nil && rec.Samples.Len() > 0 {
			return
		}
		if r.ended() {
			r.Wait()
			t.Fatalf("cpprof has ended without a sample in %s: %s", file, r.stderr.String())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// A program that a command starts or becomes is recorded instead
// of the command. cpprof ends with the command's status.
func TestRecordFollows(t *testing.T) {
	t.Parallel()
	dir, program, _ := makeWaiter(t)
	for _, c := range []struct {
		name    string
		command []string
		status  int
		program string // the program that the recording names
		calls   string // a function in its stacks
	}{
		{"go test", []string{"go", "-C", dir, "test", "-count=1", "./one", "-args", "$STOP"}, 0, "one.test", "example.com/waiter/one.TestWaits"},
		{"go run", []string{"go", "-C", dir, "run", ".", "$STOP"}, 1, "waiter", "main.main"},
		{"shell", []string{"sh", "-c", program + " $STOP; exit 4"}, 4, "waiter", "main.main"},
		{"shell executes", []string{"sh", "-c", "exec " + program + " $STOP"}, 5, "waiter", "main.main"},
		{"shell ends first", []string{"sh", "-c", program + " $STOP & exit 3"}, 3, "waiter", "main.main"},
		{"subshell", []string{"sh", "-c", "(sleep 0.2; " + program + " $STOP) & exit 3"}, 3, "waiter", "main.main"},
		{"env", []string{"env", "-u", "NOSUCH", program, "$STOP"}, 5, "waiter", "main.main"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			stop := newStop(t)
			for i, arg := range c.command {
				c.command[i] = strings.ReplaceAll(arg, "$STOP", stop)
			}
			r := startRecording(t, append([]string{"--"}, c.command...)...)
			touch(t, stop)
			r.finish(t, c.status, sampledata.EndExited)
			rec := r.recording(t)
			if got := filepath.Base(rec.Header.Command[0]); got != c.program {
				t.Errorf("a recording of %q, want %s", rec.Header.Command, c.program)
			}
			if !slices.ContainsFunc(rec.Functions, func(f sampledata.Function) bool { return f.Name == c.calls }) {
				t.Errorf("no stack has %s", c.calls)
			}
			for _, want := range []string{
				fmt.Sprintf("recorded %s (process %d) into %s", c.program, rec.Header.PID, r.file), "next: cpprof why " + r.file,
			} {
				if !strings.Contains(r.stderr.String(), want) {
					t.Errorf("it does not say %q: %s", want, r.stderr.String())
				}
			}
		})
	}
}

// Several programs are recorded into several recordings.
func TestRecordFollowsSeveral(t *testing.T) {
	t.Parallel()
	dir, _, stop := makeWaiter(t)
	r := startRecording(t, "--", "go", "-C", dir, "test", "-count=1", "-p", "2", "./one", "./two", "-args", stop)
	second := strings.TrimSuffix(r.file, ".cpprof") + ".2.cpprof"
	r.sampled(t, second)
	touch(t, stop)
	r.finish(t, 0, sampledata.EndExited)
	var programs []string
	for _, file := range []string{r.file, second} {
		rec := fixture.Must(sampledata.Open(file))(t)
		programs = append(programs, filepath.Base(rec.Header.Command[0]))
	}
	slices.Sort(programs)
	if want := []string{"one.test", "two.test"}; !slices.Equal(programs, want) {
		t.Errorf("recordings of %q, want %q", programs, want)
	}
}

// --child chooses programs by a pattern: also the go command, and also among the children of a running process.
func TestRecordChild(t *testing.T) {
	t.Parallel()
	dir, program, stop := makeWaiter(t)
	other := filepath.Join(t.TempDir(), "other")
	if err := os.Link(program, other); err != nil {
		t.Skip(err)
	}
	both := program + " " + stop + " & " + other + " " + stop
	t.Run("launched", func(t *testing.T) {
		r := startRecording(t, "--child", "oth*", "--", "sh", "-c", both)
		if rec := r.recording(t); rec.Header.Command[0] != other {
			t.Errorf("a recording of %q, want %s", rec.Header.Command, other)
		}
		r.Process.Signal(syscall.SIGTERM)
		r.finish(t, 0, sampledata.EndInterrupted)
		if strings.Contains(r.stderr.String(), "recorded waiter") {
			t.Errorf("the other one is recorded, too: %s", r.stderr.String())
		}
	})
	t.Run("attached", func(t *testing.T) {
		shell := fixture.Start(t, "sh", "-c", both)
		r := startRecording(t, "--child", "waiter", "-p", fmt.Sprint(shell.Pid()))
		if rec := r.recording(t); rec.Header.Command[0] != program {
			t.Errorf("a recording of %q, want %s", rec.Header.Command, program)
		}
		r.Process.Signal(syscall.SIGTERM)
		r.finish(t, 0, sampledata.EndInterrupted)
	})
	t.Run("go", func(t *testing.T) {
		r := startRecording(t, "--child", "go", "--", "go", "-C", dir, "test", "-count=1", "./one", "-args", stop)
		r.Process.Signal(syscall.SIGTERM)
		r.finish(t, 0, sampledata.EndInterrupted)
		if rec := r.recording(t); rec.Header.Command[0] != "go" {
			t.Errorf("a recording of %q, want the go command", rec.Header.Command)
		}
	})
}

// With --follow-exec, a program that executes itself several
// times is recorded each time.
func TestRecordFollowsExec(t *testing.T) {
	t.Parallel()
	_, program, stop := makeWaiter(t)
	for name, prefix := range map[string]string{"launched": "", "started by a shell": "sh -c"} {
		t.Run(name, func(t *testing.T) {
			stops := []string{stop + name + "1", stop + name + "2", stop + name + "3"}
			for _, s := range stops {
				t.Cleanup(func() { touch(t, s) })
			}
			command := append([]string{"--follow-exec", "--", program}, stops...)
			if prefix != "" {
				command = append([]string{"--follow-exec", "--", "sh", "-c", `"$0" "$@"; exit $?`, program}, stops...)
			}
			r := startRecording(t, command...)
			stem := strings.TrimSuffix(r.file, ".cpprof")
			files := []string{r.file, stem + ".2.cpprof", stem + ".3.cpprof"}
			for i, file := range files {
				r.sampled(t, file)
				touch(t, stops[i])
			}
			r.Wait()
			if got := r.ProcessState.ExitCode(); got != 5 {
				t.Errorf("status %d, want the last program's 5: %s", got, r.stderr.String())
			}
			for i, file := range files {
				rec := fixture.Must(sampledata.Open(file))(t)
				want := sampledata.EndExec
				if i == len(files)-1 {
					want = sampledata.EndExited
				}
				if rec.End == nil || rec.End.Cause != want || len(rec.Header.Command) != 1+len(files)-i {
					t.Errorf("%s: %q, end %+v, want cause %d", file, rec.Header.Command, rec.End, want)
				}
			}
		})
	}
}

// With --follow-exec, cpprof goes on if a running program
// executes itself again and again, faster than cpprof can attach
// to it, and leaves no recording without samples.
func TestRecordFollowsFastChainLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	_, program, stop := makeWaiter(t)
	there := slices.Repeat([]string{program}, 60) // as files that exist: the program executes itself at once
	for _, c := range []struct {
		name     string
		launched bool
		first    []string // files that the chain waits for
	}{
		{"attached before the chain", false, []string{stop + "1"}}, {"attached in the chain", false, nil}, {"launched", true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			last := stop + c.name
			t.Cleanup(func() { touch(t, last) })
			files := slices.Concat(c.first, there, []string{last})
			args, status := append([]string{"--", program}, files...), 5
			if !c.launched {
				waiter := fixture.Start(t, program, files...)
				args, status = []string{"-p", fmt.Sprint(waiter.Pid())}, 0
			}
			r := startRecording(t, append([]string{"--follow-exec"}, args...)...)
			for _, file := range c.first {
				touch(t, file)
			}
			stem := strings.TrimSuffix(r.file, ".cpprof")
			await(t, "a sample of the last program", func() bool {
				files, _ := filepath.Glob(stem + "*.cpprof")
				return slices.ContainsFunc(files, func(file string) bool {
					rec, err := sampledata.Open(file)
					return err == nil && rec.Samples.Len() > 0 && len(rec.Header.Command) == 2
				})
			})
			touch(t, last)
			if r.Wait(); r.ProcessState.ExitCode() != status {
				t.Errorf("status %d, want %d: %s", r.ProcessState.ExitCode(), status, r.stderr.String())
			}
			made, _ := filepath.Glob(stem + "*")
			for _, file := range made {
				rec, err := sampledata.Open(file)
				if err != nil {
					t.Error(err)
				} else if rec.Samples.Len() == 0 || rec.End == nil {
					t.Errorf("%s: %d samples, end %+v", file, rec.Samples.Len(), rec.End)
				}
			}
		})
	}
}

// A signal to the whole process group, as Ctrl-C at a terminal
// sends it, leaves a complete recording.
func TestRecordFollowedInterrupt(t *testing.T) {
	t.Parallel()
	dir, _, stop := makeWaiter(t)
	r := &recorder{file: filepath.Join(t.TempDir(), "run.cpprof")}
	r.Cmd = self(t, "record", "-o", r.file, "--", "go", "-C", dir, "test", "-count=1", "./one", "-args", stop)
	r.Stderr = &r.stderr
	fixture.Check(t, r.Start())
	r.sampled(t, r.file)
	syscall.Kill(-r.Process.Pid, syscall.SIGINT)
	r.Wait()
	if rec := r.recording(t); rec.End == nil || rec.Samples.Len() == 0 {
		t.Errorf("%d samples, end %+v: %s", rec.Samples.Len(), rec.End, r.stderr.String())
	}
}

// If nothing can be recorded, cpprof says why, and does not hide
// the command's own failure.
func TestRecordFollowsNothing(t *testing.T) {
	t.Parallel()
	dir, _, stop := makeWaiter(t)
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"--", "sh", "-c", "exit 3"}, 3, "sh started no Go program"},
		{[]string{"--", "sh", "-c", "exit 0"}, exitFailed, "sh started no Go program"},
		{[]string{"--", "go", "-C", dir, "test", "./until"}, exitFailed, "add -count=1"},
		{[]string{"--child", "nosuch", "--", "go", "-C", dir, "build", "-o", os.DevNull}, exitFailed, "no program matched --child nosuch"},
		{[]string{"--backend", "delve", "-d", "100ms", "--", "go", "-C", dir, "run", ".", stop}, exitFailed, "has no symbols"},
	} {
		file := filepath.Join(t.TempDir(), "run.cpprof")
		cmd := self(t, append([]string{"record", "-o", file}, c.args...)...)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.status || !strings.Contains(string(out), c.want) {
			t.Errorf("record %q ends with %d, want %d; it says %q, want %q", c.args, code, c.status, out, c.want)
		}
		if _, err := os.Lstat(file); err == nil {
			t.Errorf("record %q left a recording behind", c.args)
		}
	}
}

// If -p names the process of a shell or of go run, the message
// names the program that was probably meant.
func TestWrongProcess(t *testing.T) {
	t.Parallel()
	dir, program, stop := makeWaiter(t)
	t.Run("shell", func(t *testing.T) {
		shell := fixture.Start(t, "sh", "-c", program+" "+stop+"; true")
		out, _ := self(t, "dump-goroutines", "-p", fmt.Sprint(shell.Pid())).CombinedOutput()
		if want := "recorded: it started waiter (process "; !strings.Contains(string(out), want) {
			t.Errorf("it says %q, want %q", out, want)
		}
	})
	t.Run("go run", func(t *testing.T) {
		run := fixture.Start(t, "go", "-C", dir, "run", ".", stop)
		needsTracing(t, run.Pid())
		out, err := self(t, "dump-goroutines", "-p", fmt.Sprint(run.Pid())).CombinedOutput()
		if want := "is the go command: it started waiter (process "; err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: it says %q, want %q", err, out, want)
		}
	})
}
