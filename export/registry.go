package export

import (
	"fmt"
	"io"
	"strings"
)

// formats lists all formats, in the order of the help texts.
var formats = []*Format{
	&pprof, &folded, &speedscope, &firefox, &traceEvent, &html, &dot, &svg, &csvView, &csvFunctions, &csvClasses, &csvLocks, &csvSamples,
}

// A Format is a kind of file that Write makes.
type Format struct {
	Name string // the value of --to: "folded"
	Help string // what it is and what reads it, in a few words
	File string // an example of a file's name: "stacks.folded"

	// Binary reports that a terminal can't show the file.
	Binary bool

	// OfRecording reports that the file shows the whole recording: unless stacks are left out, Write needs no session.
	OfRecording bool

	// oneOnly says why the file can't show a comparison; "" if it can.
	oneOnly string

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

// CheckComparison returns an error if the format can't show a comparison. It says why, and names the formats that can.
func (f *Format) CheckComparison() error {
	if f.oneOnly == "" {
		return nil
	}
	return fmt.Errorf("%s can't show a comparison: %s: export it to one of %s, or each recording by itself",
		f.Name, f.oneOnly, strings.Join(ComparisonNames(), ", "))
}

// ComparisonNames lists the names of the formats that can show a comparison.
func ComparisonNames() []string {
	var names []string
	for _, f := range formats {
		if f.oneOnly == "" {
			names = append(names, f.Name)
		}
	}
	return names
}

// Why a format can't show a comparison.
const (
	noNegative = "the format has no place for negative times"
	oneTable   = "the table has the numbers of one recording"
)

// Names lists the names of all formats.
func Names() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return names
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
