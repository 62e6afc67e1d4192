//go:build linux && (amd64 || arm64)

package snapshot

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/internal/blame"
	"github.com/cpprof/cpprof/sampler/internal/memory"
)

// A lockTable is the table in which testdata/programs/holders records who holds which lock.
type lockTable struct {
	b     *Backend
	addr  uint64
	size  int
	kinds []string
}

// A lockRecord is the program's record of one lock.
type lockRecord struct {
	lock, changes uint64
	holders       []int64
}

func openLockTable(t testing.TB, b *Backend, line string) *lockTable {
	t.Helper()
	l := &lockTable{b: b}
	var n int
	if _, err := fmt.Sscanf(line, "0x%x %d %d", &l.addr, &l.size, &n); err != nil {
		t.Fatalf("the program said %q: %v", line, err)
	}
	if l.kinds = strings.Fields(line)[3:]; len(l.kinds) != n {
		t.Fatalf("the program said %q", line)
	}
	return l
}

// read returns the program's record of each lock.
func (l *lockTable) read(t testing.TB) []lockRecord {
	t.Helper()
	b := make([]byte, l.size*len(l.kinds))
	if err := l.b.t.Read(l.addr, b); err != nil {
		t.Fatal(err)
	}
	var out []lockRecord
	for ; len(b) > 0; b = b[l.size:] {
		r := lockRecord{lock: binary.LittleEndian.Uint64(b), changes: binary.LittleEndian.Uint64(b[8:])}
		for at := 16; at+8 <= l.size; at += 8 {
			if g := int64(binary.LittleEndian.Uint64(b[at:])); g != 0 {
				r.holders = append(r.holders, g)
			}
		}
		slices.Sort(r.holders)
		out = append(out, r)
	}
	return out
}

// A score counts how correctly the waits for a lock were reported, one count for each waiter and sample in which its
// holder was known.
type score struct{ right, wrong, ambiguous, none, unknown int }

func (s score) contended() int { return s.right + s.wrong + s.ambiguous + s.none }

// holdersOf returns the numbers of the goroutines that a state names as holders.
func holdersOf(r *sampledata.Recording, st *sampledata.State) []int64 {
	var ids []int64
	for _, g := range r.HolderSets[st.Holders] {
		ids = append(ids, r.Goroutines[g].ID)
	}
	slices.Sort(ids)
	return ids
}

func newScores(kinds []string) map[string]*score {
	scores := map[string]*score{}
	for _, k := range kinds {
		scores[k] = &score{}
	}
	return scores
}

// warmUp is the number of samples after which all of the program's functions have been analysed.
const warmUp = 10

// judgeHolders samples the program until at least so many goroutines were seen waiting for each kind of lock. It compares
// the reported holders with the program's records, if these were the same before and after the sample.
func judgeHolders(t testing.TB, path string, least int) map[string]*score {
	t.Helper()
	v := fixture.Start(t, path)
	b := open(t, v.Pid())
	table := openLockTable(t, b, v.Line)
	sink := sampledata.NewBuilder(b.Header())
	scores := newScores(table.kinds)
	for start, n := time.Now(), 0; n <= warmUp || !enough(scores, least); n++ {
		if time.Since(start) > time.Minute {
			t.Skip("this machine is too busy: locks change hands in the middle of samples")
		}
		time.Sleep(10 * time.Millisecond)
		before := table.read(t)
		if _, err := b.Observe(context.Background(), sink, sampledata.Sample{Time: time.Since(start)}); err != nil {
			continue
		}
		if n == warmUp {
			scores = newScores(table.kinds)
		}
		compareHolders(t, b, sink.Recording(), table, before, table.read(t), scores)
	}
	if err := sink.Finish(sampledata.End{}); err != nil {
		t.Fatal(err)
	}
	if err := sink.Recording().Check(); err != nil {
		t.Fatal(err)
	}
	return scores
}

// enough reports whether so many waiters were seen for each kind of lock whose holders must be found.
func enough(scores map[string]*score, least int) bool {
	for kind, s := range scores {
		if unseen[kind] == "" && s.contended() < least {
			return false
		}
	}
	return true
}

func compareHolders(t testing.TB, b *Backend, r *sampledata.Recording, table *lockTable, before, after []lockRecord,
	scores map[string]*score) {
	index := map[uint64]int{}
	for i := range before {
		index[before[i].lock] = i
	}
	for i := range b.goroutines.table.slots {
		s := &b.goroutines.table.slots[i]
		if !s.announced || s.state.Run != sampledata.Blocked {
			continue
		}
		k, ok := index[s.state.Lock]
		if !ok {
			continue
		}
		c := scores[table.kinds[k]]
		if before[k].changes != after[k].changes || len(before[k].holders) == 0 {
			c.unknown++
			continue
		}
		want := before[k].holders
		if next := nextWriter(b, s.state.Lock); s.state.Reason != "sync.RWMutex.Lock" && next != 0 {
			want = []int64{next} // those that make the readers wait make others wait, too
		}
		c.count(t, r, &s.state, want, table.kinds[k])
	}
}

// nextWriter returns the number of the goroutine that gets a sync.RWMutex next, after its readers are gone; 0 if none.
func nextWriter(b *Backend, lock uint64) int64 {
	for i := range b.goroutines.table.slots {
		if s := &b.goroutines.table.slots[i]; s.announced && s.state.Lock == lock && s.state.Reason == "sync.RWMutex.Lock" {
			return s.head.goid
		}
	}
	return 0
}

// count adds one waiter to the score.
func (c *score) count(t testing.TB, r *sampledata.Recording, st *sampledata.State, want []int64, kind string) {
	switch got := holdersOf(r, st); {
	case st.Evidence == sampledata.NoEvidence:
		c.none++
	case st.Evidence == sampledata.Ambiguous:
		c.ambiguous++
	case slices.Equal(got, want):
		c.right++
	default:
		c.wrong++
		t.Errorf("%s: %v is said to hold the lock at %#x, and it is %v (%s)", kind, got, st.Lock, want, st.Reason)
	}
}

// unseen lists the kinds of code whose holders can't be found in most samples, and why.
var unseen = map[string]string{
	"twice-in-map": "nothing in the frame leads to the lock: it is looked up anew to be given back",
	"odd-release":  "the lock is in a closure that a helper gave, which nobody looks into",
	"odd-maybe":    "the lock is taken on one of two paths that meet",
	"odd-try":      "what TryLock did is not followed",
	"odd-relaxing": "the holder changes all the time",
	"odd-cond":     "sync.Cond takes the lock again, in frames of its own",
	handedOver:     "see judgedHandover",
}

// judged checks scores: nobody may be blamed wrongly, and nearly every wait must have its holder reported.
func judged(t *testing.T, scores map[string]*score) {
	t.Helper()
	contended := 0
	for kind, s := range scores {
		n := s.contended()
		contended += n
		t.Logf("%-16s %6d contended: %5.1f %% right, %d wrong, %d ambiguous, %d none; %d not known", kind, n,
			100*float64(s.right)/float64(max(1, n)), s.wrong, s.ambiguous, s.none, s.unknown)
		if unseen[kind] == "" && s.right*100 < n*95 {
			t.Errorf("%s: the holder was named to %d of %d that waited, want 95 %%", kind, s.right, n)
		}
	}
	t.Logf("%d goroutines waited, summed over the samples", contended)
}

// TestHolders checks the reported holders for some 10,000 waits, 120 in each sample, for locks of all kinds.
func TestHolders(t *testing.T) {
	judged(t, judgeHolders(t, fixture.BuildOnce(t, "holders"), 300))
}

func TestHoldersBinaries(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	for name, flags := range map[string][]string{
		"stripped PIE":  {"-buildmode=pie", "-ldflags=-s -w"},
		"not optimised": {"-gcflags=-N -l"},
	} {
		t.Run(name, func(t *testing.T) { judged(t, judgeHolders(t, fixture.BuildOnce(t, "holders", flags...), 100)) })
	}
}

// BenchmarkHolders measures, separately, what finding holders adds to samples in which some 120 goroutines wait for 30
// locks: deciding who holds them, and searching for locks in the frames of the goroutines that have moved.
func BenchmarkHolders(b *testing.B) {
	v := fixture.Start(b, fixture.BuildOnce(b, "holders"))
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
		gs.finder.Find(blame.Halt{Consistent: true, Woken: [2][]int32{gs.account.changed, survey.runnable}})
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
