package export

import (
	"encoding/csv"
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/views"
)

// The structure of a speedscope file, as its format specification describes it: a reader that knows all fields.
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

// A speedscope file has a profile for each class. Its weights are the times of the stacks.
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

// The columns of every table of a Firefox thread have its length, and all indexes are in range.
func TestFirefox(t *testing.T) {
	s := subject(t, synthetic.Recording(50, 30, 0.3), views.Options{}, views.Threads)
	s.View = views.Threads
	var f struct {
		Meta    map[string]any
		Threads []map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(write(t, "firefox", s)), &f); err != nil {
		t.Fatal(err)
	}
	if f.Meta["preprocessedProfileVersion"] != float64(firefoxVersion) || len(f.Threads) < 5 {
		t.Fatalf("meta %v, %d threads", f.Meta, len(f.Threads))
	}
	for _, thread := range f.Threads {
		var texts []string
		if err := json.Unmarshal(thread["stringArray"], &texts); err != nil {
			t.Fatal(err)
		}
		tables := map[string]map[string]any{}
		length := map[string]int{"string": len(texts)}
		for _, name := range []string{"samples", "stackTable", "frameTable", "funcTable", "markers", "resourceTable", "nativeSymbols"} {
			table := map[string]any{}
			if err := json.Unmarshal(thread[name], &table); err != nil {
				t.Fatal(err)
			}
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

// checkCategories checks that a stack has the category of its frame or, if that has none, that of its caller, which is how newer
// versions of the profiler find it; and that nothing below a typed time has another one.
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
		Name, Ph, Cat, Sf string
		Ts, Dur           float64
		Pid, Tid          int64
		Args              map[string]any
	}
	StackFrames map[string]struct{ Name, Category, Parent string }
}

// A trace has a track for each goroutine, whose slices follow one another, and stacks that exist.
func TestTraceEvent(t *testing.T) {
	r := synthetic.Recording(50, 30, 0.3)
	s := subject(t, r, views.Options{}, views.Threads)
	var f traceFile
	decode(t, write(t, "trace-event", s), &f)
	end, tracks, counters := map[int64]float64{}, map[int64]bool{}, 0
	for _, e := range f.TraceEvents {
		switch e.Ph {
		case "M":
			tracks[e.Tid] = true
		case "C":
			counters++
		case "X":
			if _, ok := f.StackFrames[e.Sf]; !ok && e.Sf != "" || !tracks[e.Tid] || e.Ts < end[e.Tid] || e.Dur < 0 {
				t.Fatalf("%+v after %v", e, end[e.Tid])
			}
			end[e.Tid] = e.Ts + e.Dur - 0.0005
		default:
			t.Fatalf("%+v", e)
		}
	}
	if len(tracks) != len(r.Goroutines)+1 {
		t.Errorf("%d tracks, want those of %d goroutines and the process", len(tracks), len(r.Goroutines))
	}
	if len(r.Series) > 0 && counters == 0 {
		t.Error("no counters")
	}
	s = subject(t, r, views.Options{}, views.Server)
	if err := s.Session.Apply(refine.Step{Kind: refine.KindPrune, Text: "* ..:RUN"}); err != nil {
		t.Fatal(err)
	}
	s.Part = true
	for _, f := range []*Format{&traceEvent, &csvClasses, &csvLocks, &csvSamples} {
		var out strings.Builder
		if err := f.Write(&out, s); err == nil || !strings.Contains(err.Error(), "leave out") || out.Len() > 0 {
			t.Errorf("%s of a pruned view: %v", f.Name, err)
		}
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
	for text, want := range map[string]string{"=1+1": "'=1+1", "@x": "'@x", "main.f": "main.f", "a\x1bb": `a\x1bb`} {
		if got := cellText(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
