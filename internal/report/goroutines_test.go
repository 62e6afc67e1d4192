package report

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// readTwin reads a recording from its text form in testdata.
func readTwin(t *testing.T, name string) *sampledata.Recording {
	t.Helper()
	f := fixture.Must(os.Open("testdata/" + name))(t)
	defer f.Close()
	return fixture.Must(sampledata.ReadText(f))(t)
}

// golden compares an output with a file. UPDATE_GOLDEN=1
// rewrites the file; read it before you commit it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	name = "testdata/" + name
	if os.Getenv("UPDATE_GOLDEN") != "" {
		fixture.Check(t, os.WriteFile(name, []byte(got), 0o666))
	}
	want := fixture.Must(os.ReadFile(name))(t)
	if got != string(want) {
		t.Errorf("the output differs from %s:\n%s", name, got)
	}
}

func TestGoroutines(t *testing.T) {
	r := readTwin(t, "goroutines.txt")
	var text, data strings.Builder
	Goroutines{r}.Write(&text)
	golden(t, "goroutines.golden", text.String())
	fixture.Check(t, (Goroutines{r}).WriteJSON(&data))
	golden(t, "goroutines.json", data.String())
}

// Every goroutine of the last sample is in exactly one group,
// and no other goroutine is in one.
func TestGoroutinesAreAllThere(t *testing.T) {
	var data strings.Builder
	fixture.Check(t, (Goroutines{readTwin(t, "goroutines.txt")}).WriteJSON(&data))
	var got goroutinesJSON
	fixture.Check(t, json.Unmarshal([]byte(data.String()), &got))
	var ids []int64
	for _, g := range got.Groups {
		ids = append(ids, g.Goroutines...)
	}
	slices.Sort(ids)
	if want := []int64{1, 18, 19, 20, 21, 22, 30, 31, 32, 33, 34, 35, 36, 37, 38, 40}; !slices.Equal(ids, want) || got.Count != len(want) {
		t.Errorf("%d goroutines: %d, want %d", got.Count, ids, want)
	}
}

func TestNoGoroutines(t *testing.T) {
	r := fixture.Must(
		sampledata.ReadText(strings.NewReader("cpprof recording 1\ncommand ./x\n")))(t)
	var text, data strings.Builder
	if (Goroutines{r}).Write(&text); !strings.Contains(text.String(), "0 goroutines, 0 different stacks") {
		t.Error(&text)
	}
	if err := (Goroutines{r}).WriteJSON(&data); err != nil || !strings.Contains(data.String(), `"groups": []`) {
		t.Errorf("%v: %s", err, &data)
	}
}
