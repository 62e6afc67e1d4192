package report

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/cpprof/cpprof/views/locks"
)

// A lock that nobody holds is free, and not of unknown holder.
// On average 1.5 goroutines had been woken for it.
func TestFreeLock(t *testing.T) {
	total := func(n int64) calltree.Total {
		return calltree.Total{Weight: big.NewRat(1000*n, 1), Hits: big.NewRat(n, 1)}
	}
	e := &locks.Evidence{
		Total: total(10), Recorded: total(0), Inferred: total(5), Likely: total(0), Ambiguous: total(0), Free: total(4),
		Woken: total(6), None: total(1),
	}
	if got, want := EvidenceText(e), "50.0 % inferred, 40.0 % free (1.5 woken), 10.0 % unknown"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// standstill returns a recording in which each of n goroutines
// waits for a lock that it holds itself.
func standstill(t *testing.T, n int) *sampledata.Recording {
	t.Helper()
	b := new(strings.Builder)
	b.WriteString("cpprof recording 1\nfunction f0 main.work\nnode n0 f0\n")
	for i := range n {
		fmt.Fprintf(b, "goroutine g%d %d start=f0\nholders h%d g%d\n", i, i+1, i+1, i)
	}
	b.WriteString("sample 10ms\n")
	for i := range n {
		fmt.Fprintf(b, "\tg%d blocked n0 reason=sync.Mutex.Lock lock=%#x holders=h%d evidence=inferred\n", i, 0x1000+16*i, i+1)
	}
	b.WriteString("end duration time=20ms\n")
	return fixture.Must(sampledata.ReadText(strings.NewReader(b.String())))(t)
}

// Of many deadlocks, texts show the first ones and say how many
// there are. The JSON has all.
func TestManyDeadlocks(t *testing.T) {
	const n = 30
	r := standstill(t, n)
	a := fixture.Must(locks.Analyse(r, views.Options{}, locks.ByField))(t)
	if len(a.Deadlocks) != n {
		t.Fatalf("%d deadlocks, want %d", len(a.Deadlocks), n)
	}
	comparison := fixture.Must(
		locks.Compare(views.Named{Recording: r, Name: "x"}, views.Named{Recording: r, Name: "y"}, views.Options{}))(t)
	written := func(write func(b *strings.Builder) error) string {
		b := new(strings.Builder)
		if err := write(b); err != nil {
			t.Error(err)
		}
		return b.String()
	}
	for _, test := range []struct {
		name, text, one, rest string
		shown                 int
	}{
		{"info", written(func(b *strings.Builder) error { return Info(b, "x", r) }), "warning: DEADLOCK",
			"warning: 22 more deadlocks; see cpprof locks --top 0 x\n", 8},
		{"locks", written(func(b *strings.Builder) error { (&Locks{r, a, 5, 0}).Write(b); return nil }), "DEADLOCK in",
			"\n25 more deadlocks (--top 0 shows all)\n\n", 5},
		{"all locks", written(func(b *strings.Builder) error { (&Locks{r, a, 0, 0}).Write(b); return nil }), "DEADLOCK in", "", n},
		{"two recordings", written(func(b *strings.Builder) error {
			(&LocksCompared{comparison, views.Named{Recording: r, Name: "x"}, views.Named{Recording: r, Name: "y"}, 29, 0}).Write(b)
			return nil
		}), "DEADLOCK in", "\ny: 1 more deadlock (--top 0 shows all)\n\n", 58},
		{"JSON", written(func(b *strings.Builder) error { return (&Locks{r, a, 0, 0}).WriteJSON(b) }), `"goroutine"`, "", n},
	} {
		if got := strings.Count(test.text, test.one); got != test.shown {
			t.Errorf("%s: %d deadlocks, want %d", test.name, got, test.shown)
		}
		if !strings.Contains(test.text, test.rest) || test.rest == "" && strings.Contains(test.text, "more deadlock") {
			t.Errorf("%s: want %q in\n%s", test.name, test.rest, test.text)
		}
	}
}

// One goroutine alone waits for no next one.
func TestDeadlockLine(t *testing.T) {
	members := []locks.Member{{Goroutine: 21}, {Goroutine: 7}}
	for n, want := range []string{"DEADLOCK of goroutine 21, which waits for a lock that it holds",
		"DEADLOCK of goroutines 21, 7, each waiting for a lock of the next"} {
		if got := DeadlockLine(&locks.Deadlock{Members: members[:n+1]}); got != want {
			t.Errorf("%q", got)
		}
	}
	const seems = "goroutine 21 seems to wait for a lock that it holds"
	if got := DeadlockLine(&locks.Deadlock{Members: members[:1], Seems: true}); got != seems {
		t.Errorf("%q", got)
	}
}
