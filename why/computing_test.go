package why

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// Functions that call one another again, as handlers of a server
// do, end the search for the hottest one.
func TestRecursion(t *testing.T) {
	s := newScene()
	g := s.spawn(1, "main.serve")[0]
	for i := range 60 {
		stack := []string{"main.serve"}
		for range 3 + i%4 {
			stack = append(stack, "main.handle", "main.next")
		}
		s.sample(t, states{g: s.at(runs, stack...)})
	}
	a := s.find(t)
	if len(a.Findings) != 1 || a.Findings[0].Kind != ComputeKind {
		t.Errorf("%+v", a.Findings)
	}
}

// A function with nearly all of its caller's time is the place,
// even if it has not three quarters of what its class does.
func TestDescends(t *testing.T) {
	s := newScene()
	g := s.spawn(1, "main.serve")[0]
	for i := range 100 {
		stack := []string{"main.serve", "main.parse", "main.entry", "main.peek", "main.fetch"}
		switch {
		case i%4 == 3:
			stack = stack[:1]
		case i%20 == 0:
			stack = stack[:3]
		}
		s.sample(t, states{g: s.at(runs, stack...)})
	}
	if f := s.find(t).Findings[0]; f.Where.Function != "main.fetch" {
		t.Errorf("the place is %s", f.Where.Function)
	}
}

// A handler hardly does anything itself: what costs most of what
// it calls is the place. A goroutine's own loop may be the
// cause.
func TestHandlersShare(t *testing.T) {
	for first, want := range map[string]string{"net/http.(*conn).serve": "sheet/lib.style", "main.run": "main.report"} {
		s := newScene()
		g := s.spawn(1, first)[0]
		for i := range 100 {
			stack := []string{first, "main.report", "sheet/lib.Set", "sheet/lib.style"}
			if first == "main.run" {
				stack = append(stack[:0], "main.report", "sheet/lib.Set", "sheet/lib.style")
			}
			if i%3 == 0 {
				stack = append(stack[:len(stack)-2], "sheet/lib.Write")
			}
			s.sample(t, states{g: s.at(runs, stack...)})
		}
		if f := s.find(t).Findings[0]; f.Where.Function != want {
			t.Errorf("below %s, the place is %s", first, f.Where.Function)
		}
	}
}

// What a part of a function's work calls of another module is
// named with it.
func TestPartsThroughModules(t *testing.T) {
	s := newScene()
	g := s.spawn(1, "main.serve")[0]
	for i := range 100 {
		stack := []string{"main.serve", "strings.ToUpper"}
		switch {
		case i%5 < 2:
			stack = []string{"main.serve", "main.read", "example.com/config/lib.Get", "example.com/config/lib.find"}
		case i%5 == 2:
			stack = []string{"main.serve", "main.read", "example.com/config/lib.Int", "example.com/config/lib.Get"}
		}
		s.sample(t, states{g: s.at(runs, stack...)})
	}
	f := s.find(t).Findings[0]
	if f.Where.Function != "main.serve" || len(f.Parts) == 0 || f.Parts[0].Name != "main.read" ||
		!strings.Contains(strings.Join(f.Parts[0].Through, ","), "example.com/config/lib.Get") {
		t.Errorf("%s: %+v", f.Where.Function, f.Parts)
	}
}

// Code that calls nothing but the standard library does not
// compute in its own code.
func TestPartsInTheLibrary(t *testing.T) {
	for call, want := range map[string]string{"math/rand.NewSource": "math/rand.NewSource", "main.spin": ""} {
		s := newScene()
		g := s.spawn(1, "main.serve")[0]
		stack := []string{"main.serve", "main.id", call, "math/rand.seedrand"}
		if want == "" {
			stack = stack[:2]
		}
		for range 60 {
			s.sample(t, states{g: s.at(runs, stack...)})
		}
		f := s.find(t).Findings[0]
		if got := len(f.Parts) > 0 && f.Parts[0].Name == want; got != (want != "") {
			t.Errorf("%s: %+v", call, f.Parts)
		}
	}
}

// The heap is what it was when it was collected: 20 times with
// 10 MB, and then 4 times with 200 MB.
func TestHeapAtTheCollections(t *testing.T) {
	s := newScene()
	g := s.spawn(1, "main.load")[0]
	heap := s.Monitor(sampledata.Monitor{Name: "heap.live", Layer: sampledata.Runtime, Kind: sampledata.Level, Unit: "bytes"})
	cycles := s.Monitor(sampledata.Monitor{Name: "gc.cycles", Layer: sampledata.Runtime, Kind: sampledata.Counter})
	n := uint64(7) // before the recording
	for i := range 25 {
		size := uint64(10e6)
		if n++; i > 20 {
			size = 200e6
		}
		s.Measure(heap, sampledata.Number(int64(size)))
		s.Measure(cycles, sampledata.Count(n))
		s.sample(t, states{g: s.at(runs, "main.load", "runtime.mallocgc")})
	}
	a := s.find(t)
	i := slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.Garbage != nil })
	if want := (20*10e6 + 4*200e6) / 24; i < 0 || math.Abs(a.Findings[i].Garbage.Live-want) > 1 {
		t.Errorf("%+v, want a heap of %v", a.Findings, want)
	}
}

// With the default of GOGC, half of the heap at least is new in
// each collection, whatever its size.
func TestEagerCollections(t *testing.T) {
	for _, c := range []struct {
		g    Garbage
		want bool
	}{
		{Garbage{Bytes: 120e6, Collections: 12, Live: 110e6}, true},
		{Garbage{Bytes: 600e6, Collections: 10, Live: 110e6}, false},
		{Garbage{Bytes: 120e6, Live: 110e6}, false},
	} {
		if got := c.g.eager(); got != c.want {
			t.Errorf("%+v: %v", c.g, got)
		}
	}
}

// What calls a function of a library again and again is named with
// it, if it has nearly all of the time.
func TestPartOf(t *testing.T) {
	for _, caller := range []string{"example.com/lib.check", "main.check"} {
		s := newScene()
		one := s.spawn(1, "main.loop")[0]
		stacks := [][]string{
			{"main.loop", "example.com/lib.Cells", caller, "example.com/lib.split"},
			{"main.loop", "example.com/lib.Cells", caller, "example.com/lib.number"},
			{"main.loop", "example.com/lib.Cells", caller, "example.com/lib.split"},
			{"main.loop", "example.com/lib.Cells", caller, "example.com/lib.split"},
			{"main.loop", "example.com/lib.Cells", caller, "example.com/lib.join"},
		}
		for i := range 500 {
			s.sample(t, states{one: s.at(runs, stacks[i%5]...)})
		}
		a := s.find(t)
		n := slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.Where.Function == "example.com/lib.split" })
		if n < 0 {
			t.Fatalf("%s: %+v", caller, a.Findings[0].Where)
		}
		want := "example.com/lib.check"
		if caller == "main.check" { // the program repeats it
			want = "example.com/lib.Cells"
		}
		if p := a.Findings[n].PartOf; p == nil || p.Name != want || p.Share < 0.99 {
			t.Errorf("%s: it is a part of %+v, want %s", caller, p, want)
		}
	}
}

// A small heap is collected often, if the collector is what it costs.
func TestSmallHeaps(t *testing.T) {
	of := func(collector float64) []Part {
		return []Part{{Name: "the collector", Share: collector}, {Name: allocating, Share: 1 - collector}}
	}
	for name, c := range map[string]struct {
		g     *Garbage
		parts []Part
		want  bool
	}{
		"small":                {&Garbage{Bytes: 200e6, Collections: 70, Live: 2e6}, of(0.5), true},
		"large":                {&Garbage{Bytes: 20e9, Collections: 20, Live: 1e9}, of(0.5), false},
		"seldom":               {&Garbage{Bytes: 4e6, Collections: 2, Live: 2e6}, of(0.5), false},
		"mostly of allocating": {&Garbage{Bytes: 200e6, Collections: 70, Live: 2e6}, of(0.2), false},
		"of much":              {&Garbage{Bytes: 6e9, Collections: 15, Live: 60e6}, of(0.5), false},
		"each time early":      {&Garbage{Bytes: 7e6, Collections: 70, Live: 2e6}, of(0.5), false},
	} {
		if got := oftenCollected(nil, &Finding{Garbage: c.g, Parts: c.parts}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What a function does within its own recursion is what it does.
func TestDividesRecursion(t *testing.T) {
	s := newScene()
	g := s.spawn(1, "main.diff")[0]
	for i := range 100 {
		state := s.at(runs, "main.diff", "main.bisect", "main.split", "main.bisect")
		switch i % 4 {
		case 0:
			state = s.at(runs, "main.diff", "main.bisect", "main.split", "main.bisect", "main.encode")
		case 1, 2:
			state = s.at(runs, "main.diff", "main.bisect")
		}
		s.sample(t, states{g: state})
	}
	a := s.find(t)
	if len(a.Findings) != 1 || len(a.Findings[0].Parts) != 1 || a.Findings[0].Parts[0].Name != "main.encode" || !nearly(a.Findings[0].Parts[0].Share, 0.25) {
		t.Errorf("%+v %+v", a.Findings[0].Parts, a.Findings[0].Where)
	}
}

// Who waits to assist the collector allocates, too, if others were seen
// to allocate only now and then.
func TestWhoAllocates(t *testing.T) {
	s := newScene()
	build, log := s.spawn(6, "main.build"), s.spawn(1, "main.log")[0]
	gc := s.Goroutine(sampledata.Goroutine{ID: 99, Start: s.function("runtime.gcBgMarkWorker"), GC: true})
	s.samples(t, 300, func(i int) {
		s.is[gc] = s.at(runs, "runtime.gcBgMarkWorker", "runtime.gcDrain")
		s.is[log] = s.at(idles, "main.log")
		for j, g := range build {
			s.is[g] = s.at(sampledata.State{Run: sampledata.Waiting, Reason: "GC assist wait"}, "main.build", "main.parse", "runtime.mallocgc", "runtime.gcAssistAlloc")
			if (i+j)%6 == 0 {
				s.is[g] = s.at(runs, "main.build", "main.parse")
			}
			if j == 0 && i%75 == 1 {
				s.is[g] = s.at(runs, "main.build", "main.parse", "runtime.mallocgc")
			}
		}
		s.sometimes(i, 50, log, s.at(runs, "main.log", "main.format", "runtime.mallocgc"))
	})
	a := s.find(t)
	if i := slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.Kind == AllocationKind }); i < 0 || a.Findings[i].Where.Function != "main.parse" {
		t.Errorf("%+v", a.Findings)
	}
}

// What is allocated in a function counts in two findings: the one
// about allocation says so.
func TestAllocationThatCountsTwice(t *testing.T) {
	for in, want := range map[string]bool{"main.parse": true, "main.log": false} {
		s := newScene()
		all := s.spawn(2, "main.work")
		s.samples(t, 100, func(i int) {
			s.all(all, s.at(runs, "main.work", "main.parse"))
			s.some(i, 2, all, s.at(runs, "main.work", in, "runtime.mallocgc"))
		})
		for _, f := range s.find(t).Findings {
			signed := slices.ContainsFunc(f.Signs, func(sign string) bool { return strings.HasSuffix(sign, "counts as that of main.parse") })
			if f.Kind == AllocationKind && signed != want {
				t.Errorf("allocates in %s: %q", in, f.Signs)
			}
		}
	}
}

// A function that also saves, as another finding says, is about what it
// does besides.
func TestSystemCallsOfOthers(t *testing.T) {
	write := strings.Fields("os.(*File).Write internal/poll.(*FD).Write syscall.Write syscall.write syscall.Syscall")
	s := newScene()
	a, b := s.spawn(2, "main.a"), s.spawn(1, "main.b")
	s.samples(t, 200, func(i int) {
		s.all(a, s.at(runs, append([]string{"main.a", "main.save"}, write...)...))
		switch {
		case i%20 < 9:
			s.all(b, s.at(runs, append([]string{"main.b", "main.save"}, write...)...))
		case i%20 < 11:
			s.all(b, s.at(runs, append([]string{"main.b"}, write...)...))
		default:
			s.all(b, s.at(runs, "main.b"))
		}
	})
	kinds := make(map[string]Kind)
	for _, f := range s.find(t).Findings {
		kinds[f.Where.Function] = f.Kind
	}
	if kinds["main.save"] != SystemCallKind || kinds["main.b"] != ComputeKind {
		t.Errorf("%v", kinds)
	}
}

// Code that nearly always calls the runtime computes nothing itself.
func TestCodeInTheRuntime(t *testing.T) {
	s := newScene()
	all := s.spawn(2, "main.serve")
	s.samples(t, 60, func(i int) { s.all(all, s.at(runs, "main.serve", "runtime.selectgo", "runtime.sellock")) })
	if f := s.find(t).Findings; len(f) != 1 || len(f[0].Parts) != 1 || f[0].Parts[0].Name != "runtime.selectgo" {
		t.Errorf("%+v", f)
	}
}

// Of a function that is a part of another one, the gain of that is known,
// too.
func TestGainOfTheWhole(t *testing.T) {
	s := newScene()
	all := s.spawn(4, "main.loop")
	s.samples(t, 400, func(i int) {
		for k, g := range all {
			switch stack := []string{"main.loop", "example.com/lib.Cells", "example.com/lib.check"}; (i + k) % 8 {
			case 0:
				s.is[g] = s.at(runs, "main.loop")
			case 1, 2, 3:
				s.is[g] = s.at(runs, append(stack, "example.com/lib.number")...)
			default:
				s.is[g] = s.at(runs, append(stack, "example.com/lib.split")...)
			}
		}
	})
	found := s.find(t).Findings
	i := slices.IndexFunc(found, func(f *Finding) bool { return f.Where.Function == "example.com/lib.split" })
	if i < 0 || found[i].PartOf == nil || found[i].Gain.Whole == nil || !nearly(found[i].Gain.Times.Times, 2) || !nearly(found[i].Gain.Whole.Times, 8) {
		t.Errorf("found %+v", found[0].Gain)
	}
}
