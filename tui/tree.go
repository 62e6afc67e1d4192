package tui

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/why"
	"github.com/gdamore/tcell/v2"
)

// A treeWindow shows the call tree of a view with the verdicts
// of the search over its call paths: the bottlenecks are open,
// down to the calls that are none. While a recording grows, so
// does the tree.
type treeWindow struct {
	class string // of the Thread View; "" is the Server View
	view  string // "Server View"
	found *hotspots.Coloured
	content
	folded map[string]bool   // by key: what a person has opened (false) or closed (true)
	above  map[string]string // by key: the caller's

	rows []treeRow
	listAndPane
}

// A treeRow is a call path, or a function that is a bottleneck
// wherever it is called.
type treeRow struct {
	key     string // identifies the call path, also in a tree that has grown
	name    string // of the function
	node    int32  // of the tree; noNode for a function wherever it is called
	depth   int
	share   hotspots.Estimate
	colour  hotspots.Colour
	callees int // that are large enough to be shown
	small   int // that are not
	open    bool
}

const (
	noNode = -1

	// minCallee is the least share of the whole that a line has.
	minCallee = 0.005
)

// treeKind is the kind of this window; every window can open it.
func (a *app) treeKind() kind {
	return kind{
		Kind: session.TreeKind,
		reopen: func(kept session.Window) {
			k := kept.(*session.Tree)
			w := openTree(a, k.Class)
			w.list.selected = k.Selected
			maps.Copy(w.folded, k.Folded)
		},
		bindings: []binding{on("T", "",
			"the call tree of this view, or of the Server View, with the verdicts of the search",
			func() { openTree(a, a.treeClass()) })},
		commands: []command{newCommand("tree [CLASS]",
			"the call tree of a class, or of the Server View, with the verdicts of the search",
			func(class string) error { openTree(a, class); return nil }, nil)},
	}
}

// treeClass returns the class that the active window is about;
// "" for the Server View.
func (a *app) treeClass() string {
	switch w := a.window().(type) {
	case *profileWindow:
		if w.subject.single {
			return w.replay.Class
		}
	case *findingsWindow:
		if line := w.list.current(); line >= 0 {
			return a.proof(w.answer.Findings[line]).Class
		}
	case *treeWindow:
		return w.class
	}
	return ""
}

// openTree shows the window of a view's tree, and opens it if necessary.
func openTree(a *app, class string) *treeWindow {
	w, open := showOpen(a, func(w *treeWindow) bool { return w.class == class })
	if open {
		return w
	}
	w = &treeWindow{class: class, view: viewOf(class).name,
		folded: make(map[string]bool), above: make(map[string]string)}
	w.list = newList(a, w, "a call", false)
	w.list.mark = 1
	w.open(a, w, w.search)
	return w
}

func (w *treeWindow) title() string { return strings.TrimSpace("Tree " + w.class) }
func (w *treeWindow) keep() session.Window {
	return &session.Tree{Class: w.class, Selected: w.list.selected, Folded: maps.Clone(w.folded)}
}

func (w *treeWindow) search() {
	r, options, view := w.a.recording, w.a.options, viewOf(w.class).view
	options.Slices = true
	work := func() (*hotspots.Coloured, error) {
		v, err := view(r, options)
		if err != nil {
			return nil, err
		}
		return hotspots.ColourPaths(v.Tree, why.DefaultThreshold), nil
	}
	compute(&w.content, "Searching the call paths of the "+w.view, work,
		func(found *hotspots.Coloured) {
			w.found = found
			w.layout()
		})
}

// layout lists the calls that are open, and finds the selected one again.
func (w *treeWindow) layout() {
	w.rows = nil
	if w.found != nil {
		w.add(0, "", 0)
		for i := range w.found.Deep {
			s := &w.found.Deep[i]
			name := w.found.Tree.Symbols().Name(s.Func)
			w.rows = append(w.rows, treeRow{key: keyBelow("..", name), name: name,
				node: noNode, share: w.found.StarterShare(s), colour: hotspots.Accepted})
		}
	}
	w.list.reselect()
}

// keyBelow returns the key of a call path, given its caller's.
// It is short, however long the names are.
func keyBelow(caller, name string) string {
	h := sha256.Sum224([]byte(caller + "\x00" + name))
	return base64.RawURLEncoding.EncodeToString(h[:])
}

// add adds the line of a node and, if it is open, the lines of
// its callees: the most expensive first.
func (w *treeWindow) add(n int32, caller string, depth int) {
	t := w.found.Tree
	name := t.Symbols().Name(t.Funcs()[n])
	key := keyBelow(caller, name)
	w.above[key] = caller
	row := treeRow{key: key, name: name, node: n, depth: depth, share: w.found.Share(n),
		colour: w.found.Colour(n)}
	var callees []int32
	for c := n + 1; c < t.Ends()[n]; c = t.Ends()[c] {
		if w.found.Cost(c) < minCallee {
			row.small++
			continue
		}
		callees = append(callees, c)
	}
	row.callees = len(callees)
	row.open = n == 0 || row.colour == hotspots.Accepted
	if folded, ok := w.folded[key]; ok {
		row.open = !folded
	}
	row.open = row.open && row.callees > 0
	w.rows = append(w.rows, row)
	if !row.open {
		return
	}
	slices.SortStableFunc(callees,
		func(a, b int32) int { return t.Main().Cum(b).Cmp(t.Main().Cum(a)) })
	for _, c := range callees {
		w.add(c, key, depth+1)
	}
}

func (w *treeWindow) lines() int           { return len(w.rows) }
func (w *treeWindow) key(line int) string  { return w.rows[line].key }
func (w *treeWindow) name(line int) string { return w.rows[line].name }

// lineOf returns the line of a key. If it isn't shown, it is the
// nearest caller's line.
func (w *treeWindow) lineOf(key string) int {
	for key != "" {
		if i := slices.IndexFunc(w.rows, func(r treeRow) bool { return r.key == key }); i >= 0 {
			return i
		}
		key = w.above[key]
	}
	return -1
}

// row returns the selected row, or nil.
func (w *treeWindow) row() *treeRow { return selected(&w.list, w.rows) }

// bindings are the keys and buttons of the window.
func (w *treeWindow) bindings() []binding {
	return w.listAndPane.bindings(
		on("Enter", "Open", "the view, refined to the selected call path", w.openSelected),
		on("Space", "Fold", "show or hide what the selected function calls", w.toggle),
		on("l Right", "", "show what it calls; or go there", w.into),
		on("h Left", "", "hide what it calls; or go to its caller", w.out),
	)
}

// fold opens or closes the selected row.
func (w *treeWindow) fold(closed bool) {
	if r := w.row(); r != nil && r.callees > 0 {
		w.folded[r.key] = closed
		w.layout()
	}
}

func (w *treeWindow) toggle() {
	if r := w.row(); r != nil {
		w.fold(r.open)
	}
}

func (w *treeWindow) into() {
	switch r := w.row(); {
	case r == nil || r.callees == 0:
	case r.open:
		w.list.move(1)
	default:
		w.fold(false)
	}
}

func (w *treeWindow) out() {
	switch r := w.row(); {
	case r == nil:
	case r.open:
		w.fold(true)
	case r.depth > 0:
		w.list.chooseKey(w.above[r.key])
	}
}

// openSelected opens the view, refined to the selected row.
func (w *treeWindow) openSelected() {
	if r := w.row(); r != nil {
		openProfile(w.a, w.a.profileAt(w.class, w.path(r)))
	}
}

// path returns the call path of a row.
func (w *treeWindow) path(r *treeRow) callpath.Path {
	p := callpath.Of(callpath.Frame(w.found.Tree.Root()))
	if r.node == noNode {
		return p.Then(callpath.Frame(r.name), callpath.Extended)
	}
	for _, frame := range w.found.Tree.Frames(r.node)[1:] {
		p = p.Then(callpath.Frame(frame), callpath.Immediate)
	}
	return p
}

func (r *treeRow) isRoot() bool { return r.node == 0 }

// verdicts say what the search knows of a call path, in a word
// and for a threshold.
var verdicts = [...]struct{ brief, full string }{
	hotspots.Untried:  {"-", "not tried: its caller takes less than %s"},
	hotspots.Rejected: {"NO", "NO: less than %s"},
	hotspots.Frontier: {"MAYBE", "MAYBE: more or less than %s; more samples will decide it"},
	hotspots.Accepted: {"YES", "YES: a bottleneck, more than %s"},
}

// counts sums up the verdicts.
func (w *treeWindow) counts() string {
	parts := []string{report.Counted(len(w.found.TopDown)+len(w.found.Deep),
		"bottleneck") + " (YES)"}
	if n := len(w.found.Frontier); n > 0 {
		parts = append(parts, fmt.Sprintf("%d that need more samples (MAYBE)", n))
	}
	return strings.Join(parts, ", ")
}

// details says all about a row.
func (w *treeWindow) details(r *treeRow) (lines []string) {
	share := fmt.Sprintf("%.1f %% of the %s", 100*r.share.Share, w.view)
	if r.share.Low < r.share.High && !r.isRoot() {
		share += fmt.Sprintf("; with a probability of 95 %%, %.1f to %.1f %%",
			100*r.share.Low, 100*r.share.High)
	}
	lines = []string{w.path(r).String(), share}
	threshold := fmt.Sprintf("%.3g %%", 100*w.found.Threshold)
	switch {
	case r.isRoot():
		lines = append(lines, w.counts())
	case r.node == noNode:
		lines = append(lines, "YES: it takes more than "+threshold+
			" wherever it is called, though no call path to it does")
	default:
		lines = append(lines, fmt.Sprintf(verdicts[r.colour].full, threshold))
	}
	if r.node > 0 && w.found.IsDeep(r.node) {
		lines = append(lines,
			"its function is a bottleneck wherever it is called: see the end of the tree")
	}
	if r.small > 0 {
		lines = append(lines, fmt.Sprintf("not shown: %s of less than %.1f %%",
			report.Counted(r.small, "callee"), 100*minCallee))
	}
	if p := w.a.recording.Probe(r.name); p != nil {
		lines = append(lines, report.ProbeLines(w.a.recording, p, maxSites)...)
	}
	return lines
}

// label returns the text of a row: its verdict, its share, and
// its function.
func (w *treeWindow) label(r *treeRow) string {
	share := fmt.Sprintf("%5.1f %%", 100*r.share.Share)
	if margin := 100 * r.share.Margin(); margin >= 0.05 && !r.isRoot() {
		share += fmt.Sprintf(" ± %-4.1f", margin)
	}
	fold, name, verdict := " ", printable(r.name), verdicts[r.colour].brief
	if r.isRoot() {
		verdict = ""
	}
	switch {
	case r.open:
		fold = "▾"
	case r.callees > 0:
		fold = "▸"
	}
	switch {
	case r.node == noNode:
		name = "* .." + name
	case r.node > 0 && w.found.IsDeep(r.node):
		name += " ◆"
	}
	return termtext.Sprintf("%-5s %-14s %s%s %s", verdict, termtext.Text(share),
		strings.Repeat(" ", r.depth), fold, termtext.Text(name))
}

// draw draws the tree, and all about the selected call.
func (w *treeWindow) draw(c canvas) {
	w.hide()
	if !w.drawReady(c, "Searching …") {
		return
	}
	first, last, pane := w.list.drawHead(c, w.a.theme, printable(w.view)+": "+w.counts())
	w.list.draw(first, last, w.a.theme, w.drawRow)
	if r := w.row(); r != nil {
		w.pane.drawDetails(pane, w.a.theme, "Call path", r.key, w.details(r))
	}
}

// drawRow draws a call: the shape and the colour of its heat,
// and in the colour of typed time what is typed time.
func (w *treeWindow) drawRow(c canvas, line int, style tcell.Style) {
	r := &w.rows[line]
	typed, isTyped := views.ParseTypedTime(r.name)
	switch {
	case line == w.list.at:
	case isTyped && w.a.theme.color:
		style = w.a.theme.typed[typed]
	case r.colour == hotspots.Frontier:
		style = w.a.theme.warning
	case r.colour != hotspots.Accepted && r.depth > 0:
		style = w.a.theme.dim
	}
	level := report.HeatLevel(new(big.Rat).SetFloat64(r.share.Share))
	c.text(0, 0, heatIcons[level], w.a.theme.heat[level])
	c.text(2, 0, termtext.Cut(w.label(r), c.width-2), style)
}
