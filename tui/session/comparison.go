package session

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/views"
)

// ComparisonKind is the kind of window that compares two
// recordings in one view.
var ComparisonKind = Kind{Name: "comparison", New: func() Window { return new(Comparison) }}

// A Comparison is a window with a refined view of two recordings.
type Comparison struct {
	// the path of the other recording; see Relative and Other
	Against string `json:"against"`
	Profile
}

func (*Comparison) Kind() Kind { return ComparisonKind }

// Relative returns the path of another recording in the form
// that a session stores. The path is relative to the folder of
// the session, and both recordings can be moved together. If
// there is no relative path, it is absolute.
func Relative(recording, other string) string {
	from, err := filepath.Abs(filepath.Dir(Path(recording)))
	if err != nil {
		return other
	}
	to, err := filepath.Abs(other)
	if err != nil {
		return other
	}
	if path, err := filepath.Rel(from, to); err == nil {
		return filepath.ToSlash(path)
	}
	return to
}

// Other returns the path of the other recording that Relative
// stored for a recording; "" stays as it is.
func Other(recording, stored string) string {
	path := filepath.FromSlash(stored)
	if stored == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(Path(recording)), path)
}

// Other returns the path of the other recording, with which the
// window compares a recording.
func (c *Comparison) Other(recording string) string { return Other(recording, c.Against) }

// Report returns the comparison with the window's refinements.
// Several windows may compare with the same recording. Then only
// the first has the warning about functions that were inlined in
// only one of the two recordings.
func (c *Comparison) Report(src *Source) (report.Report, error) {
	path := c.Other(src.Path)
	other, err := src.Others.Open(path)
	if err != nil {
		return nil, &MissingError{err}
	}
	a, b := views.Named{Name: src.Path, Recording: src.Recording},
		views.Named{Name: path, Recording: other}
	compared, err := views.Compare(a, b, src.Options, c.View)
	if err != nil {
		return nil, err
	}
	if !src.Others.firstMention(path) {
		compared.Inlining = nil
	}
	v, err := compared.Merge()
	if err != nil {
		return nil, err
	}
	s, warnings := c.replayed(v, src)
	r := report.Compare(s, src.Options, a, b)
	r.Labels, r.Warnings, r.Color, r.Width = c.Labels, warnings, src.Color, src.Width
	return r, nil
}

// Check checks the path of the other recording, and everything that
// Profile.Check checks.
func (c *Comparison) Check() error {
	if c.Against == "" {
		return fmt.Errorf("against: %q is not a path", c.Against)
	}
	return cmp.Or(checkPath(c.Against), c.Profile.Check())
}

// checkPath returns an error if a stored path is not one.
func checkPath(path string) error {
	if len(path) > maxPath || strings.ContainsRune(path, 0) {
		return fmt.Errorf("against: %.120q is not a path", path)
	}
	return nil
}
