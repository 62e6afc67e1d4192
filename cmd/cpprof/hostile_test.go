package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/spf13/cobra"
)

// hostile is what a name must not do to a terminal: colours, a title, a bell, a line of its own, another direction.
const hostile = "a\x1b[31mb\x1b]0;c\x07d\nINJECTED \re\x7ff\u009bg\u202eh"

// hostileRecording is one in which every text is hostile.
func hostileRecording(t *testing.T) *sampledata.Recording {
	t.Helper()
	var twin strings.Builder
	if err := sampledata.WriteText(&twin, synthetic.Recording(30, 30, 0.3)); err != nil {
		t.Fatal(err)
	}
	const reason = "chan receive"
	if !strings.Contains(twin.String(), reason) {
		t.Fatalf("nobody waits for a %s", reason)
	}
	r, err := sampledata.ReadText(strings.NewReader(strings.ReplaceAll(twin.String(), reason, strings.Trim(strconv.Quote(hostile), `"`))))
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Functions {
		r.Functions[i].Name += hostile
		r.Functions[i].File += hostile
	}
	for i := range r.LabelSets {
		for j := range r.LabelSets[i] {
			r.LabelSets[i][j].Key += hostile
			r.LabelSets[i][j].Value += hostile
		}
	}
	for i := range r.LockNames {
		r.LockNames[i].Name += hostile
	}
	h := &r.Header
	h.Command = []string{"/srv/" + hostile, hostile}
	for _, text := range []*string{&h.Executable, &h.GoVersion, &h.OS, &h.Arch, &h.Sampler.Version, &h.Sampler.Backend} {
		*text += hostile
	}
	r.Warnings = append(r.Warnings, sampledata.Warning{Kind: hostile, Message: hostile, Count: 2})
	r.End.Detail = hostile
	return r
}

// checkTame fails for text that does something to a terminal.
func checkTame(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "INJECTED") {
			t.Errorf("a name begins a line: %q", line)
		}
		if i := strings.IndexFunc(strings.TrimLeft(strings.TrimSuffix(line, "\n"), "\t"), func(r rune) bool { return !unicode.IsGraphic(r) }); i >= 0 {
			t.Errorf("at byte %d of %.300q", i, line)
			return
		}
	}
}

// Whatever the texts of a recording are, and whatever it is called, nothing but text and line ends reaches the terminal.
func TestHostileNames(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, hostile)
	writeRecording(t, path, hostileRecording(t))
	cut := filepath.Join(folder, "cut"+hostile)
	if err := os.CopyFS(cut, os.DirFS(path)); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(cut, "SampleData"), 2000); err != nil {
		t.Fatal(err)
	}
	eachReader(t, func(t *testing.T, c *cobra.Command, args []string) {
		stand := map[string]string{theRecording: path, otherOne: path}
		got := call(t, slices.Clone(args), stand)
		if got.status != exitFine && c.Name() != "view" {
			t.Errorf("status %d: %s", got.status, got.err)
		}
		checkTame(t, got.out+got.err)
		if hasJSON(c, args) {
			checkTame(t, call(t, append(slices.Clone(args), "--json"), stand).out)
		}
		for _, wrong := range [][]string{{"--strict=" + hostile}, {"--" + hostile}, {"--thread", hostile}, {"--config", hostile}, {hostile}} {
			checkTame(t, call(t, append(slices.Clone(args), wrong...), stand).err)
		}
		stand = map[string]string{theRecording: cut, otherOne: path}
		got = call(t, slices.Clone(args), stand)
		checkTame(t, got.out+got.err)
		stand = map[string]string{theRecording: path + "2", otherOne: path}
		checkTame(t, call(t, slices.Clone(args), stand).err)
	})
	for _, args := range [][]string{
		{"__complete", "cost", path, "--server", ""}, {"__complete", "report", path, "--thread", ""}, {hostile}, {"record", "-o", hostile, "--", hostile},
		{"record", "--" + hostile}, {"cost", path, "--server", hostile}, {"cost", path, "--server", "* .." + hostile},
		{"classes", path, "--class-by", hostile}, {"find", path, "--server", "--coverage", hostile}, {"report", path, "--server", "--prune", hostile},
	} {
		got := call(t, args, map[string]string{})
		checkTame(t, got.out+got.err)
	}
}
