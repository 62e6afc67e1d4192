package main

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/delve"
	"github.com/spf13/cobra"
)

// anyProgram is a check for attachTo that accepts every program.
func anyProgram(string) error { return nil }

// An attacher attaches a backend to a process.
type attacher func(*sampler.Process) (sampler.Backend, error)

// attachTo finds a running process and attaches a backend to it.
// Before it touches the process, it calls ready with the
// program's name, and stops if that fails.
//
// If the process executes another program meanwhile, attachTo begins again,
// for the first maxExecs times.
func attachTo(t terminal, pid int, backend string,
	ready func(program string) error) (*sampler.Process, sampler.Backend, error) {
	for execs := 0; ; execs++ {
		p, b, err := attachOnce(t, pid, backend, ready)
		if execs == maxExecs || !errors.Is(err, sampler.ErrExec) {
			return p, b, err
		}
	}
}

const maxExecs = 100

func attachOnce(t terminal, pid int, backend string,
	ready func(program string) error) (*sampler.Process, sampler.Backend, error) {
	p, attach, err := find(t, pid, backend)
	if err != nil {
		return nil, nil, err
	}
	if err := ready(p.Name); err != nil {
		p.Release()
		return nil, nil, err
	}
	b, err := attach(p)
	if err != nil {
		p.Release()
		return nil, nil, sampler.AttachError(pid, err)
	}
	return p, b, nil
}

// find finds a running process, and prepares to attach to it. If
// the process is the go command, the user probably wants a
// program that it started; find then names these programs.
func find(t terminal, pid int, backend string) (*sampler.Process, attacher, error) {
	p, err := sampler.Find(pid)
	if err != nil {
		return nil, nil, err
	}
	attach, err := backends[backend].open(p.Executable)
	e, goErr := sampler.ReadExecutable(p.Executable)
	hint := ""
	if goErr != nil || e.Toolchain {
		hint = startedBy(pid)
	}
	if err != nil {
		p.Release()
		return nil, nil, sampler.AttachError(pid, fmt.Errorf("%w%s", err, hint))
	}
	if hint != "" {
		tell(t.err, "process %d is the go command%s", pid, hint)
	}
	return p, attach, nil
}

// startedBy lists the Go programs that a process has started, as
// the end of a message, or returns "".
func startedBy(pid int) string {
	list := lists.Each(sampler.Started(pid), processText)
	if len(list) == 0 {
		return ""
	}
	return ": it started " + strings.Join(list, ", ") + "; to sample one, give cpprof its number"
}

// addConnect adds the flag for a program that a Delve server
// runs, perhaps on another system.
func addConnect(c *cobra.Command, address *string) {
	c.Flags().StringVar(address, "connect", "",
		"the program of the headless Delve server at `HOST:PORT`; --program is a copy of its executable")
}

// checkConnect returns an error if the flags of a command don't
// fit to a program of a Delve server.
func checkConnect(c *cobra.Command, address, program string, args []string) error {
	if len(args) > 0 {
		return errors.New("give either a Delve server (--connect HOST:PORT) or a command or file, not both")
	}
	if name := firstGiven(c, "pid", "child", "follow-exec", "monitor"); name != "" {
		return fmt.Errorf("--%s needs a program on this system, and --connect names one that a Delve server runs", name)
	}
	if f := c.Flags().Lookup("backend"); f.Changed && f.Value.String() != delve.Name {
		return fmt.Errorf("--backend %s: a Delve server (--connect) is read with --backend %s only",
			f.Value, delve.Name)
	}
	if _, port, err := net.SplitHostPort(address); err != nil || port == "" {
		return fmt.Errorf("--connect %s: want the address of a headless Delve server, such as localhost:4000", address)
	}
	if program == "" {
		return fmt.Errorf("--connect %s: name a copy of the program's executable with --program: a Delve server does not send its debug information", address)
	}
	return nil
}

// connected returns the program of a Delve server as a target.
// Before it connects, it calls ready with the program's name, as
// attachTo does.
func connected(address, program string, ready func(program string) error) (target, error) {
	if err := ready(program); err != nil {
		return target{}, err
	}
	p, b, err := delve.Connect(address, program)
	if err != nil {
		return target{}, err
	}
	return target{Process: p, backend: sampler.Backend(b)}, nil
}
