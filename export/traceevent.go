package export

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/locks"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// traceEvent is the Trace Event Format, which ui.perfetto.dev and chrome://tracing read: a track for each goroutine, whose slices are
// the times in which the goroutine did the same with the same stack, and a counter for each monitor.
var traceEvent = Format{
	Name:  "trace-event",
	Help:  "JSON for ui.perfetto.dev: a track for each goroutine, counters",
	File:  "run.trace.json",
	write: writeTraceEvent,

	OfRecording: true,
	oneOnly:     "its tracks show what the goroutines of one recording did, and when",
}

// A traceSlice is a complete event ("X"), a counter ("C") or metadata ("M").
type traceSlice struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	Cat   string         `json:"cat,omitempty"`
	At    microseconds   `json:"ts"`
	Lasts *microseconds  `json:"dur,omitempty"`
	PID   int64          `json:"pid"`
	TID   int64          `json:"tid"`
	Stack string         `json:"sf,omitempty"` // a key of stackFrames
	Args  map[string]any `json:"args,omitempty"`
}

// microseconds are written with three digits after the point.
type microseconds time.Duration

func (m microseconds) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%d.%03d", int64(m)/1000, int64(m)%1000), nil
}

// A tracer writes the events of a recording.
type tracer struct {
	*jsonWriter
	s        *Subject
	r        *sampledata.Recording
	from, to int32 // samples
	class    func(sampledata.Run) string
	only     string // the class of a Thread View; "" for all
	lock     func(sampledata.Run) string
	named    []bool // by goroutine
	events   int
}

func writeTraceEvent(w io.Writer, s *Subject) error {
	if err := s.needSamples("times"); err != nil {
		return err
	}
	if err := s.needWhole("tracks show all that goroutines did"); err != nil {
		return err
	}
	r := s.Recording
	from, to, err := s.Options.Span.Samples(r)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	t := &tracer{
		jsonWriter: &jsonWriter{w: out}, s: s, r: r, from: from, to: to, class: views.ClassNamer(r, s.Options), lock: locks.NameOf(r),
		named: make([]bool, len(r.Goroutines)),
	}
	if s.Open != calltree.RootName {
		t.only = s.Open
	}
	t.raw(`{"displayTimeUnit":"ns","otherData":{"exporter":"cpprof","recording":`)
	t.value(s.Path)
	t.raw(`},"traceEvents":[`)
	t.event(traceSlice{Name: "process_name", Phase: "M", PID: r.Header.PID, Args: map[string]any{"name": r.Header.Executable}})
	t.goroutines()
	t.counters()
	t.raw(`],"stackFrames":{`)
	t.frames()
	t.raw("}}\n")
	if t.err != nil {
		return t.err
	}
	return out.Flush()
}

func (t *tracer) event(e traceSlice) {
	if t.events > 0 {
		t.raw(",\n")
	}
	t.events++
	t.value(e)
}

// at returns when a sample is; behind the last one, when the recording ends.
func (t *tracer) at(sample int32) time.Duration {
	n := t.r.Samples.Len()
	switch {
	case int(sample) < n:
		return t.r.Samples.Time(int(sample))
	case n == 0:
		return t.r.Stats().Duration
	}
	return max(t.r.Stats().Duration, t.r.Samples.Time(n-1))
}

// stateNames are the names of slices. How the time of a runnable goroutine is divided depends on all others, and only views say it.
var stateNames = map[sampledata.RunState]string{
	sampledata.Running: "RUN", sampledata.Detached: "RUN", sampledata.Runnable: "ready to run", sampledata.Waiting: "WAIT",
	sampledata.Blocked: "MONITOR", sampledata.Unknown: "unknown",
}

// goroutines writes a slice for each run.
func (t *tracer) goroutines() {
	end := t.at(t.to)
	for _, run := range t.r.Runs.All() {
		if run.Last < t.from || run.First >= t.to || t.only != "" && t.class(run) != t.only {
			continue
		}
		if !t.named[run.Goroutine] {
			t.named[run.Goroutine] = true
			t.track(run)
		}
		begin := t.at(max(run.First, t.from))
		until := end
		if run.Last+1 < t.to {
			until = t.at(run.Last + 1)
		}
		lasts := microseconds(until - begin)
		e := traceSlice{
			Name: stateNames[run.Run], Phase: "X", Cat: "state", At: microseconds(begin), Lasts: &lasts, PID: t.r.Header.PID, TID: int64(run.Goroutine) + 1,
			Args: map[string]any{},
		}
		if run.Stack != sampledata.NoStack {
			e.Stack = strconv.Itoa(int(run.Stack))
			e.Args["in"] = t.place(run.Stack)
		}
		if run.NoCPU {
			e.Name = "no CPU"
		}
		if run.Reason != "" {
			e.Args["reason"] = run.Reason
		}
		if run.Run == sampledata.Blocked {
			e.Args["lock"] = t.lock(run)
		}
		t.event(e)
	}
}

// place returns the innermost function of a stack that is not of the runtime.
func (t *tracer) place(stack sampledata.NodeID) string {
	name := ""
	for n := stack; n != sampledata.NoStack; n = t.r.Nodes[n].Parent {
		name = t.r.Functions[t.r.Nodes[n].Function].Name
		if !strings.HasPrefix(name, "runtime.") && !strings.HasPrefix(name, "sync.") && !strings.HasPrefix(name, "internal/") {
			break
		}
	}
	return name
}

// track names the track of a goroutine.
func (t *tracer) track(run sampledata.Run) {
	g := &t.r.Goroutines[run.Goroutine]
	tid := int64(run.Goroutine) + 1
	name := fmt.Sprintf("%s %d", t.class(run), g.ID)
	t.event(traceSlice{Name: "thread_name", Phase: "M", PID: t.r.Header.PID, TID: tid, Args: map[string]any{"name": name}})
}

// counters writes the values of the monitors.
func (t *tracer) counters() {
	for i := range t.r.Series {
		s := &t.r.Series[i]
		for sample, v := range s.All() {
			if x, ok := v.Float(); ok && int32(sample) >= t.from && int32(sample) < t.to {
				t.event(traceSlice{Name: s.Name, Phase: "C", At: microseconds(t.at(int32(sample))), PID: t.r.Header.PID, Args: map[string]any{s.Unit: x}})
			}
		}
	}
}

// frames writes the table of stacks.
func (t *tracer) frames() {
	for i := range t.r.Nodes {
		n := &t.r.Nodes[i]
		if i > 0 {
			t.raw(",\n")
		}
		f := t.r.Functions[n.Function]
		frame := map[string]any{"name": f.Name, "category": f.File}
		if n.Parent != sampledata.NoStack {
			frame["parent"] = strconv.Itoa(int(n.Parent))
		}
		t.raw(`"` + strconv.Itoa(i) + `":`)
		t.value(frame)
	}
}
