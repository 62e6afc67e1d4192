package interchange

import (
	"fmt"
	"io"
	"strings"

	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/sampledata"
)

// formats lists all formats. Each recognises its own files by their content, so their order does not matter.
var formats = []*Format{&recording, &text, &pprof, &arcflow}

// Auto stands for the format that the content shows.
const Auto = "auto"

// A Format is a kind of file or folder. It holds either a recording or a weighted call tree, and is read accordingly.
type Format struct {
	Name  string // the value of --format: "pprof"
	Title string // a file of this format in a headline, with an article: "a profile"
	Help  string // the same in help texts: "a pprof profile"

	// Sniff reports whether a file with this beginning has the format.
	Sniff func(Start) bool

	// ReadRecording reads a recording; nil if the format holds a call tree.
	ReadRecording func(*Input, Options) (*sampledata.Recording, error)

	// ReadTree reads a call tree; nil if the format holds a recording. About returns the text that follows "of" in a headline
	// of the tree, as in "a profile of CPU time".
	ReadTree func(*Input, Options) (*calltree.Tree, error)
	About    func(*calltree.Tree) string

	// WriteTree writes a call tree; nil if the format can't be written.
	WriteTree func(io.Writer, *calltree.Tree) error
}

// Options choose what to read from a file.
type Options struct {
	// Meter is what to count: the name of one of a profile's sample types, or a name for the readings of a trace. "" chooses
	// the file's own default.
	Meter string

	// MaxMemory bounds, in bytes, what may be allocated for it; 0 is a quarter of the machine's memory.
	MaxMemory int64
}

// A MeterError says that a file does not count what Options.Meter names.
type MeterError struct {
	Meter string
	Known string // a half sentence that says what the file counts
}

func (e *MeterError) Error() string { return fmt.Sprintf("meter %q: %s", e.Meter, e.Known) }

// A FormatError says that no format has a name.
type FormatError struct{ Name string }

func (e *FormatError) Error() string {
	return fmt.Sprintf("unknown format %q: want one of %s", e.Name, strings.Join(Names(), ", "))
}

// Names lists the values of --format: Auto and the names of all formats.
func Names() []string {
	names := []string{Auto}
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return names
}

// Lookup returns the format with a name. Auto is not a format. The error is a *FormatError.
func Lookup(name string) (*Format, error) {
	for _, f := range formats {
		if f.Name == name {
			return f, nil
		}
	}
	return nil, &FormatError{name}
}

// Trees lists the formats that hold call trees.
func Trees() []*Format {
	var list []*Format
	for _, f := range formats {
		if !f.HoldsRecording() {
			list = append(list, f)
		}
	}
	return list
}

// WriteTree writes a call tree in the format of a name.
func WriteTree(w io.Writer, t *calltree.Tree, format string) error {
	f, err := Lookup(format)
	if err != nil {
		return err
	}
	if f.WriteTree == nil {
		return fmt.Errorf("%s can't be written from a call tree", f.Title)
	}
	return f.WriteTree(w, t)
}

// HoldsRecording reports whether the format holds recordings. Others hold call trees.
func (f *Format) HoldsRecording() bool { return f.ReadRecording != nil }
