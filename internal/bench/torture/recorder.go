//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A recorder is a running cpprof record.
type recorder struct {
	*process
	dir  string       // the recording
	said bytes.Buffer // on standard error; not to be read before cpprof has ended
}

// eager are the flags with which cpprof halts a program as often
// as it can.
var eager = []string{"--rate", "1000", "--max-overhead", "50%", "--max-cpu", "0"}

// record starts the command of a hardship.
func (b *bench) record(h *hardship, v *victim, dir string) (*recorder, error) {
	if len(h.command) > 0 {
		return begin(b.cpprof, dir, append(slices.Clip(h.command), "-o", dir, "-p", fmt.Sprint(v.pid()))...)
	}
	return record(b.cpprof, v, dir)
}

func record(cpprof string, v *victim, dir string) (*recorder, error) {
	args := []string{"record", "-o", dir, "--follow-exec", "-p", fmt.Sprint(v.pid())}
	return begin(cpprof, dir, append(args, eager...)...)
}

func begin(cpprof, dir string, args ...string) (*recorder, error) {
	r, cmd := &recorder{dir: dir}, exec.Command(cpprof, args...)
	cmd.Stderr = &r.said
	var err error
	r.process, err = launch(cmd)
	return r, err
}

// state returns the state of cpprof's process.
func (r *recorder) state() string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.cmd.Process.Pid))
	return field(b, "State")
}

// threads lists what each thread of cpprof does.
func (r *recorder) threads() string {
	var list strings.Builder
	fmt.Fprintf(&list, "cpprof is process %d:\n", r.cmd.Process.Pid)
	eachThread(r.cmd.Process.Pid, func(folder string, status []byte) {
		in, _ := os.ReadFile(folder + "/wchan")
		call, _ := os.ReadFile(folder + "/syscall")
		fmt.Fprintf(&list, "%s: %s, pending %s %s, waits in %s, call %s", folder, field(status, "State"), field(status, "SigPnd"),
			field(status, "ShdPnd"), in, call)
	})
	return list.String()
}

// another starts another cpprof that records the same program.
func (r *recorder) another(v *victim) (*recorder, error) {
	return record(r.cmd.Path, v, strings.TrimSuffix(r.dir, ".cpprof")+".other.cpprof")
}

// toldOf returns an error if cpprof, which has ended, did not
// say that the other one recorded the program, too.
func (r *recorder) toldOf(other *recorder) error {
	if want := fmt.Sprintf("is also sampled by process %d (cpprof)", other.cmd.Process.Pid); !strings.Contains(r.said.String(), want) {
		return fmt.Errorf("cpprof was not told of another one: it said %q, want %q", r.said.String(), want)
	}
	return nil
}

// end sends cpprof a signal, and waits for its end.
func (r *recorder) end(s syscall.Signal) error {
	r.cmd.Process.Signal(s)
	return r.ends()
}

func (r *recorder) ends() error {
	select {
	case <-r.ctx.Done():
		return nil
	case <-time.After(*patience):
		err := fmt.Errorf("cpprof does not end:\n%s", r.threads())
		r.cmd.Process.Kill()
		<-r.ctx.Done()
		return err
	}
}

// crashed returns an error if cpprof, which has ended, has crashed.
func (r *recorder) crashed() error {
	if strings.Contains(r.said.String(), "\ngoroutine ") {
		return errors.New("cpprof crashed")
	}
	return nil
}
