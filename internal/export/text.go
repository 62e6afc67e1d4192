package export

import (
	"errors"
	"io"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// text is the whole recording as text, which every command reads
// like the recording.
var text = Format{
	Name:         "text",
	Help:         "the recording itself, a line for each record; 'cpprof import' reads it",
	File:         "run.txt",
	noComparison: "it is one recording",
	write:        writeText,

	OfRecording: true,
}

func writeText(w io.Writer, s *Subject) error {
	if err := s.needWhole("the text has all that goroutines did"); err != nil {
		return err
	}
	if s.Recording.Profile == nil && (s.Open != "" || s.Options.Span != (views.Span{})) {
		return errors.New("the text has all views and times: leave out the view and the span; --samples leaves out samples")
	}
	return sampledata.WriteText(w, s.Recording)
}
