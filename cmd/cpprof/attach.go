package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampler"
)

// anyProgram is a check for attachTo that accepts every program.
func anyProgram(string) error { return nil }

// An attacher attaches a backend to a process.
type attacher func(*sampler.Process) (sampler.Backend, error)

// attachTo finds a running process and attaches a backend to it. Before it
// touches the process, it calls ready with the program's name, and stops if
// that fails.
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

// find finds a running process, and prepares to attach to it. If the process
// is the go command, the user probably wants a program that it started; find
// then names these programs.
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
		termtext.Fprintf(t.err, "cpprof: process %d is the go command%s\n", pid, hint)
	}
	return p, attach, nil
}

// startedBy lists the Go programs that a process has started, as the end of a
// message, or returns "".
func startedBy(pid int) string {
	var list []string
	for _, p := range sampler.Started(pid) {
		list = append(list, fmt.Sprintf("%s (process %d)", filepath.Base(p.Name), p.PID))
	}
	if len(list) == 0 {
		return ""
	}
	return ": it started " + strings.Join(list, ", ") + "; to sample one, give cpprof its number"
}
