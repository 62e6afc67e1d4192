package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/refine"
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
	// where the hottest line of the source stands in the text; 0 if no source
	// is shown
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
	add := func(style tcell.Style, text string) {
		lines = append(lines, styled(width, style, text)...)
	}
	add(t.bold, e.Key())
	for _, line := range slices.Concat(d.costs(e), d.samples()) {
		add(t.plain, line)
	}
	if e == d.w.session.Root() {
		for _, warning := range d.w.warnings {
			add(t.err, "! "+printable(warning.Message))
		}
	}
	last, _ := e.Path.Last()
	if text := d.w.attribution().text; text != "" &&
		(last.Name == views.Monitor.String() || e == d.w.session.Root()) {
		add(t.plain, "of the view: "+text)
	}
	if notes, ok := d.w.notes[last.Name]; ok {
		for _, n := range notes {
			add(t.plain, n)
		}
		return lines
	}
	for _, line := range d.candidateLines(e) {
		add(t.plain, line)
	}
	switch calltree.KindOf(last.Name) {
	case calltree.Class:
		add(t.title, "Created at")
		for _, s := range sites(d.w.a.recording, d.w.a.options, last.Name) {
			add(t.plain, s)
		}
	case calltree.Function:
		if last.Aspect() {
			d.aspect(last.Name, add)
			break
		}
		if p := d.w.a.recording.Probe(last.Name); p != nil {
			add(t.title, "Probe")
			for _, line := range report.ProbeLines(d.w.a.recording, p, maxSites) {
				add(t.plain, line)
			}
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

// aspect adds the patterns and functions of an aspect.
func (d *detail) aspect(name string, add func(tcell.Style, string)) {
	a, ok := d.w.a.config.AllAspects().Lookup(name)
	if !ok {
		return
	}
	var patterns []string
	for _, p := range a.Patterns() {
		patterns = append(patterns, p.String())
	}
	add(d.w.a.theme.title, "Aspect")
	add(d.w.a.theme.plain, strings.Join(patterns, "  "))
}

// sites lists the places that created the goroutines of a class, the place of
// most goroutines first.
func sites(r *sampledata.Recording, o views.Options, class string) []string {
	var lines []string
	for _, s := range views.CreationSites(r, o, class) {
		place := s.Function
		if s.File != "" {
			place = fmt.Sprintf("%s:%d in %s", s.File, s.Line, s.Function)
		}
		if place == "" {
			place = "not known"
		}
		lines = append(lines, fmt.Sprintf("%5d× %s", s.Goroutines, place))
	}
	return lines
}
