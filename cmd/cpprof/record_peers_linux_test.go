package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// Two recorders of one program know of each other, and both
// recordings are whole. Both halt the program as often as they
// can, so that they meet often. The program answers every signal
// meanwhile.
func TestTwoRecordingsLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	cmd := exec.Command(fixture.Build(t, "victim"), "-busy=2", "-lockers=3", "-threads=100")
	var answers written
	cmd.Stderr = &answers
	fixture.Must(cmd.StdinPipe())(t) // it ends with its input
	fixture.Check(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	await(t, "the program begins", func() bool { return answers.String() != "" })
	first := startRecording(t, "-p", fmt.Sprint(cmd.Process.Pid), "--rate", "1000")
	second := startRecording(t, "-p", fmt.Sprint(cmd.Process.Pid), "--rate", "1000")
	first.says(t, fmt.Sprintf("process %d is also sampled by process %d (", cmd.Process.Pid, second.Process.Pid))
	second.says(t, fmt.Sprintf("process %d is also sampled by process %d (", cmd.Process.Pid, first.Process.Pid))
	answered := func() int { return strings.Count(answers.String(), "\x06") }
	for n := range 200 {
		syscall.Kill(cmd.Process.Pid, syscall.SIGUSR1)
		await(t, fmt.Sprintf("an answer to signal %d", n), func() bool { return answered() == n+1 })
	}
	for _, r := range []*recorder{first, second} {
		before := r.recording(t).Samples.Len()
		await(t, "more samples", func() bool { return r.recording(t).Samples.Len() > before })
		r.Process.Signal(syscall.SIGINT)
		r.finish(t, 0, sampledata.EndInterrupted)
		if n := strings.Count(r.stderr.String(), "is also sampled by"); n != 1 {
			t.Errorf("the other one is mentioned %d times: %s", n, r.stderr.String())
		}
		told := false
		for _, w := range r.recording(t).Warnings {
			told = told || w.Kind == "other-sampler"
		}
		if !told {
			t.Errorf("the recording does not say that there was another one: %v", r.recording(t).Warnings)
		}
	}
	if traced := tracedThreads(cmd.Process.Pid); traced != "" {
		t.Errorf("still traced: %s", traced)
	}
	if bytes.Contains([]byte(answers.String()), []byte("goroutine ")) {
		t.Errorf("the program crashed: %s", answers.String())
	}
}
