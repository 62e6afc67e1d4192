package why

import (
	"slices"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// rotating has four workers: one after another holds a lock, and
// the others wait for it.
func rotating(t *testing.T, holds sampledata.State, waits ...string) *Answer {
	s := newScene()
	s.spawn(4, "main.worker")
	held := s.at(holds, waits[:len(waits)-1]...)
	if holds.Run != sampledata.Running {
		held = s.at(holds, append(slices.Clone(waits[:len(waits)-1]), "net.(*TCPListener).Accept", "net.(*netFD).accept")...)
	}
	s.samples(t, 200, func(i int) {
		for k, g := range s.goroutines {
			if s.is[g] = held; k != i/2%4 {
				s.is[g] = s.at(blocked, waits...)
				state := s.is[g]
				state.Lock, state.Holders = 0x200, s.HolderSet([]sampledata.GoroutineID{s.goroutines[i/2%4]})
				s.is[g] = state
			}
		}
	})
	return s.find(t)
}

// A lock whose holder waits for work only passes on the right to
// wait. One that does something is slow.
func TestTakesTurns(t *testing.T) {
	for holds, found := range map[sampledata.State]bool{reads: false, runs: true} {
		a := rotating(t, holds, "main.worker", "main.(*turns).next", "sync.(*Mutex).Lock")
		if got := slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.Kind == LockKind }); got != found {
			t.Errorf("the holder's state is %+v: %+v", holds, a.Findings)
		}
	}
}

// Who waits for a sync.Once needs what the first one does:
// nothing is gained without the lock.
func TestOnce(t *testing.T) {
	a := rotating(t, runs, "main.worker", "main.load", "sync.(*Once).doSlow", "sync.(*Mutex).Lock")
	i := slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.Kind == LockKind })
	if i < 0 || !slices.Contains(a.Findings[i].Signs, once) || a.Findings[i].Gain.Silent == "" {
		t.Errorf("%+v", a.Findings)
	}
}

// A class that is seldom at work waits for a lock, too, if it does
// so for most of that time.
func TestOthersSeldomAtWork(t *testing.T) {
	s := newScene()
	worker, rare := s.spawn(1, "main.worker")[0], s.spawn(1, "main.rare")[0]
	waits := func(class string) sampledata.State {
		state := s.at(blocked, class, "main.store", "sync.(*Mutex).Lock")
		state.Lock, state.Evidence = 0x200, sampledata.NoEvidence
		return state
	}
	s.samples(t, 200, func(i int) {
		s.is[worker], s.is[rare] = waits("main.worker"), s.at(idles, "main.rare")
		if i%10 == 9 {
			s.is[worker] = s.at(runs, "main.worker", "main.compute")
		}
		switch i % 12 {
		case 0:
			s.is[rare] = waits("main.rare")
		case 6:
			s.is[rare] = s.at(runs, "main.rare", "main.compute")
		}
	})
	a := s.find(t)
	if len(a.Findings) == 0 || !slices.Equal(names(a.Findings[0].Others), []string{"go:main.rare"}) {
		t.Errorf("%+v", a.Findings)
	}
}

// A goroutine that mostly waits for a lock for which others seldom
// do is not said to rest.
func TestLockOfOneAmongMany(t *testing.T) {
	s := newScene()
	sweeper, others, holder := s.spawn(1, "main.sweep")[0], s.spawn(10, "main.serve"), s.spawn(1, "main.hold")
	s.samples(t, 40, func(i int) {
		waits := func(in string) sampledata.State {
			w := s.at(blocked, in, "sync.(*Mutex).Lock")
			w.Lock, w.Holders = 0x200, s.HolderSet(holder)
			return w
		}
		s.all(holder, s.at(sleeps, "main.hold", "main.load", "time.Sleep"))
		s.all(others, s.at(reads, "main.serve", "main.fetch"))
		s.some(i, 10, others, waits("main.serve"))
		s.is[sweeper] = s.at(idles, "main.sweep")
		if i%8 < 5 {
			s.is[sweeper] = waits("main.sweep")
		}
	})
	a := s.find(t)
	locked := slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.Kind == LockKind })
	i := slices.IndexFunc(a.Resting, func(r Resting) bool { return r.Class == "go:main.sweep" })
	if locked || i < 0 || !a.Resting[i].WaitsForLock() {
		t.Errorf("%+v %+v", a.Findings, a.Resting)
	}
}

// One of several that is always further on may have the lock that the
// others wait for, if nobody is known to; one that stands still has not.
func TestWhoMayHoldALock(t *testing.T) {
	for name, c := range map[string]struct {
		goroutines int
		stands     bool
		want       int
	}{"one at a time": {4, false, 1}, "of two": {2, false, 0}, "it stands still": {4, true, 0}} {
		s := newScene()
		all := s.spawn(c.goroutines, "main.worker")
		waits := blocked
		waits.Lock, waits.Evidence = 0x200, sampledata.NoEvidence
		s.samples(t, 200, func(i int) {
			s.all(all, s.at(waits, "main.worker", "main.run:10", "main.enter", "sync.(*Mutex).Lock"))
			turn := i / 5 % len(all)
			if c.stands {
				turn = 0
			}
			s.is[all[turn]] = s.at(selects, "main.worker", "main.run:20", "main.load")
			s.sometimes(i, 10, all[1], s.at(runs, "main.worker", "main.run:8"))
		})
		for _, f := range s.find(t).Findings {
			if f.Kind == LockKind && len(f.Causes) != c.want {
				t.Errorf("%s: %+v", name, f.Causes)
			}
		}
	}
}

// Who may have a lock hides no system call, and is not said to be paced.
func TestMayHoldIsNoFact(t *testing.T) {
	for _, does := range [][]string{
		{"main.save", "os.(*File).Write", "syscall.write", "syscall.Syscall", "internal/runtime/syscall.Syscall6"},
		{"golang.org/x/time/rate.(*Limiter).WaitN"},
	} {
		s := newScene()
		all := s.spawn(6, "main.worker")
		waits, state := blocked, runs
		waits.Lock, waits.Evidence = 0x200, sampledata.NoEvidence
		if len(does) == 1 {
			state = selects
		}
		s.samples(t, 200, func(i int) {
			s.all(all, s.at(waits, "main.worker", "main.run:10", "sync.(*Mutex).Lock"))
			s.is[all[i/5%6]] = s.at(state, append([]string{"main.worker", "main.run:20"}, does...)...)
		})
		found := s.find(t).Findings
		if len(found) != 2 || found[0].Kind != LockKind || len(found[0].Causes) != 1 || len(found[0].Signs) > 0 {
			t.Errorf("%s: %+v", does[0], found)
		}
	}
}
