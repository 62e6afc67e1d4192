package main

import (
	"fmt"
	"io"
	"os"

	"github.com/cpprof/cpprof/interchange"
	"github.com/spf13/cobra"
)

func newImportCommand(t terminal) *cobra.Command {
	var output, format, meter string
	c := &cobra.Command{
		Use:   "import --format arcflow -o PROFILE.pb.gz [TRACE]",
		Short: "Make a profile of a trace of calls",
		Long: `import reads a trace of calls and returns, from a file or standard input, and writes it as a
profile with exact times and numbers of calls. 'cpprof find', 'cpprof bottlenecks', 'cpprof report
xtree' and go tool pprof can read the profile.

The format is arcflow's: one event per line, after the reading of the meter. '0 > main' is a call,
'12.5 < main' its return, and '3 pidtid worker' says that the lines after it are about another
process or thread.`,
		Example: `  cpprof import --format arcflow -o calls.pb.gz calls.txt
  cpprof report xtree calls.pb.gz
  go tool pprof -top calls.pb.gz`,
		GroupID: groupFiles,
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case format != string(arcflowForm):
				return usagef("--format %q: want arcflow; profiles of pprof are read as they are, no import needed", format)
			case output == "":
				return usagef("where to? Name the profile to write with -o")
			}
			in, name, err := t.open(args)
			if err != nil {
				return err
			}
			defer in.Close()
			return importTrace(in, name, output, meter)
		},
	}
	flags := c.Flags()
	flags.StringVar(&format, "format", string(arcflowForm), "what to read: arcflow")
	flags.StringVarP(&output, "output", "o", "", "the `profile` to write")
	flags.StringVar(&meter, "meter", "", "the `name` of what the readings count (\"CPU time\")")
	completeWords(c, "format", string(arcflowForm))
	return c
}

// open gives the file that the only argument names, or standard input where there is none or "-".
func (t terminal) open(args []string) (in io.ReadCloser, name string, err error) {
	if len(args) == 0 || args[0] == "-" {
		return io.NopCloser(t.in), "standard input", nil
	}
	in, err = os.Open(args[0])
	return in, args[0], err
}

func importTrace(in io.Reader, name, output, meter string) error {
	tree, err := readTrace(in, meter)
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	out, err := os.Create(output)
	if err != nil {
		return err
	}
	if err := interchange.WritePprof(out, tree); err != nil {
		out.Close()
		os.Remove(output)
		return fmt.Errorf("%s: %w", output, err)
	}
	return out.Close()
}
