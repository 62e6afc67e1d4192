package sampledata

import (
	"errors"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// A Writer and a Builder that share what they receive make the
// same recording.
func TestWriterAndBuilder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := drawRecording(rt)
		dir := filepath.Join(t.TempDir(), "r.cpprof")
		w, err := Create(dir, want.Header)
		if err != nil {
			rt.Fatal(err)
		}
		defer w.Close()
		b := NewBuilder(want.Header)
		w.Also(b)
		if err := want.replay(w); err != nil {
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

// If a sample is refused, the Builder beside a Writer doesn't
// get it, and the function of AfterSample gets the error.
func TestRefusedSample(t *testing.T) {
	w, err := Create(filepath.Join(t.TempDir(), "r.cpprof"), testHeader())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	b := NewBuilder(testHeader())
	w.Also(b)
	var heard []error
	sink := AfterSample(w, func(_ Sample, _ []Change, err error) { heard = append(heard, err) })
	good, bad := sink.Sample(Sample{Time: 5}, nil), sink.Sample(Sample{Time: 1}, nil)
	if good != nil || bad == nil || b.Recording().Samples.Len() != 1 {
		t.Errorf("%v, %v, %d samples", good, bad, b.Recording().Samples.Len())
	}
	if len(heard) != 2 || heard[0] != nil || !errors.Is(heard[1], bad) {
		t.Errorf("heard %v", heard)
	}
}
