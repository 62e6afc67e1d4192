package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/spf13/cobra"
)

// hostile is what a name must not do to a terminal: colours, a
// title, a bell, a line of its own, another direction.
const hostile = "a\x1b[31mb\x1b]0;c\x07d\nINJECTED \re\x7ff\u009bg\u202eh"

// hostileRecording is one in which every text is hostile.
func hostileRecording(t *testing.T) *sampledata.Recording {
	t.Helper()
	var twin strings.Builder
	fixture.Check(t, sampledata.WriteText(&twin, synthetic.Recording(20, 12, 0.3)))
	const reason = "chan receive"
	if !strings.Contains(twin.String(), reason) {
		t.Fatalf("nobody waits for a %s", reason)
	}
	r, err := sampledata.ReadText(strings.NewReader(strings.ReplaceAll(twin.String(), reason, strings.Trim(strconv.Quote(hostile), `"`))))
	fixture.Check(t, err)
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

// cutRecording copies a recording without its end.
func cutRecording(t *testing.T, from, to string) {
	t.Helper()
	fixture.Check(t, os.CopyFS(to, os.DirFS(from)))
	fixture.Check(t, os.Truncate(filepath.Join(to, "SampleData"), 2000))
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

// Whatever the texts of a recording are, and whatever it is
// called, nothing but text and line ends reaches the terminal.
func TestHostileNamesLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, hostile)
	writeRecording(t, path, hostileRecording(t))
	cut := filepath.Join(folder, "cut"+hostile)
	cutRecording(t, path, cut)
	eachReader(t, func(t *testing.T, c *cobra.Command, args []string) {
		if i := slices.Index(args, theFunction); i >= 0 {
			args[i] += hostile
		}
		stand := map[string]string{theRecording: path, otherOne: path}
		got := call(t, slices.Clone(args), stand)
		if got.status != exitFine && c.Name() != "view" {
			t.Errorf("status %d: %s", got.status, got.err)
		}
		checkTame(t, got.out+got.err)
		if hasJSON(c) {
			checkTame(t, call(t, append(slices.Clone(args), "--json"), stand).out)
		}
		for _, wrong := range [][]string{{"--strict=" + hostile}, {"--" + hostile}, {"--thread", hostile}, {"--set", "config=" + hostile}, {hostile}} {
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
		{"mcp", "--folder", hostile}, {"agent", "--duration", "1ms", "--listen", hostile}, {"agent", "--duration", "1ms", "--match", hostile + "["}, {"agent", "--duration", "1ms", "--token-file", hostile},
		{"agent", "--duration", "1ms", "--tls-cert", hostile, "--tls-key", hostile}, {"agent", "--duration", "1ms", "--client-ca", hostile},
		{"classes", path, "--set", "classes=" + hostile}, {"find", path, "--server", "--coverage", hostile}, {"report", path, "--server", "--prune", hostile},
	} {
		got := call(t, args, map[string]string{})
		checkTame(t, got.out+got.err)
	}
}

// An assistant that shows the answers of the tools at a terminal
// shows nothing but text, and the JSON has the names as they
// are.
func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	c := startMCP(t)
	name, cut := hostile+".cpprof", "cut"+hostile
	path := filepath.Join(c.folder, name)
	writeRecording(t, path, hostileRecording(t))
	cutRecording(t, path, filepath.Join(c.folder, cut))
	var class string
	answered := func(tool string, args map[string]any) {
		t.Helper()
		texts, failed := c.call(tool, args)
		if failed || len(texts) == 0 {
			t.Fatalf("%s: %q", tool, texts)
		}
		for _, text := range texts {
			checkTame(t, text)
		}
		var object map[string]any
		if err := json.Unmarshal([]byte(texts[0]), &object); err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		if !strings.Contains(fmt.Sprint(object), hostile) {
			t.Errorf("%s %q: a name is not as it was in %.2000s", tool, args, texts[0])
		}
		if tool == "classes" && class == "" {
			class = object["classes"].([]any)[0].(map[string]any)["class"].(string)
		}
	}
	answered("list_recordings", nil)
	answered("classes", map[string]any{"recording": name})
	answered("why", map[string]any{"recording": name})
	answered("why", map[string]any{"recording": name, "against": name})
	answered("compare", map[string]any{"recording": name, "against": name})
	answered("compare", map[string]any{"recording": name, "against": name, "class": class})
	answered("locks", map[string]any{"recording": name})
	answered("report", map[string]any{"recording": name})
	answered("report", map[string]any{"recording": name, "class": class})
	answered("report", map[string]any{"recording": name, "class": class, "steps": []map[string]any{{"how": "down", "path": "*"}}})
	for _, wrong := range []struct {
		tool string
		args map[string]any
	}{
		{"report", map[string]any{"recording": cut, "class": class}},
		{"classes", map[string]any{"recording": "none" + hostile}},
		{"why", map[string]any{"recording": name, "against": "none" + hostile}},
		{"compare", map[string]any{"recording": name, "against": "../" + hostile}},
		{"report", map[string]any{"recording": name, "class": "none" + hostile}},
		{"report", map[string]any{"recording": name, "steps": []map[string]any{{"how": hostile, "path": "*"}}}},
		{"report", map[string]any{"recording": name, "steps": []map[string]any{{"how": "down", "path": "* (" + hostile}}}},
		{"record", map[string]any{"process": hostile}},
		{"record", map[string]any{"process": "1", "name": hostile}},
	} {
		texts, failed := c.call(wrong.tool, wrong.args)
		if !failed {
			t.Errorf("%s %q: %q", wrong.tool, wrong.args, texts)
		}
		checkTame(t, strings.Join(texts, "\n"))
	}
}
