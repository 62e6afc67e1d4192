package report

import (
	"io"

	"github.com/cpprof/cpprof/views"
)

// overviewJSON is the output of OverviewJSON.
type overviewJSON struct {
	Classes []classJSON `json:"classes"`
	Views   elements    `json:"views"` // profileJSON
	Basis
}

// OverviewJSON writes the classes of a recording, and some of its views.
func OverviewJSON(w io.Writer, classes []views.ClassSummary, profiles []*Profile,
	basis Basis) error {
	list := elementsOf(profiles, func(p *Profile) any { return p.document() })
	return writeJSON(w, overviewJSON{classesAsJSON(classes), list, basis})
}

// overviewComparedJSON is the output of OverviewComparedJSON.
type overviewComparedJSON struct {
	classPairsJSON
	Views elements `json:"views"` // comparisonJSON
}

// OverviewComparedJSON writes the classes of two recordings, and some of
// their views.
func OverviewComparedJSON(w io.Writer, classes []views.ClassPair, compared []*Comparison,
	a, b views.Named) error {
	list := elementsOf(compared, func(c *Comparison) any { return c.document() })
	return writeJSON(w, overviewComparedJSON{pairsAsJSON(classes, a, b), list})
}
