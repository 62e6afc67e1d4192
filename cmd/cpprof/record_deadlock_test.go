package main

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

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

// record prints a deadlock as soon as it occurs, with both
// stacks, and the recording has it, too.
func TestRecordPrintsADeadlock(t *testing.T) {
	t.Parallel()
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
	r := fixture.Must(sampledata.Open(file))(t)
	a := fixture.Must(locks.Summarise(r, views.Options{}))(t)
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

// recordedFrom records a program until there are enough samples,
// and returns the recording and what record printed.
func recordedFrom(t *testing.T, target *fixture.Running) (file, said string) {
	needsTracing(t, target.Pid())
	for length := time.Second; length < time.Minute; length *= 2 {
		file = filepath.Join(t.TempDir(), "run.cpprof")
		said = ran(t, "record", "-o", file, "-d", length.String(), "--rate", "200", "-p", strconv.Itoa(target.Pid()))
		r := fixture.Must(sampledata.Open(file))(t)
		if r.Samples.Len() >= 20 {
			return file, said
		}
	}
	t.Skip("this machine is too busy to take 20 samples")
	return "", ""
}

// ran runs a command that must succeed, and returns what it printed.
func ran(t *testing.T, line ...string) string {
	said := new(strings.Builder)
	if status := run(t.Context(), line, terminal{in: strings.NewReader(""), out: said, err: said}); status != exitFine {
		t.Fatalf("status %d: %s", status, said)
	}
	return said.String()
}

// why says where a deadlock is, and says it once.
func TestWhySaysADeadlockOnce(t *testing.T) {
	t.Parallel()
	file, _ := recordedFrom(t, fixture.Start(t, fixture.Build(t, "deadlock")))
	if text := ran(t, "why", file); !strings.Contains(text, "where  main.left (main.go:") || strings.Contains(text, " 2. ") {
		t.Errorf("why does not say where, or says it twice:\n%s", text)
	}
}

// In a healthy program, readers and writers that wait for each
// other are no deadlock, neither while it is recorded nor later. Nor
// are those that wait for a lock which their callers will release.
func TestTurnsAreNoDeadlock(t *testing.T) {
	t.Parallel()
	for mode, lock := range map[string]string{"turns": "main.(*table).mu", "lenders": "main.(*desk).mu"} {
		file, text := recordedFrom(t, fixture.Start(t, fixture.Build(t, "deadlock"), mode))
		for _, command := range []string{"locks", "why", "report"} {
			text += ran(t, command, file)
		}
		if strings.Contains(text, "DEADLOCK") || strings.Contains(text, "deadlock)") || strings.Contains(text, ": a deadlock") || !strings.Contains(text, lock) {
			t.Errorf("a program without a deadlock:\n%s", text)
		}
	}
}

// Who locks again what it has locked, in a callee, waits for ever as
// far as is known: a function that was called in between might have
// unlocked it, unseen.
func TestLocksAgain(t *testing.T) {
	t.Parallel()
	target := fixture.Start(t, fixture.Build(t, "deadlock"), "itself")
	needsTracing(t, target.Pid())
	file := filepath.Join(t.TempDir(), "run.cpprof")
	text := ran(t, "record", "-o", file, "-d", "4s", "-p", strconv.Itoa(target.Pid()))
	text += ran(t, "why", "--top", "0", file)
	for _, want := range []string{"where  main.(*store).add, called by", "where  main.(*store).update, called by", "where  main.(*store).write, called by", "where  main.(*store).read, called by",
		"6. 2 goroutines have not moved for seconds, and seem to wait for locks that each of them holds"} {
		if !strings.Contains(text, want) {
			t.Errorf("why does not say %q:\n%s", want, text)
		}
	}
	shown := ran(t, "locks", "--top", "0", file)
	if n := strings.Count(shown, "nobody else may hold the lock, as far as is known"); n != 12 || strings.Contains(text+shown, "DEADLOCK") {
		t.Errorf("locks shows %d, want 12, of which none is certain:\n%s", n, shown)
	}
	for _, command := range []string{"info", "report"} {
		if text := ran(t, command, file); !strings.Contains(text, "seems to wait for a lock that it holds; see cpprof locks") {
			t.Errorf("%s does not say so:\n%s", command, text)
		}
	}
	if early := ran(t, "why", "--span", "0s,2s", file); strings.Contains(early, "seem to wait") {
		t.Errorf("that is said after two seconds:\n%s", early)
	}
}

// Of many deadlocks, record describes the first ones, and says
// how to see all.
func TestRecordPrintsFewDeadlocks(t *testing.T) {
	t.Parallel()
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
