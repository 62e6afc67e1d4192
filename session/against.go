package session

import (
	"fmt"
	"path/filepath"

	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// Relative gives the path of another recording as a session keeps it: as seen from where the session is kept, so that both
// can be moved together, or as an absolute one where that isn't possible.
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

// Other is the path of the recording that a window compares a recording with; "" for none.
func (w *Window) Other(recording string) string {
	path := filepath.FromSlash(w.Against)
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(Path(recording)), path)
}

// Compared merges the window's view of two recordings, see calltree.Merge. The span is the first one's alone.
func (w *Window) Compared(a, b *sampledata.Recording, o views.Options) (*views.View, error) {
	if o.NoInlines {
		o.AlsoInlined = views.Inlined(a, b)
	}
	first, err := w.View(a, o)
	if err != nil {
		return nil, fmt.Errorf("first recording: %w", err)
	}
	o.Span = views.Span{}
	second, err := w.View(b, o)
	if err != nil {
		return nil, fmt.Errorf("second recording: %w", err)
	}
	both, err := calltree.Merge(first.Tree, second.Tree)
	if err != nil {
		return nil, err
	}
	return &views.View{Tree: both, Warnings: append(first.Warnings, second.Warnings...)}, nil
}
