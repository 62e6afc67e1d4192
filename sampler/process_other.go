//go:build !linux

package sampler

import (
	"os"
	"os/exec"
	"time"
)

// awaitExit waits until the process has ended (true), or the watch has (false).
func awaitExit(pid int, cmd *exec.Cmd, stop <-chan struct{}) bool {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if cmd != nil {
			cmd.Wait() // nobody else waits for a child here; the state stays in the command
			return
		}
		for {
			p, err := os.FindProcess(pid)
			if err != nil {
				return
			}
			gone := !alive(p)
			p.Release()
			if gone {
				return
			}
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	select {
	case <-ended:
		return true
	case <-stop:
		return false
	}
}

func executableOf(_ int, path string) string { return path }

// awaitExec has nothing to wait for that could be seen.
func awaitExec(int) {}

// inspect sees that there is such a process; the backend finds out the rest.
func (p *Process) inspect() error {
	h, err := os.FindProcess(p.PID)
	if err == nil {
		defer h.Release()
	}
	if p.PID <= 0 || err != nil || !alive(h) {
		return &TargetError{PID: p.PID, What: "no such process", Advice: "check the pid"}
	}
	return nil
}

// Denied explains why halting or reading a process was not permitted.
func (p *Process) Denied(cause error) error {
	return &TargetError{PID: p.PID, What: cause.Error(), Advice: "run as the same user or with more rights"}
}
