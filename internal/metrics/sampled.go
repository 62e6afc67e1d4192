package metrics

import (
	"errors"
	"fmt"
	"go/ast"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/cpprof/cpprof/views/locks"
)

// addSampled adds what the samples know by themselves.
func (t *Table) addSampled() {
	level := func(name, unit, source string, of func(s *sampledata.Sample, i int) float64) {
		m := sampledMonitor(name, source, func() Column { return t.perSample(of) })
		m.Unit = unit
		t.add(m)
	}
	predicate := func(name, source string, of func(s *sampledata.Sample) bool) {
		m := sampledMonitor(name, source, func() Column {
			return t.perSample(func(s *sampledata.Sample, _ int) float64 { return truth(of(s)) })
		})
		m.Kind, m.truth = sampledata.Nominal, true
		t.add(m)
	}
	weights := t.r.Weights()
	level("time", "s", "the sample's time since the start",
		func(s *sampledata.Sample, _ int) float64 { return s.Time.Seconds() })
	level("sample.weight", "ns", "the time that the sample stands for",
		func(_ *sampledata.Sample, i int) float64 { return float64(weights.Of(i, i+1)) })
	level("sample.halt", "ns", "how long the target was halted",
		func(s *sampledata.Sample, _ int) float64 { return float64(s.Halt) })
	level("threads", "", "the target's threads", func(s *sampledata.Sample, _ int) float64 {
		if s.Threads == 0 {
			return undefined
		}
		return float64(s.Threads)
	})
	level("processors", "", "GOMAXPROCS",
		func(s *sampledata.Sample, _ int) float64 { return float64(len(s.Processors)) })
	level("processors.idle", "", "processors without work",
		func(s *sampledata.Sample, _ int) float64 {
			return float64(lists.Count(s.Processors,
				func(g sampledata.GoroutineID) bool { return g == sampledata.IdleProcessor }))
		})
	predicate("gc.running", "a garbage collection was under way",
		func(s *sampledata.Sample) bool { return s.Collecting })
	predicate("world.stopped", "the runtime had stopped all goroutines",
		func(s *sampledata.Sample) bool { return s.StoppedWorld })
	t.addStates()
}

// sampledMonitor returns a monitor that is computed.
func sampledMonitor(name, source string, column func() Column) *Monitor {
	column = sync.OnceValue(column)
	return &Monitor{Monitor: sampledata.Monitor{Name: name, Layer: sampledata.Sampled,
		Kind: sampledata.Level, Source: source}, column: column, even: column}
}

// perSample computes a column sample by sample.
func (t *Table) perSample(of func(s *sampledata.Sample, i int) float64) Column {
	c := make(Column, t.samples)
	for i := range c {
		s := t.r.Samples.At(i)
		c[i] = of(&s, i)
	}
	return c
}

// addStates adds the numbers of goroutines, by state.
func (t *Table) addStates() {
	in := func(time views.TypedTime) func(sampledata.Run) bool {
		return func(run sampledata.Run) bool { return views.DoingOf(run).Time() == time }
	}
	states := []struct {
		name, source string
		has          func(run sampledata.Run) bool
	}{
		{"goroutines", "all goroutines", func(sampledata.Run) bool { return true }},
		{"goroutines.running", "goroutines that execute", in(views.Run)},
		{"goroutines.ready", "goroutines that are ready to run, and wait for a processor or CPU",
			in(views.Load)},
		{"goroutines.blocked", "goroutines that wait for a lock", in(views.Monitor)},
		{"goroutines.waiting", "goroutines that wait for anything else", in(views.Wait)},
	}
	for _, s := range states {
		t.add(sampledMonitor(s.name, s.source, func() Column { return t.goroutines(s.has) }))
	}
}

// goroutines counts, in each sample, the goroutines with a run
// that satisfies a condition.
func (t *Table) goroutines(has func(sampledata.Run) bool) Column {
	c := newCounts(t.samples)
	for _, run := range t.r.Runs.All() {
		if has(run) {
			c.add(run.First, run.Last)
		}
	}
	return c.column()
}

// counts add up goroutines per sample. It has the difference
// from each sample to the next.
type counts []float64

func newCounts(samples int) counts { return make(counts, samples+1) }

// add counts a goroutine in the samples from first to last.
func (c counts) add(first, last int32) {
	c[first]++
	c[last+1]--
}

// column returns the number of goroutines in each sample. The
// counts must not be used afterwards.
func (c counts) column() Column {
	var n float64
	for i, step := range c {
		n += step
		c[i] = n
	}
	return Column(c[:len(c)-1])
}

// present returns where goroutines were.
func (t *Table) present() (*views.Presence, error) {
	if t.presence != nil {
		return t.presence, nil
	}
	p, err := views.NewPresence(t.r, t.o.Views)
	if err != nil {
		return nil, err
	}
	t.presence = p
	if t.o.Aspects != nil {
		t.members = t.o.Aspects(p.Tree.Symbols())
	}
	return p, nil
}

// rawCall computes a raw function.
func (p *parser) rawCall(n *ast.Ident, ref reference) (operand, error) {
	key := ref.text
	c, ok := p.t.columns[key]
	if !ok {
		var err error
		if c, err = rawFunctions[ref.function].column(p.t, ref.argument); err != nil {
			return operand{}, p.rawError(n, ref, err)
		}
		p.t.columns[key] = c
	}
	o := operand{node: c.at}
	if rawFunctions[ref.function].truth {
		o.kind = isTruth
	}
	return o, nil
}

// rawError places an error in the argument of a raw function.
func (p *parser) rawError(n *ast.Ident, ref reference, err error) error {
	if syntax, ok := errors.AsType[*callpath.SyntaxError](err); ok {
		return &callpath.SyntaxError{Input: p.s.input, Offset: ref.at + syntax.Offset,
			Msg: syntax.Msg}
	}
	return p.fail(n, "%s: %v", ref.function, err)
}

// rawFunctions are the functions that take an argument that is
// not an expression.
var rawFunctions = map[string]struct {
	usage  string
	truth  bool // it is a predicate
	column func(t *Table, argument string) (Column, error)
}{
	"hits":    {"hits(CALL PATH)", false, (*Table).hits},
	"label":   {"label(KEY=VALUE)", false, (*Table).labelled},
	"lock":    {"lock(NAME)", false, (*Table).waiting},
	"samples": {"samples(0-99)", true, (*Table).numbered},
	"span":    {"span(2s, 3s)", true, (*Table).span},
}

// hits returns how many goroutines satisfy a call path in each
// sample. A path that begins with a thread class counts its
// goroutines only; a path that begins with a function is one
// that begins anywhere.
func (t *Table) hits(text string) (Column, error) {
	path, err := callpath.Parse(text)
	if err != nil {
		return nil, err
	}
	p, err := t.present()
	if err != nil {
		return nil, err
	}
	class := int32(-1)
	switch first := path.Elements[0]; {
	case calltree.KindOf(first.Name) == calltree.Class && !first.Aspect():
		if class, err = t.class(p, first.Name); err != nil {
			return nil, err
		}
		path.Elements = append([]callpath.Element{callpath.Frame(calltree.RootName)},
			path.Elements[1:]...)
	case first.Name != calltree.RootName:
		path = callpath.Root(p.Tree).Join(callpath.Extended, path)
	}
	if err := callpath.Aspects(t.members, path); err != nil {
		return nil, err
	}
	if err := callpath.Misspelt(p.Tree, views.FrameNames(t.r, t.o.Views), path); err != nil {
		return nil, err
	}
	within := make([]bool, p.Tree.Len())
	callpath.Satisfying(p.Tree, t.members, path, func(n int32) {
		for i := n; i < p.Tree.Ends()[n]; i++ {
			within[i] = true
		}
	})
	c := newCounts(t.samples)
	for i := range p.Stays {
		if s := &p.Stays[i]; within[s.Node] && (class < 0 || p.Kinds[s.Kind].Class == class) {
			c.add(s.First, s.Last)
		}
	}
	return c.column(), nil
}

// class returns the index of a thread class.
func (t *Table) class(p *views.Presence, name string) (int32, error) {
	i := slices.Index(p.Classes, name)
	if i < 0 {
		return 0, errors.New(t.unknown("thread class", name, p.Classes))
	}
	return int32(i), nil
}

// labelled returns how many goroutines have a pprof label in each sample.
func (t *Table) labelled(text string) (Column, error) {
	key, value, ok := strings.Cut(strings.TrimSpace(text), "=")
	if !ok {
		return nil, errors.New("want label(KEY=VALUE)")
	}
	has := make([]bool, len(t.r.LabelSets))
	var known []string
	found := false
	for i, set := range t.r.LabelSets {
		for _, l := range set {
			known = append(known, l.Key+"="+l.Value)
			if l.Key == key && l.Value == value {
				has[i], found = true, true
			}
		}
	}
	if !found {
		slices.Sort(known)
		return nil, errors.New(t.unknown("label", key+"="+value, slices.Compact(known)))
	}
	return t.goroutines(func(r sampledata.Run) bool { return has[r.Labels] }), nil
}

// waiting returns how many goroutines wait for a lock in each sample.
func (t *Table) waiting(name string) (Column, error) {
	name = strings.TrimSpace(name)
	if t.lockOf == nil {
		t.lockOf = locks.Namer(t.r, locks.ByField)
	}
	var known []string
	c, found := newCounts(t.samples), false
	for _, run := range t.r.Runs.All() {
		if views.DoingOf(run) != views.AwaitingLock {
			continue
		}
		lock := t.lockOf(run)
		if lock == name {
			c.add(run.First, run.Last)
			found = true
		} else {
			known = append(known, lock)
		}
	}
	if !found {
		slices.Sort(known)
		return nil, errors.New(t.unknown("awaited lock", name, slices.Compact(known)))
	}
	return c.column(), nil
}

// span returns a predicate that is true for the samples of a
// part of the recording, by offsets from its start. The part has
// the first offset, but not the second. Both may be left out.
func (t *Table) span(text string) (Column, error) {
	s, err := views.ParseSpan(text)
	if err != nil {
		return nil, err
	}
	l, err := t.during(s)
	return l.column(), err
}

func (t *Table) during(s views.Span) (List, error) {
	l := NewList(t.samples)
	first, end, err := s.Samples(t.r)
	for i := first; err == nil && i < end; i++ {
		l.Add(int(i))
	}
	return l, err
}

// Within returns the samples in a span of time that are in a
// list; "" is all.
func (t *Table) Within(s views.Span, list string) (List, error) {
	l, err := t.during(s)
	if err != nil || list == "" {
		return l, err
	}
	in, err := t.List(list)
	if err != nil {
		return l, err
	}
	return l.And(in), nil
}

// numbered returns a predicate that is true for some samples,
// given by their numbers: "0-99, 150".
func (t *Table) numbered(text string) (Column, error) {
	l := NewList(t.samples)
	for part := range strings.SplitSeq(text, ",") {
		from, to, isSpan := strings.Cut(strings.TrimSpace(part), "-")
		if !isSpan {
			to = from
		}
		first, err := strconv.Atoi(strings.TrimSpace(from))
		last, err2 := strconv.Atoi(strings.TrimSpace(to))
		if err != nil || err2 != nil || first < 0 || last < first {
			return nil, fmt.Errorf("%q is no number of a sample, or span such as 0-99",
				strings.TrimSpace(part))
		}
		if last >= t.samples {
			return nil, fmt.Errorf("there is no sample %d: the recording has %d, from 0 on",
				last, t.samples)
		}
		for i := first; i <= last; i++ {
			l.Add(i)
		}
	}
	return l.column(), nil
}
