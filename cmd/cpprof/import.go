package main

import (
	"fmt"
	"io"

	"github.com/cpprof/cpprof/interchange"
	"github.com/spf13/cobra"
)

func newImportCommand(t terminal) *cobra.Command {
	var f inputFlags
	var output string
	c := &cobra.Command{
		Use:   "import -o PROFILE.pb.gz [TRACE]",
		Short: "Make a profile from a trace of calls",
		Long: `import reads a trace of calls and returns, from a file or standard input, and writes it as a
profile with exact times and numbers of calls. 'cpprof find', 'cpprof bottlenecks', 'cpprof report
xtree' and go tool pprof can read the profile. A recording as text becomes a recording.

A trace in arcflow's format has one event per line, after the reading of the meter. '0 > main' is a
call, '12.5 < main' its return, and '3 pidtid worker' says that the lines after it are about another
process or thread.`,
		Example: `  cpprof import -o calls.pb.gz calls.txt
  cpprof report xtree calls.pb.gz
  go tool pprof -top calls.pb.gz`,
		GroupID: groupFiles,
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			return f.keep(t, args, output, "name the profile to write with -o")
		},
	}
	f.addInput(c, t)
	f.addFormat(c)
	f.addMeter(c)
	c.Flags().StringVarP(&output, "output", "o", "", "the `profile` to write")
	return c
}

// keptAs is the format in which import writes call trees.
const keptAs = "pprof"

// keep reads the file that the only argument names, or standard input, and writes it in cpprof's own form: a recording as a
// folder, a call tree as a profile.
func (f *inputFlags) keep(t terminal, args []string, output, missing string) error {
	if output == "" {
		return usagef("no output is given: %s", missing)
	}
	in, err := f.inputOf(t, args)
	if err != nil {
		return err
	}
	defer in.Close()
	if in.Format.HoldsRecording() {
		r, err := f.recording(in)
		if err != nil {
			return err
		}
		return r.Write(output)
	}
	s, err := f.tree(in)
	if err != nil {
		return err
	}
	return save(output, func(w io.Writer) error {
		if err := interchange.WriteTree(w, s.tree, keptAs); err != nil {
			return fmt.Errorf("%s: %w", output, err)
		}
		return nil
	})
}
