package main

import (
	"bytes"
	"errors"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views"
	"github.com/spf13/cobra"
)

// turns returns the classes whose Thread Views are to be analysed, one after
// the other: the busiest ones if the flags choose no view of a recording.
// Otherwise it returns none.
func (f *treeFlags) turns(path string) ([]string, error) {
	if f.server || f.thread != "" {
		return nil, nil
	}
	s, err := f.open(path)
	if err != nil {
		return nil, err
	}
	if s.recording.Profile != nil {
		return nil, nil
	}
	classes, err := views.Classes(s.recording, s.options)
	if err != nil || len(classes) == 0 {
		return nil, err
	}
	return views.Busiest(working(s, classes, (*views.ClassSummary).OnlyIdle)), nil
}

// choose chooses the Thread View of a class, as if the flag had been given.
func (f *treeFlags) choose(c *cobra.Command, class string) error {
	return c.Flags().Set("thread", class)
}

// nextTurn returns the function that opens the remaining classes for the
// shell, or nil if there are none.
func (f *treeFlags) nextTurn(c *cobra.Command, path string, rest []string) func() (string,
	*hotspots.Trees, error) {
	if len(rest) == 0 {
		return nil
	}
	return func() (string, *hotspots.Trees, error) {
		if len(rest) == 0 {
			return "", nil, errors.New("this is the last of the busiest classes")
		}
		if err := f.choose(c, rest[0]); err != nil {
			return "", nil, err
		}
		rest = rest[1:]
		a, b, err := f.subjects(path)
		if err != nil {
			return "", nil, err
		}
		var head bytes.Buffer
		heading(&head, a, b)
		return head.String(), profile(a, b), nil
	}
}

// turnsHint says what the analysis without a view does.
func turnsHint(t terminal, classes []string) {
	if len(classes) > 0 {
		termtext.Fprintf(t.err, "cpprof: no view is chosen: the busiest classes in turn (%d)\n",
			len(classes))
	}
}
