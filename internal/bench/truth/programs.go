//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/sampler/halt"
)

// workloads returns the names of all workloads, which the program work
// prints if it is called without one.
func (b *bench) workloads() ([]string, error) {
	var text strings.Builder
	cmd := exec.Command(b.work)
	cmd.Stderr = &text
	if err := cmd.Run(); err == nil {
		return nil, fmt.Errorf("asking %s for its workloads: it names none", b.work)
	}
	_, list, ok := strings.Cut(text.String(), "the workloads are ")
	if !ok {
		return nil, fmt.Errorf("asking %s for its workloads: %s", b.work, text.String())
	}
	return strings.Split(strings.TrimSpace(list), ", "), nil
}

// start starts a program. It inherits the CPU of the thread that
// starts it.
func (b *bench) start(cmd *exec.Cmd) (err error) {
	if !b.pinned {
		return cmd.Start()
	}
	halt.OnEndingThread(func() {
		if err = pin(); err == nil {
			err = cmd.Start()
		}
	})
	return err
}

// pin binds the calling thread to one CPU.
func pin() error {
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return os.NewSyscallError("sched_getaffinity", err)
	}
	cpu := 0
	for !all.IsSet(cpu) {
		cpu++
	}
	one.Set(cpu)
	return os.NewSyscallError("sched_setaffinity", unix.SchedSetaffinity(0, &one))
}

// compute starts a number of programs that compute until stop is called.
func (b *bench) compute(n int) (stop func(), err error) {
	var all []*exec.Cmd
	stop = func() {
		for _, cmd := range all {
			cmd.Process.Kill()
			cmd.Wait()
		}
	}
	for range n {
		cmd := exec.Command(b.work, "burn1")
		if err := b.start(cmd); err != nil {
			return stop, err
		}
		all = append(all, cmd)
	}
	return stop, nil
}
