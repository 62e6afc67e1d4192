package main

import (
	"fmt"
	"io"

	"github.com/cpprof/cpprof/interchange"
	"github.com/cpprof/cpprof/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/spf13/cobra"
)

func newImportCommand(t terminal) *cobra.Command {
	var f inputFlags
	var output string
	c := &cobra.Command{
		Use:   "import -o OUTPUT [FILE]",
		Short: "Keep the file of another tool as a recording or a profile",
		Long: `import reads the file of another tool, or standard input. What has samples over time becomes a
recording (-o run.cpprof). Profiles, and traces of calls and returns, become a pprof profile, which
go tool pprof can read, too (-o calls.pb.gz); its times and numbers of calls are exact.

A trace in arcflow's format has one event per line, after the reading of the meter. '0 > main' is a
call, '12.5 < main' its return, and '3 pidtid worker' says that the lines after it are about another
process or thread.`,
		Example: `  cpprof import -o calls.pb.gz calls.txt
  cpprof report xtree calls.pb.gz
  go tool pprof -top calls.pb.gz`,
		GroupID: groupFiles,
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := f.keep(t, args, output, "name the recording or profile to write with -o")
			if err != nil {
				return err
			}
			return report.Headline(t.out, output, r)
		},
	}
	f.addInput(c, t)
	f.addFormat(c)
	c.Flags().StringVarP(&output, "output", "o", "", "the `recording` or profile to write")
	return c
}

// keptAs is the format in which import writes profiles.
const keptAs = "pprof"

// keep reads the file that the only argument names, or standard input, and writes it in cpprof's own form: a recording as a
// folder, a profile as a pprof profile. It returns what it has read.
func (f *inputFlags) keep(t terminal, args []string, output, missing string) (*sampledata.Recording, error) {
	if output == "" {
		return nil, usagef("no output is given: %s", missing)
	}
	in, err := f.inputOf(t, args)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r, err := f.recording(in)
	if err != nil {
		return nil, err
	}
	if r.Profile == nil {
		return r, r.Write(output)
	}
	return r, save(output, func(w io.Writer) error {
		if err := interchange.Write(w, r, keptAs); err != nil {
			return fmt.Errorf("%s: %w", output, err)
		}
		return nil
	})
}
