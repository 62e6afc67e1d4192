package sampledata

import (
	"errors"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/cpprof/cpprof/internal/fixture"
)

// A Writer and a Builder that share what they receive make the
// same recording.
func TestWriterAndBuilder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := drawRecording(rt)
		dir := filepath.Join(t.TempDir(), "r.cpprof")
		w := fixture.Must(Create(dir, want.Header))(rt)
		defer w.Close()
		b := NewBuilder(want.Header)
		w.Also(b)
		fixture.Check(rt, want.replay(w))
		fixture.Check(rt, w.Close())
		file := fixture.Must(Open(dir))(rt)
		equal(rt, file, want)
		equal(rt, b.Recording(), want)
	})
}

// If a sample is refused, the Builder beside a Writer doesn't
// get it, and the function of AfterSample gets the error.
func TestRefusedSample(t *testing.T) {
	w := fixture.Must(Create(filepath.Join(t.TempDir(), "r.cpprof"), testHeader()))(t)
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
