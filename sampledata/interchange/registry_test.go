package interchange

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/klauspost/compress/gzip"
)

const twin = `cpprof recording 1
function f0 main.main
node n0 f0
goroutine g0 1 start=f0
sample 1ms
    g0 running n0
end duration time=2ms
`

// examples returns a file of each format, not compressed.
func examples(t testing.TB) map[*Format][]byte {
	b := calltree.NewBuilder(new(calltree.Symbols), "main.main", "time", "s")
	b.Add(0, b.Stack("f", "g"), 1, 3)
	tree := fixture.Must(b.Tree())(t)
	var profile bytes.Buffer
	fixture.Check(t, writeTree(&profile, tree))
	z := fixture.Must(gzip.NewReader(&profile))(t)
	plain := fixture.Must(io.ReadAll(z))(t)
	return map[*Format][]byte{&text: []byte(twin), &pprof: plain, &arcflow: []byte("\n# a trace\n0 pidtid one\n0 > f\n1.5 > g\n2 < g\n12 < f\n"), &executionTrace: traceOf(t, time.Millisecond),
		&goroutineDump: []byte(aDump), &folded: []byte(aFolded), &perfScript: []byte(aPerf)}
}

func zipped(t testing.TB, data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	fixture.Must(w.Write(data))(t)
	fixture.Check(t, w.Close())
	return b.Bytes()
}

// Exactly one format recognises each file by its content,
// compressed or not, and can read it.
func TestFormatsAreRecognised(t *testing.T) {
	files := examples(t)
	for _, want := range formats {
		data, ok := files[want]
		if !ok && want != &recording && want != &coreDump { // TestCoreDump has one

			t.Errorf("%s has no example here", want.Name)
		}
		if !ok {
			continue
		}
		for _, content := range [][]byte{data, zipped(t, data)} {
			in, err := Stream(bytes.NewReader(content), "x", Auto)
			if err != nil {
				t.Fatalf("%s: %v", want.Name, err)
			}
			for _, f := range formats {
				if f.Sniff(in.start) != (f == want) {
					t.Errorf("a file of %s: %s claims it: %v", want.Name, f.Name, f != want)
				}
			}
			r, err := in.Recording(Options{})
			if err == nil {
				err = r.Check()
			}
			if err != nil {
				t.Errorf("%s: %v", want.Name, err)
			}
		}
	}
}

// Every format has all the texts that a person sees, and can be read.
func TestFormatsAreComplete(t *testing.T) {
	names := map[string]bool{Auto: true}
	for _, f := range formats {
		if names[f.Name] || f.Title == "" || f.Sniff == nil {
			t.Errorf("format %q: a second one, or something is missing", f.Name)
		}
		names[f.Name] = true
		if f.Read == nil {
			t.Errorf("format %q can't be read", f.Name)
		}
		if got, err := Lookup(f.Name); got != f || err != nil {
			t.Errorf("format %q is found as %v, %v", f.Name, got, err)
		}
		if !slices.Contains(Names(), f.Name) {
			t.Errorf("format %q is not listed", f.Name)
		}
	}
}

func TestRecordingsAreRead(t *testing.T) {
	folder := t.TempDir()
	want := fixture.Must(sampledata.ReadText(strings.NewReader(twin)))(t)
	for name, write := range map[string]func(string) error{
		"run.cpprof": want.Write,
		"run.txt":    func(path string) error { return os.WriteFile(path, []byte(twin), 0o600) },
		"run.txt.gz": func(path string) error { return os.WriteFile(path, zipped(t, []byte(twin)), 0o600) },
	} {
		path := filepath.Join(folder, name)
		fixture.Check(t, write(path))
		r, err := ReadRecording(path)
		if err != nil || r.Samples.Len() != 1 || len(r.Functions) != 1 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// An error names the input that can't be read, and the formats
// that can be.
func TestWhatCannotBeRead(t *testing.T) {
	folder := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(folder, name)
		fixture.Check(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	lacking := filepath.Join(folder, "of", "cut.cpprof")
	fixture.Check(t, os.MkdirAll(lacking, 0o700))
	file("of/cut.cpprof/SampleData", "\\*M\x18\x14\x00\x00\x00CPSD")
	trace := file("trace", "0 > f\n1 < g\n")
	for _, c := range []struct{ path, format, want string }{
		{filepath.Join(folder, "none"), Auto, "there is no recording " + filepath.Join(folder, "none")},
		{folder, Auto, folder + " is not a recording"},
		{folder, "pprof", "it is a folder, not a profile: leave out --format"},
		{lacking, Auto, lacking + " is not a recording: it lacks the file Strings"},
		{filepath.Dir(lacking), Auto, "is not a recording, but has some: give one, such as " + lacking},
		{filepath.Join(lacking, "SampleData"), Auto, "SampleData: it is a file of a recording: give the folder that it is in"},
		{file("prog", "\x7fELF\x02"), Auto, "prog: it is a program: "},
		{"/dev/zero", Auto, "open /dev/zero: it is a device, not a regular file"},
		{trace, Auto, "reading " + trace + `: arcflow trace: line 2: "g" ends inside "f"`},
		{trace, "pprof", "reading " + trace + ": pprof profile: "},
		{trace, "text", "reading " + trace + ": "},
		{trace, "nosuch", `unknown format "nosuch": want one of auto, recording, text, pprof, trace, goroutines, core, arcflow, folded, perf`},
		{file("odd", "\x00\x01 what is this?"), Auto, `odd: its beginning, "\x00\x01 what is this?", matches none of the formats that cpprof reads: recording, text, `},
		{file("empty", ""), Auto, "empty: it is empty"},
		{file("half.gz", string(zipped(t, []byte("0 > f\n"))[:12])), Auto, "it is damaged, or cut off after byte 12: unexpected EOF"},
		{file("head.gz", "\x1f\x8bno"), Auto, "head.gz: "},
	} {
		in, err := Open(c.path, c.format)
		if err == nil {
			_, err = in.Recording(Options{})
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s as %s: %v, want %s", c.path, c.format, err, c.want)
		}
	}
}

// A value that a file does not count is an error.
func TestChosenValue(t *testing.T) {
	profile := examples(t)[&pprof]
	if _, err := readBytes(t, profile, Options{Value: "bytes"}); err == nil || !strings.Contains(err.Error(), `value "bytes": it counts only time`) {
		t.Error(err)
	}
	if r, err := readBytes(t, profile, Options{Value: "time"}); err != nil || len(r.Profile.Shown) != 1 {
		t.Error(err)
	}
}

// A profile that was written can be read again by its content.
func TestWrite(t *testing.T) {
	r := fixture.Must(readBytes(t, []byte("0 pidtid one\n0 > f\n3 < f\n"), Options{}))(t)
	var file bytes.Buffer
	fixture.Check(t, WritePprof(&file, r))
	again := fixture.Must(readBytes(t, file.Bytes(), Options{}))(t)
	if again.Profile.Total(0).Cmp(r.Profile.Total(0)) != 0 {
		t.Errorf("it is read with %s of %s", again.Profile.Total(0), r.Profile.Total(0))
	}
}

// endless is a file without end that counts the bytes that are read.
type endless struct {
	line string
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.line[(e.read+i)%len(e.line)]
	}
	e.read += len(p)
	return len(p), nil
}

// To find the format of a file of any length, only a few
// kilobytes of it are read.
func TestSniffingIsBounded(t *testing.T) {
	for _, line := range []string{"# a comment\n", "x", "\x0a\x04\x08\x01\x10\x02"} {
		e := &endless{line: line}
		if in, err := Stream(e, "x", Auto); err == nil && in.Format != &pprof {
			t.Errorf("%q is %s", line, in.Format.Title)
		}
		if e.read > 2*headSize {
			t.Errorf("%q: %d bytes are read", line, e.read)
		}
	}
}

// The search for the format of any content doesn't crash, and at
// most one format claims the content.
func FuzzSniff(f *testing.F) {
	for _, content := range examples(f) {
		f.Add(content)
	}
	f.Add([]byte("\x0a\x04\x08\x01\x10\x02"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := newInput(bytes.NewReader(data), "x")
		if err != nil {
			return
		}
		var claims []string
		for _, format := range formats {
			if format.Sniff(in.start) {
				claims = append(claims, format.Name)
			}
		}
		if len(claims) > 1 {
			t.Errorf("claimed by %v", claims)
		}
	})
}

// Progress ends at the size of the file, also if it is compressed.
func TestProgress(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folded.gz")
	var file bytes.Buffer
	z := gzip.NewWriter(&file)
	for i := range 100_000 {
		fmt.Fprintf(z, "main;handle%d 1\n", i)
	}
	z.Close()
	fixture.Check(t, os.WriteFile(path, file.Bytes(), 0o666))
	in := fixture.Must(Open(path, Auto))(t)
	defer in.Close()
	var told []int64
	fixture.Must(in.Recording(Options{Progress: func(read int64) { told = append(told, read) }}))(t)
	if !slices.IsSorted(told) || len(told) < 10 || told[len(told)-1] != in.Size() || in.Size() != int64(file.Len()) {
		t.Errorf("%d calls, the last with %d of %d bytes", len(told), told[len(told)-1], in.Size())
	}
}

// A small file that decompresses to very much is refused long
// before its end.
func TestBombs(t *testing.T) {
	lines := zipped(t, []byte(strings.Repeat(strings.Repeat(" ", 1<<19)+"\n", 2)))
	for format, example := range examples(t) {
		file := append(zipped(t, example), bytes.Repeat(lines, 3*maxPlain>>20)...)
		in, err := Stream(bytes.NewReader(file), "x", format.Name)
		fixture.Check(t, err)
		in.got += maxPlain - 16<<20 // as if it had read that, which takes long
		_, err = in.Recording(Options{})
		if err == nil && format != &executionTrace || in.got > maxPlain+maxRatio*in.raw.read+1<<20 {
			t.Errorf("%s: after %d bytes of %d, which are %d: %v", format.Name, in.raw.read, len(file), in.got, err)
		}
		t.Logf("%s: after %d MB: %v", format.Name, in.got>>20, err) // a trace says itself where it ends
	}
}
