//go:build linux

// Machines boots Debian's Linux 6.1 for arm64 and amd64 in an
// emulator, and tries cpprof in each: as root and without
// rights, in control groups, namespaces and sandboxes, with
// targets of an old and a new Go.
//
//	go run ./internal/bench/machines [-only TEXT] [-v] [-install]
//
// It fetches the kernels with apt-get, once, and adds nothing to
// the machine; only with -install does it install the emulators.
// What can't be had, it says, and ends with status 0. It ends
// with status 1 if a trial failed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cpprof/cpprof/internal/bench/tool"
	"github.com/cpprof/cpprof/internal/termtext"
)

var (
	only    = flag.String("only", "", "try only what has this in its machine and name, such as 'arm64: core'")
	verbose = flag.Bool("v", false, "print what each trial printed")
	install = flag.Bool("install", false, "install missing emulators, as root")
	patient = flag.Duration("d", 5*time.Minute, "how long a machine may take; what it then did not begin is not tried")
)

func main() {
	flag.Parse()
	tool.Main("machines", func() (good bool, err error) {
		failed, err := run()
		if missing := (*missingError)(nil); errors.As(err, &missing) {
			fmt.Println("machines: not tried:", termtext.Error(err))
			return true, nil
		}
		return failed == 0, err
	})
}

// run tries everything, on all machines at once, and returns how
// many trials failed.
func run() (failed int, err error) {
	dir, err := os.MkdirTemp("", "cpprof-machines-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	var machines []*machine
	for _, m := range all {
		m.trials = slices.DeleteFunc(m.trials, func(t trial) bool {
			return !strings.Contains(m.arch+": "+t.name, *only)
		})
		if len(m.trials) == 0 {
			continue
		}
		if err := m.prepare(filepath.Join(dir, m.arch)); err != nil {
			return 0, fmt.Errorf("%s: %w", m.arch, err)
		}
		machines = append(machines, m)
	}
	if len(machines) == 0 {
		return 0, fmt.Errorf("nothing to try has %q in its name", *only)
	}
	errs := make([]error, len(machines))
	var wait sync.WaitGroup
	for i, m := range machines {
		wait.Go(func() {
			if errs[i] = m.boot(); errs[i] == nil {
				errs[i] = m.bootAgain()
			}
		})
	}
	wait.Wait()
	for _, m := range machines {
		failed += m.print()
	}
	return failed, errors.Join(errs...)
}

// print prints what came of each trial, "second" if its first
// try failed, and returns how many failed.
func (m *machine) print() (failed int) {
	fmt.Printf("%s: %s; %.0f s of CPU time\n", m.arch, m.kernel, m.used.Seconds())
	for i := range m.trials {
		t := &m.trials[i]
		verdict := "good"
		switch {
		case !t.begun:
			verdict = "-" // there was no time
		case t.failed():
			verdict = "FAILED"
			failed++
		case t.again:
			verdict = "second"
		}
		fmt.Printf("  %-6s %5.1f s  %s\n", verdict, t.took.Seconds(), t.name)
		if t.failed() {
			for _, text := range t.missed() {
				termtext.Fprintf(os.Stdout, "         it does not print %q\n", text)
			}
		}
		if t.failed() || *verbose {
			for line := range strings.Lines(t.output) {
				termtext.Fprintf(os.Stdout, "         | %s\n", strings.TrimSuffix(line, "\n"))
			}
		}
	}
	return failed
}
