package sampledata

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/memory"
)

// A flushing sink writes a frame after every sample, so that
// small recordings have several frames.
type flushing struct{ *Writer }

func (f flushing) Sample(s Sample, changes []Change) error {
	err := f.Writer.Sample(s, changes)
	f.Writer.flush()
	return err
}

// twoFiles returns the files of the recording of twoGoroutines,
// with several frames each.
func twoFiles(t testing.TB) (texts, samples []byte, want *Recording) {
	return twoMarkedFiles(t, nil, nil)
}

// twoMarkedFiles does the same with a marking, if it is not nil,
// and with calls.
func twoMarkedFiles(t testing.TB, m *Marking, calls []CallTable) (texts, samples []byte, want *Recording) {
	b := NewBuilder(testHeader())
	if m != nil {
		b.Mark(m)
	}
	for _, c := range calls {
		b.Calls(c)
	}
	twoGoroutines(t, b)
	name := filepath.Join(t.TempDir(), "r.cpprof")
	w := fixture.Must(Create(name, testHeader()))(t)
	if m != nil {
		w.Mark(m)
	}
	for _, c := range calls {
		w.Calls(c)
	}
	twoGoroutines(t, flushing{w})
	file := func(base string) []byte {
		return fixture.Must(os.ReadFile(filepath.Join(name, base)))(t)
	}
	return file(stringsFile), file(samplesFile), b.Recording()
}

// openBytes are the content of a file.
type openBytes struct{ *bytes.Reader }

func (openBytes) Close() error { return nil }

// open reads files from memory.
func open(texts, samples []byte) (*Recording, error) { return openWithin(texts, samples, 0) }

func openWithin(texts, samples []byte, maxMemory int64) (*Recording, error) {
	of := func(name string, b []byte) *source {
		return &source{openBytes{bytes.NewReader(b)}, "r.cpprof/" + name, int64(len(b))}
	}
	return read(of(stringsFile, texts), of(samplesFile, samples), memory.NewBudget(maxMemory))
}

func samplesOf(r *Recording) []Sample {
	samples := []Sample{}
	for _, s := range r.Samples.All() {
		samples = append(samples, s)
	}
	return samples
}

// checkPrefix checks that got is the beginning of want.
func checkPrefix(t *testing.T, got, want *Recording) {
	t.Helper()
	fixture.Check(t, got.Check())
	n := got.Samples.Len()
	var runs []Run
	for _, r := range want.Runs.All() {
		if int(r.First) < n {
			r.Last = min(r.Last, int32(n-1))
			runs = append(runs, r)
		}
	}
	if n > want.Samples.Len() || !reflect.DeepEqual(samplesOf(got), samplesOf(want)[:n]) || !reflect.DeepEqual(runsOf(got), runs) {
		t.Fatalf("not the first %d samples:\n%+v", n, got)
	}
	for i := range got.Series {
		wanted := values(&want.Series[i], want.Samples.Len())[:n]
		if own := values(&got.Series[i], n); !slices.Equal(own, wanted) {
			t.Fatalf("series %d is %v, which is not the beginning of %v", i, own, wanted)
		}
	}
	if got.End == nil && len(got.Warnings) > 0 && strings.Contains(got.Warnings[len(got.Warnings)-1].Message, "torn") {
		return
	}
	if got.End != nil && (n != want.Samples.Len() || !reflect.DeepEqual(got.End, want.End)) {
		t.Fatalf("an end after %d samples: %+v", n, got.End)
	}
}

// firstFrame returns the length of a file's first frame.
func firstFrame(file []byte) int {
	return framePrefix + int(file[4]) + int(file[12]) + int(file[13])<<8
}

// If a file is cut off, readers read what is before the cut. It
// is an error only if the first frame is cut.
func TestTruncatedAnywhere(t *testing.T) {
	texts, samples, want := twoFiles(t)
	if got, err := open(texts, samples); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%v: %+v", err, got)
	}
	seen := make(map[int]bool)
	cut := func(file []byte, n int, open func([]byte) (*Recording, error)) {
		got, err := open(file[:n])
		if (err != nil) != (n < firstFrame(file)) {
			t.Fatalf("%d of %d bytes: %v", n, len(file), err)
		}
		if err == nil {
			checkPrefix(t, got, want)
			seen[got.Samples.Len()] = true
			if n < len(file) && got.End != nil && &file[0] == &samples[0] {
				t.Fatalf("%d of %d bytes: an end", n, len(file))
			}
		}
	}
	for n := range len(samples) + 1 {
		cut(samples, n, func(b []byte) (*Recording, error) { return open(texts, b) })
	}
	for n := range len(texts) + 1 {
		cut(texts, n, func(b []byte) (*Recording, error) { return open(b, samples) })
	}
	for n := range want.Samples.Len() + 1 {
		if !seen[n] {
			t.Errorf("no cut leaves %d samples", n)
		}
	}
}

// If a byte is changed, the frames from there on are lost, and
// no wrong data is read.
func TestDamagedAnywhere(t *testing.T) {
	texts, samples, want := twoFiles(t)
	for _, file := range [][]byte{texts, samples} {
		for i := range file {
			for _, bit := range []byte{0x01, 0x80} {
				file[i] ^= bit
				got, err := open(texts, samples)
				file[i] ^= bit
				if err != nil {
					if i >= firstFrame(file) {
						t.Fatalf("byte %d: %v", i, err)
					}
					continue
				}
				checkPrefix(t, got, want)
				damaged := got.Warnings != nil && got.Warnings[len(got.Warnings)-1].Kind == DamagedFile
				if !damaged && !reflect.DeepEqual(got, want) {
					t.Fatalf("byte %d: no warning, and not all there", i)
				}
			}
		}
	}
}

func TestDamageMessages(t *testing.T) {
	texts, samples, _ := twoFiles(t)
	damaged := func(file []byte, at int) []byte {
		file = bytes.Clone(file)
		file[(at+len(file))%len(file)] ^= 1
		return file
	}
	tests := []struct {
		texts, samples []byte
		want           string // the warning, without how much is lost; or "error: " and the error
	}{
		{texts, samples[:len(samples)-1], "reading sample data file r.cpprof/SampleData: record 15: torn: the file ends within it"},
		{texts, damaged(samples, -1), "reading sample data file r.cpprof/SampleData: record 15: checksum mismatch"},
		{damaged(texts, -1), samples, "reading strings file r.cpprof/Strings: record 6: checksum mismatch"},
		{texts, damaged(samples, 24), "error: reading sample data file r.cpprof/SampleData: record 1: checksum mismatch: without this record nothing can be read"},
		{texts, nil, "error: reading sample data file r.cpprof/SampleData: the file is empty: nothing was recorded"},
		{samples, texts, `error: reading strings file r.cpprof/Strings: record 1: frame of another file: tag "CPSD", want "CPST": without this record nothing can be read`},
		{texts[firstFrame(texts):], samples, "error: reading strings file r.cpprof/Strings: record 1: not a header: without this record nothing can be read"},
		{[]byte("hello, this is a text of some length"), samples, "error: reading strings file r.cpprof/Strings: record 1: no frame begins here: without this record nothing can be read"},
	}
	for _, test := range tests {
		got, err := open(test.texts, test.samples)
		var message string
		switch {
		case err != nil:
			message = "error: " + err.Error()
		case len(got.Warnings) > 0:
			message, _, _ = strings.Cut(got.Warnings[len(got.Warnings)-1].Message, "; the rest of the file is left out")
		}
		if message != test.want {
			t.Errorf("got  %s\nwant %s", message, test.want)
		}
	}
}

// The warning has the number of lost bytes, from the damaged frame on.
func TestDamageCounts(t *testing.T) {
	texts, samples, _ := twoFiles(t)
	first := firstFrame(samples)
	samples[first+frameHeader] ^= 1
	got := fixture.Must(open(texts, samples))(t)
	want := fmt.Sprintf("; the rest of the file is left out, at most %d of %d bytes", len(samples)-first, len(samples))
	if len(got.Warnings) != 1 || !strings.HasSuffix(got.Warnings[0].Message, want) {
		t.Errorf("got %+v, want %s", got.Warnings, want)
	}
}

// Both files may be valid, but of different recordings.
func TestFilesOfTwoRecordings(t *testing.T) {
	texts, _, _ := twoFiles(t)
	name := filepath.Join(t.TempDir(), "other.cpprof")
	h := testHeader()
	h.Start = h.Start.Add(1)
	fixture.Check(t, NewBuilder(h).Recording().Write(name))
	fixture.Check(t, os.WriteFile(filepath.Join(name, stringsFile), texts, 0o666))
	_, err := Open(name)
	if err == nil || !strings.Contains(err.Error(), "are of different recordings") {
		t.Error(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	fixture.Check(t, os.WriteFile(file, nil, 0o666))
	for name, want := range map[string]string{
		filepath.Join(dir, "none"): "none: no such file or directory",
		file:                       "it is not a folder: a recording is a folder with the files Strings and SampleData",
		dir:                        "a recording has the files Strings and SampleData",
	} {
		if _, err := Open(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
