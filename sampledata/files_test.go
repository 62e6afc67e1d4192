package sampledata

import (
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// equal checks that two recordings have the same content.
func equal(t interface {
	Helper()
	Errorf(string, ...any)
}, got, want *Recording) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

func TestFilesAndBack(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		want := drawRecording(t)
		if err := want.Check(); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, "r.cpprof")
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
		if err := want.Write(name); err != nil {
			t.Fatal(err)
		}
		got, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, got, want)
	})
}

// A Writer and a Builder must make the same recording.
func TestWriterAgreesWithBuilder(t *testing.T) {
	b := NewBuilder(testHeader())
	twoGoroutines(t, b)
	name := filepath.Join(t.TempDir(), "r.cpprof")
	w, err := Create(name, testHeader())
	if err != nil {
		t.Fatal(err)
	}
	twoGoroutines(t, w)
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if err := w.Sample(Sample{}, nil); err == nil {
		t.Error("a finished recording takes another sample")
	}
	got, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, b.Recording())
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "r.cpprof")
	create := func(f func(string, Header) (*Writer, error), h Header, want string) {
		t.Helper()
		w, err := f(name, h)
		if err == nil {
			_ = w.Close()
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasSuffix(err.Error(), want)) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	bad := testHeader()
	bad.Sampler.RateHz = -1
	create(Create, bad, "r.cpprof: rate -1 is not a number from 0 up")
	create(Create, testHeader(), "")
	create(Create, testHeader(), "r.cpprof: it exists: remove it, or choose another name")
	create(Replace, testHeader(), "")
	if err := os.WriteFile(filepath.Join(name, "thesis.txt"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	create(Replace, testHeader(), "r.cpprof: the folder exists and contains other files, such as thesis.txt: choose another name")
	name = filepath.Join(dir, "file")
	if err := os.WriteFile(name, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	create(Replace, testHeader(), "choose another name")
	name = filepath.Join(dir, "empty")
	if err := os.Mkdir(name, 0o777); err != nil {
		t.Fatal(err)
	}
	create(Create, testHeader(), "")
}

// A write error, such as a full disk, is final: every later call
// that can return it does.
func TestWriteErrorIsFinal(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.cpprof")
	w, err := Create(name, testHeader())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.dir.close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Sample(Sample{}, nil); err != nil {
		t.Fatal(err)
	}
	w.flushLate()
	w.backlog.wait() // which writes in the background
	want := "write recording " + name + ": write " + filepath.Join(name, samplesFile) + ": file already closed"
	for _, err := range []error{w.Sample(Sample{}, nil), w.Finish(End{})} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if r, err := Open(name); err != nil || r.Samples.Len() != 0 || r.End != nil {
		t.Errorf("%v: %+v", err, r)
	}
}

// Warnings of many kinds must not take quadratic time: a file
// could have millions.
func TestManyWarnings(t *testing.T) {
	b := NewBuilder(testHeader())
	for i := range 100_000 {
		b.Warn("kind"+strconv.Itoa(i), "", 1)
	}
	want := b.Recording()
	name := t.TempDir()
	if err := want.Write(name); err != nil {
		t.Fatal(err)
	}
	got, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, got, want)
}
