//go:build !(linux && (amd64 || arm64))

package sampler

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// awaitExit waits until the process has ended, and returns true,
// or until stop is closed.
func awaitExit(pid int, cmd *exec.Cmd, stop <-chan struct{}) bool {
	ended := make(chan struct{})
	if cmd != nil {
		go func() {
			defer close(ended)
			cmd.Wait() // nothing else waits for a child here; the command keeps the state
		}()
	}
	for {
		select {
		case <-ended:
			return true
		case <-stop:
			return false
		case <-time.After(50 * time.Millisecond):
		}
		if cmd == nil && !isAlive(pid) {
			return true
		}
	}
}

// isAlive reports whether a process runs. Some systems offer no
// test: there it is true of each that is found.
func isAlive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, syscall.EPERM) || errors.Is(err, errors.ErrUnsupported)
}

// An origin says nothing: this system doesn't show where processes come from.
type origin struct{}

func originOf(int) origin { return origin{} }

func executableOf(_ int, path string) string { return path }

// awaitExec does nothing: this system doesn't show whether a
// process runs its program yet.
func awaitExec(int) {}

// HasExecuted returns false: this system doesn't show what a process executes.
func (*Process) HasExecuted() bool { return false }

// inspect checks that the process exists; the backend finds out the rest.
func (p *Process) inspect() error {
	p.identity = IdentityOf(p.PID)
	if p.PID <= 0 || !isAlive(p.PID) {
		return &TargetError{PID: p.PID, What: "no such process", Advice: "check the pid"}
	}
	return nil
}

// Denied returns an error that explains why halting or reading a
// process was not permitted.
func (p *Process) Denied(cause error) error {
	return &TargetError{PID: p.PID, What: cause.Error(),
		Advice: "run as the same user or with more rights"}
}

type (
	family struct{}
	image  struct{}
)

func newFamily(*Process, bool) (*family, error) {
	return nil, errors.New("finding what a command starts works on Linux only: build the program (go build, go test -c) and record that")
}

func (*family) findChanged(ProgramFilter) []*member { return nil }
func (*family) reconsider(int)                      {}
func (*family) scriptRuns() bool                    { return false }
func (*family) isRunning(int) bool                  { return false }

// Running returns no programs: this system doesn't show what its processes run.
func Running() []*Process { return nil }

// An Identity tells one program from another. This system shows
// no more than the process id.
type Identity struct{ pid int }

// IdentityOf returns which program a process runs now.
func IdentityOf(pid int) Identity { return Identity{pid} }

// HaltableBy returns no processes: this system doesn't say what
// a user may halt.
func HaltableBy([]*Process, User) []*Process { return nil }

// peers knows of no other samplers on this system.
type peers struct{}

func meetPeers(*Process) *peers { return &peers{} }

func (*peers) next() (p Peer, ok bool) { return Peer{}, false }

func (*peers) has(int) bool { return false }

func (*peers) close() {}

// RootLacks returns "": there are no capabilities.
func RootLacks() string { return "" }

// Stuck returns 0: reads of other systems end.
func Stuck(time.Duration) (pid int) { return 0 }
