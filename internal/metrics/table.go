package metrics

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/edit"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// A Definition names an expression: a metric, or a sample list.
type Definition = config.Definition

// Options say how a Table computes what the samples know, and
// define metrics and lists. Those that are defined twice have
// the last definition.
type Options struct {
	Views   views.Options
	Aspects func(*calltree.Symbols) *calltree.Membership // for call paths; nil if there are none
	Metrics []Definition
	Lists   []Definition
}

// OptionsOf returns the options that a configuration and the
// options of views give.
func OptionsOf(c *config.Config, v views.Options) Options {
	v.Span = views.Span{}
	return Options{Views: v, Metrics: c.Metrics, Lists: c.Lists,
		Aspects: func(syms *calltree.Symbols) *calltree.Membership { return c.AllAspects().Membership(syms) }}
}

// A Monitor is a series of values in a Table.
type Monitor struct {
	sampledata.Monitor
	Expr string // of a metric: how it is computed; "" for other monitors

	column func() Column // nil for metrics
	growth func() Column // of a series: values whose differences are exact
	even   func() Column // values that change evenly between two readings; nil for metrics
	words  []string      // of a nominal monitor
	truth  bool          // its values are true or false
}

// A Table has all monitors, metrics and lists of one recording.
// It is not safe for concurrent use.
type Table struct {
	r       *sampledata.Recording
	o       Options
	samples int
	seconds Column // between each sample and the one before
	order   []*Monitor
	byName  map[string]*Monitor
	lists   []Definition
	known   map[string]bool // the names of all monitors, metrics and lists

	presence *views.Presence
	members  *calltree.Membership
	lockOf   func(sampledata.Run) string

	columns map[string]Column  // of raw functions, by their text
	metrics map[string]*Metric // by expression
	busy    map[string]bool    // metrics and lists that are being computed
}

// New makes the table of a recording, which Check must accept.
// The recording must not be a part of another one (see
// sampledata.Recording.Pick): differences are those between
// neighbouring samples.
func New(r *sampledata.Recording, o Options) *Table {
	t := &Table{
		r: r, o: o, samples: r.Samples.Len(), byName: make(map[string]*Monitor),
		known: map[string]bool{AllSamples: true}, columns: make(map[string]Column),
		metrics: make(map[string]*Metric), busy: make(map[string]bool),
	}
	t.seconds = make(Column, t.samples)
	for i := range t.seconds {
		if t.seconds[i] = undefined; i > 0 {
			t.seconds[i] = (r.Samples.Time(i) - r.Samples.Time(i-1)).Seconds()
		}
	}
	for i := range r.Series {
		t.addSeries(i)
	}
	t.addSampled()
	for _, d := range slices.Concat(Builtin, o.Metrics) {
		t.define(d)
	}
	for _, d := range o.Lists {
		t.lists = slices.DeleteFunc(t.lists,
			func(old Definition) bool { return old.Name == d.Name })
		t.lists = append(t.lists, d)
		t.known[d.Name] = true
	}
	return t
}

// Builtin defines metrics of the monitors that cpprof records by
// itself. A recording that lacks their monitors lacks them.
var Builtin = []Definition{
	{Name: "cpu.used", Expr: "rate(process.cpu) / 1e9"},
}

// define adds a metric. A built-in one gives way to everything
// else of its name, and to missing monitors.
func (t *Table) define(d Definition) {
	builtin := slices.Contains(Builtin, d)
	old := t.byName[d.Name]
	if builtin {
		if old != nil {
			return
		}
		if _, err := t.Metric(d.Expr); err != nil {
			return
		}
	}
	m := &Monitor{Monitor: sampledata.Monitor{Name: d.Name, Layer: sampledata.Sampled,
		Kind: sampledata.Level, Source: "metric"}, Expr: d.Expr}
	t.byName[d.Name], t.known[d.Name] = m, true
	if old != nil {
		t.order = slices.DeleteFunc(t.order, func(o *Monitor) bool { return o == old })
	}
	t.order = append(t.order, m)
}

func (t *Table) add(m *Monitor) {
	if t.byName[m.Name] == nil {
		t.byName[m.Name], t.known[m.Name] = m, true
		t.order = append(t.order, m)
	}
}

// Recording returns the recording.
func (t *Table) Recording() *sampledata.Recording { return t.r }

// Samples returns the number of samples.
func (t *Table) Samples() int { return t.samples }

// Monitors returns all monitors and metrics. The recording's own come first,
// metrics last.
func (t *Table) Monitors() []*Monitor { return t.order }

// Monitor returns the monitor or metric of a name; nil if there is none.
func (t *Table) Monitor(name string) *Monitor { return t.byName[name] }

// Lists returns the definitions of the lists.
func (t *Table) Lists() []Definition { return t.lists }

// Names returns the names of all monitors, metrics and lists, in
// alphabetical order.
func (t *Table) Names() []string {
	return slices.Sorted(maps.Keys(t.known))
}

// numeric returns the names of monitors that are numbers.
func (t *Table) numeric() []string {
	var names []string
	for _, m := range t.order {
		if m.Kind != sampledata.Nominal && m.Expr == "" {
			names = append(names, m.Name)
		}
	}
	return names
}

// shownNames is the greatest number of names in a message.
const shownNames = 8

// someOf joins names, but not too many.
func someOf(names []string) string { return words.List(names, shownNames) }

// unknown says that a name doesn't exist, with the closest names that do.
func (t *Table) unknown(what, name string, known []string) string {
	said := fmt.Sprintf("there is no %s %q", what, name)
	if near := edit.Similar(name, known); len(near) > 0 {
		return said + ": did you mean " + strings.Join(near, ", or ") + "?"
	}
	if len(known) == 0 {
		return said + ": there are none in this recording"
	}
	return said + ": there are " + someOf(known)
}
