package interchange

import (
	"fmt"
	"io"
	"strings"

	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/sampledata"
)

// formats are all that there are. Each recognises its own files by their content, so that their order does not matter.
var formats = []*Format{&recording, &text, &pprof, &arcflow}

// Auto stands for the format that the content shows.
const Auto = "auto"

// A Format is a kind of file or folder. It holds either a recording or a weighted call tree, and is read accordingly.
type Format struct {
	Name  string // by which a person chooses it, "pprof"
	Title string // what a headline calls one, with an article: "a profile"
	Help  string // the same for somebody who is to choose a file: "a pprof profile"

	// Sniff reports whether what begins so has this format.
	Sniff func(Start) bool

	// ReadRecording reads a recording; nil if the format holds a call tree.
	ReadRecording func(*Input, Options) (*sampledata.Recording, error)

	// ReadTree reads a call tree; nil if the format holds a recording. About says what the tree is of, as a headline does:
	// "a profile of CPU time".
	ReadTree func(*Input, Options) (*calltree.Tree, error)
	About    func(*calltree.Tree) string

	// WriteTree writes a call tree, and is nil if the format can't be written.
	WriteTree func(io.Writer, *calltree.Tree) error
}

// Options say what is to be read of a file that holds more than one thing.
type Options struct {
	// Meter is what to count: the name of one of a profile's sample types, or what the readings of a trace are called.
	// "" is what the file itself puts first.
	Meter string
}

// A MeterError says that a file does not count what Options.Meter asks for.
type MeterError struct {
	Meter string
	Known string // what it does count, as half a sentence
}

func (e *MeterError) Error() string { return fmt.Sprintf("meter %q: %s", e.Meter, e.Known) }

// A FormatError says that there is no format of a name.
type FormatError struct{ Name string }

func (e *FormatError) Error() string {
	return fmt.Sprintf("unknown format %q: want one of %s", e.Name, strings.Join(Names(), ", "))
}

// Names lists what a person can choose: Auto and the names of all formats.
func Names() []string {
	names := []string{Auto}
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return names
}

// Lookup returns the format of a name. Auto is none. Its error is a *FormatError.
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
