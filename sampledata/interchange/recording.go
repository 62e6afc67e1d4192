package interchange

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/cpprof/cpprof/sampledata"
)

// recording is the format of the folders that cpprof record writes.
var recording = Format{
	Name:  "recording",
	Title: "a recording",
	Help:  "a folder made by 'cpprof record'",
	Sniff: func(s Start) bool { return s.Folder },
	Read:  readRecording,
}

func readRecording(in *Input, o Options) (*sampledata.Recording, error) {
	r, err := sampledata.OpenWithin(in.Name, o.MaxMemory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not a recording: a recording is a folder with the files Strings and SampleData", in.Name)
	}
	return r, err
}

// text is the format of recordings as text, which 'cpprof export
// --to text' writes.
var text = Format{
	Name:  "text",
	Title: "a recording as text",
	Help:  "a recording as 'cpprof export --to text' writes it",
	Lines: true,
	Sniff: func(s Start) bool { return strings.HasPrefix(s.firstLine(), "cpprof recording ") },
	Read: func(in *Input, o Options) (*sampledata.Recording, error) {
		return sampledata.ReadTextWithin(in, o.MaxMemory)
	},
}
