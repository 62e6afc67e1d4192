package why

import (
	"slices"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// In a select, only a channel whose users were counted is full:
// others may be empty, and the goroutines wait to receive.
func TestLimitOfSelects(t *testing.T) {
	for evidence, want := range map[sampledata.Evidence]bool{sampledata.Likely: true, sampledata.Ambiguous: false} {
		s := newScene()
		s.LockName(sampledata.LockName{Address: 0x100, Name: "main.(*client).jobs", Capacity: 8})
		all, other := s.spawn(3, "main.loop"), s.spawn(1, "main.consume")[0]
		waits := selects
		waits.Lock, waits.Evidence, waits.Holders = 0x100, evidence, s.HolderSet([]sampledata.GoroutineID{other})
		s.samples(t, 60, func(i int) {
			s.is[other] = s.at(reads, "main.consume", "main.store")
			s.all(all, s.at(waits, "main.loop", "main.put:9"))
			s.some(i, 10, all, s.at(runs, "main.loop", "main.parse"))
		})
		a := s.find(t)
		i := slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.Kind == ChannelKind })
		if i < 0 || (a.Findings[i].Limit != nil) != want {
			t.Errorf("%v: %+v", evidence, a.Findings)
		}
	}
}

// A buffer that the class itself fills and empties is the limit
// of its work, and no limit if others empty it. The answer that
// who has a place waits for is another wait in the same
// function.
func TestLimit(t *testing.T) {
	for _, shared := range []bool{true, false} {
		s := newScene()
		s.LockName(sampledata.LockName{Address: 0x100, Name: "main.(*client).slots", Capacity: 1})
		all, consumer := s.spawn(3, "main.loop"), s.spawn(1, "main.consume")[0]
		s.samples(t, 60, func(i int) {
			has := all[i/3%3]
			waits := sends
			waits.Evidence, waits.Holders = sampledata.Likely, s.HolderSet([]sampledata.GoroutineID{has})
			if !shared {
				waits.Holders = s.HolderSet([]sampledata.GoroutineID{consumer})
			}
			s.is[has] = s.at(selects, "main.loop", "main.get:12", "net/http.(*persistConn).roundTrip")
			s.is[consumer] = s.at(runs, "main.consume", "main.store")
			for _, g := range all {
				if g != has {
					s.is[g] = s.at(waits, "main.loop", "main.get:9")
				}
			}
		})
		var limits []*Finding
		keys := make(map[string]bool)
		for _, f := range s.find(t).Findings {
			if keys[f.Key()] {
				t.Errorf("two findings have the key %q", f.Key())
			}
			keys[f.Key()] = true
			if f.limits() {
				limits = append(limits, f)
			}
			// who has the place is bound by it, and who waits
			// for it is not
			bound := f.Bound != nil && f.Bound.Channel == "main.(*client).slots" && f.Bound.Capacity == 1 && f.Bound.Share > 0.9
			if bound != (shared && f.Where.Library == "net/http.(*persistConn).roundTrip") {
				t.Errorf("the class has it: %v: %+v is bound by %+v", shared, f, f.Bound)
			}
		}
		switch {
		case !shared && limits != nil || shared && len(limits) != 1:
			t.Errorf("the class has it: %v: %+v", shared, limits)
		case !shared:
		case limits[0].Remedy != "hold a place for less time, or raise the limit: it is cap(main.(*client).slots), 1":
			t.Errorf("remedy %q", limits[0].Remedy)
		case limits[0].Share.Share < 0.6 || limits[0].Share.Share > 0.7: // all is 1
			t.Errorf("the wait for the answer counts, too: %v", limits[0].Share)
		}
	}
}

// Who takes values out of a buffer that others fill has no places of
// it, unless its name says so, or it ends.
func TestBoundByABuffer(t *testing.T) {
	for name, want := range map[string]bool{"main.(*list).results": false, "main.(*list).sem": true} {
		s := newScene()
		s.LockName(sampledata.LockName{Address: 0x100, Name: name, Capacity: 1})
		lister, taker := s.spawn(1, "main.list"), s.spawn(1, "main.inspect")
		waits := sends
		waits.Evidence, waits.Holders = sampledata.Likely, s.HolderSet(taker)
		s.samples(t, 100, func(i int) {
			s.all(lister, s.at(waits, "main.list"))
			s.all(taker, s.at(selects, "main.inspect", "net/http.(*persistConn).roundTrip"))
			if i%10 == 0 {
				s.all(lister, s.at(runs, "main.list"))
				s.all(taker, s.at(runs, "main.inspect"))
			}
		})
		a := s.find(t)
		if bound := slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.Bound != nil }); bound != want {
			t.Errorf("%s: %+v", name, a.Findings)
		}
	}
}

// A semaphore has places, and no buffer.
func TestLimitOfSemaphores(t *testing.T) {
	s := newScene()
	s.LockName(sampledata.LockName{Address: 0x100, Name: "main.(*pool).places", Capacity: 1})
	all := s.spawn(3, "main.loop")
	s.samples(t, 60, func(i int) {
		has := all[i/3%3]
		waits := selects
		if i%4 != 3 { // else it was not read
			waits.Lock, waits.Evidence, waits.Holders = 0x100, sampledata.Likely, s.HolderSet([]sampledata.GoroutineID{has})
		}
		s.is[has] = s.at(runs, "main.loop", "main.work:12")
		for _, g := range all {
			if g != has {
				s.is[g] = s.at(waits, "main.loop", "main.(*pool).get:9", "golang.org/x/sync/semaphore.(*Weighted).Acquire")
			}
		}
	})
	a := s.find(t)
	i := slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.limits() })
	if want := "hold a place for less time, or raise the limit: it is the size of main.(*pool).places, 1"; i < 0 || a.Findings[i].Remedy != want {
		t.Fatalf("%+v, want the remedy %q", a.Findings, want)
	}
	for _, name := range []string{"main.(*pool).places", "semaphore main.(*pool).places"} {
		if g := s.asked(t, name, false); g.Times == nil || *g.Times != *a.Findings[i].Gain.Times {
			t.Errorf("%s: %+v, want %+v", name, g, a.Findings[i].Gain)
		}
	}
}

// The pool of connections is a reason of its own, as a channel's buffer
// is, also beside what those do that have one.
func TestPoolBesideItsUse(t *testing.T) {
	s := newScene()
	all := s.spawn(4, "main.handle")
	s.samples(t, 100, func(i int) {
		has := all[i/3%4]
		waits := selects
		waits.Lock, waits.Evidence, waits.Holders = 0x100, sampledata.Likely, s.HolderSet([]sampledata.GoroutineID{has})
		s.all(all, s.at(waits, "main.handle", "database/sql.(*DB).conn"))
		s.is[has] = s.at(selects, "main.handle", "net/http.(*persistConn).roundTrip")
	})
	a := s.find(t)
	if len(a.Findings) != 2 || a.Findings[0].Where.Library != "database/sql.(*DB).conn" {
		t.Errorf("%+v", a.Findings)
	}
}

// If nobody is known to take from a full channel, the remedy is to find
// out who does.
func TestFullChannelOfUnknown(t *testing.T) {
	for does, want := range map[string]string{"chan send": lookAtReceiver, "chan receive": lookAtEnder} {
		s := newScene()
		s.LockName(sampledata.LockName{Address: 0x100, Name: "main.(*request).Limiter", Capacity: 1})
		all, other := s.spawn(3, "main.field"), s.spawn(1, "main.other")[0]
		waits := sampledata.State{Run: sampledata.Waiting, Reason: does, Lock: 0x100}
		s.samples(t, 100, func(i int) {
			s.is[other] = s.at(runs, "main.other", "main.store")
			s.all(all, s.at(waits, "main.field", "main.exec"))
			s.some(i, 10, all, s.at(runs, "main.field", "main.parse"))
		})
		found := s.find(t).Findings
		i := slices.IndexFunc(found, func(f *Finding) bool { return f.Kind == ChannelKind })
		if i < 0 || found[i].Remedy != want {
			t.Errorf("%s: %+v", does, found)
		}
	}
}
