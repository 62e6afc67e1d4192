package locks

import (
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"pgregory.net/rapid"
)

// drawn is a recording of goroutines that wait for one another at random, and the deadlocks that Watch reported during
// it.
type drawn struct {
	*sampledata.Recording
	reported []Deadlock
}

func draw(t *rapid.T) drawn {
	var d drawn
	b := sampledata.NewBuilder(sampledata.Header{Start: time.Unix(1e9, 0)})
	sink := Watch(b, views.Options{}, func(dead Deadlock) { d.reported = append(d.reported, dead) })
	var stacks []sampledata.NodeID
	var starts []sampledata.FunctionID
	for i := range 3 {
		f := sink.Function(sampledata.Function{Name: fmt.Sprintf("main.f%d", i)})
		starts = append(starts, f)
		stacks = append(stacks, sink.Node(sampledata.Node{Parent: sampledata.NoStack, Function: f}))
	}
	n := rapid.IntRange(1, 5).Draw(t, "goroutines")
	for i := range n {
		sink.Goroutine(sampledata.Goroutine{ID: int64(i + 1), Start: starts[i%len(starts)]})
	}
	sets := []sampledata.HolderSetID{}
	for range rapid.IntRange(1, 6).Draw(t, "sets") {
		members := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 1, min(n, 3), rapid.ID[int]).Draw(t, "members")
		var set []sampledata.GoroutineID
		for _, m := range members {
			set = append(set, sampledata.GoroutineID(m))
		}
		sets = append(sets, sink.HolderSet(set))
	}
	for s := range rapid.IntRange(0, 8).Draw(t, "samples") {
		if address := rapid.Uint64Range(0, 6).Draw(t, "named"); address > 0 && s%3 == 0 {
			sink.LockName(sampledata.LockName{Address: address, First: int32(s), Name: rapid.SampledFrom([]string{"main.mu", "main.(*T).mu", ":odd"}).Draw(t, "name")})
		}
		var changes []sampledata.Change
		for g := range n {
			c := sampledata.Change{Goroutine: sampledata.GoroutineID(g), State: sampledata.State{Stack: rapid.SampledFrom(stacks).Draw(t, "stack")}}
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				c.Gone = true
			case 1:
				c.State.Run = sampledata.Waiting
				c.State.Holders, c.State.Evidence = rapid.SampledFrom(sets).Draw(t, "candidates"), sampledata.Ambiguous
			case 2:
				c.State.Run = sampledata.Runnable
			case 3, 4, 5, 6:
				c.State.Run, c.State.Reason = sampledata.Blocked, rapid.SampledFrom([]string{"sync.Mutex.Lock", "sync.RWMutex.RLock"}).Draw(t, "reason")
				c.State.Lock = rapid.Uint64Range(0, 3).Draw(t, "lock")
				if c.State.Evidence = sampledata.Evidence(rapid.IntRange(0, int(sampledata.Likely)).Draw(t, "evidence")); c.State.Evidence != sampledata.NoEvidence {
					c.State.Holders = rapid.SampledFrom(sets).Draw(t, "holders")
				}
			default:
				continue // as it was
			}
			changes = append(changes, c)
		}
		if err := sink.Sample(sampledata.Sample{Time: time.Duration(s) * time.Millisecond}, changes); err != nil {
			t.Fatal(err)
		}
	}
	d.Recording = b.Recording()
	return d
}

// stateAt returns the run that a goroutine is in, or nil.
func (d *drawn) stateAt(g sampledata.GoroutineID, s int32) *sampledata.Run {
	for _, run := range d.Runs.All() {
		if run.Goroutine == g && run.First <= s && s <= run.Last {
			return &run
		}
	}
	return nil
}

// waitsFor reports whether g waits in a sample for a lock that h holds for sure.
func (d *drawn) waitsFor(g, h sampledata.GoroutineID, s int32) bool {
	run := d.stateAt(g, s)
	return run != nil && run.Run == sampledata.Blocked && run.Evidence.Blames() && run.Evidence != sampledata.Likely &&
		slices.Contains(d.HolderSets[run.Holders], h) && d.stateAt(h, s) != nil
}

// shows reports whether the members of a deadlock wait for one another in a sample.
func (d *drawn) shows(dead *Deadlock, s int32) bool {
	for i, m := range dead.Members {
		next := dead.Members[(i+1)%len(dead.Members)]
		if !d.waitsFor(sampledata.GoroutineID(m.Goroutine-1), sampledata.GoroutineID(next.Goroutine-1), s) {
			return false
		}
	}
	return true
}

// inCircle reports whether g waits for itself in a sample, directly or through others.
func (d *drawn) inCircle(g sampledata.GoroutineID, s int32) bool {
	reached := make(map[sampledata.GoroutineID]bool)
	for frontier := []sampledata.GoroutineID{g}; len(frontier) > 0; frontier = frontier[1:] {
		for h := range sampledata.GoroutineID(len(d.Goroutines)) {
			if !reached[h] && d.waitsFor(frontier[0], h, s) {
				reached[h] = true
				frontier = append(frontier, h)
			}
		}
	}
	return reached[g]
}

// The waiters' hits are those of :MONITOR, and the holders' hits are those that the views attribute.
func TestSumsAreThoseOfTheViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		a := analyse(t, d.Recording, views.Options{})
		byClass := make(map[string]*big.Rat)
		var hits int64
		attributed := new(big.Rat)
		for _, l := range a.Locks {
			hits += l.Hits
			sum := new(big.Rat).Add(l.Attributed(), new(big.Rat).Add(l.Ambiguous, l.None))
			if sum.Cmp(new(big.Rat).SetInt64(l.Hits)) != 0 || l.None.Sign() < 0 {
				t.Fatalf("%s: the evidence %+v does not sum to %d hits", l, l.Evidence, l.Hits)
			}
			var waiters int64
			for _, w := range l.Waiters {
				waiters += w.Hits
				if byClass[w.Class] == nil {
					byClass[w.Class] = new(big.Rat)
				}
				byClass[w.Class].Add(byClass[w.Class], new(big.Rat).SetInt64(w.Hits))
			}
			holders := new(big.Rat)
			for _, h := range l.Holders {
				holders.Add(holders, h.Hits)
			}
			if waiters != l.Hits || holders.Cmp(l.Attributed()) != 0 {
				t.Fatalf("%s: %d hits, of waiters %d; %s attributed, to holders %s", l, l.Hits, waiters, l.Attributed(), holders)
			}
			attributed.Add(attributed, l.Attributed())
		}
		if hits != a.Evidence.Hits || attributed.Cmp(a.Evidence.Attributed()) != 0 {
			t.Fatalf("the sums over the locks are not %+v", a.Evidence)
		}
		classes, err := views.Classes(d.Recording, views.Options{})
		if err != nil {
			t.Fatal(err)
		}
		wantAttributed := new(big.Rat)
		for _, c := range classes {
			wantAttributed.Add(wantAttributed, c.Attributed)
			if got := byClass[c.Class]; got == nil && c.Parts[views.Monitor].Sign() != 0 || got != nil && got.Cmp(c.Parts[views.Monitor]) != 0 {
				t.Fatalf("%s waits for %v hits, and :MONITOR has %v", c.Class, got, c.Parts[views.Monitor])
			}
			v, err := views.Thread(d.Recording, c.Class, views.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if hits, known := views.LockTime(v.Tree); hits.Cmp(c.Parts[views.Monitor]) != 0 || known.Cmp(c.Attributed) != 0 {
				t.Fatalf("%s: %v of %v attributed in the Thread View, %v of %v in the sums", c.Class, known, hits, c.Attributed, c.Parts[views.Monitor])
			}
		}
		if attributed.Cmp(wantAttributed) != 0 {
			t.Fatalf("%s attributed, by the views %s", attributed, wantAttributed)
		}
	})
}

// A chain has at most as many links as there are goroutines, and no hit is in two chains of a lock.
func TestChainsAreFinite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		for _, l := range analyse(t, d.Recording, views.Options{}).Locks {
			sum := new(big.Rat)
			for _, c := range l.Chains {
				if len(c.Links) < 2 || len(c.Links) > len(d.Goroutines)+1 || c.Links[0].Lock != l || c.Hits.Sign() <= 0 {
					t.Fatalf("%s: chain %s", l, sayChain(c))
				}
				sum.Add(sum, c.Hits)
			}
			if sum.Cmp(new(big.Rat).Add(l.Attributed(), l.None)) > 0 {
				t.Fatalf("%s: chains of %s hits, but %s are attributed", l, sum, l.Attributed())
			}
		}
	})
}

// Deadlocks are found in exactly the samples that have one; the test finds them by another search.
func TestDeadlocksAreWhereTheyAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		a := analyse(t, d.Recording, views.Options{})
		inDeadlock := make([]bool, d.Samples.Len())
		for _, dead := range a.Deadlocks {
			var first, last int32 = -1, -1
			samples := 0
			for s := range int32(d.Samples.Len()) {
				if d.shows(dead, s) {
					inDeadlock[s] = true
					last = s
					samples++
					if first < 0 {
						first = s
					}
				}
			}
			if dead.First < first || dead.Last > last || dead.Samples > samples || dead.Samples == 0 || !d.shows(dead, dead.First) || !d.shows(dead, dead.Last) {
				t.Fatalf("%+v is in %d samples, from %d to %d", dead, samples, first, last)
			}
		}
		for s := range int32(d.Samples.Len()) {
			there := false
			for g := range sampledata.GoroutineID(len(d.Goroutines)) {
				there = there || d.inCircle(g, s)
			}
			if there != inDeadlock[s] {
				t.Fatalf("sample %d: a circle %v, found %v in\n%s", s, there, inDeadlock[s], say(a))
			}
		}
	})
}

// A watch reports exactly the deadlocks whose members did not move between two samples, each once.
func TestWatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		seen := make(map[string]bool)
		for _, dead := range d.reported {
			key := fmt.Sprint(dead.Members)
			for _, m := range dead.Members {
				run := d.stateAt(sampledata.GoroutineID(m.Goroutine-1), dead.First)
				if run == nil || run.Last < dead.Last {
					t.Fatalf("goroutine %d moved from sample %d to %d", m.Goroutine, dead.First, dead.Last)
				}
			}
			if !d.shows(&dead, dead.First) || dead.Last != dead.First+1 || seen[key] {
				t.Fatalf("%+v was reported wrongly", dead)
			}
			seen[key] = true
		}
		for s := int32(1); s < int32(d.Samples.Len()); s++ {
			for g := range sampledata.GoroutineID(len(d.Goroutines)) {
				run := d.stateAt(g, s)
				onlyHolder := run != nil && run.First < s && d.waitsFor(g, g, s) && len(d.HolderSets[run.Holders]) == 1
				if onlyHolder && !slices.ContainsFunc(d.reported, func(dead Deadlock) bool { return dead.Members[0].Goroutine == int64(g)+1 && dead.Last <= s }) {
					t.Fatalf("goroutine %d waits for itself in samples %d and %d, but was not reported", g+1, s-1, s)
				}
			}
		}
	})
}
