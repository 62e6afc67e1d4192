package monitor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/edit"
	"github.com/cpprof/cpprof/sampledata"
)

// perfPrefix begins the names of the kernel's performance
// events. On its own, without the dot, it is a request for all
// events.
const perfPrefix = "perf."

// A perfEvent is an event that the kernel counts for each
// thread, by itself or with a counter of the processor
// (perf_event_open(2)).
type perfEvent struct {
	name     string
	hardware bool // it needs a counter of the processor
	config   uint64
	unit     string
}

// The numbers are PERF_COUNT_HW_... and PERF_COUNT_SW_... of the kernel.
var perfEvents = []perfEvent{
	{"perf.cycles", true, 0, ""},
	{"perf.instructions", true, 1, ""},
	{"perf.cache_references", true, 2, ""},
	{"perf.cache_misses", true, 3, ""},
	{"perf.branches", true, 4, ""},
	{"perf.branch_misses", true, 5, ""},
	{"perf.stalled_cycles_frontend", true, 7, ""},
	{"perf.stalled_cycles_backend", true, 8, ""},
	{"perf.task_clock", false, 1, "ns"},
	{"perf.page_faults", false, 2, ""},
	{"perf.context_switches", false, 3, ""},
	{"perf.migrations", false, 4, ""},
	{"perf.minor_faults", false, 5, ""},
	{"perf.major_faults", false, 6, ""},
}

func (e *perfEvent) monitor() sampledata.Monitor {
	m := sampledata.Monitor{
		Name: e.name, Layer: sampledata.Kernel, Kind: sampledata.Counter, Unit: e.unit,
		Source: "perf_event_open, all threads: a software event",
	}
	if e.hardware {
		m.Layer, m.Source = sampledata.Hardware,
			"perf_event_open, all threads: a counter of the processor, scaled if it counted only part of the time"
	}
	return m
}

// perfRequest returns the events that a request names; false if
// it is not about events.
func perfRequest(text string) (events []perfEvent, isPerf bool, err error) {
	if text == strings.TrimSuffix(perfPrefix, ".") {
		return perfEvents, true, nil
	}
	if !strings.HasPrefix(text, perfPrefix) {
		return nil, false, nil
	}
	var names []string
	for _, e := range perfEvents {
		if e.name == text {
			return []perfEvent{e}, true, nil
		}
		names = append(names, e.name)
	}
	if near := edit.Nearest(text, names); near != "" {
		return nil, true, fmt.Errorf("monitor %s: no such event: did you mean %s?", text, near)
	}
	return nil, true, fmt.Errorf("monitor %s: no such event: want one of %s", text,
		strings.Join(names, ", "))
}

// performance returns a source of events.
func performance(events []perfEvent) Source {
	events = slices.Clone(events)
	s := Source{}
	for i := range events {
		s.Monitors = append(s.Monitors, events[i].monitor())
	}
	s.Open = func(t Target) (Reader, error) { return openPerf(t, events) }
	return s
}
