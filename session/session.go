// Package session keeps what a person made of a recording beside the recording: the windows with their refinements,
// prunes and labels, the span, the thresholds, the accounting, the rule of classes, and aspects defined on the way. The
// Analyzer restores it, and 'cpprof report --session' writes it as text.
//
//	session.go  the State, and replaying a window's steps
//	file.go     the file, and its rules
//	against.go  the other recording of a comparison
package session

import (
	"fmt"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/config"
	"github.com/cpprof/cpprof/refine"
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

// A Window is the profile of one view, or of that view of two recordings, or the window of the locks, of which there is one.
type Window struct {
	Locks     bool   // it is the one of the locks; the rest says nothing
	Class     string // whose Thread View it is; "" for the Server View
	Against   string // the recording that is compared with, see Relative and Other; "" for none
	Steps     []refine.Step
	Threshold refine.Threshold
	Collapsed []string // keys of entries
	Labels    []callpath.Path
	Selected  string // the key of an entry; "" for the root
}

// Configure adds to a configuration what the state defines, and completes the options with what it says.
func (s *State) Configure(c *config.Config) views.Options {
	c.Aspects = c.Aspects.With(s.Aspects...)
	o := s.Options
	o.Priority = c.Priority
	return o
}

// Keep gives a window as it is now; class is "" for the Server View.
func Keep(class string, s *refine.Session) Window {
	w := Window{Class: class, Steps: s.Steps(), Threshold: s.Threshold()}
	w.keepCollapsed(s, s.Root())
	return w
}

func (w *Window) keepCollapsed(s *refine.Session, e *refine.Entry) {
	if s.Collapsed(e) {
		w.Collapsed = append(w.Collapsed, e.Key())
	}
	for _, c := range e.Children {
		w.keepCollapsed(s, c)
	}
}

// View builds the view of a window.
func (w *Window) View(r *sampledata.Recording, o views.Options) (*views.View, error) {
	if w.Class == "" {
		return views.Server(r, o)
	}
	return views.Thread(r, w.Class, o)
}

// Replay does the window's steps anew. A step that fails, such as one that finds nothing any more because the span is another
// one, is left out and told of.
func (w *Window) Replay(t *calltree.Tree, m *calltree.Membership) (*refine.Session, []error) {
	s := refine.NewSession(t, m)
	s.SetThreshold(w.Threshold)
	var errs []error
	for _, step := range w.Steps {
		if err := s.Apply(step); err != nil {
			errs = append(errs, err)
		}
	}
	for _, key := range w.Collapsed {
		p, err := callpath.Parse(key)
		if err != nil {
			errs = append(errs, fmt.Errorf("collapse: %w", err))
			continue
		}
		s.Collapse(p, true)
	}
	return s, errs
}
