package lockholder

import (
	"slices"
	"testing"
)

// usesDuring gives what a function's frame says that it may do, from its first call of another one on; of any by a register
// where that one has no name.
func usesDuring(t *testing.T, a *Analyzer, caller, called string) []useTerm {
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
		if x.op != opCall || x.indirect != (called == "") || !x.indirect && !a.callee(x.target).f.HasName(called) || w.before(i) == nil {
			continue
		}
		switch {
		case c.role == roleGroupWait || c.role == roleCondWait:
			return w.waitTerms(i, false, c.role)
		case a.useful(c):
			return w.termsFrom(i, false)
		}
		return nil
	}
	t.Fatalf("%s does not call %q", caller, called)
	return nil
}

// mayDo says of the functions of testdata/programs what they may still do while they call another one.
var mayDo = []struct {
	program, function, calls string
	does                     []Deed
}{
	{"holders", "main.produce", "main.work", []Deed{Send}},
	{"holders", "main.fill", "runtime.chansend1", []Deed{Send}},
	{"holders", "main.choose", "main.work", []Deed{Receive, Receive}},
	{"groups", "main.startCaptured.func1", "main.work", []Deed{Done}},
	{"groups", "main.parameter", "main.work", []Deed{Done}},
	{"groups", "main.last", "main.work", []Deed{Done}},
	{"groups", "main.closure", "main.work", []Deed{Done}},
	{"groups", "main.loop", "main.work", []Deed{Done}},
	{"groups", "main.list", "main.work", nil}, // the runtime has the list
	{"groups", "main.helper", "main.work", []Deed{Done}},
	{"groups", "main.(*job).do", "main.work", []Deed{Done}},
	{"groups", "main.global", "main.work", []Deed{Done}},
	{"groups", "sync.(*WaitGroup).Go.func1", "", []Deed{Done}},
	{"groups", "main.was", "main.work", nil},
	{"groups", "main.adds", "main.work", nil},
	{"groups", "main.other", "main.work", []Deed{Done}},
	{"groups", "main.pushes", "main.work", []Deed{Signal}},
	{"groups", "main.tells", "main.work", []Deed{Signal}},
	{"groups", "main.told", "main.work", nil},
	{"groups", "sync.(*WaitGroup).Wait", "sync.runtime_SemacquireWaitGroup", []Deed{Done}},
	{"groups", "sync.(*Cond).Wait", "sync.runtime_notifyListWait", []Deed{Signal}},
}

func TestUses(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		for name, flags := range map[string][]string{
			"plain":       nil,
			"stripped":    {"-ldflags=-s -w"},
			"not inlined": {"-gcflags=-l"},
		} {
			t.Run(arch+" "+name, func(t *testing.T) {
				programs := map[string]*Analyzer{}
				for _, p := range []string{"holders", "groups"} {
					programs[p] = analyzer(t, buildFor(t, arch, p, flags...))
				}
				for _, want := range mayDo {
					var does []Deed
					for _, u := range usesDuring(t, programs[want.program], want.function, want.calls) {
						does = append(does, u.does)
					}
					if !slices.Equal(does, want.does) {
						t.Errorf("%s calls %s: it may do %v, want %v", want.function, want.calls, does, want.does)
					}
				}
			})
		}
	}
}

// What a deferred function does tells its closure, wherever the runtime has it.
func TestDeeds(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		for name, flags := range map[string][]string{"plain": nil, "not optimised": {"-gcflags=-N -l"}} {
			a := analyzer(t, buildFor(t, arch, "groups", flags...))
			for _, closure := range []string{"main.list.deferwrap1", "main.parameter.deferwrap1", "main.closure.func1"} {
				f, ok := a.p.Table.Find(closure)[closure]
				if !ok {
					t.Fatalf("no function %s", closure)
				}
				deeds := a.deedsOf(a.callee(f.Entry), maxWakers)
				if len(deeds) != 1 || deeds[0].does != Done || deeds[0].thing.String() != "[register+]" {
					t.Errorf("%s, %s: %s does %v", arch, name, closure, deeds)
				}
			}
		}
	}
}
