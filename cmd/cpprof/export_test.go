package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/export"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/sampledata"
	pprofile "github.com/google/pprof/profile"
)

// Every format is written by the command, of a recording and of
// a view, and never over another file.
func TestExportToEveryFormat(t *testing.T) {
	folder := t.TempDir()
	recording := filepath.Join(folder, "bob.cpprof")
	fixture.Check(t, undumpFile("testdata/bob.txt", recording))
	var said strings.Builder
	quiet := terminal{in: strings.NewReader(""), out: io.Discard, err: &said}
	for _, f := range export.All() {
		for _, view := range [][]string{nil, {"--server"}, {"--thread", "bob.(*terminal).run"}} {
			if f.Name == "text" && view != nil {
				continue // the text is the recording, and refuses a view
			}
			file := filepath.Join(folder, strings.Join(append(view, f.File), "-"))
			args := append([]string{"export", recording, "--to", f.Name, "-o", file}, view...)
			if status := run(t.Context(), args, quiet); status != exitFine {
				t.Errorf("%s ends with %d: %s", args, status, said.String())
			}
			if info, err := os.Stat(file); err != nil || info.Size() == 0 {
				t.Errorf("%s: %v", args, err)
			}
			if status := run(t.Context(), args, quiet); status != exitUsage {
				t.Errorf("%s a second time ends with %d", args, status)
			}
		}
	}
}

// A recording that broke off before its first sample is written
// to every format.
func TestExportWithoutSamples(t *testing.T) {
	folder := t.TempDir()
	recording := filepath.Join(folder, "run.cpprof")
	w, err := sampledata.Create(recording, synthetic.Header())
	fixture.Check(t, err)
	fixture.Check(t, w.Close())
	for _, f := range export.All() {
		var said strings.Builder
		args := []string{"export", recording, "--to", f.Name, "-o", filepath.Join(folder, f.File)}
		if status := run(t.Context(), args, terminal{in: strings.NewReader(""), out: io.Discard, err: &said}); status != exitFine {
			t.Errorf("%s ends with %d: %s", args, status, said.String())
		}
	}
	file := fixture.Must(os.ReadFile(filepath.Join(folder, "run.pb.gz")))(t)
	if p, err := pprofile.ParseData(file); err != nil || p.PeriodType == nil || p.PeriodType.Type != "wall" {
		t.Errorf("%v: the profile has no type of a period: %v", err, p)
	}
}

// The profile of another tool keeps its own labels.
func TestExportKeepsLabels(t *testing.T) {
	folder := t.TempDir()
	fn := &pprofile.Function{ID: 1, Name: "main.f"}
	at := &pprofile.Location{ID: 1, Line: []pprofile.Line{{Function: fn}}}
	p := &pprofile.Profile{
		SampleType: []*pprofile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}, Function: []*pprofile.Function{fn}, Location: []*pprofile.Location{at},
		Sample: []*pprofile.Sample{{Location: []*pprofile.Location{at}, Value: []int64{7}, Label: map[string][]string{"route": {"/api"}}}},
	}
	in, out := filepath.Join(folder, "in.pb.gz"), filepath.Join(folder, "out.pb.gz")
	fixture.Check(t, create(in, false, p.Write))
	var said strings.Builder
	if status := run(t.Context(), []string{"export", in, "--to", "pprof", "-o", out}, terminal{in: strings.NewReader(""), out: io.Discard, err: &said}); status != exitFine {
		t.Fatal(said.String())
	}
	file := fixture.Must(os.ReadFile(out))(t)
	got, err := pprofile.ParseData(file)
	if err != nil || len(got.Sample) != 1 || got.Sample[0].Label["route"][0] != "/api" || got.Sample[0].Value[0] != 7 {
		t.Errorf("%v: %v", err, got)
	}
}

// If writing fails, a file that was begun is removed, but a
// device stays. It is a link here, so that the test harms
// nothing if it fails.
func TestCreateKeepsDevices(t *testing.T) {
	device, file := filepath.Join(t.TempDir(), "null"), filepath.Join(t.TempDir(), "file")
	if err := os.Symlink(os.DevNull, device); err != nil {
		t.Skip(err)
	}
	failed := errors.New("no more")
	for path, stays := range map[string]bool{device: true, file: false} {
		if err := create(path, false, func(io.Writer) error { return failed }); !errors.Is(err, failed) {
			t.Errorf("%s: %v, want %v", path, err, failed)
		}
		if _, err := os.Lstat(path); (err == nil) != stays {
			t.Errorf("%s: %v, want it to stay: %v", path, err, stays)
		}
	}
}

// Every format but those of samples and of the recording itself
// is written of two recordings, and those of stacks of a part
// and of a refinement of them, too.
func TestExportComparisons(t *testing.T) {
	folder := t.TempDir()
	ofRecordings := []string{"trace-event", "csv-classes", "csv-locks"}
	for _, f := range export.All() {
		for i, view := range [][]string{nil, {"--server", "--prune", "* ..main.encode"}, {"--thread", "go:main.worker", "--down", "*", "--down", "* main.worker"}} {
			if f.Name == "csv-samples" || f.Name == "text" || i > 0 && slices.Contains(ofRecordings, f.Name) {
				continue
			}
			var said strings.Builder
			file := filepath.Join(folder, strings.Join(append(view, f.File), "-"))
			args := append([]string{"export", "testdata/after.txt", "--against", "testdata/before.txt", "--to", f.Name, "-o", file}, view...)
			if status := run(t.Context(), args, terminal{in: strings.NewReader(""), out: &said, err: &said}); status != exitFine {
				t.Errorf("%s ends with %d: %s", args, status, said.String())
			}
			if info, err := os.Stat(file); err != nil || info.Size() == 0 || !strings.Contains(said.String(), " of testdata/after.txt, compared with testdata/before.txt, in ") {
				t.Errorf("%s: %v: %s", args, err, said.String())
			}
		}
	}
	refuses(t, []refusal{
		{"export none --against none --to csv-samples -o x", exitUsage, "--against: csv-samples can't show a comparison: "}, // before anything is read
		{"export none --against none --to folded -o x", exitFailed, "there is no recording none"},
	})
}
