package interchange

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// crashedWaiting returns the recording of a core dump in which
// so many goroutines wait for locks, and what the program had
// printed.
func crashedWaiting(t *testing.T, program, last string, waiting func(lines []string) int) (*sampledata.Recording, []string) {
	t.Helper()
	for longer := 10 * time.Millisecond; ; longer *= 2 {
		path, lines := crashed(t, program, last, longer)
		r := fixture.Must(readCoreOf(path, program))(t)
		blocked := 0
		for _, run := range r.Runs.All() {
			if run.Run == sampledata.Blocked {
				blocked++
			}
		}
		if want := waiting(lines); blocked >= want {
			return r, lines
		} else if longer > 10*time.Second {
			t.Fatalf("%d goroutines wait for locks, want %d", blocked, want)
		}
	}
}

// The locks in a core dump have the names that the program's
// source has for them.
func TestCoreDumpNamesLocks(t *testing.T) {
	r, lines := crashedWaiting(t, fixture.Build(t, "locknames"), "ready", func(lines []string) int { return len(lines) - 1 })
	names := map[string]string{}
	for _, n := range r.LockNames {
		names[fmt.Sprintf("%#x", n.Address)] = n.Name
	}
	for _, line := range lines[:len(lines)-1] {
		address, want, _ := strings.Cut(line, " ")
		// A core dump may leave less doubt than a sample does.
		if got := names[address]; got != want && got != strings.TrimPrefix(want, "perhaps ") {
			t.Errorf("the lock at %s is called %q, want %q", address, got, want)
		}
	}
}

// Of seven workers that wait for a lock, it is known that the
// eighth holds it.
func TestCoreDumpNamesHolders(t *testing.T) {
	const workers = 8
	others := 5 // goroutines that wait for other locks
	r, lines := crashedWaiting(t, fixture.Build(t, "mutex"), "0x", func([]string) int { return workers - 1 + others })
	held, _, _ := strings.Cut(lines[0], " ")
	waiting := map[sampledata.GoroutineID]bool{}
	for _, run := range r.Runs.All() {
		waiting[run.Goroutine] = run.Run == sampledata.Blocked
	}
	attributed := 0
	for _, run := range r.Runs.All() {
		if run.Run != sampledata.Blocked || fmt.Sprintf("%#x", run.Lock) != held {
			continue
		}
		holders := r.HolderSets[run.Holders]
		if run.Evidence != sampledata.Inferred || len(holders) != 1 || waiting[holders[0]] {
			t.Errorf("goroutine %d waits for %v, with evidence %v", run.Goroutine, holders, run.Evidence)
			continue
		}
		if start := r.Goroutines.At(holders[0]).Start; r.Functions[start].Name != "main.worker" {
			t.Errorf("%s holds the lock, want main.worker", r.Functions[start].Name)
		}
		attributed++
	}
	if attributed != workers-1 {
		t.Errorf("%d goroutines wait for the worker that holds the lock, want %d", attributed, workers-1)
	}
}
