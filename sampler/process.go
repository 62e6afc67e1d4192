package sampler

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"sync"

	"github.com/cpprof/cpprof/sampledata"
)

// A Process is a target as the operating system knows it: found running, or launched.
type Process struct {
	PID        int
	Command    []string // its command line
	Executable string   // a path that opens it, even where the target sits in another container
	Name       string   // of the executable, for a person
	Launched   bool     // it is our child, whose exit status is ours to collect

	cmd  *exec.Cmd
	done chan struct{}
	stop chan struct{}
	once sync.Once
	end  sampledata.End
}

// A TargetError says why a process can't be recorded, and what to do about it.
type TargetError struct {
	PID    int
	What   string // what is the matter
	Advice string // what a person can do
}

func (e *TargetError) Error() string {
	s := e.What
	if e.PID != 0 {
		s = fmt.Sprintf("attach to %d: %s", e.PID, e.What)
	}
	if e.Advice != "" {
		s += ": " + e.Advice
	}
	return s
}

// AttachError says which process an error is about, if the error doesn't itself.
func AttachError(pid int, err error) error {
	var target *TargetError
	if errors.As(err, &target) || strings.HasPrefix(err.Error(), "attach to ") {
		return err
	}
	return fmt.Errorf("attach to %d: %w", pid, err)
}

// Find looks up a running process and sees to it that it can be recorded. It does not touch the process. Errors are
// *TargetError.
func Find(pid int) (*Process, error) {
	p := &Process{PID: pid}
	if err := p.inspect(); err != nil {
		return nil, err
	}
	p.watch()
	return p, nil
}

// LaunchCommand starts a program, in this process's group: a person's Ctrl-C at the terminal reaches it just as without
// us. It lives on when this process ends, however it ends. The command must not be bound to a context.
func LaunchCommand(cmd *exec.Cmd) (*Process, error) {
	if err := cmd.Start(); err != nil {
		return nil, launchError(cmd, err)
	}
	awaitExec(cmd.Process.Pid)
	p := &Process{
		PID: cmd.Process.Pid, Command: cmd.Args, Launched: true, cmd: cmd,
		Executable: executableOf(cmd.Process.Pid, cmd.Path), Name: cmd.Path,
	}
	p.watch()
	return p, nil
}

func launchError(cmd *exec.Cmd, err error) error {
	name := cmd.Args[0]
	switch {
	case errors.Is(err, exec.ErrDot):
		return fmt.Errorf("launch %s: found in the current folder only: write ./%s", name, name)
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("launch %s: command not found: check the name, or give a path such as ./%s", name, name)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("launch %s: no such file: check the path", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("launch %s: not executable: give a program's file (chmod +x %s?)", name, name)
	}
	return fmt.Errorf("launch %s: %w", name, err)
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// HasEnded reports whether the process has ended.
func (p *Process) HasEnded() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// End says how the process ended; it is meant for when Done is closed. The exit status of a process that isn't our
// child is not known.
func (p *Process) End() sampledata.End {
	if !p.HasEnded() {
		return sampledata.End{Cause: sampledata.EndUnknown, Detail: "still running"}
	}
	return p.end
}

// Wait waits for the end of the process, or the context's.
func (p *Process) Wait(ctx context.Context) (sampledata.End, error) {
	select {
	case <-p.done:
		return p.end, nil
	case <-ctx.Done():
		return p.End(), ctx.Err()
	}
}

// Release ends the watch over the process, which goes on.
func (p *Process) Release() { p.once.Do(func() { close(p.stop) }) }

// watch sees to it that done is closed when the process ends. The child is collected only when it is dead: a wait that
// blocked before would swallow the stops that halting waits for.
func (p *Process) watch() {
	p.done, p.stop = make(chan struct{}), make(chan struct{})
	go func() {
		if !awaitExit(p.PID, p.cmd, p.stop) {
			return
		}
		p.end = sampledata.End{Cause: sampledata.EndExited, Detail: "exited"}
		if p.cmd != nil {
			p.cmd.Wait() // the state below says more than the error
			p.end = endOf(p.cmd.ProcessState)
		}
		close(p.done)
	}()
}

// LookPath finds the program that a command's name stands for.
func LookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", launchError(&exec.Cmd{Args: []string{name}}, err)
	}
	return path, nil
}
