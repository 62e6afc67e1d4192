package sampledata

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cpprof/cpprof/internal/fixture"
)

// A told recording says what its samples show, without codes.
type told struct {
	states     []string
	processors []string
	names      map[uint64]string
	values     []string
}

// tell returns what a sample shows.
func tell(r *Recording, sample int) told {
	t := told{names: map[uint64]string{}}
	stack := func(n NodeID) string {
		var list []string
		for ; n != NoStack; n = r.Nodes[n].Parent {
			node := r.Nodes[n]
			list = append(list, fmt.Sprint(r.Functions[node.Function], node.Line, node.Inlined))
		}
		return strings.Join(list, "<")
	}
	goroutine := func(g GoroutineID) string {
		one := r.Goroutines.At(g)
		start := "?"
		if one.Start >= 0 {
			start = fmt.Sprint(r.Functions[one.Start])
		}
		return fmt.Sprint(one.ID, start, one.Site, one.Parent, one.System, one.GC)
	}
	for g, s := range states(r, int32(sample)) {
		var holders []string
		for _, h := range r.HolderSets[s.Holders] {
			holders = append(holders, goroutine(h))
		}
		slices.Sort(holders)
		text := fmt.Sprint(goroutine(g), stack(s.Stack), s.Run, s.NoCPU, s.Torn, s.Evidence, s.Priority, r.LabelSets[s.Labels], holders, s.Lock,
			s.Reason, stack(s.Release.Stack()), s.Release != 0)
		t.states = append(t.states, text)
		if s.Lock != 0 {
			t.names[s.Lock] = nameAt(r, s.Lock, int32(sample))
		}
	}
	slices.Sort(t.states)
	for a := range uint64(4) {
		t.names[a] = nameAt(r, a, int32(sample))
	}
	for _, g := range r.Samples.At(sample).Processors {
		if g < 0 {
			t.processors = append(t.processors, strconv.Itoa(int(g)))
		} else {
			t.processors = append(t.processors, goroutine(g))
		}
	}
	for i := range r.Series {
		t.values = append(t.values, r.Series[i].Name+"="+valueAt(&r.Series[i], sample).String())
	}
	return t
}

func valueAt(s *Series, sample int) (v Value) {
	c := s.column.cursor(s.form())
	for {
		ok, err := c.advance()
		if err != nil || !ok || int(c.sample) > sample {
			return v
		}
		v = s.value(c.reading)
	}
}

// A renewing sink asks for the codes of sets and goroutines in
// each sample, as samplers do for those that no goroutine had in
// the last one.
type renewing struct {
	*Ring
	of    *Recording
	alive map[GoroutineID]GoroutineID
}

func (w *renewing) goroutine(g GoroutineID) GoroutineID {
	id, ok := w.alive[g]
	if !ok {
		id = w.Ring.Goroutine(w.of.Goroutines.At(g))
		w.alive[g] = id
	}
	return id
}

func (w *renewing) Goroutine(Goroutine) GoroutineID     { return 0 }
func (w *renewing) LabelSet([]Label) LabelSetID         { return 0 }
func (w *renewing) HolderSet([]GoroutineID) HolderSetID { return 0 }

func (w *renewing) Sample(s Sample, changes []Change) error {
	var list []Change
	for _, c := range changes {
		if !c.Gone {
			c.State.Labels = w.Ring.LabelSet(w.of.LabelSets[c.State.Labels])
			var set []GoroutineID
			for _, h := range w.of.HolderSets[c.State.Holders] {
				set = append(set, w.goroutine(h))
			}
			c.State.Holders = w.Ring.HolderSet(set)
		}
		g := c.Goroutine
		if c.Goroutine = w.goroutine(g); c.Gone {
			delete(w.alive, g)
		}
		list = append(list, c)
	}
	s.Processors = slices.Clone(s.Processors)
	for i, g := range s.Processors {
		if g >= 0 {
			s.Processors[i] = w.goroutine(g)
		}
	}
	err := w.Ring.Sample(s, list)
	for g, id := range w.alive {
		if _, ok := w.Ring.statesNow[id]; !ok {
			delete(w.alive, g)
		}
	}
	return err
}

// Whatever a sampler has seen, a ring keeps the end of it,
// sample by sample, however long its parts are.
func TestRing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawRecording(t)
		n := want.Samples.Len()
		keep := duration(t) + 1
		ring := NewRing(want.Header, RingOptions{Keep: keep, Memory: 1 << 30, part: duration(t) / 4})
		fixture.Check(t, want.replay(&renewing{ring, want, map[GoroutineID]GoroutineID{}}))
		kept, err := ring.Kept()
		if n == 0 {
			if err == nil {
				t.Fatal("something is kept of nothing")
			}
			return
		}
		fixture.Check(t, err)
		got := NewBuilder(kept.Header())
		fixture.Check(t, kept.Replay(got, End{Cause: EndUnknown, Detail: "kept"}))
		r := got.Recording()
		fixture.Check(t, r.Check())
		first := want.Samples.Search(want.Samples.Time(n-1) - keep)
		if r.Samples.Len() != n-first {
			t.Fatalf("%d samples of %d, want %d", r.Samples.Len(), n, n-first)
		}
		for i := range r.Samples.Len() {
			if a, b := tell(r, i), tell(want, first+i); !reflect.DeepEqual(a, b) {
				t.Fatalf("sample %d\n%+v\nwant\n%+v", i, a, b)
			}
			at := r.Header.Start.Add(r.Samples.Time(i))
			if was := want.Header.Start.Add(want.Samples.Time(first + i)); !at.Equal(was) {
				t.Fatalf("sample %d was at %v, not at %v", i, was, at)
			}
		}
	})
}

// A goroutine that makes others, labels and locks for ever does
// not fill the memory: neither what the ring counts, nor the
// heap.
func TestRingIsBounded(t *testing.T) {
	const most = 2 << 20
	ring := NewRing(Header{}, RingOptions{Keep: time.Minute, Memory: most})
	main := ring.Node(Node{Parent: NoStack, Function: ring.Function(Function{Name: "main.main"})})
	counter := ring.Monitor(Monitor{Name: "n"})
	random := rand.New(rand.NewPCG(1, 2))
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	var live []GoroutineID
	for i := range 3_000 {
		var changes []Change
		for range 20 {
			g := ring.Goroutine(Goroutine{ID: int64(i), Start: -1})
			live = append(live, g)
			labels := ring.LabelSet([]Label{{"request", strconv.Itoa(random.Int())}})
			holders := ring.HolderSet([]GoroutineID{live[0], g})
			changes = append(changes, Change{Goroutine: g, State: State{Stack: main, Run: Blocked, Labels: labels, Holders: holders,
				Evidence: Inferred, Lock: random.Uint64(), Reason: "sync.Mutex.Lock"}})
		}
		for len(live) > 200 {
			changes = append(changes, Change{Goroutine: live[0], Gone: true})
			live = live[1:]
		}
		ring.Measure(counter, Count(uint64(i)))
		fixture.Check(t, ring.Sample(Sample{Time: time.Duration(i) * 10 * time.Millisecond}, changes))
	}
	if used := heap() - before; used > 2*most {
		t.Errorf("the ring takes %d bytes, for at most %d", used, most)
	}
	kept := fixture.Must(ring.Kept())(t)
	if !ring.Short() || kept.Length() >= time.Minute || kept.Length() < time.Second {
		t.Errorf("%v are kept, short: %v", kept.Length(), ring.Short())
	}
	if n := len(ring.goroutines) + len(ring.labelSets) + len(ring.holderSets); n > 25_000 {
		t.Errorf("%d codes are known", n)
	}
	runtime.KeepAlive(ring)

	tiny := NewRing(Header{}, RingOptions{Keep: time.Minute, Memory: 10})
	g := tiny.Goroutine(Goroutine{ID: 1, Start: -1})
	if err := tiny.Sample(Sample{}, []Change{{Goroutine: g, State: State{Stack: NoStack}}}); err == nil || !strings.Contains(err.Error(), "--max-memory") {
		t.Errorf("with too little memory: %v", err)
	}
}

// Calls are cut where what is kept begins.
func TestRingKeepsCalls(t *testing.T) {
	ring := NewRing(Header{Start: time.Unix(1000, 0)}, RingOptions{Keep: 10 * time.Second, Memory: 1 << 30})
	for i := range 31 {
		at := time.Duration(i) * time.Second
		ring.Calls(CallTable{Function: "main.f", Windows: []CallWindow{{max(0, at-time.Second), at}},
			Calls: []TimedCall{{Goroutine: int64(i), Begin: max(0, at-5*time.Second/2), End: at}}})
		fixture.Check(t, ring.Sample(Sample{Time: at}, nil))
	}
	kept := fixture.Must(ring.Kept())(t)
	b := NewBuilder(kept.Header())
	fixture.Check(t, kept.Replay(b, End{Time: 31 * time.Second}))
	r := b.Recording()
	if len(r.Calls) != 1 || len(r.Calls[0].Calls) != 10 || !r.Header.Start.Equal(time.Unix(1020, 0)) || r.End.Time != 11*time.Second {
		t.Fatalf("kept %+v of %v, ended %+v", r.Calls, r.Header.Start, r.End)
	}
	for i, c := range r.Calls[0].Calls {
		end := time.Duration(i+1) * time.Second
		if c.End != end || c.Begin != max(0, end-5*time.Second/2) || c.CutBegin != (i < 2) {
			t.Errorf("call %d is %+v", i, c)
		}
	}
	if w := r.Calls[0].Windows; len(w) != 10 || w[0] != (CallWindow{0, time.Second}) {
		t.Errorf("windows %v", w)
	}
}
