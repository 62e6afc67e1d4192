package main

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/sampler"
	"github.com/spf13/cobra"
)

// recordFlags say what to record, and how.
type recordFlags struct {
	outputs    outputs
	pid        int
	child      string
	followExec bool
	view       bool
	samplerFlags
}

func newRecordCommand(t terminal) *cobra.Command {
	var f recordFlags
	c := &cobra.Command{
		Use:     "record [flags] -- COMMAND [ARGUMENT...]\n  cpprof record [flags] -p PID",
		GroupID: groupRecord,
		Short:   "Record a running Go program, launched or attached to",
		Long: `record halts a Go program for a moment, again and again, and writes what every goroutine was doing
into a folder, PROGRAM-DATE.cpprof unless -o names another.

The program is not changed, and goes on whatever happens to cpprof. The recording ends when the
duration is over, when the program ends, or by Ctrl-C (SIGINT, SIGTERM); a second one ends cpprof
at once.

A launched program has cpprof's standard input, output and error, and cpprof ends with its exit
status. Ctrl-C at the terminal reaches the program as it would without cpprof, which then waits
for it to end. When only the recording is over (the duration, or a signal to cpprof alone),
cpprof ends and the program goes on.

Where COMMAND is 'go run', 'go test', 'go tool' or 'go generate', or no Go program at all (a shell
script, make, env), the Go programs that it becomes or starts are recorded (on Linux), save the Go
toolchain's own. With --child, those whose file name matches a pattern are, whoever starts them.
Several programs, such as the tests of several packages, give several recordings, run.cpprof,
run.2.cpprof and so on, in the order in which they began; 'cpprof info' tells which is which. A
program that ends before a first sample leaves none, and what a recorded program starts itself is
not followed. The duration counts from the first program's beginning.

A program that executes another one in its own process ends its recording. With --follow-exec the
other one is recorded in its turn, into the next recording.

With --view, the Analyzer shows the recording while it grows. q leaves it, which ends the recording,
and interrupts a launched program as Ctrl-C would. Such a program has no input meanwhile, and its
output goes to a file beside the recording, run.cpprof.log.

Halts are spread at random over their interval, so that a periodic program is not always met
at the same point. They are made less frequent where the program would stand still for more than
the overhead allowed, or cpprof itself would use more of a processor than --max-cpu allows; unless
that is given, it keeps to 1 % of the machine's processors where none of them is idle. Reading the
program's symbols, and what its code does to locks that are waited for, comes on top, once.
'cpprof info' shows what was achieved.`,
		Example: `  cpprof record -o run.cpprof -d 10s -- ./server -flag
  cpprof record -p 4711                        # until Ctrl-C
  cpprof record --view -p 4711                 # and look on
  cpprof record -- go test ./pkg -run TestSlow -count=1
  cpprof record -- go run ./cmd/server -flag
  cpprof record --child server -- ./start.sh   # of all that the script starts
  cpprof record --child compile -- go build    # the toolchain's own, too, where it is named
  cpprof record --rate 100 --max-overhead 5% -d 1m -p 4711`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c, args); err != nil {
				return &usageError{err}
			}
			if f.view {
				return recordView(c.Context(), t, &f, args)
			}
			return record(c.Context(), t, &f, args)
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.SetInterspersed(false) // what follows COMMAND is the command's
	flags.StringVarP(&f.outputs.given, "output", "o", "", "the `folder` to write (default PROGRAM-DATE.cpprof)")
	flags.BoolVarP(&f.outputs.force, "force", "f", false, "replace a recording that is already there")
	flags.IntVarP(&f.pid, "pid", "p", 0, "attach to the running process `PID`")
	flags.DurationVarP(&f.options.Duration, "duration", "d", 0, "how long to record, such as 10s (default until something else ends it)")
	flags.StringVar(&f.child, "child", "", "record the programs whose file name matches `PATTERN`, of the command or process and all that it starts")
	flags.BoolVar(&f.followExec, "follow-exec", false, "go on with the program that a recorded one executes in its place")
	flags.BoolVar(&f.view, "view", false, "show the recording in the Analyzer while it grows")
	f.samplerFlags.add(c)
	return c
}

// check finds calls that make no sense.
func (f *recordFlags) check(c *cobra.Command, args []string) error {
	attach := c.Flags().Changed("pid")
	switch {
	case attach && len(args) > 0:
		return errors.New("give either a process (-p PID) or a command, not both")
	case !attach && len(args) == 0:
		return errors.New("give a command (cpprof record -- ./server) or a process (cpprof record -p PID)")
	}
	if _, err := path.Match(f.child, ""); err != nil {
		return fmt.Errorf("--child %s: want a file name, or a pattern such as '*.test': %w", f.child, err)
	}
	return f.samplerFlags.check(c)
}

// follows tells whether it is not the command that is to be recorded, but what it becomes or starts.
func (f *recordFlags) follows(program string, args []string) bool {
	if f.child != "" {
		return true
	}
	e, err := sampler.ReadExecutable(program)
	return err != nil || e.Toolchain && startsPrograms(args)
}

// startsPrograms holds for arguments with which the go command runs programs that aren't the toolchain's.
func startsPrograms(args []string) bool {
	if len(args) > 1 && args[0] == "-C" {
		args = args[2:]
	} else if len(args) > 0 && strings.HasPrefix(args[0], "-C=") {
		args = args[1:]
	}
	return len(args) > 0 && slices.Contains([]string{"run", "test", "tool", "generate"}, args[0])
}
