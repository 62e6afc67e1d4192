// Package session saves the state of the Analyzer beside the
// recording: the windows with their refinements, prunes and
// labels, the span, the thresholds, the accounting, the rule of
// classes, and aspects that a person defined. The Analyzer
// restores this state, and 'cpprof report session' prints it as
// text.
//
//	session.go     the State, and the interface of all kinds of windows
//	profile.go     windows that show the profile of a view
//	comparison.go  windows that compare two recordings
//	windows.go     windows of call trees with the verdicts of the search, of what is slow, of locks and their holders
//	calls.go       windows with the calls of a function, and with tracks of goroutines
//	metrics.go     windows that draw metrics against one another, and the samples that count
//	file.go        loading and saving a State; reading the recordings that others are compared with
//	format.go      the file format
//
// The package has no list of all kinds of windows: the caller
// says which kinds a State may have. So the Analyzer can define
// kinds of its own.
package session

import (
	"cmp"
	"slices"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A State is the saved state of the Analyzer for one recording.
type State struct {
	Options views.Options       // AlsoInlined, and what Configure sets, are not saved
	Aspects []aspects.Aspect    // besides the configuration's
	Merges  []config.Merge      // besides the configuration's
	Lists   []config.Definition // of samples, besides the configuration's
	Samples string              // the list whose samples count; "" for all samples
	Calls   string              // the calls inside which time counts; "" for all time
	Summary Summary
	Windows []Window
	Active  int // 1 + the window in front; 0 for the Summary window
}

// A Summary is the state of the Summary window.
type Summary struct {
	// it also shows classes that do hardly anything but wait for work
	All    bool   `json:"all,omitempty"`
	Filter string `json:"filter,omitempty"` // the names of classes have this text
	// the head of the column by which classes are sorted; "" for
	// the first order
	Order    string `json:"order,omitempty"`
	Reversed bool   `json:"reversed,omitempty"` // of the order
	// the path of the recording with which it compares; see
	// Relative and Other. "" for none
	Against string `json:"against,omitempty"`

	// the metrics below the timeline, in their order; nil for
	// the usual ones
	Lanes []string `json:"lanes,omitempty"`
}

// Front makes the window of a class's view the active one, and
// reports whether there is such a window; class is "" for the
// Server View. A nil State has no windows.
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

// A Window is the saved state of one window of the Analyzer. It
// is a pointer to a value that encoding/json writes and reads.
type Window interface {
	Kind() Kind

	// Check returns an error if the window is wrong. Files are
	// not trusted: Check checks sizes and parses texts.
	Check() error

	// Report returns the content of the window, for 'cpprof
	// report session'. If a class or another recording does not
	// exist, the error is a *views.UnknownClassError or a
	// *MissingError.
	Report(*Source) (report.Report, error)
}

// A Kind is a kind of window.
type Kind struct {
	Name   string        // in the file
	Single bool          // there is at most one window of the kind
	New    func() Window // a window to read into
}

// A Source is a recording, and the options for reports on it.
type Source struct {
	Path      string                // of the recording
	Recording *sampledata.Recording // the samples that count
	Whole     *sampledata.Recording // all samples; nil: Recording has all
	Calls     string                // the calls inside which time counts; "" for all time
	Config    *config.Config
	Options   views.Options
	Color     bool // of reports
	Width     int  // of the screen on which reports are shown, see report.Profile
	Others    *Others
}

// whole returns the recording with all samples.
func (s *Source) whole() *sampledata.Recording { return cmp.Or(s.Whole, s.Recording) }

// A MissingError says why the other recording of a window can't be read.
type MissingError struct{ Err error }

func (e *MissingError) Error() string { return e.Err.Error() }

func (e *MissingError) Unwrap() error { return e.Err }

// Configure adds the state's aspects to a configuration, and returns the
// state's options, completed from the configuration.
func (s *State) Configure(c *config.Config) views.Options {
	c.Aspects = c.Aspects.With(s.Aspects...)
	c.Merges = slices.Concat(c.Merges, s.Merges)
	c.Lists = slices.Concat(c.Lists, s.Lists)
	return c.Configure(s.Options)
}
