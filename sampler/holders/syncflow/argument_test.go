package syncflow

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// If a function takes a lock in an object that it got as an
// argument, LockPaths has that argument.
func TestReceiver(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		a := analyzer(t, build(t, arch))
		for _, test := range []struct {
			function string
			want     []string // for each call that takes a lock
		}{
			{"main.(*thing).deferred", []string{"argument 0 + [16]"}},
			{"main.argument", []string{"argument 0 + [0]"}},
			{"main.nested", []string{"argument 0 + [16]", "argument 1 + [16]"}},
			{"main.(*shared).read", []string{"argument 0 + [16]"}},
			{"main.inMap", []string{"none"}},
			{"main.global", []string{"none"}},
		} {
			if got := receivers(t, a, test.function); !slices.Equal(got, test.want) {
				t.Errorf("%s: %s takes locks of %v, want %v", arch, test.function, got, test.want)
			}
		}
	}
}

func receivers(t *testing.T, a *Analyzer, function string) (all []string) {
	t.Helper()
	f, ok := a.p.Table.Find(function)[function]
	if !ok {
		t.Fatalf("no function %s", function)
	}
	w := a.flowOf(f)
	if w == nil {
		t.Fatalf("%s can't be analysed", function)
	}
	for i := range w.code {
		x := &w.code[i]
		if x.Op != machinecode.OpCall || x.Indirect {
			continue
		}
		switch a.callee(x.Target).role {
		case goruntime.CallLock, goruntime.CallLockSlow, goruntime.CallRLock, goruntime.CallReadSlow:
			said := "none"
			for _, p := range a.LockPaths(&unwind.Frame{PC: x.Next}) {
				if p.PC == f.Entry {
					said = fmt.Sprintf("argument %d + %d", slices.Index(a.machine.arguments[:], p.Register), p.Offsets)
				}
			}
			all = append(all, said)
		}
	}
	return all
}
