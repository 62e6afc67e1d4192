package main

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/views"
)

// Without a view, find and its conversation take the busiest
// classes, one after the other.
func TestBusiestClassesInTurnLong(t *testing.T) {
	fixture.Long(t)
	t.Parallel()
	r := synthetic.Recording(30, 30, 0.3)
	path := filepath.Join(t.TempDir(), "run.cpprof")
	writeRecording(t, path, r)
	classes, err := views.Classes(r, views.Options{LeaveOutIdle: true})
	fixture.Check(t, err)
	want := views.Busiest(classes)
	if len(want) < 2 {
		t.Fatalf("only %q are busy", want)
	}
	view := regexp.MustCompile(`(?m)^Thread View of (\S+)`)
	seen := func(out string) (names []string) {
		for _, m := range view.FindAllStringSubmatch(out, -1) {
			names = append(names, m[1])
		}
		return names
	}
	found := call(t, []string{"find", path}, map[string]string{})
	if got := seen(found.out); found.status != exitFine || !slices.Equal(got, want) {
		t.Errorf("find takes %q, want %q: %s", got, want, found.err)
	}
	if !strings.Contains(found.out, "--thread "+want[1]) && !strings.Contains(found.out, "--thread '"+want[1]) {
		t.Errorf("no command opens a sequence of %s:\n%s", want[1], found.out)
	}
	if got := call(t, []string{"find", path, "--fail-above", "0%"}, map[string]string{}); got.status != exitAbove || !slices.Equal(seen(got.out), want) {
		t.Errorf("status %d after %q", got.status, seen(got.out))
	}
	var asJSON struct {
		Classes []struct {
			Class       string
			Bottlenecks []struct{ Command string }
		}
		Complete bool
	}
	got := call(t, []string{"find", path, "--json", "--fail-above", "0%"}, map[string]string{})
	if err := json.Unmarshal([]byte(got.out), &asJSON); err != nil || got.status != exitAbove || !asJSON.Complete {
		t.Fatalf("%v: status %d: find --json writes\n%s", err, got.status, got.out)
	}
	var inJSON []string
	for _, c := range asJSON.Classes {
		inJSON = append(inJSON, c.Class)
		if len(c.Bottlenecks) == 0 || !strings.Contains(c.Bottlenecks[0].Command, "--thread "+words.Shell(c.Class)) {
			t.Errorf("of %s it finds %v", c.Class, c.Bottlenecks)
		}
	}
	if !slices.Equal(inJSON, want) {
		t.Errorf("find --json takes %q, want %q", inJSON, want)
	}
	var out, errs strings.Builder
	in := strings.NewReader(strings.Repeat("next\n", len(want)-1) + "suggest\nnext\n")
	status := run(t.Context(), []string{"find", path, "--interactive"}, terminal{in: in, out: &out, err: &errs})
	if got := seen(out.String()); status != exitFailed || !slices.Equal(got, want[1:]) || !strings.Contains(errs.String(), "the last of the busiest") {
		t.Errorf("status %d; next takes %q, want %q: %s", status, got, want[1:], errs.String())
	}
}
