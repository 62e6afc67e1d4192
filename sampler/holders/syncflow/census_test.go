package syncflow

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

var (
	censusOf = flag.String("program", "", "an executable: print what its code says about the locks that its goroutines hold")
	censusIn = flag.String("functions", "", "count only the calls of functions whose names match this expression")
	worst    = flag.Int("worst", 25, "how many functions to print, those with the most calls that are not sure first")
)

// TestCensusOfProgram prints how much the code of a program says
// about the locks that its goroutines hold:
//
//	go test -v -run CensusOfProgram ./sampler/holders/syncflow -program PATH -functions '^main\.'
//
// It counts the calls during which a lock may be held, by
// whether it is sure that it is, and if not, why. A goroutine
// that stands in a call of the first kind is found as the
// holder.
func TestCensusOfProgram(t *testing.T) {
	path, match := *censusOf, regexp.MustCompile(*censusIn)
	if path == "" {
		path, match = fixture.Build(t, "holders"), regexp.MustCompile(`^main\.`)
	}
	p := programOf(t, path)
	a := analyzer(t, p)
	var doubtful [NumDoubts]int
	byFunction := map[string][]string{} // the calls that are not sure
	for i := range p.Table.Len() {
		f, ok := p.Table.At(i)
		if !ok || !match.MatchString(f.Name()) {
			continue
		}
		a.Refill(1 << 40)
		calls, _ := a.LockedCalls(f)
		for _, c := range calls {
			if doubtful[c.Doubt]++; c.Doubt != NoDoubt {
				frames := f.Frames(nil, c.PC)
				byFunction[f.Name()] = append(byFunction[f.Name()], fmt.Sprintf("line %d: %v", frames[len(frames)-1].Line, c.Doubt))
			}
		}
	}
	for d, n := range doubtful {
		t.Logf("%8d calls during which a lock may be held: %v", n, Doubt(d))
	}
	names := slices.SortedFunc(maps.Keys(byFunction),
		func(a, b string) int { return cmp.Or(len(byFunction[b])-len(byFunction[a]), strings.Compare(a, b)) })
	for _, name := range names[:min(len(names), *worst)] {
		t.Logf("%8d calls not sure in %s:\n%s", len(byFunction[name]), name, strings.Join(byFunction[name], "\n"))
	}
	if *censusOf == "" && (doubtful[NoDoubt] == 0 || len(names) == 0) {
		t.Errorf("%d calls are sure, and %d functions have others", doubtful[NoDoubt], len(names))
	}
}

// The first method of an interface may be Lock, so the analysis
// takes it for that until a frame shows what it is. If the
// values that lead there are gone, no frame can.
func TestCensusWithoutLocks(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		a := analyzer(t, buildFor(t, arch, "lockcode"))
		calls, _ := a.LockedCalls(a.p.Table.Find("main.noLock")["main.noLock"])
		for _, c := range calls {
			t.Errorf("%s: at %#x, a lock may be held: %v", arch, c.PC, c.Doubt)
		}
	}
}

// Every call under a lock is counted, and those at which nothing
// is sure are not counted as sure.
func TestCensus(t *testing.T) {
	a := analyzer(t, build(t, "amd64"))
	for name, want := range map[string]struct{ sure, unsure bool }{
		"main.(*thing).field": {sure: true},
		"main.(*thing).maybe": {sure: true},
		"main.twiceInMap":     {unsure: true},
		"main.work":           {},
	} {
		calls, _ := a.LockedCalls(a.p.Table.Find(name)[name])
		var sure, unsure bool
		for _, c := range calls {
			sure, unsure = sure || c.Doubt == NoDoubt, unsure || c.Doubt != NoDoubt
		}
		if sure != want.sure || unsure != want.unsure {
			t.Errorf("%s: sure %v, unsure %v; want %v", name, sure, unsure, want)
		}
	}
}

// A LockedCall is a call during which a lock may be held that
// its function has taken.
type LockedCall struct {
	PC    uint64 // of the call
	Doubt Doubt  // the greatest of those about the locks that may be held
}

// LockedCalls returns the calls of a function during which one
// of its locks may be held. It reports false if the function has
// nothing to do with locks. What may be a lock, by the methods
// of an interface, does not count: only a frame shows whether it
// is one.
func (a *Analyzer) LockedCalls(f pclntab.Func) (calls []LockedCall, locks bool) {
	c := a.callee(f.Entry)
	if c.role != goruntime.CallOther || goruntime.IsSync(f.Name()) || !a.relevant(c, 0) {
		return nil, false
	}
	w := a.flowOf(f)
	if w == nil {
		return nil, true
	}
	for k, s := range w.states() {
		if w.leavesFunction(&w.code[k]) && w.stands(k) {
			if d, held := w.doubtDuring(s, k); held {
				calls = append(calls, LockedCall{w.code[k].PC, d})
			}
		}
	}
	return calls, true
}

// stands reports whether a goroutine's stack can show it in a
// call. Calls of the runtime that only move memory, or end in a
// panic, don't count.
func (w *flow) stands(k int) bool {
	x := &w.code[k]
	if x.Indirect {
		return true
	}
	switch w.a.callee(x.Target).role {
	case goruntime.CallBarrier, goruntime.CallDuff, goruntime.CallStops:
		return false
	}
	return true
}

// doubtDuring returns the greatest doubt about a lock that may
// be held during a call. It reports false if none may be.
func (w *flow) doubtDuring(s *state, k int) (doubt Doubt, held bool) {
	s = s.clone()
	w.duringCall(s, &w.code[k])
	future := w.futureAt(k, false)
	proven := w.proven(s, &future)
	isHeld := func(h *hold) bool {
		return slices.ContainsFunc(proven, func(p hold) bool { return p.lockName == h.lockName })
	}
	for _, h := range proven {
		if h.via == 0 {
			held = true
			if _, ok := w.refTo(s, &h, false); !ok {
				doubt = NotInFrame
			}
		}
	}
	for _, h := range s.holds {
		if h.via == 0 && !isHeld(&h) {
			held, doubt = true, max(doubt, h.doubt)
		}
	}
	return doubt, held
}

var doubts = [NumDoubts]string{
	"sure", "method of an interface called", "function value called", "another lock released",
	"deferred functions have run",
	"taken or released on one of two paths", "address forgotten",
	"nothing in the frame leads to it",
}

func (d Doubt) String() string { return doubts[d] }
