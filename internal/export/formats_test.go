package export

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// The structure of a speedscope file, as its format
// specification describes it: a reader that knows all fields.
type speedscopeFile struct {
	Schema string `json:"$schema"`
	Shared struct {
		Frames []struct {
			Name, File string
			Line, Col  int
		}
	}
	Profiles []struct {
		Type, Name, Unit     string
		StartValue, EndValue int64
		Samples              [][]int
		Weights              []int64
	}
	Name, Exporter     string
	ActiveProfileIndex int
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%v: %.2000s", err, text)
	}
}

// A speedscope file has a profile for each class. Its weights
// are the times of the stacks.
func TestSpeedscope(t *testing.T) {
	for name, maker := range map[string]views.Maker{"threads": views.Threads, "server": views.Server} {
		s := subject(t, synthetic.Recording(50, 30, 0.3), views.Options{}, maker)
		s.View = maker
		var f speedscopeFile
		decode(t, write(t, "speedscope", s), &f)
		if f.Schema != speedscopeSchema || name == "threads" && len(f.Profiles) < 5 || name == "server" && len(f.Profiles) != 1 {
			t.Fatalf("%s: schema %s, %d profiles", name, f.Schema, len(f.Profiles))
		}
		total := new(big.Rat)
		for _, p := range f.Profiles {
			sum := int64(0)
			for i, stack := range p.Samples {
				sum += p.Weights[i]
				for _, frame := range stack {
					if frame < 0 || frame >= len(f.Shared.Frames) {
						t.Fatalf("frame %d", frame)
					}
				}
				if name == "threads" && f.Shared.Frames[stack[0]].Name != p.Name {
					t.Fatalf("a stack of %s begins with %s", p.Name, f.Shared.Frames[stack[0]].Name)
				}
			}
			if p.Type != "sampled" || p.Unit != "nanoseconds" || p.StartValue != 0 || p.EndValue != sum || len(p.Samples) != len(p.Weights) {
				t.Errorf("%s %s: to %d, the weights are %d", p.Type, p.Name, p.EndValue, sum)
			}
			total.Add(total, big.NewRat(sum, 1))
		}
		if want := exact.Nearest(s.Session.Tree().Main().Cum(0)); total.Sub(total, new(big.Rat).SetInt(want)).Abs(total).Cmp(big.NewRat(1000, 1)) > 0 {
			t.Errorf("%s: the total differs by %v ns", name, total)
		}
	}
}

// The columns of every table of a Firefox thread have its
// length, and all indexes are in range.
func TestFirefox(t *testing.T) {
	s := subject(t, synthetic.Recording(50, 30, 0.3), views.Options{}, views.Threads)
	s.View = views.Threads
	var f struct {
		Meta    map[string]any
		Threads []map[string]json.RawMessage
	}
	fixture.Check(t, json.Unmarshal([]byte(write(t, "firefox", s)), &f))
	if f.Meta["preprocessedProfileVersion"] != float64(firefoxVersion) || len(f.Threads) < 5 {
		t.Fatalf("meta %v, %d threads", f.Meta, len(f.Threads))
	}
	for _, thread := range f.Threads {
		var texts []string
		fixture.Check(t, json.Unmarshal(thread["stringArray"], &texts))
		tables := map[string]map[string]any{}
		length := map[string]int{"string": len(texts)}
		for _, name := range []string{"samples", "stackTable", "frameTable", "funcTable", "markers", "resourceTable", "nativeSymbols"} {
			table := map[string]any{}
			fixture.Check(t, json.Unmarshal(thread[name], &table))
			tables[name], length[name] = table, int(table["length"].(float64))
			for column, values := range table {
				if values, ok := values.([]any); ok && len(values) != length[name] {
					t.Errorf("%s.%s has %d of %d values", name, column, len(values), length[name])
				}
			}
		}
		for _, c := range []struct{ table, column, of string }{
			{"samples", "stack", "stackTable"}, {"stackTable", "prefix", "stackTable"}, {"stackTable", "frame", "frameTable"},
			{"frameTable", "func", "funcTable"}, {"funcTable", "name", "string"}, {"funcTable", "fileName", "string"},
		} {
			for i, v := range tables[c.table][c.column].([]any) {
				if x, ok := v.(float64); ok && (x < 0 || int(x) >= length[c.of] || c.column == "prefix" && int(x) >= i) {
					t.Fatalf("%s.%s[%d] is %v, of %d", c.table, c.column, i, v, length[c.of])
				}
			}
		}
		checkCategories(t, tables["stackTable"], tables["frameTable"]["category"].([]any))
	}
}

// checkCategories checks that a stack has the category of its
// frame or, if that has none, that of its caller, which is how
// newer versions of the profiler find it; and that nothing below
// a typed time has another one.
func checkCategories(t *testing.T, stacks map[string]any, ofFrame []any) {
	t.Helper()
	prefix, frame, category := stacks["prefix"].([]any), stacks["frame"].([]any), stacks["category"].([]any)
	for i := range category {
		above := 0.0
		if p, ok := prefix[i].(float64); ok {
			above = category[int(p)].(float64)
		}
		want := above
		if own, ok := ofFrame[int(frame[i].(float64))].(float64); ok {
			want = own
			if above != 0 {
				t.Fatalf("stack %d has a frame of category %v, below category %v", i, own, above)
			}
		}
		if category[i] != want {
			t.Fatalf("stack %d is of category %v, want %v", i, category[i], want)
		}
	}
}

// The structure of a trace: a reader that knows all fields.
type traceFile struct {
	DisplayTimeUnit string
	OtherData       map[string]any
	TraceEvents     []struct {
		Name, Ph, Cat string
		Ts            json.Number
		Pid, Tid      int64
		Args          map[string]any
	}
}

// A traceTrack is a thread of a trace, as its slices are replayed.
type traceTrack struct {
	pid    int64
	name   string
	open   []string
	state  string   // what the innermost slice is if it is a state, and when it began
	states []string // those that have ended, with their ends
	last   float64
}

// replay returns the tracks of a trace by thread, the names of
// its processes, and the number of its counters' values.
func (f *traceFile) replay(t *testing.T) (tracks map[int64]*traceTrack, processes map[int64]string, counters int) {
	t.Helper()
	tracks, processes = map[int64]*traceTrack{}, map[int64]string{}
	for _, e := range f.TraceEvents {
		of := tracks[e.Tid]
		at, err := e.Ts.Float64()
		if err != nil || of != nil && (at < of.last || of.pid != e.Pid) {
			t.Fatalf("%+v in %+v: %v", e, of, err)
		}
		switch {
		case e.Ph == "C":
			counters++
			continue
		case e.Name == "process_name":
			processes[e.Pid] = e.Args["name"].(string)
			continue
		case e.Name == "thread_name":
			tracks[e.Tid] = &traceTrack{pid: e.Pid, name: e.Args["name"].(string)}
			continue
		case e.Ph == "B" && of != nil && of.state == "":
			of.open = append(of.open, e.Name)
			if e.Cat == "state" {
				of.state = strings.Join(of.open, " > ") + " " + e.Ts.String()
			}
		case e.Ph == "E" && of != nil && len(of.open) > 0 && e.Name == of.open[len(of.open)-1]:
			if of.state != "" {
				of.states = append(of.states, of.state+" "+e.Ts.String())
			}
			of.open, of.state = of.open[:len(of.open)-1], ""
		default:
			t.Fatalf("%+v in %+v", e, of)
		}
		of.last = at
	}
	for tid, of := range tracks {
		if len(of.open) > 0 {
			t.Errorf("track %d ends inside of %q", tid, of.open)
		}
	}
	return tracks, processes, counters
}

// statesOf returns what a trace has to say of each goroutine of
// a recording.
func statesOf(r *sampledata.Recording) [][]string {
	all := make([][]string, r.Goroutines.Len())
	at := func(sample int32) time.Duration {
		if int(sample) == r.Samples.Len() {
			return r.Stats().Duration
		}
		return r.Samples.Time(int(sample))
	}
	for _, run := range r.Runs.All() {
		text := stateName(views.DoingOf(run))
		for n := run.Stack; n != sampledata.NoStack; n = r.Nodes[n].Parent {
			text = r.Functions[r.Nodes[n].Function].Name + " > " + text
		}
		text += fmt.Sprintf(" %.3f %.3f", at(run.First).Seconds()*1e6, at(run.Last+1).Seconds()*1e6)
		all[run.Goroutine] = append(all[run.Goroutine], text)
	}
	return all
}

// A trace has a track for each goroutine, with all its states
// and the calls around them, from when to when they were.
func TestTraceEvent(t *testing.T) {
	r := synthetic.Recording(50, 30, 0.3)
	s := subject(t, r, views.Options{}, views.Threads)
	var f traceFile
	decode(t, write(t, "trace-event", s), &f)
	tracks, _, counters := f.replay(t)
	for g, want := range statesOf(r) {
		if of := tracks[int64(g)+1]; of == nil || !slices.Equal(of.states, want) {
			t.Fatalf("goroutine %d: %+v, want %q", g, of, want)
		}
	}
	if len(tracks) != r.Goroutines.Len() {
		t.Errorf("%d tracks, want those of %d goroutines", len(tracks), r.Goroutines.Len())
	}
	if len(r.Series) > 0 && counters == 0 {
		t.Error("no counters")
	}
	s = subject(t, r, views.Options{}, views.Server)
	fixture.Check(t, s.Session.Apply(refine.Step{Kind: refine.KindPrune, Text: "* ..:RUN"}))
	s.Part = true
	for _, f := range []*Format{&traceEvent, &csvClasses, &csvLocks, &csvSamples} {
		var out strings.Builder
		if err := f.Write(&out, s); err == nil || !strings.Contains(err.Error(), "leave out") || out.Len() > 0 {
			t.Errorf("%s of a pruned view: %v", f.Name, err)
		}
	}
}

// Time of samples that were left out is in no slice.
func TestTraceEventOfSomeSamples(t *testing.T) {
	r, err := waits(t, 5, "main.f").Pick("some", func(sample int) bool { return sample != 2 && sample != 4 }) // of 1 to 5 ms
	fixture.Check(t, err)
	want := "B1000.000 main.worker|B1000.000 main.f|B1000.000 WAIT|E3000.000 WAIT|E3000.000 main.f|E3000.000 main.worker|" +
		"B4000.000 main.worker|B4000.000 main.f|B4000.000 WAIT|E5000.000 WAIT|E5000.000 main.f|E5000.000 main.worker"
	if got := slicesOf(t, r); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// waits returns a recording of a goroutine that waits in
// functions, each for as many samples as there are per function.
func waits(t *testing.T, samples int, functions ...string) *sampledata.Recording {
	t.Helper()
	b := sampledata.NewBuilder(sampledata.Header{PID: 7, GOMAXPROCS: 1})
	node := func(parent sampledata.NodeID, name string) sampledata.NodeID {
		return b.Node(sampledata.Node{Parent: parent, Function: b.Function(sampledata.Function{Name: name})})
	}
	root := node(sampledata.NoStack, "main.worker")
	g := b.Goroutine(sampledata.Goroutine{ID: 1, Start: b.Function(sampledata.Function{Name: "main.worker"})})
	at := time.Duration(0)
	for _, name := range functions {
		changes := []sampledata.Change{{Goroutine: g, State: sampledata.State{Stack: node(root, name), Run: sampledata.Waiting}}}
		for range samples {
			at += time.Millisecond
			s := sampledata.Sample{Time: at, Processors: []sampledata.GoroutineID{sampledata.IdleProcessor}}
			fixture.Check(t, b.Sample(s, changes))
			changes = nil
		}
	}
	fixture.Check(t,
		b.Finish(sampledata.End{Cause: sampledata.EndDuration, Time: at + time.Millisecond}))
	return b.Recording()
}

// slicesOf returns the beginnings and the ends of the slices in
// the trace of a recording of one goroutine.
func slicesOf(t *testing.T, r *sampledata.Recording) string {
	t.Helper()
	var f traceFile
	decode(t, write(t, "trace-event", subject(t, r, views.Options{}, views.Threads)), &f)
	var got []string
	for _, e := range f.TraceEvents[2:] { // after the names
		got = append(got, fmt.Sprint(e.Ph, e.Ts, " ", e.Name))
	}
	return strings.Join(got, "|")
}

// A call is one slice as long as successive samples have it.
func TestTraceEventJoinsCalls(t *testing.T) {
	want := "B1000.000 main.worker|B1000.000 main.f|B1000.000 WAIT|E2000.000 WAIT|E2000.000 main.f|" +
		"B2000.000 main.g|B2000.000 WAIT|E3000.000 WAIT|E3000.000 main.g|E3000.000 main.worker"
	if got := slicesOf(t, waits(t, 1, "main.f", "main.g")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A trace that is too large for viewers is not written to its end.
func TestTraceEventIsBounded(t *testing.T) {
	var out strings.Builder
	s := subject(t, synthetic.Recording(200, 100, 0.3), views.Options{}, views.Threads)
	err := writeTrace(&boundedWriter{to: &out, most: 100_000}, s)
	if err == nil || !strings.Contains(err.Error(), "--thread") || out.Len() > 100_000 {
		t.Errorf("%d bytes, and then %v", out.Len(), err)
	}
}

// Every table has rows, all of the length of the head.
func TestCSV(t *testing.T) {
	s := subject(t, synthetic.Recording(100, 50, 0.3), views.Options{}, views.Threads)
	for _, f := range formats {
		if !strings.HasPrefix(f.Name, "csv") {
			continue
		}
		rows, err := csv.NewReader(strings.NewReader(write(t, f.Name, s))).ReadAll()
		if err != nil || len(rows) < 3 {
			t.Errorf("%s: %d rows, %v", f.Name, len(rows), err)
		}
	}
}
