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
// the times in which the goroutine did the same with the same stack, and a counter for each monitor. The recordings of a comparison are
// two processes, which begin at the same time.
var traceEvent = Format{
	Name:  "trace-event",
	Help:  "JSON for ui.perfetto.dev: a track for each goroutine, counters",
	File:  "run.trace.json",
	write: writeTraceEvent,

	OfRecording: true,
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
	r        *sampledata.Recording
	pid      int64
	process  string // its name
	from, to int32  // samples
	class    func(sampledata.Run) string
	only     string // the class of a Thread View; "" for all
	lock     func(sampledata.Run) string
	named    []bool // by goroutine

	// What the recordings before it have written.
	threads, nodes int
	written        *int // events, of all
}

func writeTraceEvent(w io.Writer, s *Subject) error {
	if err := s.needWhole("tracks show all that goroutines did"); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	j := &jsonWriter{w: out}
	tracers, err := s.tracers(j)
	if err != nil {
		return err
	}
	j.raw(`{"displayTimeUnit":"ns","otherData":{"exporter":"cpprof","recording":`)
	j.value(s.Path)
	j.raw(`},"traceEvents":[`)
	for _, t := range tracers {
		t.event(traceSlice{Name: "process_name", Phase: "M", Args: map[string]any{"name": t.process}})
		t.goroutines()
		t.counters()
	}
	j.raw(`],"stackFrames":{`)
	for _, t := range tracers {
		t.frames()
	}
	j.raw("}}\n")
	if j.err != nil {
		return j.err
	}
	return out.Flush()
}

// tracers returns the tracer of the recording, and that of the one with which it is compared.
func (s *Subject) tracers(j *jsonWriter) ([]*tracer, error) {
	recordings := []views.Named{{Name: s.Path, Recording: s.Recording}}
	if s.Compared() {
		recordings = append(recordings, s.Against)
	}
	var list []*tracer
	pid, threads, nodes, written := int64(0), 0, 0, 0
	for i, of := range recordings {
		r := of.Recording
		if err := needSamples(r, "times"); err != nil {
			return nil, err
		}
		from, to, err := s.Options.Span.Samples(r)
		if err != nil {
			return nil, err
		}
		t := &tracer{
			jsonWriter: j, r: r, pid: r.Header.PID, process: r.Header.Executable, from: from, to: to, class: views.ClassNamer(r, s.Options),
			lock: locks.NameOf(r), named: make([]bool, len(r.Goroutines)), threads: threads, nodes: nodes, written: &written,
		}
		if s.Open != calltree.RootName {
			t.only = s.Open
		}
		if s.Compared() {
			t.process = of.Name + ": " + t.process
		}
		if i > 0 && t.pid == pid {
			t.pid++
		}
		pid = t.pid
		threads += len(r.Goroutines)
		nodes += len(r.Nodes)
		list = append(list, t)
	}
	return list, nil
}

func (t *tracer) event(e traceSlice) {
	if *t.written > 0 {
		t.raw(",\n")
	}
	*t.written++
	e.PID = t.pid
	t.value(e)
}

// thread returns the number of a goroutine's track.
func (t *tracer) thread(g sampledata.GoroutineID) int64 { return int64(t.threads) + int64(g) + 1 }

// frame returns the key of a stack in the table of stacks.
func (t *tracer) frame(stack sampledata.NodeID) string { return strconv.Itoa(t.nodes + int(stack)) }

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
			Name: stateNames[run.Run], Phase: "X", Cat: "state", At: microseconds(begin), Lasts: &lasts, TID: t.thread(run.Goroutine),
			Args: map[string]any{},
		}
		if run.Stack != sampledata.NoStack {
			e.Stack = t.frame(run.Stack)
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
	name := fmt.Sprintf("%s %d", t.class(run), g.ID)
	t.event(traceSlice{Name: "thread_name", Phase: "M", TID: t.thread(run.Goroutine), Args: map[string]any{"name": name}})
}

// counters writes the values of the monitors.
func (t *tracer) counters() {
	for i := range t.r.Series {
		s := &t.r.Series[i]
		for sample, v := range s.All() {
			if x, ok := v.Float(); ok && int32(sample) >= t.from && int32(sample) < t.to {
				t.event(traceSlice{Name: s.Name, Phase: "C", At: microseconds(t.at(int32(sample))), Args: map[string]any{s.Unit: x}})
			}
		}
	}
}

// frames writes the table of stacks.
func (t *tracer) frames() {
	for i := range t.r.Nodes {
		n := &t.r.Nodes[i]
		if t.nodes+i > 0 {
			t.raw(",\n")
		}
		f := t.r.Functions[n.Function]
		frame := map[string]any{"name": f.Name, "category": f.File}
		if n.Parent != sampledata.NoStack {
			frame["parent"] = t.frame(n.Parent)
		}
		t.raw(`"` + t.frame(sampledata.NodeID(i)) + `":`)
		t.value(frame)
	}
}
