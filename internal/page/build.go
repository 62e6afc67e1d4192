package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// Data returns what the page shows, packed. It is smaller than
// the page, in which it is text.
func Data(p *Page) ([]byte, error) {
	b := &build{Page: p, h: &header{Name: p.Name, Tables: make(map[string]json.RawMessage),
		Counted: true, Warnings: []string{}}}
	if err := b.make(); err != nil {
		return nil, fmt.Errorf("page of %s: %w", p.Name, err)
	}
	return pack(b.h, b.clock, b.trees)
}

// A build makes the data of a page.
type build struct {
	*Page
	h     *header
	clock *clock
	trees []*tree
}

func (b *build) make() error {
	var title strings.Builder
	report.Headline(&title, b.Name, b.Recording)
	b.h.Title, _, _ = strings.Cut(title.String(), "\n")
	if b.Options.CreatedBy {
		b.h.Title += ", goroutines charged to their creators"
	}
	b.h.Samples, b.h.Open = b.Recording.Samples.Len(), b.Open
	b.h.Growing = b.Recording.Profile == nil && b.Recording.End == nil
	b.h.Times = b.HasTimes()
	if only := b.Recording.Restricted; only != nil {
		b.h.Calls, b.h.Count = only.List, only.Stretches
	}
	b.warn(b.Recording.Warnings)
	b.clock = newClock(b.Recording, 1)
	if b.Recording.Profile == nil { // before the trees: making them takes as much memory
		if err := b.tables(); err != nil {
			return err
		}
	}
	switch {
	case b.Tree != nil && b.Against.Recording != nil:
		b.comparison(b.Tree, b.Title)
	case b.Tree != nil:
		b.untimed(untimed(b.Tree), b.Title)
	case b.Recording.Profile != nil:
		if err := b.profile(); err != nil {
			return err
		}
	default:
		if err := b.histories(); err != nil {
			return err
		}
	}
	m := b.trees[0].Main()
	if b.h.Unit == "" {
		b.h.Unit, b.h.Measure, b.h.Counted = m.Unit, m.Name, m.Hits() != m
	}
	return nil
}

// untimed adds a tree that has only sums, and its view.
func (b *build) untimed(t *tree, title string) {
	b.trees = append(b.trees, t)
	b.h.Views = []viewHeader{{Title: title, Name: t.Root()}}
	b.clock = &clock{each: 1}
}

// profile adds the view of another tool's profile.
func (b *build) profile() error {
	title := b.Recording.Profile.Title
	if b.Against.Recording == nil {
		v, err := views.Server(b.Recording, b.Options)
		if err != nil {
			return err
		}
		b.untimed(untimed(v.Tree), title)
		return nil
	}
	c, err := views.Compare(views.Named{Name: b.Name, Recording: b.Recording}, b.Against,
		b.Options, views.Server)
	if err != nil {
		return err
	}
	both, err := c.Merge()
	if err != nil {
		return err
	}
	b.comparison(both.Tree, title)
	return nil
}

// comparison adds a tree of calltree.Merge, which has only sums,
// and its view.
func (b *build) comparison(both *calltree.Tree, title string) {
	x, y := both.Sides()
	other := untimed(y).side
	m := x.Main()
	b.h.Unit, b.h.Measure, b.h.Counted = m.Unit, m.Name, m.Hits() != m
	b.h.Against = b.Against.Name
	b.untimed(&tree{Tree: x, side: untimed(x).side, against: &other}, title)
}

// histories adds the Server View, and the Thread Views of all classes.
func (b *build) histories() error {
	b.h.Unit, b.h.Measure = views.Nanoseconds, "time"
	most := cmp.Or(b.MaxMoments, maxMoments)
	var all []*views.History
	for _, make := range makers {
		h, err := make(b.Recording, b.Options, most)
		if err != nil {
			return err
		}
		all = append(all, h)
		b.h.Rounded += h.Rounded
		b.warn(h.Warnings)
	}
	b.clock = fit(b.Recording, all, most)
	classes := all[threads].Classes
	for i, h := range all {
		t, err := b.tree(h, makers[i])
		if err != nil {
			return err
		}
		b.trees = append(b.trees, t)
		all[i] = nil // its memory is not needed any more
	}
	b.listViews(classes)
	return nil
}

// The trees of a page.
const (
	server = iota
	threads
)

// makers make the histories of a page, by tree.
var makers = []func(*sampledata.Recording, views.Options, int) (*views.History, error){views.ServerHistory, views.ThreadsHistory}

// tree returns the tree of a history, compared with the other
// recording if there is one.
func (b *build) tree(h *views.History,
	make func(*sampledata.Recording, views.Options, int) (*views.History, error)) (*tree, error) {
	other := b.Against.Recording
	if other == nil {
		return &tree{Tree: h.Tree, side: sideOf(h, nil)}, nil
	}
	with, err := make(other, b.Options, 1) // only its sums are shown
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.Against.Name, err)
	}
	b.h.Rounded += with.Rounded
	b.h.Against = b.Against.Name
	return compared(h, with, other.Weights())
}

// listViews lists the views of a recording. Classes come in the
// order of 'cpprof classes'.
func (b *build) listViews(classes []views.ClassSummary) {
	b.h.Views = []viewHeader{{Title: "Server View", Name: calltree.RootName, Tree: server}}
	t := b.trees[threads]
	for i := range classes {
		if n, ok := nodeBelowRoot(t.Tree, classes[i].Class); ok {
			b.h.Views = append(b.h.Views,
				viewHeader{"Thread View of " + classes[i].Class, classes[i].Class, threads, n})
		}
	}
	// those that only the other recording has
	for n := int32(1); int(n) < t.Len(); n = t.Ends()[n] {
		name := t.Symbols().Name(t.Funcs()[n])
		if !slices.ContainsFunc(b.h.Views,
			func(v viewHeader) bool { return v.Tree == threads && v.Node == n }) {
			b.h.Views = append(b.h.Views, viewHeader{"Thread View of " + name, name, threads, n})
		}
	}
	b.h.Views = append(b.h.Views, viewHeader{Title: "Thread Views of all classes",
		Name: "", Tree: threads})
	if b.h.Open == "" && len(classes) > 0 {
		b.h.Open = views.MostHeldUp(classes).Class
	}
}

// warn adds warnings, each once.
func (b *build) warn(warnings []sampledata.Warning) {
	for _, w := range warnings {
		text := w.Message
		if w.Count > 1 {
			text += fmt.Sprintf(" (%d times)", w.Count)
		}
		if !slices.Contains(b.h.Warnings, text) {
			b.h.Warnings = append(b.h.Warnings, text)
		}
	}
}

// maxMoments is how many moments of histories a page holds at
// most, which is about 4 MB.
const maxMoments = 1_000_000

// A clock says what the slices of a page are: each is a number
// of samples that follow one another.
type clock struct {
	samples []sampleSlice
	each    int32 // samples of a slice; the last one may have fewer
	weights sampledata.Weights
}

// A sampleSlice is where a slice begins, how many samples it
// has, and what they weigh.
type sampleSlice struct {
	at     int64 // nanoseconds since the start of the recording
	number int32
	weight int64
}

// newClock makes a clock for slices of some samples.
func newClock(r *sampledata.Recording, each int32) *clock {
	c := &clock{each: each, weights: r.Weights()}
	n := int32(r.Samples.Len())
	for s := int32(0); s < n; s += each {
		number := min(each, n-s)
		c.samples = append(c.samples,
			sampleSlice{int64(r.Samples.Time(int(s))), number, c.weights.Of(int(s), int(s+number))})
	}
	return c
}

// fit makes the slices of histories equally long, and long
// enough to limit their moments. It returns their clock.
func fit(r *sampledata.Recording, all []*views.History, most int) *clock {
	each := int32(1)
	for _, h := range all {
		each = max(each, h.Each)
	}
	for ; ; each *= 2 {
		total := 0
		for _, h := range all {
			for h.Each < each {
				h.Coarsen()
			}
			total += h.Len()
		}
		if total <= most || int(each) >= r.Samples.Len() {
			return newClock(r, each)
		}
	}
}
