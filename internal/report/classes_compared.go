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

// ClassesCompared writes the table of the thread classes of two recordings: how many goroutines were alive in each, and the
// share of each typed time in A minus that in B. A class that only one of them has gets no difference.
func ClassesCompared(w io.Writer, pairs []views.ClassPair, width int) error {
	t := &table{right: true, width: width}
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
	return t.write(w)
}

// ClassCompared says in words how a class changed.
func ClassCompared(p *views.ClassPair) string {
	switch {
	case p.A == nil:
		return p.Class + ": only in B, with " + oneDecimal(p.B.MeanAlive) + " alive on average"
	case p.B == nil:
		return p.Class + ": only in A, with " + oneDecimal(p.A.MeanAlive) + " alive on average"
	}
	return fmt.Sprintf("%s: %s alive on average in A, %s in B; it spends %s of its time otherwise than in B", p.Class,
		oneDecimal(p.A.MeanAlive), oneDecimal(p.B.MeanAlive), percent(p.Moved()))
}

// classPairJSON is a class of a comparison as data.
type classPairJSON struct {
	Class      string             `json:"class"`
	A          *classJSON         `json:"a"` // null if the recording does not have the class
	B          *classJSON         `json:"b"`
	Idle       *float64           `json:"idle_difference,omitempty"`   // A minus B
	Difference map[string]float64 `json:"shares_difference,omitempty"` // A minus B, by typed time
	Moved      *float64           `json:"moved,omitempty"`             // the share of its time that it spends otherwise
}

// classPairsJSON is the output of ClassesComparedJSON.
type classPairsJSON struct {
	A       string          `json:"a"` // names of the recordings
	B       string          `json:"b"`
	Classes []classPairJSON `json:"classes"`
	Basis
}

// ClassesComparedJSON writes the same as JSON, with all that ClassesJSON writes of each.
func ClassesComparedJSON(w io.Writer, pairs []views.ClassPair, a, b views.Named) error {
	return writeJSON(w, pairsAsJSON(pairs, a, b))
}

func pairsAsJSON(pairs []views.ClassPair, a, b views.Named) classPairsJSON {
	doc := classPairsJSON{A: a.Name, B: b.Name, Classes: []classPairJSON{}, Basis: BasisOf(a.Recording, b.Recording)}
	for _, p := range pairs {
		j := classPairJSON{Class: p.Class}
		j.A, j.B = sideAsJSON(p.A), sideAsJSON(p.B)
		if p.Common() {
			idle, moved := float(p.A.IdleShare().Sub(p.A.IdleShare(), p.B.IdleShare())), float(p.Moved())
			j.Idle, j.Moved, j.Difference = &idle, &moved, make(map[string]float64)
			before := p.B.Shares()
			for t, share := range p.A.Shares() {
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
