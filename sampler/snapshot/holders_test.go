//go:build linux && (amd64 || arm64)

package snapshot

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/bench/holders/holdertest"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// judgeHolders samples the program until at least so many
// goroutines were seen waiting for each kind of lock. It
// compares the reported holders with the program's records.
func judgeHolders(t testing.TB, path string, least int, args ...string) holdertest.Scores {
	t.Helper()
	v := fixture.Start(t, path, args...)
	b := open(t, v.Pid())
	table := fixture.Must(holdertest.Open(v.Pid(), v.Line))(t)
	defer table.Close()
	scores, mistakes, err := holdertest.Judge(context.Background(), b, table, holdertest.Options{
		Interval: 10 * time.Millisecond, Limit: time.Minute,
		Enough: func(s holdertest.Scores) bool {
			for kind, one := range s {
				if holdertest.Unproven[kind] == "" && one.Contended() < least {
					return false
				}
			}
			return true
		},
	})
	for _, m := range mistakes {
		t.Error(m)
	}
	switch {
	case errors.Is(err, holdertest.ErrLimit):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	return scores
}

// judged checks scores: nobody may be blamed wrongly, and nearly
// every wait must have its holder reported.
func judged(t *testing.T, scores holdertest.Scores) {
	t.Helper()
	t.Log("\n" + scores.Table())
	for kind, s := range scores {
		right, wrong := s.Named()
		if n := s.Contended(); holdertest.Unproven[kind] == "" && right*100 < n*95 {
			t.Errorf("%s: the holder was named to %d of %d that waited, want 95 %%", kind, right, n)
		}
		if wrong > 0 {
			t.Errorf("%s: %d were told a wrong holder", kind, wrong)
		}
	}
}

// TestHolders checks the reported holders for some 30,000 waits
// for locks of all kinds.
func TestHolders(t *testing.T) {
	t.Parallel()
	judged(t, judgeHolders(t, fixture.Build(t, "holders"), 300))
}

// TestLikelyHolders does the same without the code whose locks
// nothing in its frames leads to: then just one goroutine may
// hold a lock. (Of rw-view, that is chance: a writer that
// unlocks lets all readers in at once.)
func TestLikelyHolders(t *testing.T) {
	t.Parallel()
	scores := judgeHolders(t, fixture.Build(t, "holders"), 100, "-hidden=false")
	judged(t, scores)
	if scores["transaction"].Right[sampledata.Likely] == 0 {
		t.Error("transaction: no likely holder was named")
	}
}

// TestFoolingLong samples code that is made to be misread:
// nobody may be inferred to hold its locks. For some samples,
// until such places are refuted, goroutines may be named as
// likely holders.
func TestFoolingLong(t *testing.T) {
	fixture.Long(t)
	v := fixture.Start(t, fixture.Build(t, "limits"), "fooling")
	b := open(t, v.Pid())
	table := fixture.Must(holdertest.Open(v.Pid(), v.Line))(t)
	defer table.Close()
	const enough = 1000
	scores, mistakes, err := holdertest.Judge(context.Background(), b, table, holdertest.Options{
		Interval: 10 * time.Millisecond, Limit: time.Minute, AtOnce: true,
		Enough: func(s holdertest.Scores) bool { sum := s.Sum(); return sum.Contended() >= enough },
	})
	if errors.Is(err, holdertest.ErrLimit) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	sum := scores.Sum()
	if sum.Wrong[sampledata.Inferred] > 0 {
		t.Errorf("%d holders were inferred wrongly:\n%s", sum.Wrong[sampledata.Inferred], strings.Join(mistakes, "\n"))
	}
	if _, wrong := sum.Named(); wrong*5 > sum.Contended() {
		t.Errorf("of %d that waited, %d were told a wrong holder", sum.Contended(), wrong)
	}
}

// TestLimits checks who is said to have what others wait for, if
// that is no lock: a place in a channel, a part of a semaphore,
// a connection.
func TestLimits(t *testing.T) {
	t.Parallel()
	judged(t, judgeHolders(t, fixture.Build(t, "limits"), 20))
}

func TestHoldersBinariesLong(t *testing.T) {
	fixture.Long(t)
	for name, flags := range map[string][]string{
		"stripped PIE":  {"-buildmode=pie", "-ldflags=-s -w"},
		"not optimised": {"-gcflags=-N -l"},
	} {
		t.Run(name, func(t *testing.T) {
			judged(t, judgeHolders(t, fixture.Build(t, "holders", flags...), 100))
			judged(t, judgeHolders(t, fixture.Build(t, "limits", flags...), 20))
		})
	}
}

// BenchmarkHolders measures, separately, what finding holders
// adds to samples in which some 250 goroutines wait for 70
// locks: deciding who holds them, and searching for locks in the
// frames of the goroutines that have moved.
func BenchmarkHolders(b *testing.B) {
	v := fixture.Start(b, fixture.Build(b, "holders"))
	a := open(b, v.Pid())
	gs, survey := &a.goroutines, &a.survey
	sink := sampledata.NewBuilder(a.Header())
	var deciding, seeing, worst time.Duration
	waiting, samples := 0, 0
	for b.Loop() {
		time.Sleep(10 * time.Millisecond)
		if _, err := a.Observe(context.Background(), sink, sampledata.Sample{Time: time.Duration(samples)}); err != nil {
			continue
		}
		samples++
		start := time.Now()
		gs.finder.Find(holders.Halt{Consistent: true, Woken: [2][]int32{gs.account.changed, survey.runnable}})
		took := time.Since(start)
		deciding += took
		for i := range gs.table.slots {
			if gs.table.slots[i].state.Run == sampledata.Blocked {
				waiting++
			}
		}
		for _, i := range slices.Clone(gs.account.changed) {
			s := &gs.table.slots[i]
			if !s.announced || s.view != known {
				continue
			}
			a.arena.Reset()
			r := memory.Copy{stackRange(&s.head, s.head.sp(), &a.arena)}
			survey.reader.ReadRanges(r)
			gs.stacks.unwind(r, gs.parkedContext(&s.head))
			start := time.Now()
			gs.show(i, r, nil)
			seeing += time.Since(start)
			took += time.Since(start)
		}
		worst = max(worst, took)
	}
	per := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 / float64(max(samples, 1)) }
	b.ReportMetric(per(deciding), "deciding-µs/op")
	b.ReportMetric(per(seeing), "seeing-µs/op")
	b.ReportMetric(float64(worst.Microseconds()), "worst-µs")
	b.ReportMetric(float64(waiting)/float64(max(samples, 1)), "waiting/op")
}
