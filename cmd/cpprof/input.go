package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampledata/interchange"
	"github.com/cpprof/cpprof/views"
	"github.com/spf13/cobra"
)

// inputFlags are the flags that say how to read the file or
// folder of a command.
type inputFlags struct {
	format  string // "" is interchange.Auto
	value   string
	program string
	strict  bool
	memory  memory.Size // 0: the default
	span    views.Span  // to count; the zero Span is all
	json    bool        // print JSON
	err     io.Writer   // for warnings of recordings that are not complete

	errIsTerminal bool
}

// addInput adds the flag of every command that reads a recording.
func (f *inputFlags) addInput(c *cobra.Command, t terminal) {
	f.err, f.errIsTerminal = t.err, t.errIsTerminal
	addMemory(c, &f.memory)
	c.Flags().BoolVar(&f.strict, "strict", false, "fail if a recording is damaged or incomplete")
}

// A missingError is returned with --strict for a recording that
// is not complete.
type missingError struct{ path, missing string }

func (e *missingError) Error() string {
	return fmt.Sprintf("%s: %s; to use the rest, leave out --strict", e.path, e.missing)
}

// recording reads the recording of an input. If it is not
// complete, recording prints a warning, or fails with --strict.
func (f *inputFlags) recording(in *interchange.Input) (*sampledata.Recording, error) {
	r, err := f.load(in, f.options())
	if err == nil && f.span != (views.Span{}) && isThinned(r) && in.Size() > 0 {
		r, err = f.part(in.Name)
	}
	if err != nil {
		return nil, inputError(err)
	}
	if ownProcess {
		limitGarbage()
	}
	if missing := report.Missing(r); missing != "" {
		if f.strict {
			return nil, &missingError{in.Name, missing}
		}
		tell(f.err, "warning: %s: %s", in.Name, missing)
	}
	return r, nil
}

func (f *inputFlags) load(in *interchange.Input, o interchange.Options) (*sampledata.Recording, error) {
	done := f.showProgress(in, &o)
	defer done()
	return in.Recording(o)
}

// isThinned reports whether a trace is not kept exactly.
func isThinned(r *sampledata.Recording) bool {
	return slices.ContainsFunc(r.Warnings, func(w sampledata.Warning) bool { return w.Kind == interchange.Thinned })
}

// part reads the part of a trace that counts, which may be short
// enough to be kept exactly. Otherwise, the whole decides what
// goroutines wait for.
func (f *inputFlags) part(path string) (*sampledata.Recording, error) {
	in, err := f.input(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	o := f.options()
	o.From, o.To = f.span.From, f.span.To
	return f.load(in, o)
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
	c.Flags().StringVar(&f.format, "format", interchange.Auto,
		"what to read: "+strings.Join(names, ", ")+" ("+interchange.Auto+": by its content)")
	completeWords(c, "format", names...)
}

// addValue adds the flag of the commands that read profiles.
func (f *inputFlags) addValue(c *cobra.Command) {
	c.Flags().StringVar(&f.value, "value", "",
		"what to count: the `name` of a sample type of a profile, or a name for the readings of a trace of calls")
}

// input opens a file or folder.
func (f *inputFlags) input(path string) (*interchange.Input, error) {
	in, err := interchange.Open(path, cmp.Or(f.format, interchange.Auto))
	return in, inputError(err)
}

// inputOf opens the file or folder that the only argument names,
// or standard input if there is none or "-".
func (f *inputFlags) inputOf(t terminal, args []string) (*interchange.Input, error) {
	if len(args) > 0 && args[0] != "-" {
		return f.input(args[0])
	}
	in, err := interchange.Stream(t.in, "standard input", cmp.Or(f.format, interchange.Auto))
	return in, inputError(err)
}

// options returns how to read a file.
func (f *inputFlags) options() interchange.Options {
	saveMemory()
	return interchange.Options{Value: f.value, Program: f.program, MaxMemory: int64(f.memory)}
}

// ownProcess says that the process runs one command, which
// decides how its garbage is collected. Tests run many commands
// in one process.
var ownProcess bool

// saveMemory lets the garbage collector run at half of the usual
// growth of the heap: what a recording becomes in memory is
// mostly kept until the end. It costs a twentieth of the time.
// The environment variable GOGC goes before.
func saveMemory() {
	if ownProcess && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
}

// muchMemory is the size of a heap from which freeing memory
// takes little time compared with what has filled it.
const muchMemory = 32 << 20

// limitGarbage frees the memory that only reading needed, if it
// can be much, and sets a soft limit on what the process has: if
// it comes near it, garbage is collected earlier. The limit is
// large compared with what was read, so that collecting never
// takes most of the time. The environment variable GOMEMLIMIT
// goes before.
func limitGarbage() {
	var now runtime.MemStats
	if runtime.ReadMemStats(&now); now.HeapAlloc > muchMemory {
		debug.FreeOSMemory()
		runtime.ReadMemStats(&now)
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	const usual = 240 << 20
	debug.SetMemoryLimit(max(usual, 2*int64(now.HeapAlloc)))
}

// inputError turns a mistake in --format or --value into a usage error.
func inputError(err error) error {
	if _, ok := errors.AsType[*interchange.FormatError](err); ok {
		return usagef("--format: %w", err)
	}
	if _, ok := errors.AsType[*interchange.ValueError](err); ok {
		return usagef("--value: %w", err)
	}
	return err
}

// slow is how long a file is read before its progress is shown.
const slow = time.Second

// showProgress shows how much of a file has been read, on a
// terminal and if it takes long. The caller calls done at the
// end.
func (f *inputFlags) showProgress(in *interchange.Input, o *interchange.Options) (done func()) {
	size := in.Size()
	if !f.errIsTerminal || size == 0 {
		return func() {}
	}
	line := newStatusLine(f.err, true, slow)
	o.Progress = func(read int64) {
		line.show("cpprof: reading %s: %d %% ", in.Name, min(100, 100*read/size))
	}
	return line.clear
}
