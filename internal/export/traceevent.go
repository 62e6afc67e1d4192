package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/cpprof/cpprof/views/locks"
)

// traceEvent is the Trace Event Format, which ui.perfetto.dev
// reads. Each goroutine has a track. The slices of a track are
// its calls, one inside the other; in the innermost call they
// show what the goroutine did. Each monitor has a counter. A
// slice lasts as long as successive samples have the call. The
// recordings of a comparison are two processes, which begin at
// the same time.
var traceEvent = Format{
	Name:  "trace-event",
	Help:  "JSON for ui.perfetto.dev: a track for each goroutine, counters",
	File:  "run.trace.json",
	write: writeTraceEvent,

	OfRecording: true,
}

// A traceRecord is the beginning ("B") or the end ("E") of a
// slice, a counter ("C"), or metadata ("M"). There are no
// complete events ("X"): readers that compute in floating point
// round their ends, and mistake their order. The end has the
// name, too: speedscope needs it.
type traceRecord struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	Cat   string         `json:"cat,omitempty"`
	At    microseconds   `json:"ts"`
	PID   int64          `json:"pid"`
	TID   int64          `json:"tid"`
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
	weights  sampledata.Weights
	class    func(sampledata.Run) string
	only     string // the class of a Thread View; "" for all
	lock     func(sampledata.Run) string
	tracks   []track  // by goroutine
	names    []string // by function, as an event begins with it; "" if it was not written yet
	frames   []sampledata.FunctionID

	threads int  // goroutines of the recordings before it
	written *int // events, of all
}

// A track is what is open on the track of a goroutine.
type track struct {
	named bool
	calls []sampledata.FunctionID // from the outermost in
	state string                  // the name of the state, inside them
	until int32                   // the sample at which the state ends
}

// maxTrace is the largest size of a trace, in bytes. Viewers
// keep a trace in the memory of a browser's page, which has a
// few gigabytes.
const maxTrace = 2 << 30

// A boundedWriter fails after a number of bytes.
type boundedWriter struct {
	to         io.Writer
	most, done int64
}

func (b *boundedWriter) Write(p []byte) (int, error) {
	if b.done += int64(len(p)); b.done > b.most {
		return 0, fmt.Errorf("it is larger than %d bytes, too much for viewers: write a class (--thread), a span (--span) or both", b.most)
	}
	return b.to.Write(p)
}

func writeTraceEvent(w io.Writer, s *Subject) error {
	return writeTrace(&boundedWriter{to: w, most: maxTrace}, s)
}

func writeTrace(w io.Writer, s *Subject) error {
	if err := s.needWhole("tracks show all that goroutines did"); err != nil {
		return err
	}
	j := &jsonWriter{w: bufio.NewWriter(w)}
	tracers, err := s.tracers(j)
	if err != nil {
		return err
	}
	j.raw(`{"displayTimeUnit":"ns","otherData":{"exporter":"cpprof","recording":`)
	j.value(s.Path)
	j.raw(`},"traceEvents":[`)
	for _, t := range tracers {
		t.event(traceRecord{Name: "process_name", Phase: "M",
			Args: map[string]any{"name": t.process}})
		t.goroutines()
		t.counters()
	}
	return j.end()
}

// tracers returns the tracers of the recording and of the one to compare.
func (s *Subject) tracers(j *jsonWriter) ([]*tracer, error) {
	recordings := []views.Named{{Name: s.Path, Recording: s.Recording}}
	if s.Compared() {
		recordings = append(recordings, s.Against)
	}
	var list []*tracer
	pid, threads, written := int64(0), 0, 0
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
			jsonWriter: j, r: r, pid: r.Header.PID, process: r.Header.Executable,
			from: from, to: to, weights: r.Weights(), class: views.ClassOf(r, s.Options),
			lock: locks.Namer(r, locks.ByField), tracks: make([]track, r.Goroutines.Len()),
			names:   make([]string, len(r.Functions)),
			threads: threads, written: &written,
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
		threads += r.Goroutines.Len()
		list = append(list, t)
	}
	return list, nil
}

func (t *tracer) event(e traceRecord) {
	t.separate()
	e.PID = t.pid
	t.value(e)
}

func (t *tracer) separate() {
	if *t.written > 0 {
		t.raw(",\n")
	}
	*t.written++
}

// calls is event for the beginnings or ends of calls. There are very many.
func (t *tracer) calls(phase string, functions iter.Seq2[int, sampledata.FunctionID],
	at time.Duration, g sampledata.GoroutineID) {
	rest := fmt.Sprintf(`,"ph":%q,"ts":%d.%03d,"pid":%d,"tid":%d}`, phase, at/1000,
		at%1000, t.pid, t.thread(g))
	for _, f := range functions {
		if t.names[f] == "" {
			name, err := json.Marshal(t.r.Functions[f].Name)
			if t.err == nil {
				t.err = err
			}
			t.names[f] = `{"name":` + string(termtext.JSON(name))
		}
		t.separate()
		t.raw(t.names[f])
		t.raw(rest)
	}
}

// thread returns the number of a goroutine's track.
func (t *tracer) thread(g sampledata.GoroutineID) int64 { return int64(t.threads) + int64(g) + 1 }

// at returns when a sample is; behind the last one, when the
// recording ends.
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

// stateName returns the name of a slice. How the time of a
// goroutine that is ready is divided depends on all others: only
// views say it.
func stateName(does views.Doing) string {
	switch does {
	case views.Ready:
		return "ready to run"
	case views.WithoutCPU:
		return "no CPU"
	}
	return does.Time().Name()
}

// goroutines writes the slices of all goroutines.
func (t *tracer) goroutines() {
	for i, run := range t.r.Runs.All() {
		if t.err != nil {
			return
		}
		if !t.r.Counts(i) || run.Last < t.from || run.First >= t.to || t.only != "" && t.class(run) != t.only {
			continue
		}
		run.First, run.Last = max(run.First, t.from), min(run.Last, t.to-1)
		for part, last := run, run.Last; part.First <= last; part.First = part.Last + 1 {
			for part.Last = part.First; part.Last < last && !t.breaks(part.Last+1); {
				part.Last++
			}
			t.run(part)
		}
	}
	for g := range t.tracks {
		if t.tracks[g].named {
			t.leave(sampledata.GoroutineID(g), 0)
		}
	}
}

// breaks reports whether samples were left out before one.
func (t *tracer) breaks(sample int32) bool {
	return t.r.Picked != nil && t.r.Picked.Breaks(int(sample))
}

// ends returns when that is over which was seen up to a sample:
// then, or if samples were left out before it, after the time
// for which the last one stands.
func (t *tracer) ends(sample int32) time.Duration {
	at := t.at(sample)
	if t.breaks(sample) {
		before := int(sample) - 1
		at = min(at, t.r.Samples.Time(before)+time.Duration(t.weights.Of(before, before+1)))
	}
	return at
}

// run ends the calls that a goroutine has left, and begins the
// calls of a run. Calls that it is still in go on.
func (t *tracer) run(run sampledata.Run) {
	g, of, does := run.Goroutine, &t.tracks[run.Goroutine], views.DoingOf(run)
	t.frames = t.frames[:0]
	for n := run.Stack; n != sampledata.NoStack; n = t.r.Nodes[n].Parent {
		t.frames = append(t.frames, t.r.Nodes[n].Function)
	}
	slices.Reverse(t.frames)
	same := 0
	switch {
	case !of.named:
		of.named = true
		t.name(run)
	default:
		for of.until == run.First && !t.breaks(run.First) &&
			same < min(len(t.frames), len(of.calls)) && t.frames[same] == of.calls[same] {
			same++
		}
		t.leave(g, same)
	}
	t.calls("B", slices.All(t.frames[same:]), t.at(run.First), g)
	e := traceRecord{Name: stateName(does), Phase: "B", Cat: "state",
		At: microseconds(t.at(run.First)), TID: t.thread(g), Args: map[string]any{}}
	if run.Reason != "" {
		e.Args["reason"] = run.Reason
	}
	if does == views.AwaitingLock {
		e.Args["lock"] = t.lock(run)
	}
	t.event(e)
	of.calls, of.state, of.until = append(of.calls[:same], t.frames[same:]...), e.Name, run.Last+1
}

// leave ends the state of a goroutine, and all its calls but the
// outermost ones.
func (t *tracer) leave(g sampledata.GoroutineID, outermost int) {
	of := &t.tracks[g]
	at := t.ends(of.until)
	t.event(traceRecord{Name: of.state, Phase: "E", At: microseconds(at), TID: t.thread(g)})
	t.calls("E", slices.Backward(of.calls[outermost:]), at, g)
}

// name names the track of a goroutine.
func (t *tracer) name(run sampledata.Run) {
	g := t.r.Goroutines.At(run.Goroutine)
	name := fmt.Sprintf("%s %d", t.class(run), g.ID)
	t.event(traceRecord{Name: "thread_name", Phase: "M", TID: t.thread(run.Goroutine),
		Args: map[string]any{"name": name}})
}

// counters writes the values of the monitors.
func (t *tracer) counters() {
	for i := range t.r.Series {
		s := &t.r.Series[i]
		for sample, v := range s.All() {
			if x, ok := v.Float(); ok && int32(sample) >= t.from && int32(sample) < t.to {
				t.event(traceRecord{Name: s.Name, Phase: "C",
					At: microseconds(t.at(int32(sample))), Args: map[string]any{s.Unit: x}})
			}
		}
	}
}
