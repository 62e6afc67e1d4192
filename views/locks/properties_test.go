package locks

import (
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
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
				if c.State.Evidence = sampledata.Evidence(rapid.IntRange(0, int(sampledata.Free)).Draw(t, "evidence")); c.State.Evidence != sampledata.NoEvidence {
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
		for h := range sampledata.GoroutineID(d.Goroutines.Len()) {
			if !reached[h] && d.waitsFor(frontier[0], h, s) {
				reached[h] = true
				frontier = append(frontier, h)
			}
		}
	}
	return reached[g]
}

func zero() calltree.Total { return calltree.Total{Weight: new(big.Rat), Hits: new(big.Rat)} }

func equal(a, b calltree.Total) bool { return a.Weight.Cmp(b.Weight) == 0 && a.Hits.Cmp(b.Hits) == 0 }

// The waiters' time and hits are those of :MONITOR, and the holders' are those that the views attribute.
func TestSumsAreThoseOfTheViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		a := analyse(t, d.Recording, views.Options{})
		byClass := make(map[string]calltree.Total)
		all, attributed := zero(), zero()
		for _, l := range a.Locks {
			all, attributed = all.Plus(l.Total), attributed.Plus(l.Attributed())
			if sum := l.Attributed().Plus(l.Ambiguous).Plus(l.Free).Plus(l.None); !equal(sum, l.Total) || l.None.Hits.Sign() < 0 || l.None.Weight.Sign() < 0 {
				t.Fatalf("%s: the evidence %+v does not sum to %v", l, l.Evidence, l.Total)
			}
			waiters, holders := zero(), zero()
			for _, w := range l.Waiters {
				waiters = waiters.Plus(w.Total)
				if byClass[w.Class].Hits == nil {
					byClass[w.Class] = zero()
				}
				byClass[w.Class] = byClass[w.Class].Plus(w.Total)
			}
			for _, h := range l.Holders {
				holders = holders.Plus(h.Total)
			}
			if !equal(waiters, l.Total) || !equal(holders, l.Attributed()) {
				t.Fatalf("%s: %v, of waiters %v; %v attributed, to holders %v", l, l.Total, waiters, l.Attributed(), holders)
			}
		}
		if !equal(all, a.Evidence.Total) || !equal(attributed, a.Evidence.Attributed()) {
			t.Fatalf("the sums over the locks are not %+v", a.Evidence)
		}
		classes, err := views.Classes(d.Recording, views.Options{})
		if err != nil {
			t.Fatal(err)
		}
		wantAttributed := zero()
		for _, c := range classes {
			wantAttributed = wantAttributed.Plus(c.Attributed)
			monitor := calltree.Total{Weight: c.Parts[views.Monitor], Hits: c.HitParts[views.Monitor]}
			if got := byClass[c.Class]; got.Hits == nil && monitor.Hits.Sign() != 0 || got.Hits != nil && !equal(got, monitor) {
				t.Fatalf("%s waits for %v, and :MONITOR has %v", c.Class, got, monitor)
			}
			v, err := views.Thread(d.Recording, c.Class, views.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if waited, known := views.LockTime(v.Tree); !equal(waited, monitor) || !equal(known, c.Attributed) {
				t.Fatalf("%s: %v of %v attributed in the Thread View, %v of %v in the sums", c.Class, known, waited, c.Attributed, monitor)
			}
		}
		if !equal(attributed, wantAttributed) {
			t.Fatalf("%v attributed, by the views %v", attributed, wantAttributed)
		}
	})
}

// An analysis by field has the sums of the analysis by instance.
func TestFieldsAreSumsOfInstances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		single := analyse(t, d.Recording, views.Options{})
		fields, err := Analyse(d.Recording, views.Options{}, ByField)
		if err != nil {
			t.Fatal(err)
		}
		if fields.Evidence.Hits.Cmp(single.Evidence.Hits) != 0 || fields.Evidence.Known().Hits.Cmp(single.Evidence.Known().Hits) != 0 ||
			len(fields.Deadlocks) != len(single.Deadlocks) {
			t.Fatalf("by field %+v, by instance %+v", fields.Evidence, single.Evidence)
		}
		instances := make(map[string]*Lock)
		for _, l := range single.Locks {
			instances[l.String()] = l
		}
		names := make(map[string]bool)
		for _, l := range fields.Locks {
			if names[l.Name] || l.String() != l.Name {
				t.Fatalf("%s is there twice", l)
			}
			names[l.Name] = true
			sum := new(big.Rat)
			for i, p := range l.Parts {
				one := instances[p.Lock]
				if one == nil || one.Name != l.Name || one.Hits.Cmp(p.Hits) != 0 || i > 0 && l.Parts[i-1].Weight.Cmp(p.Weight) < 0 {
					t.Fatalf("%s has the part %+v; the instance is %+v", l, p, one)
				}
				sum.Add(sum, p.Hits)
				delete(instances, p.Lock)
			}
			if sum.Cmp(l.Hits) != 0 {
				t.Fatalf("%s: %s hits, its parts have %s", l, l.Hits, sum)
			}
		}
		if len(instances) > 0 {
			t.Fatalf("%d instances are in no field", len(instances))
		}
	})
}

// A chain has at most as many links as there are goroutines, and no hit is in two chains of a lock.
func TestChainsAreFinite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		for _, l := range analyse(t, d.Recording, views.Options{}).Locks {
			sum := zero()
			for _, c := range l.Chains {
				if len(c.Links) < 2 || len(c.Links) > d.Goroutines.Len()+1 || c.Links[0].Lock != l || c.Hits.Sign() <= 0 || c.Weight.Sign() <= 0 {
					t.Fatalf("%s: chain %s", l, sayChain(c))
				}
				sum = sum.Plus(c.Total)
			}
			if most := l.Attributed().Plus(l.None); sum.Hits.Cmp(most.Hits) > 0 || sum.Weight.Cmp(most.Weight) > 0 {
				t.Fatalf("%s: chains of %v, but %v are attributed", l, sum, l.Attributed())
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
			for g := range sampledata.GoroutineID(d.Goroutines.Len()) {
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
			for g := range sampledata.GoroutineID(d.Goroutines.Len()) {
				run := d.stateAt(g, s)
				onlyHolder := run != nil && run.First < s && d.waitsFor(g, g, s) && len(d.HolderSets[run.Holders]) == 1
				if onlyHolder && !slices.ContainsFunc(d.reported, func(dead Deadlock) bool { return dead.Members[0].Goroutine == int64(g)+1 && dead.Last <= s }) {
					t.Fatalf("goroutine %d waits for itself in samples %d and %d, but was not reported", g+1, s-1, s)
				}
			}
		}
	})
}
