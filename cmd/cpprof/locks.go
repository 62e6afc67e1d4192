package main

import (
	"fmt"
	"io"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/views/locks"
	"github.com/spf13/cobra"
)

func newLocksCommand(t terminal) *cobra.Command {
	var f viewFlags
	var top int
	var instances bool
	c := &cobra.Command{
		Use:   "locks RECORDING [--against RECORDING]",
		Short: "Show the locks that goroutines waited for, who held them, and deadlocks",
		Long: `locks lists the locks (sync.Mutex, sync.RWMutex) that goroutines waited for:

  waited  for how long, all waiting goroutines together
  mean    how many goroutines waited for it at a time, on average
  hits    goroutines that waited for it, summed over the samples
  known   the share of the waiting time in which the holder is known
  locks   of a field, how many locks there are that goroutines waited for: one in each instance
  worst   the share of the time that goroutines waited for one of them
  lock    a variable (main.server.mu) or a field of a type (main.(*cache).mu); else who takes it

A second table has channels used as locks, semaphores, limits of errgroups, calls of singleflight,
pools of database/sql, and sockets and files to which one goroutine writes at a time. For each it
then prints who waited, who held it meanwhile, and chains: A waits for a lock of B, which waits for
a lock of C. A circle of them is a deadlock if nobody in it moves again, and none of its locks is
released.

The Go runtime does not record who holds a lock; cpprof infers it: see docs/limits.md.`,
		Example: `  cpprof locks run.cpprof
  cpprof locks new.cpprof --against old.cpprof --top 1
  cpprof locks run.cpprof --json | jq '.locks[] | {lock, mean_waiting}'`,
	}
	takeRecording(c, func(_ *cobra.Command, path string) error {
		if err := checkTop(top); err != nil {
			return err
		}
		if f.compares(path) {
			if instances {
				return usagef("--instances and --against: locks of two recordings are matched by name, not by instance")
			}
			return f.compareLocks(t, path, top)
		}
		by := locks.ByField
		if instances {
			by = locks.ByInstance
		}
		s, err := f.openSampled(path, "waits for locks")
		if err != nil {
			return err
		}
		a, err := locks.Analyse(s.recording, s.options, by)
		if err != nil {
			return fmt.Errorf("%s: %w", s.path, err)
		}
		r := &report.Locks{Recording: s.recording, Analysis: a, Top: top, Width: t.width()}
		err = t.show(s, r, f.json)
		if !f.json {
			s.afterLocks(t.out, a)
		}
		return err
	})
	f.addOptions(c, t)
	addProgram(c, &f.program)
	f.addComparison(c)
	addTop(c, &top, 5)
	c.Flags().BoolVar(&instances, "instances", false,
		"show each lock by itself, not all locks of a field together")
	f.addJSON(c)
	return c
}

// afterLocks writes the commands with which to continue from the
// lock that goroutines waited for longest.
func (s *source) afterLocks(w io.Writer, a *locks.Analysis) {
	if len(a.Locks) == 0 {
		return
	}
	termtext.Fprintf(w, `
Go on with
  cpprof report %[1]s --thread %[2]s --down '* ..:MONITOR'%[3]s
  cpprof report %[1]s --thread %[2]s --prune '* ..:MONITOR' --auto%[3]s
`, words.Shell(s.path), words.Shell(a.Locks[0].Waiters[0].Class), s.again())
}

// compareLocks prints who waited for which locks in two recordings.
func (f *viewFlags) compareLocks(t terminal, path string, top int) error {
	p, err := f.openRecordings(path)
	if err != nil {
		return err
	}
	c, err := locks.Compare(p.a.named(), p.b.named(), p.a.options)
	if err != nil {
		return err
	}
	if !f.json {
		p.headlines(t)
	}
	return t.print(&report.LocksCompared{Comparison: c, New: p.a.named(), Old: p.b.named(),
		Top: top, Width: t.width()}, f.json)
}
