package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/internal/words"
)

func runInside(role string, args []string) int {
	var status int
	var err error
	switch {
	case role == roleHold && len(args) == 0:
		err = hold()
	case role == roleRun && len(args) >= 2:
		status, err = serve(args[0], args[1:])
	default:
		err = errors.New("'kubectl cpprof' calls this in a container, not a person")
	}
	if err != nil {
		termtext.Fprintf(os.Stderr, "cpprof: %v\n", err)
		return 1
	}
	return status
}

// lockPath is a file that a run keeps locked.
var lockPath = filepath.Join(os.TempDir(), "kubectl-cpprof.lock")

const (
	// patience is how long the container waits for a run.
	patience = time.Minute
	// leave is how long a run waits for the other side after the
	// last byte.
	leave = 10 * time.Second
)

// hold is the container's program. It ends when the run ends,
// however that ends; or if none begins.
func hold() error {
	f, err := os.OpenFile(lockPath, os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			continue // it runs
		}
		info, err := f.Stat()
		if err != nil || info.Size() > 0 || time.Now().After(end) {
			return err
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_UN); err != nil {
			return err
		}
	}
}

// lock returns the file, locked until it is closed, and marks it.
func lock() (*os.File, error) {
	f, err := os.OpenFile(lockPath, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	if err == nil {
		_, err = f.WriteString("x")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// serve runs cpprof, and sends what it made to standard output.
// It ends cpprof when standard input ends or has something.
func serve(process string, args []string) (int, error) {
	locked, err := lock()
	if err != nil {
		return 0, err
	}
	defer locked.Close()
	folder, err := os.MkdirTemp("", "run-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	if err := os.Chdir(folder); err != nil {
		return 0, err
	}
	over := make(chan struct{}) // the other side has closed its end
	heard := make(chan struct{})
	go func() {
		var b [64]byte
		_, err := os.Stdin.Read(b[:])
		close(heard)
		for err == nil {
			_, err = os.Stdin.Read(b[:])
		}
		close(over)
	}()
	output := filepath.Join(folder, outputEntry)
	recording := ""
	for _, a := range args {
		if path, ok := strings.CutPrefix(a, "--output="); ok && recording == "" {
			recording = path
		}
	}
	status, err := runCpprof(process, args, output, recording, heard)
	if err != nil {
		termtext.Fprintf(os.Stderr, "cpprof: %v\n", err)
		status = 1
	}
	if err := send(os.Stdout, output, recording, status); err != nil {
		return 0, err
	}
	select {
	case <-over:
	case <-time.After(leave):
	}
	return 0, nil
}

// runCpprof returns the status of cpprof, and keeps what it
// printed in a file.
func runCpprof(process string, args []string, output, recording string, stop <-chan struct{}) (int, error) {
	out, err := os.Create(output)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	if process == anyProcess {
		pid, err := onlyGoProgram()
		if err != nil {
			return 0, err
		}
		process = strconv.Itoa(pid)
	}
	if recording != "" {
		if err := os.MkdirAll(filepath.Dir(recording), 0o777); err != nil {
			return 0, err
		}
	}
	c := exec.Command(cpprofPath, append([]string{args[0], "--pid=" + process}, args[1:]...)...)
	c.Stdout, c.Stderr = out, os.Stderr
	// if this process is killed, cpprof ends, too
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGINT}
	runtime.LockOSThread()
	if err := c.Start(); err != nil {
		return 0, err
	}
	ended := make(chan struct{})
	go func() {
		select {
		case <-stop:
			_ = c.Process.Signal(syscall.SIGINT)
		case <-ended:
		}
	}()
	err = c.Wait()
	close(ended)
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && failed.ExitCode() >= 0 {
		return failed.ExitCode(), nil
	}
	return 0, err
}

// maxNamed bounds how many processes a message names.
const maxNamed = 20

// onlyGoProgram returns the pid of the only Go program among the
// processes of other containers.
func onlyGoProgram() (int, error) {
	own, err := os.Stat("/")
	if err != nil {
		return 0, err
	}
	list, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	var pids []int
	var programs, others []string
	for _, path := range list {
		root, err := os.Stat(path + "/root")
		if errors.Is(err, os.ErrPermission) {
			return 0, fmt.Errorf("%w: the container may not read other programs: it has no capability SYS_PTRACE", err)
		}
		if err != nil || os.SameFile(root, own) {
			continue // ended, or of this container
		}
		pid, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			continue
		}
		executable, err := os.Readlink(path + "/exe")
		if err != nil {
			continue
		}
		name := fmt.Sprintf("%d %s", pid, strings.TrimSuffix(filepath.Base(executable), " (deleted)"))
		if !isGo(path + "/exe") {
			others = append(others, name)
			continue
		}
		pids, programs = append(pids, pid), append(programs, name)
	}
	switch len(pids) {
	case 1:
		return pids[0], nil
	case 0:
		if len(others) == 0 {
			return 0, errors.New("no process of the container can be seen: its runtime shares none (--target)")
		}
		return 0, fmt.Errorf("the container has no Go program: it runs %s", words.List(others, maxNamed))
	}
	return 0, fmt.Errorf("the container has several Go programs: give one with -p: %s", words.List(programs, maxNamed))
}

func isGo(path string) bool {
	_, err := buildinfo.ReadFile(path)
	return err == nil
}
