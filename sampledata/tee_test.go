package sampledata

import (
	"errors"
	"path/filepath"
	"strings"
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

// Sinks of a Tee that give different codes are an error, not a wrong recording.
func TestTeeOfDifferentCodes(t *testing.T) {
	other := NewBuilder(testHeader())
	other.Function(Function{Name: "main.earlier"})
	sink := Tee(NewBuilder(testHeader()), other)
	sink.Function(Function{Name: "main.main"})
	for range 2 {
		if err := sink.Sample(Sample{}, nil); err == nil || !strings.Contains(err.Error(), "function 0 is 1 in sink 2") {
			t.Errorf("error %v", err)
		}
	}
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
