package report

import (
	"io"
)

// overviewJSON is the output of OverviewJSON.
type overviewJSON struct {
	Classes []classJSON `json:"classes"`
	Views   elements    `json:"views"` // profileJSON
	Basis
}

// OverviewJSON writes the classes of a recording, and some of its views.
func OverviewJSON(w io.Writer, classes *Classes, profiles []*Profile) error {
	list := elementsOf(profiles, func(p *Profile) any { return p.document() })
	return writeJSON(w,
		overviewJSON{classesAsJSON(classes.List), list, BasisOf(classes.Recording)})
}

// overviewComparedJSON is the output of OverviewComparedJSON.
type overviewComparedJSON struct {
	classPairsJSON
	Views elements `json:"views"` // comparisonJSON
}

// OverviewComparedJSON writes the classes of two recordings, and some of
// their views.
func OverviewComparedJSON(w io.Writer, classes *ClassesCompared, compared []*Comparison) error {
	list := elementsOf(compared, func(c *Comparison) any { return c.document() })
	return writeJSON(w, overviewComparedJSON{classes.document(), list})
}
