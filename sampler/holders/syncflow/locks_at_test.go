package syncflow

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// String writes a term as the expression that it is.
func (t *expr) String() string {
	if t == nil {
		return "?"
	}
	switch t.kind {
	case kConst:
		return "constant"
	case kStackWord:
		return "frame"
	case kEntry:
		return "register"
	case kAdd:
		return fmt.Sprintf("%v+", t.a)
	case kSum:
		return fmt.Sprintf("(%v,%v)", t.a, t.b)
	}
	return fmt.Sprintf("[%v]", t.a)
}

// during returns what a function's frame says about locks during
// its calls of others.
func during(t *testing.T, a *Analyzer, caller string, called ...string) []*siteLocks {
	t.Helper()
	f, ok := a.p.Table.Find(caller)[caller]
	if !ok {
		t.Fatalf("no function %s", caller)
	}
	c := a.callee(f.Entry)
	relevant := a.relevant(c, 0)
	w := a.flowOf(f)
	if w == nil {
		t.Fatalf("%s can't be analysed", caller)
	}
	var places []*siteLocks
	for i := range w.code {
		if x := &w.code[i]; x.Op == machinecode.OpCall && !x.Indirect && a.callee(x.Target).f.Entry == x.Target &&
			slices.Contains(called, a.callee(x.Target).f.Name()) && w.stateBefore(i) != nil {
			p := noLocks
			if relevant {
				p = w.locksAt(x.Next, false)
			}
			places = append(places, p)
		}
	}
	if len(places) == 0 {
		t.Fatalf("%s does not call %v", caller, called)
	}
	return places
}

// underLock says of the functions of testdata/programs/holders
// how many locks their frames say are held while they work, and
// how.
var underLock = []struct {
	function string
	locks    int
	mode     Mode
}{
	{"main.global", 1, Write},
	{"main.(*thing).field", 1, Write},
	{"main.(*thing).deferred", 1, Write},
	{"main.(*thing).deferredClosure", 1, Write},
	{"main.(*thing).deferredList", 1, Write},
	{"main.(*embedding).embedded", 1, Write},
	{"main.(*thing).methodValue", 1, Write},
	{"main.(*thing).helper", 1, Write},
	{"main.(*box[go.shape.string]).generic", 1, Write},
	{"main.nested", 2, Write},
	{"main.argument", 1, Write},
	{"main.inMap", 1, Write},
	{"main.inSlice", 1, Write},
	{"main.(*thing).path", 1, Write},
	{"main.(*thing).localLocker", 1, Write},
	{"main.locker", 1, Write},
	{"main.(*thing).early", 1, Write},
	{"main.(*thing).lending", 1, Write},
	{"main.closure.func1", 1, Write},
	{"main.(*shared).write", 1, Write},
	{"main.(*shared).read", 1, Read},
	{"main.(*shared).readDeferred", 1, Read},
	{"main.(*thing).maybe", 1, Write},
	{"main.(*thing).relax", 0, Write},
}

// checkPlaces holds the analysis against what the functions do.
func checkPlaces(t *testing.T, a *Analyzer) {
	t.Helper()
	for _, want := range underLock {
		for _, p := range during(t, a, want.function, "main.work", "main.use") {
			wrongMode := slices.ContainsFunc(p.held, func(c lockRef) bool { return c.mode != want.mode })
			// The code may know a lock by two values. By one of
			// them, it seems not to be released.
			known := slices.DeleteFunc(slices.Clone(p.held), func(c lockRef) bool { return c.passedOn })
			if len(known) != want.locks || wrongMode || p.unknown {
				t.Errorf("%s works: %d locks held %v, want %d of mode %d", want.function, len(p.held), p.held, want.locks, want.mode)
			}
		}
	}
	// A function that releases its caller's lock says so until
	// it has taken it again.
	for _, p := range during(t, a, "main.(*thing).relax", "main.work") {
		if len(p.released) != 1 || p.released[0].lock == nil {
			t.Errorf("main.(*thing).relax works: releases %v", p.released)
		}
	}
	for _, p := range during(t, a, "main.(*thing).relaxing", "main.(*thing).relax") {
		if len(p.held) != 1 {
			t.Errorf("main.(*thing).relaxing relaxes: %v", p.held)
		}
	}
	for _, p := range during(t, a, "main.(*thing).relaxing", "main.pause") {
		if len(p.held) != 1 {
			t.Errorf("main.(*thing).relaxing after that: %v", p.held)
		}
	}
	if ps := during(t, a, "main.(*thing).release", "main.work"); len(ps) != 2 || len(ps[1].held) != 0 {
		t.Errorf("main.(*thing).release works after a closure gave back the lock: %v", ps)
	}
}

func TestPlaces(t *testing.T) {
	testPlaces(t, map[string][]string{"plain": nil, "not optimised": {"-gcflags=-N -l"}})
}

func TestPlacesOfOtherBuildsLong(t *testing.T) {
	fixture.LongInTurn(t, 2)
	testPlaces(t, map[string][]string{"stripped": {"-ldflags=-s -w"}, "not inlined": {"-gcflags=-l"}})
}

func testPlaces(t *testing.T, builds map[string][]string) {
	t.Helper()
	for _, arch := range []string{"amd64", "arm64"} {
		for name, flags := range builds {
			t.Run(arch+" "+name, func(t *testing.T) { checkPlaces(t, analyzer(t, build(t, arch, flags...))) })
		}
	}
}

// While a function waits for its second lock, it holds the first.
func TestNested(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		var held []int
		for _, p := range during(t, analyzer(t, build(t, arch)), "main.nested", "internal/sync.(*Mutex).lockSlow") {
			held = append(held, len(p.held))
		}
		if !slices.Equal(held, []int{0, 1}) {
			t.Errorf("%s: %d locks are held while waiting for one more, want 0 and 1", arch, held)
		}
	}
}

// A goroutine that waits in RLock does not hold the lock,
// whatever its code does later.
func TestPendingReader(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		a := analyzer(t, build(t, arch))
		for _, function := range []string{"main.(*shared).read", "main.(*shared).readDeferred", "main.(*shared).readOpen"} {
			for _, p := range during(t, a, function, "sync.runtime_SemacquireRWMutexR") {
				if len(p.held)+len(p.doubtful) > 0 || p.unknown {
					t.Errorf("%s: %s waits in RLock: it holds %v, and may hold %v", arch, function, p.held, p.doubtful)
				}
			}
		}
	}
}

// In Wait of a Cond, its lock is released, and nothing is said
// against other locks.
func TestCondWait(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		a := analyzer(t, build(t, arch))
		for _, p := range during(t, a, "main.(*queue).take", "sync.(*Cond).Wait") {
			if len(p.held) != 2 {
				t.Errorf("%s: main.(*queue).take holds %v", arch, p.held)
			}
		}
		f := a.p.Table.Find("sync.(*Cond).Wait")["sync.(*Cond).Wait"]
		w := a.flowOf(f)
		for i := range w.code {
			if x := &w.code[i]; x.Op == machinecode.OpCall && !x.Indirect && a.callee(x.Target).f.Name() == "sync.runtime_notifyListWait" {
				p := a.findLocksAt(&unwind.Frame{PC: x.Next})
				if len(p.released) != 1 || p.released[0].lock == nil || p.released[0].via == nil {
					t.Errorf("%s: Wait releases %v", arch, p.released)
				}
			}
		}
	}
}

// While Unlock of a RWMutex runs, its goroutine holds the lock
// until the Mutex in it is released.
func TestUnlocking(t *testing.T) {
	const unlock = "sync.(*RWMutex).Unlock"
	for _, arch := range []string{"amd64", "arm64"} {
		a := analyzer(t, build(t, arch))
		for called, want := range map[string]int{"sync.runtime_Semrelease": 1, "internal/sync.(*Mutex).unlockSlow": 0} {
			for _, p := range during(t, a, unlock, called) {
				if len(p.held) != want {
					t.Errorf("%s: %s calls %s: %v", arch, unlock, called, p.held)
				}
			}
		}
	}
}

// Functions that return with a lock taken, or with one given
// back that they had not taken, are few, and known.
func TestEffects(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		a := analyzer(t, build(t, arch))
		got := map[string]string{}
		for i := range a.p.Table.Len() {
			f, ok := a.p.Table.At(i)
			if !ok || !strings.HasPrefix(f.Name(), "main.") && !strings.HasPrefix(f.Name(), "sync.") {
				continue
			}
			for _, e := range a.effectsOf(a.callee(f.Entry), 1) {
				got[f.Name()] += fmt.Sprintf(" %d%d%v", e.change, e.mode, e.lock)
			}
		}
		for name, want := range map[string]string{
			"main.(*thing).lock":    " 10register+",
			"main.(*thing).unlock":  " 20register+",
			"main.(*thing).acquire": " 10register+",
			"main.(*thing).relax":   " 30register+",
			"main.(*thing).lend":    " 30register+",
			"main.(*thing).lending": "",
			"main.(*thing).field":   "",
			"main.nested":           "",
		} {
			if got[name] != want {
				t.Errorf("%s: %s:%s, want%s", arch, name, got[name], want)
			}
		}
	}
}
