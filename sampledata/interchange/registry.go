package interchange

import (
	"fmt"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
)

// formats lists all formats. Each recognises its own files by
// their content, so their order does not matter.
var formats = []*Format{&recording, &text, &pprof, &executionTrace, &goroutineDump,
	&coreDump, &arcflow, &folded, &perfScript}

// Auto stands for the format that the content shows.
const Auto = "auto"

// A Format is a kind of file or folder. All are read as
// recordings; profiles have a sampledata.Profile.
type Format struct {
	Name  string // the value of --format: "pprof"
	Title string // a file of this format in a headline, with an article: "a profile"

	// Lines reports whether a file consists of lines, and the
	// last one has an end, too.
	Lines bool

	// Sniff reports whether a file with this beginning has the format.
	Sniff func(Start) bool

	// Read reads a recording.
	Read func(*Input, Options) (*sampledata.Recording, error)
}

// Options choose what to read from a file.
type Options struct {
	// Value is what to count: the name of one of a profile's
	// sample types, or a name for the readings of a trace of
	// calls. "" chooses the file's own default.
	Value string

	// Program is the executable of the program that wrote a core dump.
	Program string

	// From and To choose a part of an execution trace, by times
	// since its start; To is 0 for all after From.
	From, To time.Duration

	// Progress is called after each read with the number of
	// bytes read from the file. Bytes count as they are in the
	// file, perhaps compressed. Progress may be nil, and is not
	// called for folders.
	Progress func(read int64)

	// MaxMemory bounds, in bytes, what may be allocated for it;
	// 0 is a quarter of the machine's memory.
	MaxMemory int64
}

// A ValueError says that a file does not count what Options.Value names.
type ValueError struct {
	Value string
	Known string // a half sentence that says what the file counts
}

func (e *ValueError) Error() string { return fmt.Sprintf("value %q: %s", e.Value, e.Known) }

// A FormatError says that no format has a name.
type FormatError struct{ Name string }

func (e *FormatError) Error() string {
	return fmt.Sprintf("unknown format %q: want one of %s", e.Name, strings.Join(Names(), ", "))
}

// Names lists the values of --format: Auto and the names of all formats.
func Names() []string {
	names := lists.Each(formats, func(f *Format) string { return f.Name })
	return append([]string{Auto}, names...)
}

// Lookup returns the format with a name. Auto is not a format.
// The error is a *FormatError.
func Lookup(name string) (*Format, error) {
	for _, f := range formats {
		if f.Name == name {
			return f, nil
		}
	}
	return nil, &FormatError{name}
}
