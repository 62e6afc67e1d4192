// Package session keeps what a person made of a recording beside the recording: the windows with their refinements,
// prunes and labels, the span, the thresholds, the accounting, the rule of classes, and aspects defined on the way. The
// Analyzer restores it, and 'cpprof report --session' writes it as text.
//
//	session.go     the State, and what every kind of window has in common
//	profile.go     windows that show the profile of a view
//	comparison.go  windows that show that of a view of two recordings; others.go reads the second one
//	locks.go       the window of the locks
//	file.go        where a State is kept
//	format.go      how it is written; version1.go: how it was written before
//
// The package knows no list of the kinds of windows: who reads a State says which kinds it may have. A window that only the
// Analyzer has is defined there as a whole.
package session

import (
	"slices"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/config"
	"github.com/cpprof/cpprof/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A State is what a person made of a recording.
type State struct {
	Options views.Options    // of which AlsoInlined and Priority are not kept
	Aspects []aspects.Aspect // beside those of the configuration
	Windows []Window
	Active  int // 1 + the window in front; 0 for the Summary window
}

// Front puts the window of a class's view in front, and reports whether there is one; class is "" for the Server View. A
// session that is nil has no windows.
func (s *State) Front(class string) bool {
	if s == nil {
		return false
	}
	i := slices.IndexFunc(s.Windows, func(w Window) bool {
		p, ok := w.(*Profile)
		return ok && p.Class == class
	})
	if i >= 0 {
		s.Active = i + 1
	}
	return i >= 0
}

// A Window is what is kept of one window of the Analyzer. It is a pointer to something that encoding/json writes and reads.
type Window interface {
	Kind() Kind

	// Check says what is wrong with the window. What a file says is not trusted: Check bounds sizes and parses texts.
	Check() error

	// Report is what the window shows, for 'cpprof report --session'. If the recording does not have it, the error is a
	// *views.UnknownClassError or a *MissingError.
	Report(*Source) (report.Report, error)
}

// A Kind is a kind of window.
type Kind struct {
	Name   string        // in the file
	Single bool          // there is at most one window of the kind
	New    func() Window // a window to read into
}

// A Source is a recording, and how to look at it.
type Source struct {
	Path      string // of the recording
	Recording *sampledata.Recording
	Config    *config.Config
	Options   views.Options
	Color     bool // of reports
	Others    *Others
}

// A MissingError says why another recording can't be had, that a window shows too.
type MissingError struct{ Err error }

func (e *MissingError) Error() string { return e.Err.Error() }

func (e *MissingError) Unwrap() error { return e.Err }

// Configure adds to a configuration what the state defines, and completes the options with what it says.
func (s *State) Configure(c *config.Config) views.Options {
	c.Aspects = c.Aspects.With(s.Aspects...)
	o := s.Options
	o.Priority = c.Priority
	return o
}
