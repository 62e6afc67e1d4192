package report

import (
	"fmt"
	"io"
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// classTable writes a line for each class.
func classTable(w io.Writer, columns []ClassColumn, classes []views.ClassPair, width int) {
	t := &table{right: true, width: width}
	t.add(append(lists.Each(columns, func(c ClassColumn) string { return c.Name }), "class")...)
	for i := range classes {
		row := lists.Each(columns, func(c ClassColumn) string { return c.Cell(&classes[i], c.Text) })
		t.add(append(row, termtext.Printable(classes[i].Class))...)
	}
	t.write(w)
}

// Classes are thread classes of a recording.
type Classes struct {
	Recording *sampledata.Recording
	List      []views.ClassSummary
	CreatedBy bool // each has the time of the goroutines that it started, too
	Width     int  // of the screen; 0: names are not shortened
}

// Write writes a table: the number of goroutines, the instances,
// the mean number at a time, and the share of each typed time.
// The name, which can be long, comes last. Below the table it
// writes how much of all MONITOR time is attributed. A profile
// has other columns.
func (list *Classes) Write(w io.Writer) {
	if list.Recording.Profile != nil {
		classTable(w, ProfileNumbers(list.Recording), views.PairClasses(list.List, nil), list.Width)
		return
	}
	classTable(w, slices.Concat(ClassNumbers, ClassShares), views.PairClasses(list.List, nil), list.Width)
	if list.CreatedBy {
		termtext.Fprintln(w, termtext.Text("each class has the time of the goroutines that it started, too, so that classes overlap"))
		return
	}
	waited, attributed := new(big.Rat), new(big.Rat)
	for _, c := range list.List {
		waited.Add(waited, c.Parts[views.Monitor])
		attributed.Add(attributed, c.Attributed.Weight)
	}
	if waited.Sign() != 0 {
		termtext.Fprintf(w, "%s of all MONITOR time is attributed to holders of the locks\n",
			percent(exact.Quo(attributed, waited)))
	}
}

// classJSON is a class as data.
type classJSON struct {
	Class      string  `json:"class"`
	Goroutines int     `json:"goroutines"`
	Instances  int64   `json:"instances"`
	MeanAlive  float64 `json:"mean_alive"`
	// the share of waiting for work, of the whole lifetime
	Idle     float64             `json:"idle"`
	Shares   map[string]float64  `json:"shares"`
	Lifetime *big.Rat            `json:"lifetime_ns"` // exact, as all that follows: "5/2"
	Time     map[string]*big.Rat `json:"time_ns"`
	Hits     map[string]*big.Rat `json:"hits"`

	// Of the MONITOR hits and time, those whose lock has a known holder.
	Attributed     *big.Rat `json:"attributed"`
	AttributedTime *big.Rat `json:"attributed_ns"`
}

// WriteJSON writes the same as JSON.
func (list *Classes) WriteJSON(w io.Writer) error {
	if list.Recording.Profile != nil {
		return profileClassesJSON(w, list.Recording, list.List)
	}
	return writeJSON(w, struct {
		Classes   []classJSON `json:"classes"`
		CreatedBy bool        `json:"created_by,omitempty"` // classes overlap
		Basis
	}{classesAsJSON(list.List), list.CreatedBy, BasisOf(list.Recording)})
}

func classesAsJSON(classes []views.ClassSummary) []classJSON {
	return lists.Each(classes, func(c views.ClassSummary) classJSON { return classAsJSON(&c) })
}

func classAsJSON(c *views.ClassSummary) classJSON {
	j := classJSON{
		Class: c.Class, Goroutines: c.Goroutines, Instances: c.Hits, MeanAlive: float(c.MeanAlive),
		Idle:   float(c.IdleShare()),
		Shares: map[string]float64{}, Lifetime: c.Time, Time: map[string]*big.Rat{},
		Hits:       map[string]*big.Rat{},
		Attributed: c.Attributed.Hits, AttributedTime: c.Attributed.Weight,
	}
	shares := c.Shares()
	for t := range views.NumTypedTimes {
		j.Time[t.Name()], j.Hits[t.Name()] = c.Parts[t], c.HitParts[t]
		j.Shares[t.Name()] = float(shares[t])
	}
	return j
}

// ClassesCompared are the thread classes of two recordings.
type ClassesCompared struct {
	Pairs    []views.ClassPair
	New, Old views.Named
	Width    int
}

// Write writes a table: how many goroutines were alive in each
// recording, and the change of each typed time's share. A class
// that only one of them has gets no difference.
func (c *ClassesCompared) Write(w io.Writer) {
	classTable(w, Compared(slices.Concat(ClassNumbers, ClassShares)), c.Pairs, c.Width)
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
		j := classPairJSON{Class: p.Class, New: orNil(p.New, classAsJSON),
			Old: orNil(p.Old, classAsJSON)}
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
