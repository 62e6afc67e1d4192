package report

import (
	"bufio"
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

// A Comparison is a profile of two views, with the costs of each
// entry in both.
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

// Compare returns the comparison of a view of two recordings,
// made with these options.
func Compare(s *refine.Session, o views.Options, a, b views.Named) *Comparison {
	return &Comparison{
		Session: s, Title: Title(a.Recording, s.Tree().Root(), o, new(big.Rat)), New: a.Name,
		Old: b.Name, Basis: BasisOf(a.Recording, b.Recording),
	}
}

// Both has an entry's costs in the two views of a comparison,
// and what the costs are made of.
type Both struct {
	New, Old     *big.Rat
	InNew, InOld calltree.Total
}

// Difference returns the new cost minus the old one.
func (c Both) Difference() *big.Rat { return new(big.Rat).Sub(c.New, c.Old) }

// Compare orders entries: the one that changed most, up or down,
// comes first.
func (c Both) Compare(d Both) int {
	x, y := c.Difference(), d.Difference()
	return cmp.Or(y.Abs(y).Cmp(x.Abs(x)), d.New.Cmp(c.New))
}

// CostsOfBoth returns the costs of paths in each of the two
// views from which calltree.Merge made a tree.
func CostsOfBoth(t *calltree.Tree, m *calltree.Membership, paths []callpath.Path) []Both {
	costs := make([]Both, len(paths))
	a, b := t.Sides()
	before := callpath.Totals(b, m, paths)
	for i, now := range callpath.Totals(a, m, paths) {
		costs[i] = Both{a.Main().Cost(now.Weight), b.Main().Cost(before[i].Weight), now, before[i]}
	}
	return costs
}

// OwnsOfBoth returns the own times of paths (see callpath.Own)
// in each of the two views from which calltree.Merge made a
// tree.
func OwnsOfBoth(t *calltree.Tree, m *calltree.Membership, paths []callpath.Path) []Both {
	owns := make([]Both, len(paths))
	a, b := t.Sides()
	before := callpath.Owns(b, m, paths)
	for i, now := range callpath.Owns(a, m, paths) {
		owns[i] = Both{New: a.Main().Cost(now), Old: b.Main().Cost(before[i])}
	}
	return owns
}

// OwnDifferenceHead is the head of the column of OwnDifference.
const OwnDifferenceHead = "      " + Delta + "own"

// OwnDifference formats a difference of own times.
func OwnDifference(owns Both) string { return fmt.Sprintf("   %7s", Signed(owns.Difference())) }

// A comparedWalk has the costs of the entries that are shown
// and, if the display has them, their own times.
type comparedWalk struct {
	*refine.Session
	labels      labelled
	costs, owns map[*refine.Entry]Both
}

func (c *Comparison) walk() *comparedWalk {
	w := &comparedWalk{c.Session, newLabelled(c.Session, c.Labels), map[*refine.Entry]Both{},
		map[*refine.Entry]Both{}}
	var entries []*refine.Entry
	var paths []callpath.Path
	w.Walk(func(e *refine.Entry, _ int) { entries, paths = append(entries, e), append(paths, e.Path) })
	for i, costs := range CostsOfBoth(w.Tree(), w.Membership(), paths) {
		w.costs[entries[i]] = costs
	}
	if w.Display().Own {
		for i, owns := range OwnsOfBoth(w.Tree(), w.Membership(), paths) {
			w.owns[entries[i]] = owns
		}
	}
	return w
}

// order puts the entry first that changed most, up or down.
func (w *comparedWalk) order(x, y *refine.Entry) int {
	if w.Display().ByOwn {
		return w.owns[x].Compare(w.owns[y])
	}
	return w.costs[x].Compare(w.costs[y])
}

// Write writes a line for each entry, as Profile.Write does: its
// cost in both views, and the change.
func (c *Comparison) Write(out io.Writer) {
	b := bufio.NewWriter(out)
	termtext.Fprintf(b, "%s: old is %s, new is %s\n", c.Title, c.Old, c.New)
	b.WriteString(Zoomed(c.Session))
	w, own := c.walk(), ""
	b.WriteString(w.labels.legend())
	if w.Display().Own {
		own = OwnDifferenceHead
	}
	termtext.Fprintf(b, "\n%s%s%s  %s\n", BothHead, own, w.labels.head(), "call path")
	lines := entryLines{Writer: b, session: c.Session, labels: &w.labels, color: c.Color, width: c.Width}
	w.WalkBy(w.order, func(e *refine.Entry, depth int) {
		if w.Display().Own {
			own = OwnDifference(w.owns[e])
		}
		d := w.costs[e].Difference()
		lines.write(e, depth, w.costs[e].String()+own, d.Abs(d))
	})
	lines.end(" in both together", c.Warnings)
	b.Flush()
}

// BothHead is the head of the columns of Both.String.
const BothHead = "   old     new  change"

// String formats the old cost, the new one and the change, in columns.
func (c Both) String() string {
	return fmt.Sprintf("%6s  %6s  %6s", Cost(c.Old), Cost(c.New), Signed(c.Difference()))
}

// Signed formats a difference of costs with its sign. A
// difference that rounds to 0 has no sign.
func Signed(d *big.Rat) string { return withSign(Cost(d), d) }

// withSign adds the sign of a difference to its text, or removes
// it if the text is 0.
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
	t, w := c.Session.Threshold(), c.walk()
	return comparisonJSON{
		Title: c.Title, New: c.New, Old: c.Old,
		Steps: append([]refine.Step{}, c.Session.Steps()...), MinHits: t.Hits, MinCost: t.Cost,
		Labels: w.labels.keys, Profile: w.json(w.Root()), Basis: c.Basis.With(c.Warnings),
	}
}

func (w *comparedWalk) json(e *refine.Entry) comparedJSON {
	costs := w.costs[e]
	j := comparedJSON{
		Path: e.Key(), Label: e.Label(),
		New: float(costs.New), Old: float(costs.Old), Difference: float(costs.Difference()),
		Overlap: w.labels.overlap(e),
	}
	if own, there := w.owns[e]; there {
		j.Own = new(float(own.Difference()))
	}
	for _, c := range slices.SortedStableFunc(slices.Values(w.Shown(e)), w.order) {
		j.Children = append(j.Children, w.json(c))
	}
	return j
}
