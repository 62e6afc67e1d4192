package report

import (
	"bufio"
	"fmt"
	"io"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// A Profile is a session's profile, with its title, labels and warnings.
type Profile struct {
	Session  *refine.Session
	Labels   []callpath.Path      // each entry shows its overlap with these
	Title    string               // "Thread View of go:main.worker"
	Warnings []sampledata.Warning // of the view
	Basis    Basis                // of the recording, for JSON
	Color    bool
	Width    int // of the screen: names that would not fit are shortened; 0: no name is
}

// Write writes the profile as in the figures of CPPROFJ: a line
// for each entry, indented below the entry that it refines. The
// line has the entry's cost, its own cost if the display has it,
// its hits, its overlap with the labels if there are any, and
// what it adds to the call path. ".." comes before a call that
// is not immediate.
func (p *Profile) Write(w io.Writer) {
	b := bufio.NewWriter(w) // names can be so long that the whole text takes hundreds of MB
	m := p.Session.Tree().Main()
	termtext.Fprintf(b, "%s; %s\n", p.Title, unit(m))
	if text := Monitor(p.Session.Tree()); text != "" {
		termtext.Fprintln(b, text)
	}
	b.WriteString(Zoomed(p.Session))
	labels := newLabelled(p.Session, p.Labels)
	b.WriteString(labels.legend())
	b.WriteByte('\n')
	p.Session.Arrange()
	hitsHead := HitsHead(m)
	hitsWidth := max(len(hitsHead), len(Hits(p.Session.Root().Hits)))
	termtext.Fprintf(b, "%6s%s  %*s%s  %s\n", CostHead(p.Session), OwnHead(p.Session), hitsWidth,
		hitsHead, labels.head(), "call path")
	lines := entryLines{Writer: b, session: p.Session, labels: &labels, color: p.Color, width: p.Width}
	p.Session.Walk(func(e *refine.Entry, depth int) {
		lines.write(e, depth, fmt.Sprintf("%6s%s  %*s", Cost(p.Session.Share(e)),
			OwnColumn(p.Session, e), hitsWidth, Hits(e.Hits)), p.Session.Cost(e))
	})
	lines.end("", p.Warnings)
	b.Flush()
}

// entryLines are the lines of entries, of one view or two.
type entryLines struct {
	*bufio.Writer
	session *refine.Session
	labels  *labelled
	color   bool
	width   int

	hidden int // entries below the threshold
	shared bool
}

// write writes the line of an entry: the numbers that come
// first, its overlap, and its label.
func (l *entryLines) write(e *refine.Entry, depth int, numbers string, heat *big.Rat) {
	if !l.session.Collapsed(e) {
		l.hidden += l.session.Hidden(e)
	}
	l.shared = l.shared || e.Shared
	line := withName(fmt.Sprintf("%s%s  %s%s", numbers, l.labels.column(e), strings.Repeat("  ", depth),
		l.labels.mark(e)+SharedMark(e)), e.Label(), l.width)
	termtext.Fprintln(l, termtext.Text(paint(l.color, heat, line)))
}

// end writes what there is to know of all lines.
func (l *entryLines) end(of string, warnings []sampledata.Warning) {
	if l.hidden > 0 {
		termtext.Fprintf(l, "\n%d more below %s%s (--min 0 shows all)\n", l.hidden,
			threshold(l.session.Threshold()), of)
	}
	if l.shared {
		l.WriteString(sharedLegend)
	}
	l.WriteString(Warnings(warnings))
}

// withName adds a name to a line. If the line would be wider
// than a screen, it shortens the import paths in the name.
func withName(line, name string, width int) string {
	name = termtext.Printable(name)
	if width > 0 {
		name = termtext.ShortenPaths(name, width-utf8.RuneCountInString(line))
	}
	return line + name
}

// Monitor returns a line that says how much of a Thread View is
// waiting for locks, and for which share of that the holders are
// known. It returns "" if nothing waits for a lock.
func Monitor(t *calltree.Tree) string {
	waited, attributed := views.LockTime(t)
	if waited.Weight.Sign() == 0 {
		return ""
	}
	return fmt.Sprintf("MONITOR %s, of which %s is attributed to holders of the locks",
		Cost(t.Main().Cost(waited.Weight)), Attributed(waited.Weight, attributed.Weight))
}

// Attributed formats the share of the time of waiting for locks
// whose holders are known: "96.5 %".
func Attributed(waited, attributed *big.Rat) string { return percent(exact.Quo(attributed, waited)) }

func threshold(t refine.Threshold) string {
	var parts []string
	if t.Hits != nil {
		parts = append(parts, CountedHits(t.Hits))
	}
	if t.Cost != nil {
		parts = append(parts, "a cost of "+Cost(t.Cost))
	}
	return strings.Join(parts, " or ")
}

// Warnings formats warnings, one line each.
func Warnings(warnings []sampledata.Warning) string {
	var b strings.Builder
	for _, w := range warnings {
		termtext.Fprintf(&b, "warning: %s", w.Message)
		if w.Count > 1 {
			termtext.Fprintf(&b, " (%d times)", w.Count)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// profileJSON is the output of Profile.WriteJSON. Exact numbers are strings
// such as "5/2".
type profileJSON struct {
	Title       string        `json:"title"`
	Unit        string        `json:"unit"`        // of weights
	Denominator *big.Rat      `json:"denominator"` // the weight that is a cost of 1
	Hits        *big.Rat      `json:"denominator_hits"`
	Steps       []refine.Step `json:"steps"`
	MinHits     *big.Rat      `json:"min_hits,omitempty"`
	MinCost     *big.Rat      `json:"min_cost,omitempty"`
	Monitor     *monitorJSON  `json:"monitor,omitempty"`
	Labels      []string      `json:"labels,omitempty"` // paths
	Profile     entryJSON     `json:"profile"`
	Basis
}

// monitorJSON is the waiting for locks, and the part of it in
// which the holder is known.
type monitorJSON struct {
	Weight           *big.Rat `json:"weight"`
	Hits             *big.Rat `json:"hits"`
	Attributed       *big.Rat `json:"attributed"` // hits
	AttributedWeight *big.Rat `json:"attributed_weight"`
}

type entryJSON struct {
	Path   string   `json:"path"`
	Label  string   `json:"label"`
	Cost   float64  `json:"cost"`
	Weight *big.Rat `json:"weight"`
	// the cost of its innermost function alone, if asked for
	Own      *float64 `json:"own,omitempty"`
	Hits     *big.Rat `json:"hits"`               // samples, or the weight if hits are not counted
	Overlap  *float64 `json:"overlap,omitempty"`  // the cost that it shares with the labels
	Shared   bool     `json:"shared,omitempty"`   // some of its stacks also count for a sibling
	Hidden   int      `json:"hidden,omitempty"`   // entries below the threshold
	Children elements `json:"children,omitempty"` // entryJSON
}

// WriteJSON writes the same entries as JSON.
func (p *Profile) WriteJSON(w io.Writer) error { return writeJSON(w, p.document()) }

func (p *Profile) document() profileJSON {
	p.Session.Arrange()
	m, t, labels := p.Session.Tree().Main(), p.Session.Threshold(), newLabelled(p.Session, p.Labels)
	j := profileJSON{
		Title: p.Title, Unit: m.Unit, Denominator: m.Denominator, Hits: m.Hits().Denominator,
		Steps: append([]refine.Step{}, p.Session.Steps()...), MinHits: t.Hits, MinCost: t.Cost,
		Labels: labels.keys, Profile: p.entry(p.Session.Root(), &labels),
		Basis: p.Basis.With(p.Warnings),
	}
	if waited, attributed := views.LockTime(p.Session.Tree()); waited.Hits.Sign() > 0 {
		j.Monitor = &monitorJSON{waited.Weight, waited.Hits, attributed.Hits, attributed.Weight}
	}
	return j
}

func (p *Profile) entry(e *refine.Entry, labels *labelled) entryJSON {
	j := entryJSON{
		Path: e.Key(), Label: e.Label(), Cost: float(p.Session.Cost(e)), Weight: e.Weight,
		Hits:    e.Hits,
		Overlap: labels.overlap(e), Shared: e.Shared,
	}
	if own, known := p.Session.Own(e); known {
		j.Own = new(float(p.Session.Tree().Main().Cost(own)))
	}
	if p.Session.Collapsed(e) {
		return j
	}
	j.Hidden = p.Session.Hidden(e)
	if shown := p.Session.Shown(e); len(shown) > 0 {
		j.Children = elementsOf(shown, func(c *refine.Entry) any { return p.entry(c, labels) })
	}
	return j
}
