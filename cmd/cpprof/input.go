package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cpprof/cpprof/interchange"
	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/spf13/cobra"
)

// inputFlags are the flags that say how to read the file or folder of a command.
type inputFlags struct {
	format string // "" is interchange.Auto
	meter  string
	strict bool
	memory memory.Size // 0: the default
	err    io.Writer   // for warnings of recordings that are not complete
}

// addInput adds the flag of every command that reads a recording.
func (f *inputFlags) addInput(c *cobra.Command, t terminal) {
	f.err = t.err
	c.Flags().Var(&f.memory, "max-memory", "the memory that a file may take to read, such as 512MB (default: a quarter of the machine's)")
	c.Flags().BoolVar(&f.strict, "strict", false, "fail if a recording is damaged or incomplete")
}

// A missingError is returned with --strict for a recording that is not complete.
type missingError struct{ path, missing string }

func (e *missingError) Error() string {
	return fmt.Sprintf("%s: %s; to use the rest, leave out --strict", e.path, e.missing)
}

// recording reads the recording of an input. If it is not complete, recording prints a warning, or fails with --strict.
func (f *inputFlags) recording(in *interchange.Input) (*sampledata.Recording, error) {
	r, err := in.Recording(f.options())
	if err != nil {
		return nil, err
	}
	if missing := report.Missing(r); missing != "" {
		if f.strict {
			return nil, &missingError{in.Name, missing}
		}
		termtext.Fprintf(f.err, "cpprof: warning: %s: %s\n", in.Name, missing)
	}
	return r, nil
}

// recordingAt reads the recording at a path.
func (f *inputFlags) recordingAt(path string) (*sampledata.Recording, error) {
	in, err := f.input(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return f.recording(in)
}

// addFormat adds --format, and lists the formats in its help.
func (f *inputFlags) addFormat(c *cobra.Command) {
	names := interchange.Names()
	c.Flags().StringVar(&f.format, "format", interchange.Auto, "what to read: "+strings.Join(names, ", ")+" ("+interchange.Auto+": by its content)")
	completeWords(c, "format", names...)
}

func (f *inputFlags) addMeter(c *cobra.Command) {
	c.Flags().StringVar(&f.meter, "meter", "", "what to count: the `name` of a sample type of a profile, or a name for the readings of a trace")
}

// input opens a file or folder.
func (f *inputFlags) input(path string) (*interchange.Input, error) {
	in, err := interchange.Open(path, cmp.Or(f.format, interchange.Auto))
	return in, inputError(err)
}

// inputOf opens the file or folder that the only argument names, or standard input if there is none or "-".
func (f *inputFlags) inputOf(t terminal, args []string) (*interchange.Input, error) {
	if len(args) > 0 && args[0] != "-" {
		return f.input(args[0])
	}
	in, err := interchange.Stream(t.in, "standard input", cmp.Or(f.format, interchange.Auto))
	return in, inputError(err)
}

// tree reads a call tree that is not a view of a recording.
func (f *inputFlags) tree(in *interchange.Input) (*subject, error) {
	tree, err := in.Tree(f.options())
	if err != nil {
		return nil, inputError(err)
	}
	return &subject{path: in.Name, tree: tree, title: "Calls of " + tree.Root(), format: in.Format}, nil
}

func (f *inputFlags) options() interchange.Options {
	return interchange.Options{Meter: f.meter, MaxMemory: int64(f.memory)}
}

// inputError turns a mistake in --format or --meter into a usage error.
func inputError(err error) error {
	var format *interchange.FormatError
	var meter *interchange.MeterError
	switch {
	case errors.As(err, &format):
		return usagef("--format: %w", err)
	case errors.As(err, &meter):
		return usagef("--meter: %w", err)
	}
	return err
}

// save writes a new file, and removes it again if that fails.
func save(path string, write func(io.Writer) error) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	err = write(out)
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(path)
	}
	return err
}
