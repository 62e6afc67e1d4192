package interchange

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampledata"
	"golang.org/x/exp/trace"
)

// executionTrace is the format of runtime/trace. go tool trace reads it, too.
var executionTrace = Format{
	Name:  "trace",
	Title: "an execution trace",
	Sniff: func(s Start) bool {
		return strings.HasPrefix(string(s.Bytes), "go 1.") &&
			strings.Contains(string(s.Bytes[:min(16, len(s.Bytes))]), " trace\x00")
	},
	Read: readTrace,
}

// Thinned is the kind of the warning that a trace is not kept exactly.
const Thinned = "thinned"

// maxChanges is the number of changes of a trace that are kept exactly.
const maxChanges = 3 << 19

// eventsBetween is how many events are read between two looks at
// the memory.
const eventsBetween = 1 << 14

// readTrace reads an execution trace of Go 1.22 or later.
func readTrace(in *Input, o Options) (*sampledata.Recording, error) {
	counted := &meter{in: in} // bytes that are not compressed
	t := newTracer(o)
	err := t.read(counted)
	if t.events == 0 {
		if err == nil {
			err = errors.New("it has no events")
		}
		return nil, fmt.Errorf("execution trace: byte %d: %w", counted.read, err)
	}
	if _, ok := errors.AsType[*memory.Error](err); ok {
		return nil, fmt.Errorf("execution trace: %w", err)
	}
	if err != nil {
		t.timed.Warn(sampledata.DamagedFile,
			fmt.Sprintf("execution trace: near byte %d: %v", counted.read, err), 1)
	}
	return t.recording(), nil
}

// A tracer makes a recording from the events of a trace.
type tracer struct {
	timed    *sampledata.Timed
	from, to time.Duration // the part to keep; to is 0 for all

	events     int
	begin, now trace.Time
	start      time.Time // of the trace; zero if not known
	processors int32
	stopped    int // number of reasons for which the world is stopped
	collecting bool

	alive  *tracedTable
	stacks stackTable
	tasks  map[trace.TaskID]*task
}

func newTracer(o Options) *tracer {
	t := &tracer{
		timed: sampledata.NewTimed(sampledata.Header{Clock: "trace",
			Sampler: sampledata.Settings{Backend: sampledata.FromTrace}}, o.From, maxChanges),
		from: o.From, to: o.To, alive: newTracedTable(), tasks: make(map[trace.TaskID]*task),
	}
	t.timed.Limit(o.MaxMemory)
	t.stacks = newStackTable(t.timed.Builder)
	return t
}

// read reads events until the end or an error.
func (t *tracer) read(in *meter) (err error) {
	defer func() {
		if p := recover(); p != nil { // the reader of damaged traces
			err = fmt.Errorf("it is damaged: %v", p)
		}
	}()
	r, err := trace.NewReader(bufio.NewReaderSize(in, 64<<10))
	if err != nil {
		return err
	}
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF { // the reader wraps one at which more should come
			return nil
		}
		if err != nil {
			message, _, _ := strings.Cut(err.Error(), "\n") // the rest is the state of the reader
			return errors.New(message)
		}
		if t.event(&ev); ev.Kind() == trace.EventSync {
			continue // of a trace with nothing else, the rest is missing
		}
		if t.events++; t.events%eventsBetween == 0 {
			if err := t.timed.Charge(); err != nil {
				return err
			}
		}
	}
}

// at returns the time of an event since the start, within the
// part to keep. Time outside of the part has no length.
func (t *tracer) at(when trace.Time) time.Duration {
	at := max(when.Sub(t.begin), t.from)
	if t.to > 0 {
		at = min(at, t.to)
	}
	return at
}

func (t *tracer) event(ev *trace.Event) {
	if t.events == 0 {
		t.begin = ev.Time()
	}
	t.now = max(t.now, ev.Time())
	switch ev.Kind() {
	case trace.EventSync:
		t.sync(ev)
	case trace.EventStateTransition:
		if st := ev.StateTransition(); st.Resource.Kind == trace.ResourceGoroutine {
			t.transition(ev, &st)
		}
	case trace.EventStackSample:
		t.executes(ev)
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		t.rangeEvent(ev)
	case trace.EventMetric:
		if m := ev.Metric(); m.Name == "/sched/gomaxprocs:threads" &&
			m.Value.Kind() == trace.ValueUint64 {
			t.processors = max(t.processors, int32(min(m.Value.Uint64(), 1<<16)))
		}
	case trace.EventTaskBegin:
		t.tasks[ev.Task().ID] = &task{name: ev.Task().Type, by: ev.Goroutine(), begin: ev.Time(),
			site: siteOf(ev)}
	case trace.EventTaskEnd:
		if task := t.tasks[ev.Task().ID]; task != nil {
			t.called("task:"+task.name, task.by, task.begin, ev.Time(), false, task.site)
		}
		delete(t.tasks, ev.Task().ID)
	case trace.EventRegionBegin, trace.EventRegionEnd:
		t.region(ev)
	}
}

// sync begins a part of the trace with tables of its own.
func (t *tracer) sync(ev *trace.Event) {
	t.stacks.forget()
	if c := ev.Sync().ClockSnapshot; c != nil && t.start.IsZero() {
		t.start = c.Wall.Add(-c.Trace.Sub(t.begin))
	}
}

// rangeEvent notes that the world is stopped, or that the collector marks.
func (t *tracer) rangeEvent(ev *trace.Event) {
	name, begins := ev.Range().Name, ev.Kind() != trace.EventRangeEnd
	switch {
	case strings.HasPrefix(name, "stop-the-world"):
		if begins {
			t.stopped++
		} else {
			t.stopped = max(0, t.stopped-1)
		}
	case name == "GC concurrent mark phase":
		t.collecting = begins
	default:
		return
	}
	t.timed.World(t.at(ev.Time()), t.stopped > 0, t.collecting)
}

// recording ends all goroutines, and returns the recording.
func (t *tracer) recording() *sampledata.Recording {
	for _, g := range t.alive.all {
		t.end(g, t.now, nil)
		for _, r := range g.regions {
			t.leaveRegion(g, &r, t.now, true)
		}
	}
	for _, one := range t.tasks {
		t.called("task:"+one.name, one.by, one.begin, t.now, true, one.site)
	}
	if strip := t.timed.Thinned(); strip > 0 {
		t.timed.Warn(Thinned, fmt.Sprintf(
			"the trace has more than %d changes: of each %v, one moment was kept, at random, and stands for it; "+
				"a part that --span chooses is exact if it is short enough", maxChanges,
			strip.Round(time.Nanosecond)), 1)
	}
	r := t.timed.Recording(sampledata.End{Cause: sampledata.EndDuration, Time: t.at(t.now)})
	r.Header.GOMAXPROCS = t.processors
	r.Header.Start = t.start
	return r
}
