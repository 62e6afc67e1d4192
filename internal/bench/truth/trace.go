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

// A traced holds the states of all goroutines, as an execution trace has them.
type traced struct {
	lives       []*life
	first, last time.Time
	events      int
	collections int   // number of garbage collections
	broken      error // why the trace ends early, if it does
}

// A life is a goroutine from its beginning to its end, as far as they are in the trace.
type life struct {
	id    int64
	start string // the function of its go statement
	born  bool   // in the trace
	spans []span // without gaps

	now   state
	since trace.Time
}

// A span is the time that a goroutine spent in a state, by the trace's clock.
type span struct {
	from, to int64
	state    state
}

// readTrace reads an execution trace of Go 1.25 or later: earlier ones don't have the time of day.
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
}

func (t *tracer) event(ev *trace.Event) {
	t.events++
	if ev.Kind() == trace.EventSync {
		if c := ev.Sync().ClockSnapshot; c != nil && t.clock == nil {
			t.clock = c
		}
		return
	}
	if t.from == 0 {
		t.from = ev.Time()
	}
	t.to = ev.Time()
	switch {
	case ev.Kind() == trace.EventRangeBegin && ev.Range().Name == "GC concurrent mark phase":
		t.collections++
	case ev.Kind() == trace.EventStateTransition && ev.StateTransition().Resource.Kind == trace.ResourceGoroutine:
		t.transition(ev.Time(), ev.StateTransition())
	}
}

func (t *tracer) transition(at trace.Time, st trace.StateTransition) {
	id := st.Resource.Goroutine()
	from, to := st.Goroutine()
	l, known := t.alive[id]
	if !known {
		l = &life{id: int64(id), born: from == trace.GoNotExist, since: at}
		if from == trace.GoUndetermined {
			// It has been in this state since the trace began: the trace has a state that never changes only late.
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
	for _, l := range t.lives {
		for i := range l.spans {
			l.spans[i].from += shift
			l.spans[i].to += shift
		}
	}
	t.first, t.last = time.Unix(0, int64(t.from)+shift), time.Unix(0, int64(t.to)+shift)
}

// at returns the index of the span that a time lies in; -1 if there is none.
func (l *life) at(ns int64) int {
	i := sort.Search(len(l.spans), func(i int) bool { return l.spans[i].to > ns })
	if i < len(l.spans) && l.spans[i].from <= ns {
		return i
	}
	return -1
}
