package sampledata

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
)

// twoGoroutines writes a small recording to a sink. It is also
// an example of how to use one.
func twoGoroutines(t testing.TB, sink Sink) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		fixture.Check(t, err)
	}
	mainFn := sink.Function(Function{Name: "main.main", File: "main.go", Line: 10})
	work := sink.Function(Function{Name: "main.work", File: "main.go", Line: 20})
	top := sink.Node(Node{Parent: NoStack, Function: mainFn, Line: 12})
	leaf := sink.Node(Node{Parent: top, Function: work, Line: 21, Inlined: true})
	g0 := sink.Goroutine(Goroutine{ID: 1, Start: mainFn})
	g1 := sink.Goroutine(Goroutine{ID: 7, Start: work, Site: Site{"main.main", "main.go", 12}, Parent: 1})
	labels := sink.LabelSet([]Label{{"route", "/api"}, {"job", "7"}})
	holders := sink.HolderSet([]GoroutineID{g0})

	cpu := sink.Monitor(Monitor{Name: "process.cpu", Layer: Kernel, Unit: "ns", Source: "/proc/PID/stat", Resolution: "10ms"})
	load := sink.Monitor(Monitor{Name: "load", Kind: Level, Real: true})
	phase := sink.Monitor(Monitor{Name: "gc.phase", Layer: Runtime, Kind: Nominal})
	sink.Monitor(Monitor{Name: "instructions", Layer: Hardware, Unmeasured: "no PMU: this is a virtual machine"})
	sink.Measure(cpu, Count(1<<63+1))
	sink.Measure(load, Real(0.5))
	sink.Measure(phase, Word("off"))

	running := State{Stack: leaf, Run: Running}
	unserved := State{Stack: leaf, Run: Running, NoCPU: true}
	blocked := State{Stack: leaf, Run: Blocked, Labels: labels, Holders: holders, Evidence: Inferred, Lock: 0xc000, Reason: "sync.Mutex.Lock"}
	must(sink.Sample(Sample{Time: 10 * time.Millisecond, Halt: 150 * time.Microsecond, Processors: []GoroutineID{g0, IdleProcessor}},
		[]Change{{Goroutine: g1, State: blocked}, {Goroutine: g0, State: running}}))
	sink.LockName(LockName{Address: 0xc000, Name: "main.(*cache).mu"})
	sink.LockName(LockName{Address: 0xc000, First: 1, Name: "main.(*cache).mu"})
	sink.LockName(LockName{Address: 0xc000, First: 1, Name: "main.mu", Capacity: 3})
	sink.Measure(cpu, Count(1<<63+5))
	sink.Measure(load, Value{})
	sink.Measure(phase, Word("off"))
	must(sink.Sample(Sample{Time: 20 * time.Millisecond, Halt: 160 * time.Microsecond, Processors: []GoroutineID{g0, SystemProcessor}},
		[]Change{{Goroutine: g0, State: running}}))
	sink.Measure(cpu, Count(7))
	sink.Measure(phase, Word("mark"))
	sink.Measure(load, Real(math.Inf(1)))
	must(sink.Sample(Sample{Time: 30 * time.Millisecond, Halt: 150 * time.Microsecond, Processors: []GoroutineID{IdleProcessor, g1}},
		[]Change{{Goroutine: g0, Gone: true}, {Goroutine: g1, State: unserved}}))
	sink.Warn("torn-stack", "the first", 2)
	sink.Warn("torn-stack", "the second", 3)
	must(sink.Finish(End{Cause: EndExited, Time: 40 * time.Millisecond, ExitStatus: 3}))
}

func testHeader() Header {
	return Header{
		Command: []string{"./server", "-addr", ":80"}, Executable: "/srv/server", PID: 4711, Container: "3f5c", GoVersion: "go1.26.1",
		OS: "linux", Arch: "amd64", GOMAXPROCS: 2, Start: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Clock: "monotonic",
		Sampler: Settings{Version: "v1", Backend: "test", RateHz: 100, Jitter: 1, MaxOverhead: 0.01, MaxCPU: 0.05, Wakes: "nice -15"},
	}
}

func runsOf(r *Recording) (runs []Run) {
	for _, run := range r.Runs.All() {
		runs = append(runs, run)
	}
	return runs
}

func TestBuilderCoalesces(t *testing.T) {
	b := NewBuilder(testHeader())
	twoGoroutines(t, b)
	r := b.Recording()
	fixture.Check(t, r.Check())
	blocked := State{Stack: 1, Run: Blocked, Labels: 1, Holders: 1, Evidence: Inferred, Lock: 0xc000, Reason: "sync.Mutex.Lock"}
	want := []Run{
		RunOf(0, 0, 1, State{Stack: 1, Run: Running}),
		RunOf(1, 0, 1, blocked),
		RunOf(1, 2, 2, State{Stack: 1, Run: Running, NoCPU: true}),
	}
	if got := runsOf(r); !reflect.DeepEqual(got, want) {
		t.Errorf("runs %+v, want %+v", got, want)
	}
	if want := []Label{{"job", "7"}, {"route", "/api"}}; !reflect.DeepEqual(r.LabelSets[1], want) {
		t.Errorf("labels %v, want %v", r.LabelSets[1], want)
	}
	if want := []LockName{{0xc000, 0, "main.(*cache).mu", 0}, {0xc000, 1, "main.mu", 3}}; !reflect.DeepEqual(r.LockNames, want) {
		t.Errorf("lock names %v, want %v", r.LockNames, want)
	}
	for i, want := range []string{
		"0:9223372036854775809 1:9223372036854775813 2:7", "0:0.5 1:not measured 2:+Inf", "0:off 2:mark", "",
	} {
		var got []string
		for sample, v := range r.Series[i].All() {
			got = append(got, fmt.Sprintf("%d:%v", sample, v))
		}
		if text := strings.Join(got, " "); text != want || r.Series[i].Changes() != len(got) {
			t.Errorf("series %d: %s, want %s", i, text, want)
		}
	}
	if want := []Warning{{"torn-stack", "the first", 5}}; !reflect.DeepEqual(r.Warnings, want) {
		t.Errorf("warnings %v, want %v", r.Warnings, want)
	}
}

// A recording that Recording has returned must not change when
// the Builder's recording grows.
func TestBuilderRecordingStays(t *testing.T) {
	b := NewBuilder(testHeader())
	fn := b.Function(Function{Name: "f"})
	g := b.Goroutine(Goroutine{ID: 1, Start: fn})
	for i := range 5 {
		n := b.Node(Node{Parent: NoStack, Function: fn, Line: int32(i / 2)})
		fixture.Check(t, b.Sample(Sample{Time: time.Duration(i)}, []Change{{Goroutine: g, State: State{Stack: n}}}))
		b.Warn("k", "m", 1)
		r := b.Recording()
		fixture.Check(t, r.Check())
		defer func() {
			if r.Samples.Len() != i+1 || r.Runs.At(r.Runs.Len()-1).Last != int32(i) || r.Warnings[0].Count != int64(i+1) {
				t.Errorf("the recording of %d samples changed: %+v", i+1, r)
			}
		}()
	}
}

func TestBuilderRefuses(t *testing.T) {
	deep := func(b *Builder, fn FunctionID) NodeID {
		n := NoStack
		for range MaxDepth {
			n = b.Node(Node{Parent: n, Function: fn})
		}
		return n
	}
	tests := []struct {
		name string
		do   func(b *Builder, g GoroutineID, fn FunctionID) ([]Change, Sample)
		want string
	}{
		{"depth", func(b *Builder, g GoroutineID, fn FunctionID) ([]Change, Sample) {
			b.Node(Node{Parent: deep(b, fn), Function: fn})
			return nil, Sample{}
		}, "sample 1: node: stack of more than 10000 frames: cut it, and count it in a warning"},
		{"parent", func(b *Builder, g GoroutineID, fn FunctionID) ([]Change, Sample) {
			b.Node(Node{Parent: 5, Function: fn})
			return nil, Sample{}
		}, "sample 1: node: parent 5 is none of the 1 nodes before it"},
		{"holder", func(b *Builder, g GoroutineID, fn FunctionID) ([]Change, Sample) {
			b.HolderSet([]GoroutineID{g, 9})
			return nil, Sample{}
		}, "sample 1: holder set: holder 9 is none of the 1 goroutines"},
		{"lock name", func(b *Builder, g GoroutineID, fn FunctionID) ([]Change, Sample) {
			b.LockName(LockName{Address: 16, First: 2, Name: "mu"})
			return nil, Sample{}
		}, "sample 1: name of the lock at 0x10: it begins at sample 2, but there are 1"},
		{"twice", func(b *Builder, g GoroutineID, fn FunctionID) ([]Change, Sample) {
			return []Change{{Goroutine: g}, {Goroutine: g, Gone: true}}, Sample{}
		}, "sample 1: goroutine 0 changes twice in one sample"},
		{"time", func(b *Builder, g GoroutineID, fn FunctionID) ([]Change, Sample) {
			return nil, Sample{Time: -1}
		}, "sample 1: negative time -1"},
		{"processor", func(b *Builder, g GoroutineID, fn FunctionID) ([]Change, Sample) {
			return []Change{{Goroutine: g, Gone: true}}, Sample{Processors: []GoroutineID{-1, g}}
		}, "sample 1: processor 1 runs goroutine 0, which has no state"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := NewBuilder(testHeader())
			fn := b.Function(Function{Name: "f"})
			n := b.Node(Node{Parent: NoStack, Function: fn})
			g := b.Goroutine(Goroutine{ID: 1, Start: fn})
			fixture.Check(t, b.Sample(Sample{}, []Change{{Goroutine: g, State: State{Stack: n}}}))
			changes, s := test.do(b, g, fn)
			if err := b.Sample(s, changes); err == nil || err.Error() != test.want {
				t.Errorf("error %v, want %v", err, test.want)
			}
			if err := b.Sample(Sample{Processors: []GoroutineID{g}}, nil); err != nil {
				t.Errorf("the sample after the refused one: %v", err)
			}
			if err := b.Recording().Check(); err != nil {
				t.Error(err)
			}
		})
	}
}
