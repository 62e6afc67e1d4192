//go:build linux && (amd64 || arm64)

package heap_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/heap"
	"github.com/cpprof/cpprof/sampler/snapshot"
)

func TestMain(m *testing.M) { fixture.Main(m) }

// patient is a bound for halts on a busy machine.
const patient = 500 * time.Millisecond

// attach prepares an examination of a process.
func attach(t *testing.T, pid int, c heap.Config) *heap.Examination {
	t.Helper()
	p := fixture.Must(sampler.Find(pid))(t)
	b := fixture.Must(snapshot.Attach(p))(t)
	t.Cleanup(func() { b.Close() })
	return fixture.Must(b.Examine(c))(t)
}

// pass makes two passes. It reports whether anything is suspected.
func pass(t *testing.T, x *heap.Examination) bool {
	t.Helper()
	for i := range 2 {
		if i > 0 {
			time.Sleep(50 * time.Millisecond)
		}
		fixture.Check(t, x.Pass(context.Background()))
		if x.Suspects() == 0 {
			return false
		}
	}
	return true
}

// prove makes two passes and, if anything is suspected, the halt.
func prove(t *testing.T, x *heap.Examination) *heap.Result {
	t.Helper()
	if !pass(t, x) {
		return x.Result(nil)
	}
	fixture.Check(t, x.Prove(context.Background()))
	return x.Result(nil)
}

// found returns how many goroutines have a verdict, by the
// innermost function of the program.
func found(r *heap.Result, v sampledata.Verdict) map[string]int {
	n := map[string]int{}
	for _, g := range r.Groups {
		for _, f := range g.Frames {
			if strings.HasPrefix(f.Func, "main.") && g.Verdict == v {
				n[f.Func] += len(g.Goroutines)
				break
			}
		}
	}
	return n
}

// stuck are the goroutines of the program of that name.
var stuck = map[string]int{
	"main.send": 12, "main.receiver": 1, "main.undecided.func1": 1, "main.(*box).first": 1, "main.(*box).second": 1,
	"main.(*box).inner": 1, "main.(*box).late": 1, "main.waiter": 1, "main.condition.func1": 1, "main.nilChannel.func1": 1,
	"main.(*box).reader": 1, "main.(*box).writer": 1, "main.produce": 1, "main.consume": 5,
	"main.(*pool).run": 1,
}

func TestStuck(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{nil, {"-ldflags=-s -w"}} {
		t.Run(strings.Join(flags, ""), func(t *testing.T) {
			// An old pointer on a stack may hide a goroutine
			// once, but not always.
			got := map[string]int{}
			for range 4 {
				v := fixture.Start(t, fixture.Build(t, "stuck", flags...))
				for name, n := range checkStuck(t, prove(t, attach(t, v.Pid(), heap.Config{MaxHalt: patient}))) {
					got[name] = max(got[name], n)
				}
				if maps.Equal(got, stuck) {
					return
				}
			}
			t.Errorf("stuck are %v, want %v", got, stuck)
		})
	}
}

// checkStuck checks that nothing else is claimed than the
// program has, and returns what is.
func checkStuck(t *testing.T, r *heap.Result) map[string]int {
	t.Helper()
	got := found(r, sampledata.Stuck)
	for name, n := range got {
		if stuck[name] < n {
			t.Errorf("%s: %d are claimed to be stuck", name, n)
		}
	}
	if !r.Proved || len(r.Passes) != 3 || r.Passes[2].Halt <= 0 || len(r.Doubts) > 0 {
		t.Errorf("proved %v by %+v; doubts: %v", r.Proved, r.Passes, r.Doubts)
	}
	return got
}

// Who is stuck for whom, and what that keeps, is known from the marks.
func TestRelations(t *testing.T) {
	t.Parallel()
	v := fixture.Start(t, fixture.Build(t, "stuck"), "tree")
	r := prove(t, attach(t, v.Pid(), heap.Config{MaxHalt: patient}))
	var produce, consume = -1, -1
	for i, g := range r.Groups {
		switch g.Frames[len(g.Frames)-1].Func {
		case "main.produce":
			produce = i
		case "main.consume":
			consume = i
		}
	}
	if produce < 0 || consume < 0 || len(r.Groups) != 2 {
		t.Fatalf("%d groups", len(r.Groups))
	}
	p, c := r.Groups[produce], r.Groups[consume]
	if len(p.Reaches) != 1 || p.Reaches[0] != consume || len(c.Reaches) != 0 {
		t.Errorf("produce reaches %v, consume %v", p.Reaches, c.Reaches)
	}
	if p.Kept < 1<<20 || p.Kept > 1<<20+32<<10 || c.Kept <= 0 || c.Kept > 128<<10 {
		t.Errorf("produce keeps %d bytes, consume %d", p.Kept, c.Kept)
	}
	if p.Creator.Func != "main.tree" {
		t.Errorf("created by %q", p.Creator.Func)
	}
}

// Nothing is claimed of goroutines that can be woken, whatever
// the way. The program wakes them in the end, which proves that.
func TestHealthy(t *testing.T) {
	t.Parallel()
	in, wake := io.Pipe()
	v := fixture.StartWith(t, exec.Command(fixture.Build(t, "healthy"), "1s"), in)
	t.Cleanup(func() { wake.Close() })
	for i := range 4 {
		x := attach(t, v.Pid(), heap.Config{MaxHalt: patient})
		var r *heap.Result
		if i%2 == 0 {
			r = prove(t, x)
		} else if err := x.Prove(context.Background()); err != nil { // a proof needs no passes
			t.Fatal(err)
		} else {
			r = x.Result(nil)
		}
		for _, g := range r.Groups {
			t.Errorf("%d are %v [%s] %s: %+v", len(g.Goroutines), g.Verdict, g.Reason.Text, g.Goroutines[0].Doubt, g.Frames)
		}
	}
	wake.Write([]byte("\n"))
	if line, _ := v.Out.ReadString('\n'); !strings.HasPrefix(line, "all ") {
		t.Errorf("the program says: %s", line)
	}
}

// A halt that would be too long is not made.
func TestMaxHalt(t *testing.T) {
	v := fixture.Start(t, fixture.Build(t, "stuck"), "forgotten", "64")
	x := attach(t, v.Pid(), heap.Config{MaxHalt: 3 * time.Millisecond})
	if !pass(t, x) {
		t.Fatal("nothing is suspected")
	}
	err := x.Prove(context.Background())
	var limit *heap.LimitError
	if !errors.As(err, &limit) || limit.Halt < 3*time.Millisecond || limit.Memory < 64<<20 {
		t.Fatalf("got %v, %+v", err, limit)
	}
	r := x.Result(limit)
	if n := found(r, sampledata.Suspected)["main.receiver"]; n != 1 || r.Proved || len(found(r, sampledata.Stuck)) > 0 || r.Apart <= 0 {
		t.Errorf("%d are suspected; proved %v; %v apart", n, r.Proved, r.Apart)
	}
	// A halt that exceeds its limit says what it took, and asks for more.
	x = attach(t, v.Pid(), heap.Config{MaxHalt: time.Nanosecond})
	err = x.Pass(context.Background())
	if !errors.As(err, &limit) || limit.Took == 0 || limit.Halt < 2*limit.Took || !strings.Contains(err.Error(), "or raise --max-halt to ") {
		t.Errorf("got %v, %+v", err, limit)
	}
}

// A copy that would take too much memory is not made.
func TestMaxMemory(t *testing.T) {
	t.Parallel()
	v := fixture.Start(t, fixture.Build(t, "stuck"), "forgotten", "64")
	x := attach(t, v.Pid(), heap.Config{MaxHalt: patient, MaxMemory: 32 << 20})
	if !pass(t, x) {
		t.Fatal("nothing is suspected")
	}
	var limit *heap.LimitError
	if err := x.Prove(context.Background()); !errors.As(err, &limit) || limit.Memory < 64<<20 {
		t.Errorf("got %v", err)
	}
	x = attach(t, v.Pid(), heap.Config{MaxHalt: patient, MaxMemory: 1 << 20})
	var memory *heap.MemoryError
	if err := x.Pass(context.Background()); !errors.As(err, &memory) {
		t.Errorf("got %v", err)
	}
}

// An examination that is cancelled ends.
func TestCancel(t *testing.T) {
	v := fixture.Start(t, fixture.Build(t, "stuck"), "forgotten", "64")
	ctx, cancel := context.WithCancel(context.Background())
	x := attach(t, v.Pid(), heap.Config{MaxHalt: patient, Progress: func(p heap.Progress) {
		if p.Scanned > 0 && p.Whole > 64<<20 {
			cancel()
		}
	}})
	if err := x.Pass(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
