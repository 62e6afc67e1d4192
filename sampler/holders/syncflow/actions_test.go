package syncflow

import (
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// actionsDuring returns what a function's frame says that it may
// still do, from its first call of another function on, or if
// that is "", from its first call of what a register holds.
func actionsDuring(t *testing.T, a *Analyzer, caller, called string) []siteAction {
	t.Helper()
	f, ok := a.p.Table.Find(caller)[caller]
	if !ok {
		t.Fatalf("no function %s", caller)
	}
	c := a.callee(f.Entry)
	w := a.flowOf(f)
	if w == nil {
		t.Fatalf("%s can't be analysed", caller)
	}
	for i := range w.code {
		x := &w.code[i]
		if x.Op != machinecode.OpCall || x.Indirect != (called == "") || !x.Indirect && a.callee(x.Target).f.Name() != called || w.stateBefore(i) == nil {
			continue
		}
		if own, ok := ownActions[c.role]; ok {
			return w.ownActionAt(i, false, own)
		}
		if a.mayAct(c) {
			return w.actionsFrom(i, false)
		}
		return nil
	}
	t.Fatalf("%s does not call %q", caller, called)
	return nil
}

// mayDo lists functions of testdata/programs, and what each may
// still do after a call that it makes.
var mayDo = []struct {
	program, function, calls string
	does                     []ActionKind
}{
	{"holders", "main.produce", "main.work", []ActionKind{Send}},
	{"holders", "main.fill", "runtime.chansend1", []ActionKind{Send}},
	{"holders", "main.choose", "main.work", []ActionKind{Receive, Receive}},
	{"lockcode", "main.(*thing).closes", "main.work", []ActionKind{Receive, Receive, Receive, Close}},
	{"groups", "main.startCaptured.func1", "main.work", []ActionKind{Done}},
	{"groups", "main.parameter", "main.work", []ActionKind{Done}},
	{"groups", "main.last", "main.work", []ActionKind{Done}},
	{"groups", "main.closure", "main.work", []ActionKind{Done}},
	{"groups", "main.loop", "main.work", []ActionKind{Done}},
	{"groups", "main.list", "main.work", nil}, // the runtime has the list
	{"groups", "main.helper", "main.work", []ActionKind{Done}},
	{"groups", "main.(*job).do", "main.work", []ActionKind{Done}},
	{"groups", "main.global", "main.work", []ActionKind{Done}},
	{"groups", "sync.(*WaitGroup).Go.func1", "", []ActionKind{Done}},
	{"groups", "main.was", "main.work", nil},
	{"groups", "main.adds", "main.work", nil},
	{"groups", "main.other", "main.work", []ActionKind{Done}},
	{"groups", "main.pushes", "main.work", []ActionKind{Signal}},
	{"groups", "main.tells", "main.work", []ActionKind{Signal}},
	{"groups", "main.told", "main.work", nil},
	{"groups", "sync.(*WaitGroup).Wait", "sync.runtime_SemacquireWaitGroup", []ActionKind{Done}},
	{"groups", "sync.(*Cond).Wait", "sync.runtime_notifyListWait", []ActionKind{Signal}},
}

func TestActions(t *testing.T) { checkActions(t, "amd64") }

func TestActionsLong(t *testing.T) {
	fixture.Long(t)
	type build struct {
		arch  string
		flags []string
	}
	for _, b := range fixture.Third([]build{
		{"amd64", []string{"-gcflags=-l"}}, // nothing is inlined
		{"arm64", []string{"-gcflags=-l"}},
		{"arm64", nil},
		{"amd64", []string{"-ldflags=-s -w"}},
		{"arm64", []string{"-ldflags=-s -w"}},
	}) {
		t.Run(strings.Join(append(b.flags, b.arch), " "), func(t *testing.T) { checkActions(t, b.arch, b.flags...) })
	}
}

func checkActions(t *testing.T, arch string, flags ...string) {
	t.Helper()
	programs := map[string]*Analyzer{}
	for _, p := range []string{"holders", "lockcode", "groups"} {
		programs[p] = analyzer(t, buildFor(t, arch, p, flags...))
	}
	for _, want := range mayDo {
		var does []ActionKind
		for _, u := range actionsDuring(t, programs[want.program], want.function, want.calls) {
			does = append(does, u.kind)
		}
		if !slices.Equal(does, want.does) {
			t.Errorf("%s calls %s: it may do %v, want %v", want.function, want.calls, does, want.does)
		}
	}
}

// The closure of a deferred function says what the function will
// do, wherever the runtime keeps the closure.
func TestDeferredActions(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		for name, flags := range map[string][]string{"plain": nil, "not optimised": {"-gcflags=-N -l"}} {
			a := analyzer(t, buildFor(t, arch, "groups", flags...))
			for _, closure := range []string{"main.list.deferwrap1", "main.parameter.deferwrap1", "main.closure.func1"} {
				f, ok := a.p.Table.Find(closure)[closure]
				if !ok {
					t.Fatalf("no function %s", closure)
				}
				acts := a.argumentActions(a.callee(f.Entry), maxActionDepth)
				if len(acts) != 1 || acts[0].kind != Done || acts[0].object.String() != "[register+]" {
					t.Errorf("%s, %s: %s does %v", arch, name, closure, acts)
				}
			}
		}
	}
}
