package export

import (
	"fmt"
	"io"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
)

// formats lists all formats, in the order of the help texts.
var formats = []*Format{
	Pprof, &otlp, &folded, &speedscope, &firefox, &traceEvent, &html, &dot, &svg, &mermaid, &csvView,
	&csvFunctions, &csvClasses, &csvLocks, &csvSamples, &text,
}

// A Format is a kind of file that Write makes.
type Format struct {
	Name string // the value of --to: "folded"
	Help string // what it is and what reads it, in a few words
	File string // an example of a file's name: "stacks.folded"

	// Binary reports that a terminal can't show the file.
	Binary bool

	// OfRecording reports that the file shows the whole recording: unless
	// stacks are left out, Write needs no session.
	OfRecording bool

	// Intervals reports that the file has verdicts. Views then need slices
	// (views.Options).
	Intervals bool

	// noComparison says why the file can't show a comparison; ""
	// if it can.
	noComparison string

	// write writes the file. It need not buffer what it writes.
	write func(io.Writer, *Subject) error
}

// Write writes the file.
func (f *Format) Write(w io.Writer, s *Subject) error {
	if s.Compared() {
		if err := f.CheckComparison(); err != nil {
			return err
		}
	}
	return f.write(w, s)
}

// CheckComparison returns an error, which says why, if the
// format can't show a comparison.
func (f *Format) CheckComparison() error {
	if f.noComparison == "" {
		return nil
	}
	return fmt.Errorf("%s can't show a comparison: %s: export each recording by itself",
		f.Name, f.noComparison)
}

// Names lists the names of all formats.
func Names() []string {
	return lists.Each(formats, func(f *Format) string { return f.Name })
}

// All lists all formats.
func All() []*Format { return formats }

// Lookup returns the format with a name. The error names all formats.
func Lookup(name string) (*Format, error) {
	for _, f := range formats {
		if f.Name == name {
			return f, nil
		}
	}
	return nil, fmt.Errorf("unknown format %q: want one of %s", name, strings.Join(Names(), ", "))
}
