package locks

import (
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"pgregory.net/rapid"
)

// drawn is a recording of goroutines that wait for one another
// at random, and the deadlocks that Watch reported during it.
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
		slices.Sort(set)
		sets = append(sets, sink.HolderSet(set))
	}
	for s := range rapid.IntRange(0, 8).Draw(t, "samples") {
		if address := rapid.Uint64Range(0, 6).Draw(t, "named"); address > 0 && s%3 == 0 {
			sink.LockName(sampledata.LockName{Address: address, First: int32(s), Capacity: int64(s % 3), Name: rapid.SampledFrom([]string{"main.mu", "main.(*T).mu", ":odd"}).Draw(t, "name")})
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
		fixture.Check(t, sink.Sample(sampledata.Sample{Time: time.Duration(s) * time.Millisecond}, changes))
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

// waitsFor reports whether g waits in a sample for a lock that h
// holds for sure.
func (d *drawn) waitsFor(g, h sampledata.GoroutineID, s int32) bool {
	run := d.stateAt(g, s)
	return run != nil && proves(views.DoingOf(*run), run.Evidence) && slices.Contains(d.HolderSets[run.Holders], h)
}

// contradicts reports whether some sample of a deadlock says
// that the lock of a member was free, or names other holders
// than the next member, or no sample up to its last one names
// that one for sure.
func (d *drawn) contradicts(dead *Deadlock) bool {
	for i, m := range dead.Members {
		g, h := sampledata.GoroutineID(m.Goroutine-1), sampledata.GoroutineID(dead.Members[(i+1)%len(dead.Members)].Goroutine-1)
		known := false
		for s := range dead.Last + 1 {
			run := d.stateAt(g, s)
			known = known || d.waitsFor(g, h, s)
			others := run != nil && run.Evidence.Blames() && !slices.Contains(d.HolderSets[run.Holders], h)
			if s >= dead.First && (run == nil || run.Evidence == sampledata.Free || others) {
				return true
			}
		}
		if !known {
			return true
		}
	}
	return false
}

func zero() calltree.Total { return calltree.Total{Weight: new(big.Rat), Hits: new(big.Rat)} }

func equal(a, b calltree.Total) bool { return a.Weight.Cmp(b.Weight) == 0 && a.Hits.Cmp(b.Hits) == 0 }

// The waiters' time and hits are those of :MONITOR, and the
// holders' are those that the views attribute.
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
		classes := fixture.Must(views.Classes(d.Recording, views.Options{}))(t)
		wantAttributed := zero()
		for _, c := range classes {
			wantAttributed = wantAttributed.Plus(c.Attributed)
			monitor := calltree.Total{Weight: c.Parts[views.Monitor], Hits: c.HitParts[views.Monitor]}
			if got := byClass[c.Class]; got.Hits == nil && monitor.Hits.Sign() != 0 || got.Hits != nil && !equal(got, monitor) {
				t.Fatalf("%s waits for %v, and :MONITOR has %v", c.Class, got, monitor)
			}
			v := fixture.Must(views.Thread(d.Recording, c.Class, views.Options{}))(t)
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
		fields := fixture.Must(Analyse(d.Recording, views.Options{}, ByField))(t)
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

// A chain has at most as many links as there are goroutines, and
// no hit is in two chains of a lock.
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

// A deadlock stands still from its first sample to the
// recording's last one. Goroutines that wait for one another in
// all samples, and don't move, are in a deadlock.
func TestDeadlocksStandStill(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		a := analyse(t, d.Recording, views.Options{})
		inDeadlock := make([]bool, d.Goroutines.Len())
		last := int32(d.Samples.Len() - 1)
		for _, dead := range a.Deadlocks {
			for _, m := range dead.Members {
				g := sampledata.GoroutineID(m.Goroutine - 1)
				inDeadlock[g] = true
				if !d.stands(g, dead.First, last) {
					t.Fatalf("goroutine %d moved in\n%s", m.Goroutine, say(a))
				}
			}
			if d.contradicts(dead) || dead.Last != last || dead.Samples != int(last-dead.First)+1 || dead.Samples < min(2, int(last)+1) {
				t.Fatalf("%+v of %d samples", dead, last+1)
			}
		}
		for g := range sampledata.GoroutineID(d.Goroutines.Len()) {
			run := d.stateAt(g, 0)
			alone := run != nil && run.Last == last && d.waitsFor(g, g, 0) && len(d.HolderSets[run.Holders]) == 1
			if alone && !d.wasReleased(run.Lock) && !inDeadlock[g] {
				t.Fatalf("goroutine %d waits for itself all the time:\n%s", g+1, say(a))
			}
		}
	})
}

// stands reports whether a goroutine is at one place in some samples.
func (d *drawn) stands(g sampledata.GoroutineID, first, last int32) bool {
	at := d.stateAt(g, first)
	for s := first; s <= last; s++ {
		now := d.stateAt(g, s)
		if at == nil || now == nil || now.Run != at.Run || now.Stack != at.Stack || now.Reason != at.Reason || now.Lock != at.Lock && now.Lock != 0 && at.Lock != 0 {
			return false
		}
	}
	return true
}

// wasReleased reports whether any goroutine stopped waiting for a lock.
func (d *drawn) wasReleased(lock uint64) bool {
	for _, run := range d.Runs.All() {
		if run.Run == sampledata.Blocked && run.Lock == lock && run.Last < int32(d.Samples.Len()-1) {
			return true
		}
	}
	return false
}

// A watch reports each deadlock once, in its second sample or
// later. It reports all that the recording has at its end.
func TestWatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t)
		seen := make(map[string]bool)
		for _, dead := range d.reported {
			key := fmt.Sprint(dead.Members)
			for _, m := range dead.Members {
				if !d.stands(sampledata.GoroutineID(m.Goroutine-1), dead.First, dead.Last) {
					t.Fatalf("goroutine %d moved from sample %d to %d", m.Goroutine, dead.First, dead.Last)
				}
			}
			if d.contradicts(&dead) || dead.Last <= dead.First || seen[key] {
				t.Fatalf("%+v was reported wrongly", dead)
			}
			seen[key] = true
		}
		if d.Samples.Len() < 2 {
			return
		}
		for _, dead := range analyse(t, d.Recording, views.Options{}).Deadlocks {
			same := func(o Deadlock) bool {
				return slices.EqualFunc(o.Members, dead.Members, func(a, b Member) bool { return a.Goroutine == b.Goroutine })
			}
			if !slices.ContainsFunc(d.reported, same) {
				t.Fatalf("%+v was not reported", dead)
			}
		}
	})
}
