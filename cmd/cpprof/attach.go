package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cpprof/cpprof/sampler"
	"github.com/spf13/cobra"
)

func addPID(c *cobra.Command, pid *int) {
	c.Flags().IntVarP(pid, "pid", "p", 0, "the running process `PID`")
}

// needPID sees to it that a command that only attaches knows to what.
func needPID(c *cobra.Command) error {
	if !c.Flags().Changed("pid") {
		return usagef("give a process: %s -p PID", c.CommandPath())
	}
	return nil
}

// anyProgram is ready for every program.
func anyProgram(string) error { return nil }

// An attacher attaches a backend to a process.
type attacher func(*sampler.Process) (sampler.Backend, error)

// attachTo finds a running process and attaches a backend to it. What else has to be in order, given the program's
// name, is seen to by ready before the process is touched.
func attachTo(pid int, backend string, ready func(program string) error) (*sampler.Process, sampler.Backend, error) {
	p, attach, err := find(pid, backend)
	if err != nil {
		return nil, nil, err
	}
	var b sampler.Backend
	if err = ready(p.Name); err == nil {
		b, err = attach(p)
	}
	if err != nil {
		p.Release()
		return nil, nil, prefix(pid, err)
	}
	return p, b, nil
}

// find finds a running process, and makes ready to attach to it.
func find(pid int, backend string) (*sampler.Process, attacher, error) {
	p, err := sampler.Find(pid)
	if err != nil {
		return nil, nil, err
	}
	attach, err := backends[backend].open(p.Executable)
	if err != nil {
		p.Release()
		return nil, nil, prefix(pid, err)
	}
	return p, attach, nil
}

// prefix says which process an error is about, where it doesn't itself.
func prefix(pid int, err error) error {
	var target *sampler.TargetError
	if errors.As(err, &target) || strings.HasPrefix(err.Error(), "attach to ") {
		return err
	}
	return fmt.Errorf("attach to %d: %w", pid, err)
}
