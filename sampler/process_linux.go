//go:build amd64 || arm64

package sampler

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/sampler/halt"
)

// awaitExit waits until the process has ended, and returns true,
// or until stop is closed. It does not collect the exit status.
func awaitExit(pid int, _ *exec.Cmd, stop <-chan struct{}) bool {
	if fd, err := unix.PidfdOpen(pid, 0); err == nil {
		if ended, ok := awaitFile(fd, stop); ok {
			return ended
		}
	}
	// The kernel is too old for pidfds, or the process has already ended.
	for {
		if halt.HasEnded(pid) {
			return true
		}
		select {
		case <-stop:
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// awaitFile waits until the process of a pidfd has ended or stop
// is closed; ok is false if it can do neither. Go's runtime does
// the waiting. A thread blocked in poll would keep the runtime's
// monitor thread awake, which costs as much as the samples do.
func awaitFile(pidfd int, stop <-chan struct{}) (ended, ok bool) {
	unix.SetNonblock(pidfd, true)
	f := os.NewFile(uintptr(pidfd), "pidfd")
	defer f.Close()
	conn, err := f.SyscallConn()
	if err != nil {
		return false, false
	}
	over := make(chan error, 1)
	go func() {
		over <- conn.Read(func(fd uintptr) bool {
			n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
			return n > 0
		})
	}()
	select {
	case <-stop:
		return false, true
	case err := <-over:
		return err == nil, err == nil
	}
}

func executableOf(pid int, _ string) string { return fmt.Sprintf("/proc/%d/exe", pid) }

// execPatience is for how many milliseconds inspect waits if a
// process seems to have ended and has not. It is executing
// another program then.
const execPatience = 1000

// errGone reports that a process has ended, or has no program
// for a moment.
var errGone = errors.New("the process has ended")

// inspect fills in what /proc says about the process.
func (p *Process) inspect() (err error) {
	for range execPatience {
		if err = p.look(); !errors.Is(err, errGone) {
			return err
		}
		if halt.HasEnded(p.PID) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if s, _ := halt.ReadStat(p.PID); s.State == 'Z' {
		return &TargetError{PID: p.PID, What: "the process has exited",
			Advice: "its parent has not collected it yet; give another pid"}
	}
	return &TargetError{PID: p.PID, What: "the process has ended"}
}

// look is inspect, once. It returns errGone if the process has no program.
func (p *Process) look() error {
	p.identity = IdentityOf(p.PID)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID))
	switch {
	case p.PID <= 0, errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ESRCH):
		return &TargetError{PID: p.PID, What: "no such process",
			Advice: "look for the pid with ps or pgrep; inside a container a process has another pid than outside"}
	case err != nil:
		return &TargetError{PID: p.PID, What: err.Error(), Advice: "is /proc mounted?"}
	}
	if halt.LooksEnded(p.PID) {
		return errGone
	}
	if tgid := field(status, "Tgid"); tgid != "" && tgid != strconv.Itoa(p.PID) {
		return &TargetError{PID: p.PID, What: "this is a thread, not a process",
			Advice: "give the pid of its process: " + tgid}
	}
	if err := p.keptTraced(); err != nil {
		return err
	}
	p.Executable = executableOf(p.PID, "")
	name, err := os.Readlink(p.Executable)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			if s, err := halt.ReadStat(p.PID); err == nil && s.Flags&kernelThread != 0 {
				return &TargetError{PID: p.PID, What: "this is a thread of the kernel",
					Advice: "give the pid of a Go program"}
			}
			return errGone
		}
		return p.denied(status, err)
	}
	if err := answers(p.PID); err != nil {
		return err
	}
	f, err := os.Open(p.Executable)
	if errors.Is(err, os.ErrNotExist) {
		return errGone
	}
	if err != nil {
		return p.denied(status, err)
	}
	f.Close()
	p.Name = strings.TrimSuffix(name, " (deleted)")
	p.arguments = argumentsOf(p.PID)
	return nil
}

// argumentsOf reads a process's command line. The command line
// is empty for a moment while a program is being executed. So
// are the addresses that the kernel reports. exec.Cmd.Start may
// return before that moment is over.
func argumentsOf(pid int) []string {
	for range 400 {
		cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil || len(cmdline) > 0 {
			return splitArguments(cmdline)
		}
		if halt.HasEnded(pid) {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// forkedOnly is the flag of a process that has not executed a
// program since it was forked (PF_FORKNOEXEC).
const forkedOnly = 0x40

// awaitExec waits until a new process runs its program.
// exec.Cmd.Start returns when the kernel closes the child's
// files, and Linux 6.1 does that while the child still has its
// parent's memory.
func awaitExec(pid int) {
	for range execPatience {
		if s, err := halt.ReadStat(pid); err != nil || s.Flags&forkedOnly == 0 || s.State == 'Z' {
			break
		}
		time.Sleep(time.Millisecond)
	}
	argumentsOf(pid)
}

// HasExecuted reports whether a process that was found, not
// launched, has executed another program since. What is known of
// the process, such as its command line, is then wrong.
func (p *Process) HasExecuted() bool {
	s, err := halt.ReadStat(p.PID)
	found := p.identity
	return err == nil && s.Start == found.start && found.stack != 0 && s.Stack != 0 &&
		s.Stack != found.stack
}

// Denied returns an error that explains why halting or reading a
// process was not permitted.
func (p *Process) Denied(cause error) error {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID))
	if err != nil {
		return &TargetError{PID: p.PID, What: "no such process"}
	}
	if err := p.traced(status); err != nil {
		return err
	}
	return p.denied(status, cause)
}

// kernelThread is the flag of a thread of the kernel
// (PF_KTHREAD). A process that is ending has no executable,
// either.
const kernelThread = 0x200000

// tracerPatience is how long a tracer has to let go of a
// process. Another sampler does so within milliseconds, or at
// most a quarter of a second on a busy machine; a debugger does
// not.
const tracerPatience = time.Second

// keptTraced returns an error if another process traces this one
// and keeps doing so.
func (p *Process) keptTraced() error {
	for end := time.Now().Add(tracerPatience); ; time.Sleep(5 * time.Millisecond) {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID))
		if err != nil {
			return nil // it has ended: what is read next says so
		}
		if err := p.traced(status); err == nil || time.Now().After(end) {
			return err
		}
	}
}

// traced returns an error if another process traces this one.
func (p *Process) traced(status []byte) error {
	tracer, _ := strconv.Atoi(field(status, "TracerPid"))
	if tracer == 0 {
		return nil
	}
	// The kernel reports the tracing thread, not its process.
	by, name := halt.ProcessOf(tracer)
	return &TargetError{
		PID:    p.PID,
		What:   fmt.Sprintf("already traced by process %d%s", cmp.Or(by, tracer), name),
		Advice: "end that debugger or profiler first",
	}
}

func (p *Process) denied(status []byte, cause error) error {
	e := &TargetError{PID: p.PID, What: "permission denied"}
	const capability = "grant CAP_SYS_PTRACE (sudo setcap cap_sys_ptrace=ep $(which cpprof))"
	const wide = "(sudo setcap cap_sys_ptrace,cap_dac_read_search=ep $(which cpprof))"
	uids := strings.Fields(field(status, "Uid")) // the real one, the effective one, ...
	uid := ""
	if len(uids) > 0 {
		uid = uids[0]
	}
	switch {
	case !errors.Is(cause, os.ErrPermission):
		e.What = cause.Error()
	case RootLacks() != "":
		e.What += ": cpprof is root without " + RootLacks()
		e.Advice = "a container needs --cap-add SYS_PTRACE,DAC_READ_SEARCH"
	case len(strings.Fields(field(status, "NSpid"))) > 1:
		inner := strings.Fields(field(status, "NSpid"))
		e.What = fmt.Sprintf("permission denied: the process sits in another container (pid %s there)", inner[len(inner)-1])
		e.Advice = "run cpprof as root outside, or inside that container"
	case len(uids) > 1 && uids[0] != uids[1] && os.Geteuid() != 0:
		e.What = "permission denied: the program has the rights of user " + uids[1] + ", too (setuid)"
		e.Advice = "run cpprof as root, or grant CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH " + wide
	case uid != "" && uid != strconv.Itoa(os.Geteuid()) && os.Geteuid() != 0:
		e.What = "permission denied: the process belongs to user " + uid
		// /proc/PID/mem can be opened by its user only
		e.Advice = "run as that user, or grant CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH " + wide
	default:
		e.What, e.Advice = forbidden(capability)
	}
	return e
}

// forbidden says what keeps this process from tracing others of its user.
func forbidden(capability string) (what, advice string) {
	text, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	what = "permission denied"
	switch scope := strings.TrimSpace(string(text)); {
	case isSandboxed():
		return what + ": a sandbox around cpprof (seccomp) refuses system calls",
			"let it allow ptrace and process_vm_readv; docker and podman do with --security-opt seccomp=unconfined"
	case scope != "" && scope != "0":
		what += ": the kernel forbids attaching (kernel.yama.ptrace_scope is " + scope + ")"
		if scope == "3" {
			return what, "restart the machine with a smaller one: it can't be changed"
		}
		advice = "sudo sysctl kernel.yama.ptrace_scope=0, or " + capability
		if scope == "1" {
			advice += ", or launch the program with cpprof record -- COMMAND"
		}
		return what, advice
	}
	return what, "run as the same user, or " + capability + "; in a container, start it with --cap-add SYS_PTRACE"
}

// RootLacks returns the capabilities that root lacks to read the
// programs of other users, as in a container; "" for other users
// than root.
func RootLacks() string {
	own, _ := os.ReadFile("/proc/self/status")
	has, err := strconv.ParseUint(field(own, "CapEff"), 16, 64)
	if os.Geteuid() != 0 || err != nil {
		return ""
	}
	var lacks []string
	if has&(1<<unix.CAP_SYS_PTRACE) == 0 {
		lacks = append(lacks, "CAP_SYS_PTRACE")
	}
	if has&(1<<unix.CAP_DAC_READ_SEARCH|1<<unix.CAP_DAC_OVERRIDE) == 0 {
		lacks = append(lacks, "CAP_DAC_READ_SEARCH")
	}
	return strings.Join(lacks, " and ")
}

// isSandboxed reports whether no process at all may be read or
// traced: the kernel itself says of one that does not exist that
// there is none.
func isSandboxed() bool {
	const nobody = 1 << 30 // ids are smaller
	_, _, trace := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, nobody, 0, 0, 0, 0)
	var b [1]byte
	local, remote := []unix.Iovec{{Base: &b[0], Len: 1}}, []unix.RemoteIovec{{Base: 4096, Len: 1}}
	_, read := unix.ProcessVMReadv(nobody, local, remote, 0)
	return trace != unix.ESRCH || read != unix.ESRCH
}

// field returns the value of one line of /proc/PID/status.
func field(status []byte, name string) string {
	for line := range bytes.Lines(status) {
		if v, ok := bytes.CutPrefix(line, []byte(name+":")); ok {
			return string(bytes.TrimSpace(v))
		}
	}
	return ""
}

// commOf returns the name of a process, or "" if it is not known.
func commOf(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.TrimSpace(string(b))
}

func splitArguments(cmdline []byte) []string {
	s := strings.TrimSuffix(string(cmdline), "\x00")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}

// Stuck waits for a while. It returns the id of a process if the
// process's memory was being read all the time, and otherwise 0.
func Stuck(patience time.Duration) (pid int) { return halt.Stuck(patience) }
