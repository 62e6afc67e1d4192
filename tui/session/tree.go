package session

import (
	"fmt"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/refine/hotspots"
)

// TreeKind is the kind of window that shows the call tree of a view with the
// verdicts of the search.
var TreeKind = Kind{Name: "tree", New: func() Window { return new(Tree) }}

// A Tree is such a window.
type Tree struct {
	Class    string          `json:"class,omitempty"` // of the Thread View; "" is the Server View
	Selected string          `json:"selected,omitempty"`
	Folded   map[string]bool `json:"folded,omitempty"` // by key: what a person has opened or closed
}

func (*Tree) Kind() Kind { return TreeKind }

// Check checks the number of keys and their lengths.
func (t *Tree) Check() error {
	if len(t.Folded) > maxFolded {
		return fmt.Errorf("%d calls are opened or closed: at most %d are possible",
			len(t.Folded), maxFolded)
	}
	keys := []string{t.Class, t.Selected}
	for key := range t.Folded {
		keys = append(keys, key)
	}
	return checkExprs(keys)
}

// Report returns what 'cpprof find' writes of the view.
func (t *Tree) Report(src *Source) (report.Report, error) {
	v, err := (&Profile{Class: t.Class}).View(src.Recording, src.Options)
	if err != nil {
		return nil, err
	}
	view := " --server"
	if t.Class != "" {
		view = " --thread " + words.Shell(t.Class)
	}
	found := hotspots.Find(hotspots.NewSingle(v.Tree), hotspots.FindOptions{})
	return report.NewFound(found, "cpprof find "+words.Shell(src.Path)+view+" --interactive=",
		report.BasisOf(src.Recording)), nil
}
