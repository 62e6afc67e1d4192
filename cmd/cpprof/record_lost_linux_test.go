package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// If a recording fails, cpprof says so, waits for the program
// that it launched, and ends with its status. If the program
// ends with status 0, cpprof still fails.
func TestRecordStaysForTheProgram(t *testing.T) {
	t.Parallel()
	program := fixture.Build(t, "lifecycle")
	for mode, want := range map[string]int{"quit": 7, "end": exitFailed} {
		t.Run(mode, func(t *testing.T) {
			r := startRecording(t, "--", program, mode)
			launched := int(r.recording(t).Header.PID)
			fixture.Check(t, os.RemoveAll(r.file))
			r.says(t, "was removed or moved while the recording was made")
			r.says(t, fmt.Sprintf("the launched program continues as process %d, and is not recorded", launched))
			if r.ended() {
				t.Fatal("cpprof has ended")
			}
			syscall.Kill(launched, syscall.SIGUSR1)
			r.Wait()
			if status := r.ProcessState.ExitCode(); status != want {
				t.Errorf("status %d, want %d", status, want)
			}
		})
	}
}

// says waits until cpprof has written a text to its standard error.
func (r *recorder) says(t *testing.T, text string) {
	t.Helper()
	await(t, "cpprof says "+text, func() bool { return strings.Contains(r.stderr.String(), text) })
}

func TestRecordOnAFullDisk(t *testing.T) {
	t.Parallel()
	cpprof := filepath.Join(t.TempDir(), "cpprof") // under this name the test binary runs as cpprof
	fixture.Check(t, os.Symlink(self(t).Path, cpprof))
	const script = `mount -t tmpfs -o size=16k tmpfs "$0" && echo mounted >&2 && exec "$@"`
	small := t.TempDir()
	r := &recorder{file: filepath.Join(small, "run.cpprof")}
	r.Cmd = exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, small,
		cpprof, "record", "-o", r.file, "--rate", "1000", "--max-overhead", "50%", "--max-cpu", "0", "--", fixture.Build(t, "lifecycle"), "quit")
	r.Stderr = &r.stderr
	if err := r.Start(); err != nil {
		t.Skipf("a small disk needs a mount namespace: %v", err)
	}
	t.Cleanup(func() { r.Process.Kill() })
	await(t, "the disk is there", func() bool { return r.ended() || strings.Contains(r.stderr.String(), "mounted") })
	if said := r.stderr.String(); !strings.Contains(said, "mounted") {
		t.Skipf("a small disk needs a mount namespace: %s", said)
	}
	r.says(t, "no space left on device")
	var launched int
	r.says(t, "continues as process")
	_, rest, _ := strings.Cut(r.stderr.String(), "continues as process ")
	fixture.Must(fmt.Sscanf(rest, "%d", &launched))(t)
	syscall.Kill(launched, syscall.SIGUSR1)
	r.Wait()
	if status := r.ProcessState.ExitCode(); status != 7 {
		t.Errorf("status %d, want the program's 7", status)
	}
}

// A second recorder does not replace what a first one is writing.
func TestRecordIntoABusyFolder(t *testing.T) {
	t.Parallel()
	program := fixture.Build(t, "lifecycle")
	target := fixture.Start(t, program, "wait")
	r := startRecording(t, "-p", fmt.Sprint(target.Pid()))
	for _, args := range [][]string{{"--", program, "wait"}, {"-p", fmt.Sprint(target.Pid())}} {
		out, err := self(t, append([]string{"record", "--force", "-o", r.file}, args...)...).CombinedOutput()
		want := "cpprof: replace " + r.file + ": another recording is being written into it"
		if err == nil || !strings.HasPrefix(string(out), want) {
			t.Errorf("%v: it says %q, want %q", err, out, want)
		}
	}
	r.Process.Signal(syscall.SIGINT)
	r.finish(t, 0, sampledata.EndInterrupted)
}
