package syncflow

import (
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// A goroutine that is parked in semacquire1 has the addresses of
// the semaphore and of what it waits with in its frame.
func TestSemaphore(t *testing.T) { checkSemaphore(t) }

// The same is true if the runtime is not optimised. Then all
// packages are built again.
func TestSemaphoreNotOptimisedLong(t *testing.T) {
	fixture.Long(t)
	checkSemaphore(t, "-gcflags=all=-N -l")
}

func checkSemaphore(t *testing.T, flags ...string) {
	t.Helper()
	for _, arch := range []string{"amd64", "arm64"} {
		t.Run(arch, func(t *testing.T) {
			a := analyzer(t, build(t, arch, flags...))
			f, ok := a.p.Table.Find("runtime.semacquire1")["runtime.semacquire1"]
			if !ok {
				t.Fatal("no function runtime.semacquire1")
			}
			w := a.flowOf(f)
			if w == nil {
				t.Fatal("runtime.semacquire1 can't be analysed")
			}
			parks := 0
			for i := range w.code {
				x := &w.code[i]
				if x.Op != machinecode.OpCall || x.Indirect || a.callee(x.Target).f.Name() != "runtime.gopark" &&
					a.callee(x.Target).f.Name() != "runtime.goparkunlock" {
					continue
				}
				parks++
				got := a.findSemaphoreAt(x.Next)
				if got == nil || got.semaphore.String() != "frame" || got.sudog.String() != "frame" {
					t.Errorf("parked at %#x, the semaphore and the sudog are at %v, want words of the frame", x.PC, got)
				}
			}
			if parks == 0 {
				t.Error("runtime.semacquire1 parks nowhere")
			}
		})
	}
}
