package interchange

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/cpprof/cpprof/sampledata"
)

// recording is the format of the folders that cpprof record writes.
var recording = Format{
	Name:  "recording",
	Title: "a recording",
	Sniff: func(s Start) bool { return s.Folder },
	Read:  readRecording,
}

func readRecording(in *Input, o Options) (*sampledata.Recording, error) {
	r, err := sampledata.OpenWithin(in.Name, o.MaxMemory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noRecording(in.Name)
	}
	return r, err
}

// noRecording says what a folder lacks to be a recording, and
// which recordings are in it.
func noRecording(folder string) error {
	var missing []string
	for _, name := range []string{"Strings", "SampleData"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			missing = append(missing, name)
		}
	}
	inside, _ := fs.Glob(os.DirFS(folder), "*/SampleData")
	switch {
	case len(missing) == 1:
		return fmt.Errorf("%s is not a recording: it lacks the file %s", folder, missing[0])
	case len(inside) > 0:
		return fmt.Errorf("%s is not a recording, but has some: give one, such as %s", folder,
			filepath.Join(folder, path.Dir(inside[0])))
	}
	return fmt.Errorf("%s is not a recording: a recording is a folder with the files Strings and SampleData", folder)
}

// text is the format of recordings as text, which 'cpprof export
// --to text' writes.
var text = Format{
	Name:  "text",
	Title: "a recording as text",
	Lines: true,
	Sniff: func(s Start) bool { return strings.HasPrefix(s.firstLine(), "cpprof recording ") },
	Read: func(in *Input, o Options) (*sampledata.Recording, error) {
		return sampledata.ReadTextWithin(in, o.MaxMemory)
	},
}
