//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// patience is for how long a busy machine may keep something from happening.
const patience = time.Minute

// A victim is a program that copies its input and answers signals. What it has been sent is counted, and what came back.
type victim struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	ended chan error
	pid   func() int // of the program itself

	sentBytes, backBytes     atomic.Int64
	sentSignals, backSignals atomic.Int64
	begun                    atomic.Int64 // how often the program began
	mu                       sync.Mutex
	said                     bytes.Buffer // on standard error, without answers
}

// start starts a program, or cpprof, which launches it.
func start(cmd *exec.Cmd) (*victim, error) {
	v := &victim{cmd: cmd, ended: make(chan error, 1)}
	v.pid = func() int { return cmd.Process.Pid }
	var err error
	if v.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = echo{v}, answers{v}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() { v.ended <- cmd.Wait() }()
	return v, v.await("the program begins", func() bool { return v.begun.Load() > 0 })
}

type echo struct{ v *victim }

func (e echo) Write(p []byte) (int, error) {
	e.v.backBytes.Add(int64(len(p)))
	return len(p), nil
}

type answers struct{ v *victim }

func (a answers) Write(p []byte) (int, error) {
	a.v.mu.Lock()
	defer a.v.mu.Unlock()
	for _, c := range p {
		switch c {
		case 1:
			a.v.begun.Add(1)
		case 6:
			a.v.backSignals.Add(1)
		default:
			a.v.said.WriteByte(c)
		}
	}
	return len(p), nil
}

func (v *victim) saying() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.said.String()
}

func (v *victim) over() bool {
	select {
	case err := <-v.ended:
		v.ended <- err
		return true
	default:
		return false
	}
}

func (v *victim) await(what string, ok func() bool) error {
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if v.over() {
			return fmt.Errorf("not before the program ended: %s: %s", what, v.saying())
		}
		if time.Now().After(end) {
			return fmt.Errorf("not within %v: %s\n%s", patience, what, threads(v.pid()))
		}
	}
	return nil
}

// feed sends bytes and signals until stop is closed. A signal is sent when the one before was answered: two that are pending
// would be one.
func (v *victim) feed(stop <-chan bool) {
	block := make([]byte, 10_000)
	for {
		select {
		case <-stop:
			return
		default:
		}
		if v.sentBytes.Load() == v.backBytes.Load() {
			n, _ := v.in.Write(block)
			v.sentBytes.Add(int64(n))
		}
		if v.sentSignals.Load() == v.backSignals.Load() {
			v.signal()
		}
		time.Sleep(200 * time.Microsecond)
	}
}

func (v *victim) signal() {
	if syscall.Kill(v.pid(), syscall.SIGUSR1) == nil {
		v.sentSignals.Add(1)
	}
}

// lives makes sure that nobody traces or stops the program any more, and that it answers all that it was sent.
func (v *victim) lives() error {
	if err := v.await("no thread is traced or stopped", func() bool { return threads(v.pid()) == "" }); err != nil {
		return err
	}
	return v.await("the program has answered everything", func() bool {
		return v.sentBytes.Load() == v.backBytes.Load() && v.sentSignals.Load() == v.backSignals.Load()
	})
}

// kill ends the program, and whoever launched it.
func (v *victim) kill() {
	if !v.over() {
		syscall.Kill(v.pid(), syscall.SIGKILL)
		v.cmd.Process.Kill()
		v.in.Close()
	}
	err := <-v.ended
	v.ended <- err
}

// crashed waits until the program has ended as one that panics.
func (v *victim) crashed() error {
	select {
	case err := <-v.ended:
		v.ended <- err
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 {
			return fmt.Errorf("the program did not crash, but ended: %v", err)
		}
		return nil
	case <-time.After(patience):
		return fmt.Errorf("the program does not crash:\n%s", threads(v.pid()))
	}
}

// threads lists the threads of a process that are traced or stopped.
func threads(pid int) string {
	var stuck strings.Builder
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, f := range files {
		b, _ := os.ReadFile(f)
		state, tracer := field(b, "State"), field(b, "TracerPid")
		if tracer != "0" && tracer != "" || strings.HasPrefix(state, "T") || strings.HasPrefix(state, "t") {
			fmt.Fprintf(&stuck, "%s: %s, traced by %s\n", f, state, tracer)
		}
	}
	return stuck.String()
}

// traced is threads without those that somebody has only stopped.
func traced(pid int) (list string) {
	for line := range strings.Lines(threads(pid)) {
		if !strings.HasSuffix(line, "traced by 0\n") {
			list += line
		}
	}
	return list
}

// field returns a field of a file such as /proc/PID/status; "" if there is none.
func field(status []byte, name string) string {
	for line := range bytes.Lines(status) {
		if value, ok := bytes.CutPrefix(line, []byte(name+":")); ok {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}
