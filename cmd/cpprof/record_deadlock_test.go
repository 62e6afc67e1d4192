package main

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
)

// An until calls a function when a word has been written to it.
type until struct {
	mu   sync.Mutex
	said strings.Builder
	word string
	then func()
}

func (u *until) Write(b []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.said.Write(b)
	if strings.Contains(u.said.String(), u.word) {
		u.then()
	}
	return len(b), nil
}

// record prints a deadlock as soon as it occurs, with both stacks, and the recording has it, too.
func TestRecordPrintsADeadlock(t *testing.T) {
	target := fixture.Start(t, fixture.Build(t, "deadlock"))
	needsTracing(t, target.Pid())
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	file := filepath.Join(t.TempDir(), "run.cpprof")
	says := &until{word: "main.right", then: stop}
	line := []string{"record", "-o", file, "-p", strconv.Itoa(target.Pid())}
	if status := run(ctx, line, terminal{in: strings.NewReader(""), out: says, err: says}); status != exitFine {
		t.Fatalf("status %d: %s", status, &says.said)
	}
	for _, want := range []string{"cpprof: DEADLOCK in ", "(go:main.left) waits for ", "(go:main.right) waits for ", "      main.left  "} {
		if !strings.Contains(says.said.String(), want) {
			t.Errorf("%q is not in\n%s", want, &says.said)
		}
	}
	r, err := sampledata.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	a, err := locks.Summarise(r, views.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Deadlocks) != 1 {
		t.Fatalf("%d deadlocks", len(a.Deadlocks))
	}
	var classes []string
	for _, m := range a.Deadlocks[0].Members {
		classes = append(classes, m.Class)
	}
	slices.Sort(classes)
	if !slices.Equal(classes, []string{"go:main.left", "go:main.right"}) {
		t.Errorf("a deadlock of %v", classes)
	}
}

// Of many deadlocks, record describes the first ones, and says how to see all.
func TestRecordPrintsFewDeadlocks(t *testing.T) {
	target := fixture.Start(t, fixture.Build(t, "deadlock"), strconv.Itoa(described+4))
	needsTracing(t, target.Pid())
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	says := &until{word: "more deadlocks", then: stop}
	line := []string{"record", "-o", filepath.Join(t.TempDir(), "run.cpprof"), "-p", strconv.Itoa(target.Pid())}
	if status := run(ctx, line, terminal{in: strings.NewReader(""), out: says, err: says}); status != exitFine {
		t.Fatalf("status %d: %s", status, &says.said)
	}
	text := says.said.String()
	if n := strings.Count(text, "DEADLOCK"); n != described || strings.Count(text, "locks --top 0") != 1 {
		t.Errorf("%d deadlocks are described, want %d:\n%s", n, described, text)
	}
}
