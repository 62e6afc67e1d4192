package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/cpprof/cpprof/views/locks"
	"github.com/cpprof/cpprof/why"
)

// The page's limits of locks, and of call paths of the holders of each.
const (
	maxLocks = 100
	maxPaths = 8
)

// cells is the number of points of a metric's line.
const cells = 240

// tables adds the tables beside the views. They are of the whole
// recording.
func (b *build) tables() error {
	for name, make := range map[string]func() (any, error){
		"findings": b.findings, "locks": b.locks, "metrics": b.metrics, "info": b.info,
	} {
		table, err := make()
		if err != nil {
			return err
		}
		if b.h.Tables[name], err = json.Marshal(table); err != nil {
			return fmt.Errorf("table of %s: %w", name, err)
		}
	}
	return nil
}

// A finding is one answer to why the program is slow.
type finding struct {
	// the sentence; then "where ..." and so on, see report.Why.Details
	Lines []string  `json:"lines"`
	View  string    `json:"view"`  // that shows it
	Path  []string  `json:"path"`  // of functions in that view
	Spans []spanned `json:"spans"` // when it is true, if not always
}

// spanned is a part of the recording, in nanoseconds since its start.
type spanned struct {
	From time.Duration `json:"from"`
	To   time.Duration `json:"to"`
}

// findingsTable has the findings, or the reason why there are none.
type findingsTable struct {
	Verdict  string    `json:"verdict"`
	Findings []finding `json:"findings"`
}

func (b *build) findings() (any, error) {
	a, err := why.Find(b.Recording, why.OptionsOf(b.Config, b.Options))
	if err != nil {
		return nil, err
	}
	answer := report.Why{Answer: a, File: b.Name}
	out := findingsTable{Verdict: answer.Verdict(), Findings: []finding{}}
	for _, f := range a.Findings {
		j := finding{Lines: answer.Details(f), View: f.Class, Path: f.Where.Path}
		if f.IsCode() || j.View == "" {
			j.View = calltree.RootName
		}
		j.Spans = lists.Each(f.When.Spans, func(s why.Span) spanned { return spanned{s.From, s.To} })
		out.Findings = append(out.Findings, j)
	}
	return out, nil
}

// A lockRow is a lock that goroutines waited for.
type lockRow struct {
	Lock    string     `json:"lock"`
	Type    string     `json:"type"`
	Shared  bool       `json:"shared"` // it is no lock, but a channel or a pool that is used as one
	Waited  int64      `json:"waited_ns"`
	Hits    string     `json:"hits"`
	Mean    float64    `json:"mean"`
	Holder  string     `json:"holder"` // for which shares of the waiting it is known, and how
	Waiters []lockPart `json:"waiters"`
	Holders []lockPart `json:"holders"`
	MayHold []lockPart `json:"may_hold"` // what is shared
	Paths   []heldPath `json:"paths"`    // of the holders, those with most time
}

// A lockPart is the time of one class.
type lockPart struct {
	Class string `json:"class"`
	In    string `json:"in"` // the function that takes the lock
	Time  int64  `json:"time_ns"`
	Hits  string `json:"hits"`
}

// A heldPath is where a holder was.
type heldPath struct {
	Frames []string `json:"frames"` // its class first
	Time   int64    `json:"time_ns"`
	Hits   string   `json:"hits"`
}

// locksTable has the locks, those that goroutines waited for longest first.
type locksTable struct {
	Locks     []lockRow `json:"locks"`
	More      int       `json:"more"` // locks that are left out
	Deadlocks int       `json:"deadlocks"`
}

func (b *build) locks() (any, error) {
	a, err := locks.AnalyseHolders(b.Recording, b.Options, locks.ByField)
	if err != nil {
		return nil, err
	}
	b.warn(a.Held.Warnings)
	out := locksTable{Locks: []lockRow{}, Deadlocks: len(a.Deadlocks)}
	for _, list := range [][]*locks.Lock{a.Locks, a.Shared} {
		shown := list[:min(len(list), maxLocks)]
		out.More += len(list) - len(shown)
		for _, l := range shown {
			out.Locks = append(out.Locks, lockRowOf(a, l))
		}
	}
	return out, nil
}

func lockRowOf(a *locks.Analysis, l *locks.Lock) lockRow {
	mean, _ := a.Mean(&l.Evidence).Float64()
	row := lockRow{
		Lock: l.String(), Type: l.Kind, Shared: l.Shared, Waited: whole(l.Weight),
		Hits: report.Hits(l.Hits), Mean: mean,
		Holder: report.EvidenceText(&l.Evidence), Waiters: lockParts(l.Waiters),
		Holders: lockParts(l.Holders), MayHold: lockParts(l.Candidates),
		Paths: []heldPath{},
	}
	if !l.Shared {
		row.Paths = heldPaths(a, l)
	}
	return row
}

func lockParts(users []locks.UserTotal) []lockPart {
	return lists.Each(users, func(u locks.UserTotal) lockPart {
		return lockPart{u.Class, u.In, whole(u.Weight), report.Hits(u.Hits)}
	})
}

// heldPaths returns the call paths on which the holders of a
// lock spent most time, the most first.
func heldPaths(a *locks.Analysis, l *locks.Lock) []heldPath {
	type held struct {
		node int32
		calltree.Total
	}
	t, top := a.Held.Tree, a.HeldAt(l)
	var ends []held
	for n := top + 1; n < t.Ends()[top]; n++ {
		if own := t.Main().Ending(n); own.Weight.Sign() > 0 {
			ends = append(ends, held{n, own})
		}
	}
	slices.SortStableFunc(ends, func(a, b held) int { return b.Weight.Cmp(a.Weight) })
	return lists.Each(ends[:min(len(ends), maxPaths)], func(h held) heldPath {
		return heldPath{t.Frames(h.node)[2:], whole(h.Weight), report.Hits(h.Hits)}
	})
}

// whole rounds an exact number, which is not negative, as reports do.
func whole(x *big.Rat) int64 { return exact.Nearest(x).Int64() }

// A metricRow is what was measured beside the samples, over the
// time of the recording.
type metricRow struct {
	Name   string     `json:"name"`
	Unit   string     `json:"unit"`
	Rate   bool       `json:"rate"`            // the values are growth per second
	Values []*float64 `json:"values"`          // by point; null if there is no measurement
	Words  []string   `json:"words,omitempty"` // in place of numbers: the values are indexes
}

// metricsTable has the metrics. Their points are of equal time,
// from the first sample to the end.
type metricsTable struct {
	From    time.Duration `json:"from"`
	To      time.Duration `json:"to"`
	Metrics []metricRow   `json:"metrics"`
}

// metrics makes the table of what was measured beside the
// samples. A part of a recording has none: its samples need not
// be neighbours, so growth between them means nothing.
func (b *build) metrics() (any, error) {
	out := metricsTable{Metrics: []metricRow{}}
	if b.Recording.Samples.Len() == 0 || b.Recording.Picked != nil {
		return out, nil
	}
	bounds, err := views.Bounds(b.Recording, b.Options, cells)
	if err != nil {
		return nil, err
	}
	out.From, out.To = bounds[0], bounds[len(bounds)-1]
	o := b.Options
	// the metrics are of the whole recording; only their points
	// are of the span
	o.Span = views.Span{}
	table := metrics.New(b.Recording, metrics.Options{Views: o})
	for i := range b.Recording.Series {
		s := &b.Recording.Series[i]
		monitor := table.Monitor(s.Name)
		if s.Unmeasured != "" || monitor == nil {
			continue
		}
		m, err := table.Metric(monitor.Shown())
		if err != nil {
			return nil, err
		}
		row := metricRow{Name: s.Name, Unit: s.Unit, Rate: s.Kind == sampledata.Counter,
			Words: m.Words}
		for _, c := range table.Lane(m, bounds) {
			row.Values = append(row.Values, point(c, m.Words != nil))
		}
		out.Metrics = append(out.Metrics, row)
	}
	return out, nil
}

// point returns the value of a cell: a number, or the index of a
// word; nil if it has none.
func point(c metrics.Cell, isWord bool) *float64 {
	x := c.Mean
	switch {
	case c.Time == 0:
		return nil
	case isWord:
		x = float64(c.Word)
	}
	return &x
}

// info says what was recorded, as 'cpprof info' does.
func (b *build) info() (any, error) {
	var text bytes.Buffer
	err := report.Info(&text, b.Name, b.Recording)
	return map[string]string{"text": text.String()}, err
}
