package sampler

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/monitor"
)

// A Process is a target as the operating system sees it: a
// running process that was found, or a program that was
// launched.
type Process struct {
	PID        int
	Executable string // a path to open it by, even if the target runs in another container
	Name       string // name of the executable, for display
	Launched   bool   // it is a child of this process, which must collect its exit status
	// it is known only by a debugger, perhaps on another system:
	// its id means nothing here
	Elsewhere bool

	arguments []string // its command line
	identity  Identity

	cmd  *exec.Cmd
	from origin
	done chan struct{}
	stop chan struct{}
	once sync.Once
	end  sampledata.End
}

// A User is somebody for whom a process may be halted, by their ids.
type User struct{ UID, GID int }

// A TargetError reports why a process can't be recorded, and
// what to do about it.
type TargetError struct {
	PID    int
	What   string // the problem
	Advice string // the remedy
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

// AttachError adds the process to an error, unless the error
// already names it.
func AttachError(pid int, err error) error {
	var target *TargetError
	if errors.As(err, &target) || strings.HasPrefix(err.Error(), "attach to ") {
		return err
	}
	return fmt.Errorf("attach to %d: %w", pid, err)
}

// Find looks up a running process and checks that it can be
// recorded. It does not touch the process. Its errors are of
// type *TargetError.
func Find(pid int) (*Process, error) {
	p := &Process{PID: pid, from: originOf(pid)}
	if err := p.inspect(); err != nil {
		return nil, err
	}
	p.watch()
	return p, nil
}

// Elsewhere returns a process that a debugger runs, perhaps on
// another system. Whoever knows how it ends calls ended.
func Elsewhere(pid int, name string, command []string) (p *Process, ended func(sampledata.End)) {
	p = &Process{PID: pid, Name: name, arguments: command, Elsewhere: true,
		done: make(chan struct{}), stop: make(chan struct{})}
	var once sync.Once
	return p, func(e sampledata.End) {
		once.Do(func() {
			p.end = e
			close(p.done)
		})
	}
}

// LaunchCommand starts a program in this process's group. Ctrl-C
// at the terminal then reaches the program just as without
// cpprof. The program lives on when this process ends, however
// that happens. The command must not be bound to a context.
func LaunchCommand(cmd *exec.Cmd) (*Process, error) {
	if err := cmd.Start(); err != nil {
		return nil, launchError(cmd, err)
	}
	from := originOf(cmd.Process.Pid) // it exists until it is waited for, even if it has ended
	awaitExec(cmd.Process.Pid)
	p := &Process{
		from: from,
		PID:  cmd.Process.Pid, arguments: cmd.Args, Launched: true, cmd: cmd,
		Executable: executableOf(cmd.Process.Pid, cmd.Path), Name: cmd.Path,
	}
	p.watch()
	return p, nil
}

func launchError(cmd *exec.Cmd, err error) error {
	name := cmd.Args[0]
	switch _, notNumber := strconv.Atoi(name); {
	case errors.Is(err, exec.ErrNotFound) && notNumber == nil:
		return fmt.Errorf("launch %s: command not found: if it is the pid of a running process, give -p %s", name, name)
	case errors.Is(err, exec.ErrDot):
		return fmt.Errorf("launch %s: found in the current folder only: write ./%s", name, name)
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("launch %s: command not found: check the name, or give a path such as ./%s", name, name)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("launch %s: no such file: check the path", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("launch %s: not executable: give a program's file (chmod +x %s?)",
			name, name)
	}
	return fmt.Errorf("launch %s: %w", name, err)
}

// Identity returns which program the process ran when it was found.
func (p *Process) Identity() Identity { return p.identity }

// Command returns the command line of the process. Values that
// look like secrets are left out, see WithoutSecrets.
func (p *Process) Command() []string { return WithoutSecrets(p.arguments) }

// FullCommand returns the command line with secrets.
func (p *Process) FullCommand() []string { return p.arguments }

// Container returns the id of the container that the process
// runs in; "" if it runs in none, as far as its control groups
// say.
func (p *Process) Container() string {
	if p.Elsewhere {
		return ""
	}
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", p.PID))
	if err != nil { // other systems have no such file
		return ""
	}
	return containerOf(string(groups))
}

// containerScope matches the control group that a runtime makes for a
// container: "ID", "docker-ID.scope" or "cri-containerd:ID".
var containerScope = regexp.MustCompile(`^(?:.*[-:])?([0-9a-f]{64})(?:\.scope)?$`)

// containerOf returns the id of the innermost container in the
// text of /proc/PID/cgroup.
func containerOf(groups string) string {
	for line := range strings.Lines(groups) {
		_, path, _ := strings.Cut(strings.TrimSpace(line), ":")
		folders := strings.Split(path, "/")
		for _, folder := range slices.Backward(folders) {
			if m := containerScope.FindStringSubmatch(folder); m != nil {
				return m[1]
			}
		}
	}
	return ""
}

// Done returns a channel that is closed when the process has ended.
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

// End returns how the process ended; call it only after Done is
// closed. The exit status is known only for a child of this
// process.
func (p *Process) End() sampledata.End {
	if !p.HasEnded() {
		return sampledata.End{Cause: sampledata.EndUnknown, Detail: "still running"}
	}
	return p.end
}

// Wait waits until the process has ended or the context is done.
func (p *Process) Wait(ctx context.Context) (sampledata.End, error) {
	select {
	case <-p.done:
		return p.end, nil
	case <-ctx.Done():
		return p.End(), ctx.Err()
	}
}

// Release stops watching the process, which continues to run.
func (p *Process) Release() { p.once.Do(func() { close(p.stop) }) }

// watch closes done when the process has ended. It waits for a
// child only when the child is dead: an earlier wait that blocks
// would consume the stops that halting waits for.
func (p *Process) watch() {
	p.done, p.stop = make(chan struct{}), make(chan struct{})
	go func() {
		if !awaitExit(p.PID, p.cmd, p.stop) {
			return
		}
		p.end = Exited
		if p.cmd != nil {
			p.cmd.Wait() // the state says more than the error
			p.end = endOf(p.cmd.ProcessState)
		}
		close(p.done)
	}()
}

// LookPath returns the path of the program that a command's name
// refers to.
func LookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", launchError(&exec.Cmd{Args: []string{name}}, err)
	}
	return path, nil
}

// endOf returns how a child ended.
func endOf(s *os.ProcessState) sampledata.End {
	if s == nil {
		return sampledata.End{Cause: sampledata.EndUnknown, Detail: "ended, nobody knows how"}
	}
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return sampledata.End{
			Cause: sampledata.EndKilled, ExitStatus: 128 + int32(w.Signal()),
			Detail: "signal: " + w.Signal().String(),
		}
	}
	return sampledata.End{
		Cause: sampledata.EndExited, ExitStatus: int32(s.ExitCode()),
		Detail: fmt.Sprintf("exit status %d", s.ExitCode()),
	}
}

// ProcessorTimeOf returns the processor time that a process has
// used; 0 if it is not there, or this system does not show it.
func ProcessorTimeOf(pid int) time.Duration {
	t, _ := monitor.ProcessTime(pid)
	return t
}
