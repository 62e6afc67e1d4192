package sampledata

import (
	"errors"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// A Writer and a Builder behind one Tee make the same recording.
func TestTee(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := drawRecording(rt)
		dir := filepath.Join(t.TempDir(), "r.cpprof")
		w, err := Create(dir, want.Header)
		if err != nil {
			rt.Fatal(err)
		}
		defer w.Close()
		b := NewBuilder(want.Header)
		if err := want.replay(Tee(w, b)); err != nil {
			rt.Fatal(err)
		}
		if err := w.Close(); err != nil {
			rt.Fatal(err)
		}
		file, err := Open(dir)
		if err != nil {
			rt.Fatal(err)
		}
		equal(rt, file, want)
		equal(rt, b.Recording(), want)
	})
}

// If a sink has things already, Tee translates the codes for it.
func TestTeeTranslatesCodes(t *testing.T) {
	other := NewBuilder(testHeader())
	f := other.Function(Function{Name: "main.earlier"})
	other.Node(Node{Parent: NoStack, Function: f})
	other.Goroutine(Goroutine{ID: 99, Start: f})
	other.Goroutine(Goroutine{ID: 98, Start: -1})
	other.LabelSet([]Label{{"a", "b"}})
	other.HolderSet([]GoroutineID{0, 1})
	first := NewBuilder(testHeader())
	twoGoroutines(t, Tee(first, other))
	want, got := first.Recording(), other.Recording()
	if err := got.Check(); err != nil {
		t.Fatal(err)
	}
	if got.Runs.Len() != want.Runs.Len() || got.Runs.Len() == 0 {
		t.Fatalf("%d runs, want %d", got.Runs.Len(), want.Runs.Len())
	}
	for i, a := range want.Runs.All() {
		b := got.Runs.At(i)
		if x, y := want.Goroutines.At(a.Goroutine), got.Goroutines.At(b.Goroutine); x.ID != y.ID || want.Functions[x.Start] != got.Functions[y.Start] {
			t.Errorf("run %d: goroutine %+v, want %+v", i, y, x)
		}
		if x, y := stackNames(want, a.Stack), stackNames(got, b.Stack); x != y {
			t.Errorf("run %d: stack %s, want %s", i, y, x)
		}
		if x, y := want.LabelSets[a.Labels], got.LabelSets[b.Labels]; len(x) != len(y) || len(x) > 0 && x[0] != y[0] {
			t.Errorf("run %d: labels %v, want %v", i, y, x)
		}
		x, y := want.HolderSets[a.Holders], got.HolderSets[b.Holders]
		if len(x) != len(y) || len(x) > 0 && want.Goroutines.At(x[0]).ID != got.Goroutines.At(y[0]).ID {
			t.Errorf("run %d: holders %v, want %v", i, y, x)
		}
	}
	for i, s := range want.Samples.All() {
		for p, g := range s.Processors {
			if own := got.Samples.At(i).Processors[p]; g < 0 && own != g || g >= 0 && got.Goroutines.At(own).ID != want.Goroutines.At(g).ID {
				t.Errorf("sample %d: processor %d runs %d, but %d in the first sink", i, p, own, g)
			}
		}
	}
}

func stackNames(r *Recording, n NodeID) string {
	names := ""
	for ; n != NoStack; n = r.Nodes[n].Parent {
		names += " " + r.Functions[r.Nodes[n].Function].Name
	}
	return names
}

// If the first sink refuses a sample, the others don't get it, and the function of AfterSample gets the error.
func TestTeeRefusedSample(t *testing.T) {
	first, other := NewBuilder(testHeader()), NewBuilder(testHeader())
	var heard []error
	sink := AfterSample(Tee(first, other), func(_ Sample, _ []Change, err error) { heard = append(heard, err) })
	good, bad := sink.Sample(Sample{Time: 5}, nil), sink.Sample(Sample{Time: 1}, nil)
	if good != nil || bad == nil || other.Recording().Samples.Len() != 1 {
		t.Errorf("%v, %v, %d samples", good, bad, other.Recording().Samples.Len())
	}
	if len(heard) != 2 || heard[0] != nil || !errors.Is(heard[1], bad) {
		t.Errorf("heard %v", heard)
	}
}
