package tui

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/gdamore/tcell/v2"
)

var zeroSpan views.Span

// spanText shows a span: "2s to 3.5s".
func spanText(s views.Span) string {
	if s.To == 0 {
		return "from " + s.From.String()
	}
	return s.From.String() + " to " + s.To.String()
}

// A detail is the pane with all information on the selected entry.
type detail struct {
	pane
	w  *profileWindow
	on bool

	lines lazy[report.LineTotals]
	// where the hottest line of the source stands in the text; 0
	// if no source is shown
	hot           int
	candidateTree lazy[candidateTree]
	candidates    candidateLines
}

func (d *detail) toggle() { d.on, d.w.entries.toSelected = !d.on, true }

// forget drops the results for the view that was shown until now.
func (d *detail) forget() {
	d.lines.forget()
	d.candidateTree.forget()
	d.candidates = candidateLines{}
}

func (d *detail) draw(c canvas) {
	if e := d.w.entries.entry(); e != nil {
		lines := d.content(e, c.width-2)
		d.pane.find(e.Key(), d.hot, c.height-1)
		d.pane.draw(c, d.w.a.theme, "Entry", e.Key(), lines)
	}
}

// content returns all information on an entry.
func (d *detail) content(e *refine.Entry, width int) []textLine {
	t := d.w.a.theme
	d.hot = 0
	var lines []textLine
	add := func(style tcell.Style, texts ...string) {
		lines = append(lines, styled(width, style, texts...)...)
	}
	add(t.bold, e.Key())
	add(t.plain, d.facts(e)...)
	if e == d.w.session.Root() {
		for _, warning := range d.w.Warnings {
			add(t.err, "! "+printable(warning.Message))
		}
	}
	last, _ := e.Path.Last()
	if text := d.w.attribution().text; text != "" &&
		(last.Name == views.Monitor.String() || e == d.w.session.Root()) {
		add(t.plain, "of the view: "+text)
	}
	if notes, ok := d.w.notes[last.Name]; ok {
		add(t.plain, notes...)
		return lines
	}
	add(t.plain, d.candidateLines(e)...)
	switch calltree.KindOf(last.Name) {
	case calltree.Class:
		add(t.title, "Created at")
		add(t.plain, sites(d.w.a.recording, d.w.a.options, last.Name)...)
	case calltree.Function:
		if last.Aspect() {
			if a, ok := d.w.a.config.AllAspects().Lookup(last.Name); ok {
				add(t.title, "Aspect")
				add(t.plain, strings.Join(lists.Each(a.Patterns(), aspects.Pattern.String), "  "))
			}
			break
		}
		if p := d.w.a.recording.Probe(last.Name); p != nil {
			add(t.title, "Probe")
			add(t.plain, report.ProbeLines(d.w.a.recording, p, maxSites)...)
		}
		above := len(lines)
		lines = append(lines, d.source(last.Name, width)...)
		if d.hot > 0 {
			d.hot += above
		}
	}
	return lines
}

// maxSites limits the call sites of a probed function.
const maxSites = 10

// sites lists the places that created the goroutines of a class,
// the place of most goroutines first.
func sites(r *sampledata.Recording, o views.Options, class string) []string {
	return lists.Each(views.CreationSites(r, o, class), func(s views.CreationSite) string {
		place := cmp.Or(s.Function, "not known")
		if s.File != "" {
			place = fmt.Sprintf("%s:%d in %s", s.File, s.Line, s.Function)
		}
		return fmt.Sprintf("%5d× %s", s.Goroutines, place)
	})
}

// facts returns the lines on an entry's cost, and on the samples
// that the view counts, including samples without the entry. In
// a comparison, it returns them for each of the two recordings.
func (d *detail) facts(e *refine.Entry) []string {
	tree, span := d.w.session.Tree(), d.w.a.options.Span
	d.w.intervals.want([]row{{entry: e}})
	of, _ := d.w.intervals.get(row{entry: e})
	if !d.w.compares() {
		return append(costLines("", e.Total, tree.Main(), of[0]),
			samplesLine("the view", d.w.a.recording, span))
	}
	lines := []string{"…"}
	if costs, known := d.w.both.costs.get(row{entry: e}); known {
		a, b := tree.Sides()
		lines = append(costLines("old: ", costs.InOld, b.Main(), of[1]),
			costLines("new: ", costs.InNew, a.Main(), of[0])...)
	}
	return append(lines, samplesLine("old", d.w.other, span),
		samplesLine("new", d.w.a.recording, span))
}

// costLines returns the lines on one cost, as a fraction of a
// metric's denominator. Its interval is nil if there is none, or
// not yet.
func costLines(head string, t calltree.Total, m *calltree.Metric, i *hotspots.Estimate) []string {
	cost := m.Cost(t.Weight)
	what := cost.RatString() + ", of " + report.Whole(m)
	if m.Unit == views.Nanoseconds {
		what = report.Nanoseconds(t.Weight) + " of " + report.Whole(m)
	}
	text := fmt.Sprintf("%shits %s of %s", head, t.Hits.RatString(),
		report.Hits(m.Hits().Denominator))
	if i != nil {
		text += fmt.Sprintf(", 95 %% interval of the cost %.3f to %.3f", i.Low, i.High)
	}
	return []string{fmt.Sprintf("%scost %s = %s", head, report.Cost(cost), what), text}
}

func samplesLine(of string, r *sampledata.Recording, span views.Span) string {
	from, to, err := span.Samples(r)
	if err != nil {
		return err.Error()
	}
	text := fmt.Sprintf("%s counts %s", of, report.Counted(to-from, "sample"))
	if span != zeroSpan {
		text += fmt.Sprintf(" of %d: %s", r.Samples.Len(), spanText(span))
	}
	return text
}

// A candidateTree has the goroutines that a view's goroutines
// may wait for, other than for locks.
type candidateTree struct {
	tree    *calltree.Tree // see views.Candidates
	members *calltree.Membership
	err     error
}

// candidateLines are the detail pane's lines on the candidates
// of the entry that was drawn last.
type candidateLines struct {
	of    string
	lines []string
}

// candidateLines returns lines about the candidates that an
// entry's goroutines may wait for. It returns none if the
// candidates cannot be known.
func (d *detail) candidateLines(e *refine.Entry) []string {
	if !d.w.subject.single || d.w.replay.Class == "" || !waits(e.Path) {
		return nil
	}
	r, o, class, conf := d.w.a.recording, d.w.a.options, d.w.replay.Class, d.w.a.config
	p := d.candidateTree.get(d.w.a, func() candidateTree {
		t, err := views.Candidates(r, class, o)
		if err != nil {
			return candidateTree{err: err}
		}
		return candidateTree{tree: t, members: conf.AllAspects().Membership(t.Symbols())}
	})
	switch {
	case p == nil:
		return []string{"Searching for goroutines that they may wait for …"}
	case p.err != nil:
		return []string{p.err.Error()}
	case d.candidates.of != e.Key():
		d.candidates = candidateLines{of: e.Key()}
		if found := listCandidates(p.tree, p.members, e.Path); len(found) > 0 {
			d.candidates.lines = append(
				[]string{"Goroutines that they may wait for, without cost (hits: class at line)"},
				found...)
		}
	}
	return d.candidates.lines
}

// waits reports whether a path ends in :WAIT, or in its reason.
func waits(p callpath.Path) bool {
	last, _ := p.Last()
	t, ok := typedTimeOf(p)
	return ok && t == views.Wait && calltree.KindOf(last.Name) == calltree.Typed
}

// listCandidates lists the entries below a path that ends in
// :WAIT, or in its reason, in a tree of views.Candidates.
func listCandidates(t *calltree.Tree, m *calltree.Membership, p callpath.Path) (lines []string) {
	for _, r := range refine.Down(t, m, p, callpath.Immediate) {
		if calltree.KindOf(r.Name) != calltree.Class {
			lines = append(lines, listCandidates(t, m, r.Path)...)
			continue
		}
		for _, at := range refine.Down(t, m, r.Path, callpath.Immediate) {
			if last, _ := at.Path.Last(); last.Aspect() {
				continue
			}
			lines = append(lines, fmt.Sprintf("%5s  %s at %s", report.Hits(at.Hits),
				r.Name, at.Name))
		}
	}
	return lines
}

// source returns the source of a function. It counts the hits
// over the whole view on first use. It stores the place of the
// hottest line in d.hot.
func (d *detail) source(function string, width int) []textLine {
	t := d.w.a.theme
	if d.w.a.options.Granularity != views.ByFunction {
		return nil
	}
	counted := d.count()
	if counted == nil {
		return []textLine{{"Counting hits by line …", t.dim}}
	}
	s := report.SourceOf(d.w.a.recording, function, (*counted)[function])
	title := cmp.Or(s.Place, "Source") + "  (hits by line, in the whole view)"
	out := append([]textLine{{"", t.plain}}, styled(width, t.title, title)...)
	if s.Missing != "" {
		out = append(out, styled(width, t.dim, s.Missing)...)
	}
	for _, l := range s.Lines {
		if l.Skipped {
			out = append(out, textLine{fmt.Sprintf("%7s %5s", "", ":"), t.dim})
		}
		style := t.plain
		if l.Hits != "" {
			style = t.heat[l.Heat]
			if s.Missing == "" && l.Hottest {
				d.hot = len(out)
			}
		}
		out = append(out, textLine{termtext.Cut(
			printable(fmt.Sprintf("%7s %5d  %s", l.Hits, l.Number, l.Text)), width), style})
	}
	return out
}

// count returns the hits of all lines in the whole view. The
// first call only begins to count, and returns nil.
func (d *detail) count() *report.LineTotals {
	recording, options, view := d.w.a.recording, d.w.a.options, d.w.subject.view
	return d.lines.get(d.w.a, func() report.LineTotals {
		options.Granularity = views.ByLine
		v, err := view(recording, options)
		if err != nil {
			return report.LineTotals{}
		}
		return report.CountLines(v.Tree)
	})
}

// counts returns the hits of a function's lines; nil if they are
// not counted.
func (d *detail) counts(function string) map[int]calltree.Total {
	if d.on && d.w.a.options.Granularity == views.ByFunction {
		if counted := d.count(); counted != nil {
			return (*counted)[function]
		}
	}
	return nil
}
