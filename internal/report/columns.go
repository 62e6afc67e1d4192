package report

import (
	"fmt"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/refine"
)

// CostHead returns the head of the column of costs.
func CostHead(s *refine.Session) string {
	if s.Display().OfParent {
		return "parent"
	}
	return "cost"
}

// OwnHead returns the head of the column of own costs, "" if the display has none.
func OwnHead(s *refine.Session) string {
	if !s.Display().Own {
		return ""
	}
	return fmt.Sprintf("  %5s", "own")
}

// OwnColumn returns an entry's own cost in that column. It is a fraction of
// the whole, also if costs are not.
func OwnColumn(s *refine.Session, e *refine.Entry) string {
	if !s.Display().Own {
		return ""
	}
	text := "…"
	if own, known := s.Own(e); known {
		text = Cost(s.Tree().Main().Cost(own))
	}
	return fmt.Sprintf("  %5s", text)
}

// Zoomed returns a line that says which stacks are the whole, "" if it is the view.
func Zoomed(s *refine.Session) string {
	path := ZoomedTo(s)
	if path == "" {
		return ""
	}
	return termtext.Sprintf("zoomed: 1.000 are the stacks of %s\n", termtext.Printable(path))
}

// ZoomedTo returns the path whose stacks are the whole, "" if it is the view.
func ZoomedTo(s *refine.Session) (path string) {
	for _, step := range s.Steps() {
		if step.Kind == refine.KindZoom {
			path = step.Text
		}
	}
	return path
}
