package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calls"
)

// A measured computes metrics and sample lists of all samples of
// a recording, for one goroutine at a time.
type measured struct {
	of      *sampledata.Recording
	config  *config.Config
	classes views.ClassBy
	created bool
	options metrics.Options

	mu    sync.Mutex
	table *metrics.Table // nil until it is first needed
}

// lock returns the table, for the caller alone until it unlocks mu.
func (m *measured) lock() *metrics.Table {
	m.mu.Lock()
	return m.made()
}

func (m *measured) made() *metrics.Table {
	if m.table == nil {
		m.table = metrics.New(m.of, m.options)
	}
	return m.table
}

// names returns the names of all metrics and lists. It returns
// none while the table is in use: nobody should wait for it.
func (m *measured) names() []string {
	if !m.mu.TryLock() {
		return nil
	}
	defer m.mu.Unlock()
	return m.made().Names()
}

// measured returns what computes metrics of the current recording, with the
// current definitions.
func (a *app) measured() *measured {
	if m := a.metrics; m == nil || m.of != a.whole || m.config != a.config ||
		m.classes != a.options.Classes || m.created != a.options.CreatedBy {
		a.metrics = &measured{of: a.whole, config: a.config, classes: a.options.Classes,
			created: a.options.CreatedBy, options: metrics.OptionsOf(a.config, a.options)}
	}
	return a.metrics
}

// A counted says which samples count in every window, or the
// time inside which calls.
type counted struct {
	list  string    // of samples; "" for all
	calls string    // "main.handle > 5ms"; "" for all time
	by    *measured // computed the list; nil if all count
	busy  bool      // the list is being computed again
	none  bool      // of a recording that grows: the list has no samples so far, and all are shown

	// The configuration for which a message has said why the
	// list can't be computed. While the recording grows, it
	// would come again with each update.
	failed *config.Config
}

// text returns what counts; "" for all.
func (c *counted) text() string { return cmp.Or(c.list, c.calls) }

// pick returns the recording with only what counts.
func (c *counted) pick(m *measured) (*sampledata.Recording, error) {
	if c.calls != "" {
		return calls.Restricted(m.of, c.calls, m.created)
	}
	t := m.lock()
	defer m.mu.Unlock()
	return t.Pick(c.list)
}

// count counts only the samples of a list, or the time inside
// calls, in every window. If that can't be computed, failed is
// called.
func (a *app) count(only counted, failed func(error)) {
	only.by = a.measured()
	what := "Choosing samples"
	if only.calls != "" {
		what = "Choosing calls"
	}
	attempt(a, a.window(), what, func() (*sampledata.Recording, error) {
		return only.pick(only.by)
	}, func(picked *sampledata.Recording) {
		if !a.options.Span.Has(picked) {
			failed(fmt.Errorf("no sample of the list is in %s: 'span all' counts the whole time",
				spanText(a.options.Span)))
			return
		}
		a.counts = only
		a.recording = picked
		a.changed()
	}, failed)
}

// countAllSamples counts all samples in every window again.
func (a *app) countAllSamples() {
	if a.counts.text() == "" {
		return
	}
	a.counts = counted{}
	a.recording = a.whole
	a.changed()
}

// countAgain computes again what counts if the recording or a
// part of the list's definition has changed.
func (a *app) countAgain() {
	m, only := a.measured(), a.counts
	if only.text() == "" || only.busy || only.by == m || a.whole.Samples.Len() == 0 {
		return
	}
	a.counts.busy = true
	var err error
	background(a, func() (picked *sampledata.Recording) {
		picked, err = only.pick(m)
		return picked
	}, func(picked *sampledata.Recording) {
		a.counts.busy = false
		if a.counts.list != only.list || a.counts.calls != only.calls {
			return
		}
		a.counts.by = m
		if a.counts.none = a.counts.none && err != nil; err != nil {
			if a.counts.failed != m.config {
				a.fail(fmt.Errorf("samples %s: %w", only.text(), err))
			}
			a.counts.failed = m.config
			return
		}
		a.counts.failed = nil
		a.recording = picked
		if a.live.growing() {
			a.window().refresh()
			return
		}
		a.changed()
	})
}

// grown takes over the current state of a recording that grows.
func (a *app) grown(r *sampledata.Recording) {
	a.whole = r
	if a.counts.text() == "" {
		a.recording = r
		return
	}
	a.countAgain()
}

// maxBadge is the width of the longest list in the title.
const maxBadge = 28

// drawCounted shows at the right end of the tabs which samples
// count, and returns the rest of the line.
func (a *app) drawCounted(c canvas) canvas {
	if a.counts.text() == "" {
		return c
	}
	what := fmt.Sprintf("%d of %d", a.recording.Samples.Len(), a.whole.Samples.Len())
	switch only := a.recording.Restricted; {
	case a.counts.none:
		what = "no sample so far, all are shown"
	case a.counts.calls != "" && only != nil:
		what = report.Counted(only.Stretches, "call")
	}
	text := fmt.Sprintf(" ⊂ %s: %s ", shorten(a.counts.text(), maxBadge), what)
	return c.badge(text, a.theme.bar.Bold(true))
}

// samplesCommand executes "samples EXPR" or "samples all".
func (a *app) samplesCommand(args string) error {
	switch args {
	case "":
		return fmt.Errorf("want a sample list or a predicate, such as gc.running; or all")
	case metrics.AllSamples:
		a.countAllSamples()
		return nil
	}
	a.count(counted{list: args}, func(err error) { a.askAgain("samples "+args, err) })
	return nil
}

// defineList executes "list NAME = EXPR" or "list NAME".
func (a *app) defineList(args string) error {
	if name := strings.TrimSpace(args); !strings.Contains(name, "=") {
		return a.removeList(name)
	}
	d, err := config.ParseDefinition(args)
	if err != nil {
		return err
	}
	d.Expr = strings.TrimSpace(d.Expr)
	m := a.measured()
	attempt(a, a.window(), "Choosing samples", func() (metrics.List, error) {
		t := m.lock()
		defer m.mu.Unlock()
		return t.List(d.Expr)
	}, func(l metrics.List) {
		a.setConfig(func(c *config.Config) { c.Lists = append(a.listsBut(d.Name), d) })
		a.say("The list %s has %d of %s: ':samples %s' counts only them.",
			d.Name, l.Len(), report.Counted(a.whole.Samples.Len(), "sample"), d.Name)
	}, func(err error) { a.askAgain("list "+args, err) })
	return nil
}

func (a *app) removeList(name string) error {
	rest := a.listsBut(name)
	if len(rest) == len(a.config.Lists) {
		return fmt.Errorf("there is no list %q: want NAME = EXPR, such as busy = time > 5", name)
	}
	a.setConfig(func(c *config.Config) { c.Lists = rest })
	return nil
}

// listsBut returns the definitions of all lists but one.
func (a *app) listsBut(name string) []config.Definition {
	return slices.DeleteFunc(slices.Clone(a.config.Lists),
		func(d config.Definition) bool { return d.Name == name })
}

// askAgain opens the command line with a line that failed after
// it had been entered.
func (a *app) askAgain(line string, err error) {
	if a.prompt != nil { // the user is writing something else
		a.fail(err)
		return
	}
	commandLine{a, a.window()}.ask()
	a.prompt.text, a.prompt.cursor, a.prompt.err = line, len(line), err
}

// completeMetrics completes the last word of an expression.
func (a *app) completeMetrics(args string) []string {
	at := strings.LastIndexAny(args, " ,(!&|=<>+-*/") + 1
	names := append(a.measured().names(), metrics.AllSamples, "rate(", "delta(", "lag(",
		"hits(", "lock(", "label(", "span(")
	list := slices.DeleteFunc(oneOf(names...)(args[at:]),
		func(n string) bool { return printable(n) != n })
	slices.Sort(list)
	list = list[:min(len(list), maxCompletions)]
	return lists.Each(list, func(n string) string { return args[:at] + n })
}

// counts reports for each column of the timeline whether it
// counts, and whether any does not.
func (t *timeline) counts(slices []slice) (in []bool, some bool) {
	first, last, some := t.marked(slices)
	all, picked := &t.a.whole.Samples, &t.a.recording.Samples
	in = make([]bool, len(slices))
	for x, s := range slices {
		in[x] = x >= first && x <= last
		if t.a.counts.list == "" || !in[x] {
			continue
		}
		// A column without samples repeats the sample before it.
		i := picked.Search(s.from)
		in[x] = i < picked.Len() && picked.Time(i) < s.to
		if k := all.Search(s.to); !in[x] && k > 0 && i > 0 && all.Time(k-1) < s.from {
			in[x] = picked.Time(i-1) == all.Time(k-1)
		}
		some = true
	}
	return in, some
}
