package main

import (
	"fmt"
	"io"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampledata/interchange"
	"github.com/spf13/cobra"
)

func newImportCommand(t terminal) *cobra.Command {
	var f inputFlags
	var output string
	var force bool
	c := &cobra.Command{
		Use:   "import -o OUTPUT [FILE...]",
		Short: "Keep the file of another tool as a recording or a profile, or sum up profiles",
		Long: `import reads the file of another tool, or standard input. What has samples over time becomes a
recording (-o run.cpprof). Profiles, and traces of calls and returns, become a pprof profile, which
go tool pprof can read, too (-o calls.pb.gz); its times and numbers of calls are exact. Several
profiles are summed: those of ten minutes, say, or of ten hosts.

A trace in arcflow's format has one event per line, after the reading of the meter. '0 > main' is a
call, '12.5 < main' its return, and '3 pidtid worker' says that the lines after it are about another
process or thread.`,
		Example: `  cpprof import -o calls.pb.gz calls.txt
  cpprof export run.cpprof --to text -o - | grep -v '^warning' | cpprof import -o quiet.cpprof
  cpprof report xtree calls.pb.gz
  cpprof import -o sum.pb.gz cpu-1.pb.gz cpu-2.pb.gz
  go tool pprof -top calls.pb.gz`,
		Args: usageArgs(cobra.ArbitraryArgs),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := f.keep(t, args, output, force)
			if err == nil {
				report.Headline(t.out, output, r)
			}
			return err
		},
	}
	f.addInput(c, t)
	f.addFormat(c)
	f.addValue(c)
	addProgram(c, &f.program)
	addOutput(c, &output, "")
	addForce(c, &force)
	return c
}

// keep reads the file that the only argument names, the profiles
// that several arguments name, or standard input, and writes it
// in cpprof's own form: a recording as a folder, a profile as a
// pprof profile. What exists is replaced only if force says so.
// It returns what it has written.
func (f *inputFlags) keep(t terminal, args []string, output string,
	force bool) (*sampledata.Recording, error) {
	if output == "" {
		return nil, usagef("no output is given: name the recording or profile to write with -o")
	}
	r, err := f.summed(t, args)
	if err != nil {
		return nil, err
	}
	switch {
	case r.Profile == nil && force:
		return r, r.Replace(output)
	case r.Profile == nil:
		return r, r.Write(output)
	}
	if err := checkNew(output, force); err != nil {
		return nil, err
	}
	return r, create(output, force, func(w io.Writer) error {
		if err := interchange.WritePprof(w, r); err != nil {
			return fmt.Errorf("%s: %w", output, err)
		}
		return nil
	})
}

// summed reads the file that the only argument names, or
// standard input; of several files, it returns the sum.
func (f *inputFlags) summed(t terminal, args []string) (*sampledata.Recording, error) {
	if len(args) > 1 {
		var list []*sampledata.Recording
		for _, path := range args {
			r, err := f.recordingAt(path)
			if err != nil {
				return nil, err
			}
			list = append(list, r)
		}
		return interchange.Sum(list, args)
	}
	in, err := f.inputOf(t, args)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return f.recording(in)
}
