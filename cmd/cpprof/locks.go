package main

import (
	"fmt"
	"io"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/locks"
	"github.com/cpprof/cpprof/report"
	"github.com/spf13/cobra"
)

func newLocksCommand(t terminal) *cobra.Command {
	var f viewFlags
	var top int
	var instances, asJSON bool
	c := &cobra.Command{
		Use:   "locks RECORDING",
		Short: "Show the locks that goroutines waited for, who held them, and deadlocks",
		Long: `locks lists the locks (sync.Mutex, sync.RWMutex) that goroutines waited for:

  waited  for how long, all waiting goroutines together
  mean    how many goroutines waited for it at a time, on average
  hits    goroutines that waited for it, summed over the samples
  known   the share of the waiting time in which the holder is known
  locks   of a field, how many locks there are that goroutines waited for: one in each instance
  worst   the share of the time that goroutines waited for one of them
  lock    a variable (main.server.mu) or a field of a type (main.(*cache).mu); if the program has no
          such information, the function that takes the lock

For each lock it then prints who waited, who held it meanwhile, and chains: A waits for a lock of
B, which waits for a lock of C. Goroutines that wait for one another in a circle are a deadlock,
and come first, with their stacks.

The Go runtime does not record who holds a lock; cpprof infers it. docs/limits.md says from what,
and when it can't.`,
		Example: `  cpprof locks run.cpprof
  cpprof locks run.cpprof --from 10s --to 20s --top 1
  cpprof locks run.cpprof --json | jq '.locks[] | {lock, mean_waiting}'`,
		GroupID:           groupShow,
		Args:              oneRecording,
		ValidArgsFunction: completeRecording,
		RunE: func(_ *cobra.Command, args []string) error {
			if top < 0 {
				return usagef("--top %d: want a number of locks, 0 for all", top)
			}
			by := locks.ByField
			if instances {
				by = locks.ByInstance
			}
			s, err := f.open(args[0])
			if err != nil {
				return err
			}
			a, err := locks.Analyse(s.recording, s.options, by)
			if err != nil {
				return fmt.Errorf("%s: %w", s.path, err)
			}
			if asJSON {
				return report.LocksJSON(t.out, s.recording, a)
			}
			if err := report.Headline(t.out, s.path, s.recording); err != nil {
				return err
			}
			if err := report.Locks(t.out, s.recording, a, top); err != nil {
				return err
			}
			return afterLocks(t.out, s.path, a)
		},
	}
	f.addOptions(c, t)
	c.Flags().IntVar(&top, "top", 5, "show this `number` of locks; 0 for all")
	c.Flags().BoolVar(&instances, "instances", false, "show each lock by itself, not all locks of a field together")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON: all locks, hits exact")
	return c
}

// afterLocks writes the commands with which to continue from the lock that goroutines waited for longest.
func afterLocks(w io.Writer, path string, a *locks.Analysis) error {
	if len(a.Locks) == 0 {
		return nil
	}
	first := a.Locks[0]
	class := words.Shell(first.Waiters[0].Class)
	file := words.Shell(path)
	text := fmt.Sprintf("\nGo on with\n  cpprof report %s --thread %s --down '* ..:MONITOR'\n", file, class)
	if len(first.Holders) > 0 {
		down := "* ..:MONITOR " + callpath.Frame(first.Holders[0].Class).String()
		text += fmt.Sprintf("  cpprof report %s --thread %s --extended %s\n", file, class, words.Shell(down))
	}
	_, err := io.WriteString(w, text)
	return err
}
