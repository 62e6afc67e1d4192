package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/views"
)

// comparedColumns are the columns of a comparison.
var comparedColumns = Compared(slices.Concat(ClassNumbers, ClassShares))

// ClassesCompared are the thread classes of two recordings.
type ClassesCompared struct {
	Pairs    []views.ClassPair
	New, Old views.Named
	Width    int
}

// Write writes a table: how many goroutines were alive in each recording, and
// the change of each typed time's share. A class that only one of them has
// gets no difference.
func (c *ClassesCompared) Write(w io.Writer) {
	pairs := c.Pairs
	t := &table{right: true, width: c.Width}
	var heads []string
	for _, c := range comparedColumns {
		heads = append(heads, c.Name)
	}
	t.add(append(heads, "class")...)
	for i := range pairs {
		var row []string
		for _, c := range comparedColumns {
			row = append(row, c.Cell(&pairs[i], c.Text))
		}
		t.add(append(row, termtext.Printable(pairs[i].Class))...)
	}
	t.write(w)
}

// ClassCompared says in words how a class changed.
func ClassCompared(p *views.ClassPair) string {
	switch {
	case p.New == nil:
		return p.Class + ": only in the old recording, with " + oneDecimal(p.Old.MeanAlive) +
			" alive on average"
	case p.Old == nil:
		return p.Class + ": only in the new recording, with " + oneDecimal(p.New.MeanAlive) +
			" alive on average"
	}
	return fmt.Sprintf("%s: %s alive on average, %s before; it spends %s of its time otherwise than before", p.Class,
		oneDecimal(p.New.MeanAlive), oneDecimal(p.Old.MeanAlive), percent(p.Moved()))
}

// classPairJSON is a class of a comparison as data.
type classPairJSON struct {
	Class string     `json:"class"`
	New   *classJSON `json:"new"` // null if the recording does not have the class
	Old   *classJSON `json:"old"`
	Idle  *float64   `json:"idle_difference,omitempty"` // new minus old
	// new minus old, by typed time
	Difference map[string]float64 `json:"shares_difference,omitempty"`
	// the share of its time that it spends otherwise
	Moved *float64 `json:"moved,omitempty"`
}

// classPairsJSON is the output of ClassesCompared.WriteJSON.
type classPairsJSON struct {
	New     string          `json:"new"` // names of the recordings
	Old     string          `json:"old"`
	Classes []classPairJSON `json:"classes"`
	Basis
}

// WriteJSON writes the same as JSON, with all that Classes has of each.
func (c *ClassesCompared) WriteJSON(w io.Writer) error { return writeJSON(w, c.document()) }

func (c *ClassesCompared) document() classPairsJSON {
	doc := classPairsJSON{New: c.New.Name, Old: c.Old.Name, Classes: []classPairJSON{},
		Basis: BasisOf(c.New.Recording, c.Old.Recording)}
	for _, p := range c.Pairs {
		j := classPairJSON{Class: p.Class}
		j.New, j.Old = sideAsJSON(p.New), sideAsJSON(p.Old)
		if p.Common() {
			idle, moved := float(p.New.IdleShare().Sub(p.New.IdleShare(), p.Old.IdleShare())),
				float(p.Moved())
			j.Idle, j.Moved, j.Difference = &idle, &moved, make(map[string]float64)
			before := p.Old.Shares()
			for t, share := range p.New.Shares() {
				j.Difference[views.TypedTime(t).Name()] = float(share.Sub(share, before[t]))
			}
		}
		doc.Classes = append(doc.Classes, j)
	}
	return doc
}

// sideAsJSON returns nil for a class that a recording does not have.
func sideAsJSON(c *views.ClassSummary) *classJSON {
	if c == nil {
		return nil
	}
	j := classAsJSON(c)
	return &j
}
