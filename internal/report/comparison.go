package report

import (
	"cmp"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// A Comparison is a profile of two views, with the costs of each entry in both.
type Comparison struct {
	Session  *refine.Session      // over a tree of calltree.Merge
	Labels   []callpath.Path      // each entry shows its overlap with these, in both views together
	Title    string               // of both views
	New, Old string               // the names of the two recordings
	Warnings []sampledata.Warning // of the views
	Basis    Basis                // of both recordings, for JSON
	Color    bool
	Width    int // see Profile
}

// A Report is what a command prints: text for a person, or JSON.
type Report interface {
	Write(io.Writer)
	WriteJSON(io.Writer) error
}

// Compare returns the comparison of a view of two recordings, made with these
// options.
func Compare(s *refine.Session, o views.Options, a, b views.Named) *Comparison {
	return &Comparison{
		Session: s, Title: Title(a.Recording, s.Tree().Root(), o, new(big.Rat)), New: a.Name,
		Old: b.Name, Basis: BasisOf(a.Recording, b.Recording),
	}
}

// A comparedEntry is an entry with its costs, as fractions of the two views'
// denominators.
type comparedEntry struct {
	entry    *refine.Entry
	costs    Both
	own      Both // if the session shows own times
	children []*comparedEntry
}

// Both has an entry's costs in the two views of a comparison, and what the
// costs are made of.
type Both struct {
	New, Old     *big.Rat
	InNew, InOld calltree.Total
}

// Difference returns the new cost minus the old one.
func (c Both) Difference() *big.Rat { return new(big.Rat).Sub(c.New, c.Old) }

// Compare orders entries: the one that changed most, up or down, comes first.
func (c Both) Compare(d Both) int {
	x, y := c.Difference(), d.Difference()
	return cmp.Or(y.Abs(y).Cmp(x.Abs(x)), d.New.Cmp(c.New))
}

// CostsOfBoth returns the costs of paths in each of the two views from which
// calltree.Merge made a tree.
func CostsOfBoth(t *calltree.Tree, m *calltree.Membership, paths []callpath.Path) []Both {
	costs := make([]Both, len(paths))
	a, b := t.Sides()
	for i, t := range callpath.Totals(a, m, paths) {
		costs[i].New, costs[i].InNew = a.Main().Cost(t.Weight), t
	}
	for i, t := range callpath.Totals(b, m, paths) {
		costs[i].Old, costs[i].InOld = b.Main().Cost(t.Weight), t
	}
	return costs
}

// OwnsOfBoth returns the own times of paths (see callpath.Own) in each of the
// two views from which calltree.Merge made a tree.
func OwnsOfBoth(t *calltree.Tree, m *calltree.Membership, paths []callpath.Path) []Both {
	owns := make([]Both, len(paths))
	a, b := t.Sides()
	for i, own := range callpath.Owns(a, m, paths) {
		owns[i].New = a.Main().Cost(own)
	}
	for i, own := range callpath.Owns(b, m, paths) {
		owns[i].Old = b.Main().Cost(own)
	}
	return owns
}

// OwnDifferenceHead is the head of the column of OwnDifference.
const OwnDifferenceHead = "      " + Delta + "own"

// OwnDifference formats a difference of own times.
func OwnDifference(owns Both) string { return fmt.Sprintf("   %7s", Signed(owns.Difference())) }

// entries returns the tree of the entries to show. Siblings are ordered: the
// one that changed most, up or down, comes first.
func (c *Comparison) entries() *comparedEntry {
	var paths []callpath.Path
	c.Session.Walk(func(e *refine.Entry, _ int) { paths = append(paths, e.Path) })
	costs, owns := CostsOfBoth(c.Session.Tree(), c.Session.Membership(), paths),
		make([]Both, len(paths))
	if c.Session.Display().Own {
		owns = OwnsOfBoth(c.Session.Tree(), c.Session.Membership(), paths)
	}
	var root *comparedEntry
	var above []*comparedEntry // the entry that is open at each depth
	n := 0
	c.Session.Walk(func(e *refine.Entry, depth int) {
		entry := &comparedEntry{entry: e, costs: costs[n], own: owns[n]}
		n++
		if depth == 0 {
			root = entry
		} else {
			above[depth-1].children = append(above[depth-1].children, entry)
		}
		above = append(above[:depth], entry)
	})
	by := func(e *comparedEntry) Both { return e.costs }
	if c.Session.Display().ByOwn {
		by = func(e *comparedEntry) Both { return e.own }
	}
	root.sort(by)
	return root
}

func (e *comparedEntry) sort(by func(*comparedEntry) Both) {
	slices.SortStableFunc(e.children, func(x, y *comparedEntry) int { return by(x).Compare(by(y)) })
	for _, c := range e.children {
		c.sort(by)
	}
}

// Write writes a line for each entry, as Profile.Write does: its cost in both
// views, and the change.
func (c *Comparison) Write(w io.Writer) {
	b := new(strings.Builder)
	termtext.Fprintf(b, "%s: old is %s, new is %s\n", termtext.Printable(c.Title),
		termtext.Printable(c.Old), termtext.Printable(c.New))
	b.WriteString(Zoomed(c.Session))
	labels := newLabelled(c.Session, c.Labels)
	b.WriteString(labels.legend())
	termtext.Fprintf(b, "\n%s%s%s  %s\n", BothHead, c.ownHead(), labels.head(), "call path")
	c.write(b, c.entries(), 0, &labels)
	hidden, shared := 0, false
	c.Session.Walk(func(e *refine.Entry, _ int) {
		shared = shared || e.Shared
		if !c.Session.Collapsed(e) {
			hidden += c.Session.Hidden(e)
		}
	})
	if hidden > 0 {
		termtext.Fprintf(b, "\n%d more below %s in both together (--min 0 shows all)\n", hidden,
			threshold(c.Session.Threshold()))
	}
	b.WriteString(sharedLegend(shared))
	b.WriteString(Warnings(c.Warnings))
	io.WriteString(w, b.String())
}

func (c *Comparison) write(b *strings.Builder, e *comparedEntry, depth int, labels *labelled) {
	d := e.costs.Difference()
	line := withName(fmt.Sprintf("%s%s%s  %s%s", e.costs, c.ownColumn(e), labels.column(e.entry),
		strings.Repeat("  ", depth), labels.mark(e.entry)+SharedMark(e.entry)), e.entry.Label(),
		c.Width)
	termtext.Fprintln(b, termtext.Text(paint(c.Color, d.Abs(d), line)))
	for _, child := range e.children {
		c.write(b, child, depth+1, labels)
	}
}

func (c *Comparison) ownHead() string {
	if !c.Session.Display().Own {
		return ""
	}
	return OwnDifferenceHead
}

func (c *Comparison) ownColumn(e *comparedEntry) string {
	if !c.Session.Display().Own {
		return ""
	}
	return OwnDifference(e.own)
}

// BothHead is the head of the columns of Both.String.
const BothHead = "   old     new  change"

// String formats the old cost, the new one and the change, in columns.
func (c Both) String() string {
	return fmt.Sprintf("%6s  %6s  %6s", Cost(c.Old), Cost(c.New), Signed(c.Difference()))
}

// Signed formats a difference of costs with its sign. A difference that
// rounds to 0 has no sign.
func Signed(d *big.Rat) string { return withSign(Cost(d), d) }

// withSign adds the sign of a difference to its text, or removes it if the
// text is 0.
func withSign(text string, d *big.Rat) string {
	switch {
	case strings.Trim(text, "-0.") == "":
		return strings.TrimPrefix(text, "-")
	case d.Sign() > 0:
		return "+" + text
	}
	return text
}

// comparisonJSON is a comparison as data.
type comparisonJSON struct {
	Title   string        `json:"title"`
	New     string        `json:"new"`
	Old     string        `json:"old"`
	Steps   []refine.Step `json:"steps"`
	MinHits *big.Rat      `json:"min_hits,omitempty"` // in both together
	MinCost *big.Rat      `json:"min_cost,omitempty"`
	Labels  []string      `json:"labels,omitempty"` // paths
	Profile comparedJSON  `json:"profile"`
	Basis
}

type comparedJSON struct {
	Path       string   `json:"path"`
	Label      string   `json:"label"`
	New        float64  `json:"new"`
	Old        float64  `json:"old"`
	Difference float64  `json:"difference"`
	Own        *float64 `json:"own_difference,omitempty"`
	// the cost in both together that it shares with the labels
	Overlap  *float64       `json:"overlap,omitempty"`
	Children []comparedJSON `json:"children,omitempty"`
}

// WriteJSON writes the same entries as JSON.
func (c *Comparison) WriteJSON(w io.Writer) error { return writeJSON(w, c.document()) }

func (c *Comparison) document() comparisonJSON {
	t, labels := c.Session.Threshold(), newLabelled(c.Session, c.Labels)
	return comparisonJSON{
		Title: c.Title, New: c.New, Old: c.Old,
		Steps: append([]refine.Step{}, c.Session.Steps()...), MinHits: t.Hits, MinCost: t.Cost,
		Labels: labels.keys, Profile: c.entries().json(&labels), Basis: c.Basis.With(c.Warnings),
	}
}

func (e *comparedEntry) json(labels *labelled) comparedJSON {
	j := comparedJSON{
		Path: e.entry.Key(), Label: e.entry.Label(),
		New: float(e.costs.New), Old: float(e.costs.Old), Difference: float(e.costs.Difference()),
		Overlap: labels.overlap(e.entry),
	}
	if e.own.New != nil {
		j.Own = new(float(e.own.Difference()))
	}
	for _, c := range e.children {
		j.Children = append(j.Children, c.json(labels))
	}
	return j
}
