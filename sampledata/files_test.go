package sampledata

import (
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cpprof/cpprof/internal/fixture"
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
		fixture.Check(t, want.Check())
		name := filepath.Join(dir, "r.cpprof")
		fixture.Check(t, os.RemoveAll(name))
		fixture.Check(t, want.Write(name))
		got := fixture.Must(Open(name))(t)
		equal(t, got, want)
	})
}

// A Writer and a Builder must make the same recording.
func TestWriterAgreesWithBuilder(t *testing.T) {
	b := NewBuilder(testHeader())
	twoGoroutines(t, b)
	name := filepath.Join(t.TempDir(), "r.cpprof")
	w := fixture.Must(Create(name, testHeader()))(t)
	twoGoroutines(t, w)
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if err := w.Sample(Sample{}, nil); err == nil {
		t.Error("a finished recording takes another sample")
	}
	got := fixture.Must(Open(name))(t)
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
	fixture.Check(t, os.WriteFile(filepath.Join(name, "thesis.txt"), nil, 0o666))
	create(Replace, testHeader(), "r.cpprof: the folder exists and contains other files, such as thesis.txt: choose another name")
	name = filepath.Join(dir, "file")
	fixture.Check(t, os.WriteFile(name, nil, 0o666))
	create(Replace, testHeader(), "choose another name")
	name = filepath.Join(dir, "empty")
	fixture.Check(t, os.Mkdir(name, 0o777))
	create(Create, testHeader(), "")
}

// A write error, such as a full disk, is final: every later call
// that can return it does.
func TestWriteErrorIsFinal(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.cpprof")
	w := fixture.Must(Create(name, testHeader()))(t)
	fixture.Check(t, w.dir.close())
	fixture.Check(t, w.Sample(Sample{}, nil))
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
	fixture.Check(t, want.Write(name))
	got := fixture.Must(Open(name))(t)
	equal(t, got, want)
}
