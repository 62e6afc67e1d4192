package main

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/spf13/cobra"
)

// Placeholders for recordings in readerCalls.
const (
	theRecording = "RECORDING"
	otherOne     = "OTHER" // a recording to compare with
	newOne       = "NEW"   // a recording to write

	theFunction = "main.worker0" // one that the recordings have
)

// readerCalls are calls of each command that reads a recording, without --json.
var readerCalls = map[string][][]string{
	"cpprof view": {{theRecording}, {otherOne, "--against", theRecording}},
	"cpprof web":  {{theRecording, "--no-browser", "--duration", "1ms", "--span", ",1s"}, {otherOne, "--against", theRecording, "--no-browser", "--duration", "1ms", "--span", ",1s"}},
	"cpprof report": {
		{theRecording}, {theRecording, "--server", "--auto"}, {theRecording, "--server", "--against", otherOne},
		{otherOne, "--server", "--against", theRecording}, {otherOne, "--against", theRecording},
	},
	"cpprof report xtree":       {{theRecording, "--server"}},
	"cpprof report xprof":       {{theRecording, "--server"}},
	"cpprof report xarc":        {{theRecording, "--server"}},
	"cpprof report session":     {{theRecording}},
	"cpprof report aspects":     {{theRecording}},
	"cpprof classes":            {{theRecording}},
	"cpprof locks":              {{theRecording}},
	"cpprof cost":               {{theRecording, "--server", "* ..:RUN"}},
	"cpprof info":               {{theRecording}},
	"cpprof why":                {{theRecording}},
	"cpprof probe":              {{theRecording}},
	"cpprof calls":              {{theRecording}, {theRecording, theFunction}},
	"cpprof find":               {{theRecording, "--server"}, {otherOne, "--server", "--against", theRecording}},
	"cpprof monitors":           {{theRecording}},
	"cpprof monitors suggest":   {{theRecording, "goroutines.running"}},
	"cpprof monitors correlate": {{theRecording, "goroutines.running", "goroutines.waiting"}, {theRecording, "time", "goroutines", "--with", otherOne}},
	"cpprof monitors plot":      {{theRecording, "goroutines"}, {theRecording, "goroutines", "--against", otherOne}, {theRecording, "--scatter", "time,goroutines"}},
	"cpprof export":             {{theRecording, "--to", "text", "-o", "-"}, {theRecording, "--server", "--to", "folded", "-o", "-"}, {otherOne, "--server", "--against", theRecording, "--to", "folded", "-o", newOne}},
	"cpprof import":             {{"-o", newOne, theRecording}, {"-o", newOne, theRecording + ".txt"}},
}

// noReaders are the other commands. They and their subcommands read no recording.
var noReaders = []string{
	"cpprof demo", "cpprof record", "cpprof stuck", "cpprof top", "cpprof monitors perturb", "cpprof export push", "cpprof dump-goroutines", "cpprof agent", "cpprof mcp", "cpprof help", "cpprof completion",
}

// eachReader calls f with every call of a command that reads a
// recording, and fails for a command that has none.
func eachReader(t *testing.T, f func(t *testing.T, c *cobra.Command, args []string)) {
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		if slices.Contains(noReaders, c.CommandPath()) {
			return
		}
		if c.HasParent() && readerCalls[c.CommandPath()] == nil {
			t.Errorf("%s: add calls of it to readerCalls, or add it to noReaders", c.CommandPath())
		}
		for _, args := range readerCalls[c.CommandPath()] {
			args = append(strings.Fields(c.CommandPath())[1:], args...)
			t.Run(strings.Join(args, " "), func(t *testing.T) {
				t.Parallel()
				f(t, c, args)
			})
		}
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	check(newRootCommand(terminal{}))
}

// called is the result of a call.
type called struct {
	status   int
	out, err string
}

// call executes a command line after it has replaced the
// placeholders. view gets a terminal that it can't use.
func call(t *testing.T, args []string, stand map[string]string) called {
	t.Helper()
	stand = maps.Clone(stand)
	stand[newOne] = filepath.Join(t.TempDir(), "new.cpprof")
	for i, arg := range args {
		for word, path := range stand {
			if rest, ok := strings.CutPrefix(arg, word); ok {
				args[i] = path + rest
			}
		}
	}
	isView := args[0] == "view"
	var out, errs strings.Builder
	status := run(t.Context(), args, terminal{
		in: strings.NewReader("suggest\n"), out: &out, err: &errs, inIsTerminal: isView, outIsTerminal: isView,
	})
	return called{status, out.String(), errs.String()}
}

// hasJSON reports whether a command has the flag --json.
func hasJSON(c *cobra.Command) bool { return c.Flags().Lookup("json") != nil }

// basisOf reads the basis of a JSON document.
func basisOf(t *testing.T, text string) (warnings []sampledata.Warning, complete bool) {
	t.Helper()
	var got struct {
		Schema   int
		Warnings *[]sampledata.Warning
		Complete *bool
	}
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&got); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if got.Schema != 1 {
		t.Fatalf("schema %d: %.200s", got.Schema, text)
	}
	if got.Warnings == nil || *got.Warnings == nil || got.Complete == nil {
		t.Fatalf("warnings or complete is missing: %s", text)
	}
	return *got.Warnings, *got.Complete
}

// writeRecording writes a recording that has a session, and
// beside it the recording as text.
func writeRecording(t *testing.T, path string, r *sampledata.Recording) {
	t.Helper()
	fixture.Check(t, r.Write(path))
	writeSession(t, path)
	twin := fixture.Must(os.Create(path + ".txt"))(t)
	defer twin.Close()
	fixture.Check(t, sampledata.WriteText(twin, r))
}

// A slowSink lets the writer flush once, halfway, so that the
// file consists of two blocks.
type slowSink struct {
	*sampledata.Writer
	left int // samples up to the pause
}

func (s *slowSink) Sample(sample sampledata.Sample, changes []sampledata.Change) error {
	if s.left--; s.left == 0 {
		time.Sleep(3 * time.Second / 2)
	}
	return s.Writer.Sample(sample, changes)
}

// writeCut writes a recording that was cut within its second block.
func writeCut(t *testing.T, path string) {
	t.Helper()
	w := fixture.Must(sampledata.Create(path, synthetic.Header()))(t)
	fixture.Check(t, errors.Join(synthetic.Record(&slowSink{w, 30}, 60, 12, 0.3), w.Close()))
	data := filepath.Join(path, "SampleData")
	info := fixture.Must(os.Stat(data))(t)
	fixture.Check(t, os.Truncate(data, info.Size()-100))
}

func writeSession(t *testing.T, recording string) {
	t.Helper()
	state := &session.State{Windows: []session.Window{new(session.Profile), new(session.Locks)}}
	fixture.Check(t, state.Save(recording))
}

// recordings writes a complete recording, a truncated one, and
// one that lacks only the end record.
func recordings(t *testing.T) (whole, cut, endless string) {
	t.Helper()
	folder := t.TempDir()
	whole, cut, endless = filepath.Join(folder, "whole"), filepath.Join(folder, "cut"), filepath.Join(folder, "endless")
	r := synthetic.Recording(60, 12, 0.3)
	writeRecording(t, whole, r)
	writeCut(t, cut)
	writeSession(t, cut)
	left, err := sampledata.Open(cut)
	if err != nil || left.Samples.Len() == 0 || left.Samples.Len() == r.Samples.Len() {
		t.Fatalf("%v: the cut leaves nothing, or all", err)
	}
	twin := new(strings.Builder)
	fixture.Check(t, sampledata.WriteText(twin, left))
	fixture.Check(t, os.WriteFile(cut+".txt", []byte(twin.String()), 0o666))
	r.End = nil
	writeRecording(t, endless, r)
	return whole, cut, endless
}

// Every command that reads an incomplete recording says so, in
// text and in JSON, and refuses it with --strict.
func TestIncompleteRecordingsLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	whole, cut, endless := recordings(t)
	for name, c := range map[string]struct{ path, says string }{
		"cut":     {cut, "it is damaged, and "},
		"endless": {endless, "it is incomplete, "},
	} {
		t.Run(name, func(t *testing.T) {
			eachReader(t, func(t *testing.T, command *cobra.Command, args []string) {
				stand := map[string]string{theRecording: c.path, otherOne: whole}
				says := c.path
				if strings.HasSuffix(args[len(args)-1], ".txt") {
					says += ".txt"
				}
				says += ": " + c.says
				isView := command.Name() == "view" // which can't open its windows here
				got := call(t, slices.Clone(args), stand)
				if got.status != exitFine && !isView || strings.Count(got.err, "cpprof: warning: "+says) != 1 {
					t.Errorf("status %d: %s", got.status, got.err)
				}
				got = call(t, append(slices.Clone(args), "--strict"), stand)
				if got.status != exitFailed || got.out != "" || !strings.HasPrefix(got.err, "cpprof: "+says) {
					t.Errorf("with --strict, status %d: %s%s", got.status, got.out, got.err)
				}
				if hasJSON(command) {
					warnings, complete := basisOf(t, call(t, append(slices.Clone(args), "--json"), stand).out)
					if complete || c.path == cut && !slices.ContainsFunc(warnings, func(w sampledata.Warning) bool { return w.Kind == sampledata.DamagedFile }) {
						t.Errorf("JSON says %v, complete %v", warnings, complete)
					}
				}
			})
		})
	}
}

// Commands print no warning about a complete recording, and
// accept it with --strict.
func TestCompleteRecordingsLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	whole, _, _ := recordings(t)
	eachReader(t, func(t *testing.T, command *cobra.Command, args []string) {
		stand := map[string]string{theRecording: whole, otherOne: whole}
		got := call(t, append(slices.Clone(args), "--strict"), stand)
		if command.Name() != "view" && (got.status != exitFine || got.err != "") {
			t.Errorf("status %d: %s", got.status, got.err)
		}
		if hasJSON(command) {
			if _, complete := basisOf(t, call(t, append(slices.Clone(args), "--json"), stand).out); !complete {
				t.Error("JSON says that it is not complete")
			}
		}
	})
}
