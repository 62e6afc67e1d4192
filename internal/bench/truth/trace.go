//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"time"

	"golang.org/x/exp/trace"
)

// A traced holds the states of all goroutines, as an execution
// trace has them.
type traced struct {
	lives       []*life
	first, last time.Time
	events      int
	collections int   // number of garbage collections
	broken      error // why the trace ends early, if it does
	unsure      []interval
}

// An interval is a piece of time, in nanoseconds since 1970.
type interval struct{ from, to int64 }

func (v interval) has(at int64) bool { return v.from <= at && at < v.to }

// A life is a goroutine from its beginning to its end, as far as
// they are in the trace.
type life struct {
	id    int64
	start string // the function of its go statement
	spans []span // without gaps, but where the trace does not know when things happened

	now   state
	since trace.Time
}

// A span is the time that a goroutine spent in a state, by the
// trace's clock.
type span struct {
	from, to int64
	state    state
}

// readTrace reads an execution trace of Go 1.25 or later:
// earlier ones don't have the time of day.
func readTrace(path string) (*traced, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := trace.NewReader(bufio.NewReaderSize(f, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("reading trace %s: %w", path, err)
	}
	t := &tracer{traced: &traced{}, alive: map[trace.GoID]*life{}}
	for {
		ev, err := r.ReadEvent()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.broken = err
			break
		}
		t.event(&ev)
	}
	if t.clock == nil {
		return nil, fmt.Errorf("reading trace %s: it has no time of day; build the program with Go 1.25 or later", path)
	}
	t.finish()
	return t.traced, nil
}

// A tracer collects lives from the events of a trace.
type tracer struct {
	*traced
	alive    map[trace.GoID]*life
	clock    *trace.ClockSnapshot
	from, to trace.Time // the first and the last event
	synced   bool       // the next event is the first of a generation
	advanced []advance
}

// An advance is the time in which the runtime ends one
// generation of a trace and begins the next. It may be long on a
// busy machine. The last event of the earlier generation may
// come after many of the later one. The reader of the trace
// sorts by generation first, and gives all these events the time
// of that last one. So nobody knows what happened between the
// two times.
type advance struct{ from, to trace.Time }

func (t *tracer) event(ev *trace.Event) {
	t.events++
	if ev.Kind() == trace.EventSync {
		if c := ev.Sync().ClockSnapshot; c != nil && t.clock == nil {
			t.clock = c
		}
		t.synced = t.from != 0
		return
	}
	if t.from == 0 {
		t.from = ev.Time()
	}
	if t.synced {
		t.synced = false
		t.advance(ev)
	}
	t.to = ev.Time()
	switch {
	case ev.Kind() == trace.EventRangeBegin && ev.Range().Name == "GC concurrent mark phase":
		t.collections++
	case ev.Kind() == trace.EventStateTransition && ev.StateTransition().Resource.Kind == trace.ResourceGoroutine:
		t.transition(ev.Time(), ev.StateTransition())
	}
}

// advance notes a change of generations. The first event of a
// generation is one of the goroutine that changes them, which
// has run since the change began. If it is not known when that
// was, the change began at the last event before.
func (t *tracer) advance(ev *trace.Event) {
	from := t.to
	if l := t.alive[ev.Goroutine()]; l != nil && l.now == running {
		from = l.since
	}
	t.advanced = append(t.advanced, advance{from, ev.Time()})
}

func (t *tracer) transition(at trace.Time, st trace.StateTransition) {
	id := st.Resource.Goroutine()
	from, to := st.Goroutine()
	l, known := t.alive[id]
	if !known {
		l = &life{id: int64(id), since: at}
		if from == trace.GoUndetermined {
			// It has been in this state since the trace began:
			// the trace has a state that never changes only
			// late.
			l.since, l.now = t.from, stateOf(st, to)
		}
		t.alive[id] = l
		t.lives = append(t.lives, l)
	}
	if l.start == "" {
		l.start = startOf(st)
	}
	if from == to && known {
		return // the trace repeats all states now and then
	}
	l.end(at)
	if to == trace.GoNotExist {
		delete(t.alive, id)
		return
	}
	l.now = stateOf(st, to)
}

// end ends the span of a life's present state.
func (l *life) end(at trace.Time) {
	if at > l.since {
		l.spans = append(l.spans, span{int64(l.since), int64(at), l.now})
	}
	l.since = at
}

// finish ends all lives, and converts their times to nanoseconds since 1970.
func (t *tracer) finish() {
	for _, l := range t.alive {
		l.end(t.to)
	}
	shift := t.clock.Wall.UnixNano() - int64(t.clock.Trace)
	for _, a := range t.advanced {
		t.unsure = append(t.unsure, interval{int64(a.from) + shift, int64(a.to) + shift})
	}
	for _, l := range t.lives {
		for i := range l.spans {
			l.spans[i].from += shift
			l.spans[i].to += shift
		}
		l.cut(t.unsure)
	}
	t.first, t.last = time.Unix(0, int64(t.from)+shift), time.Unix(0, int64(t.to)+shift)
}

// cut removes intervals, which are in ascending order, from the spans.
func (l *life) cut(intervals []interval) {
	var kept []span
	for _, sp := range l.spans {
		first := sort.Search(len(intervals), func(i int) bool { return intervals[i].to > sp.from })
		for _, v := range intervals[first:] {
			if v.from >= sp.to {
				break
			}
			if v.from > sp.from {
				kept = append(kept, span{sp.from, v.from, sp.state})
			}
			sp.from = v.to
		}
		if sp.from < sp.to {
			kept = append(kept, sp)
		}
	}
	l.spans = kept
}

// isSure reports whether the trace knows what happened at a time.
func (t *traced) isSure(at int64) bool {
	i := sort.Search(len(t.unsure), func(i int) bool { return t.unsure[i].to > at })
	return i == len(t.unsure) || !t.unsure[i].has(at)
}

// sure returns for how long between two times the trace knows
// what happened, in nanoseconds.
func (t *traced) sure(from, to int64) int64 {
	sum := to - from
	for _, v := range t.unsure {
		sum -= max(0, min(v.to, to)-max(v.from, from))
	}
	return sum
}

// at returns the index of the span that a time lies in; -1 if
// there is none.
func (l *life) at(ns int64) int {
	i := sort.Search(len(l.spans), func(i int) bool { return l.spans[i].to > ns })
	if i < len(l.spans) && l.spans[i].from <= ns {
		return i
	}
	return -1
}
