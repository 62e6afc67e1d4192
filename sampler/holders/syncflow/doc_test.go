package syncflow

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// The package comment lists every file of the package, and none
// that is not there.
func TestDocListsFiles(t *testing.T) {
	text := fixture.Must(os.ReadFile("doc.go"))(t)
	listed := regexp.MustCompile(`\w+\.go\b`).FindAllString(string(text), -1)
	files := fixture.Must(filepath.Glob("*.go"))(t)
	for _, f := range files {
		if f != "doc.go" && !strings.HasSuffix(f, "_test.go") && !slices.Contains(listed, f) {
			t.Errorf("doc.go does not say what %s is for", f)
		}
	}
	for _, f := range listed {
		if !slices.Contains(files, f) {
			t.Errorf("doc.go describes %s, which is not there", f)
		}
	}
}

// A cache is that of the package comment.
type cache struct {
	_  [2]uint64 // what lies before the lock
	mu sync.Mutex
}

//go:noinline
func (c *cache) get() {
	c.mu.Lock()
	defer c.mu.Unlock()
	work()
}

//go:noinline
func work() { worked.Add(1) }

var worked sync.WaitGroup

// stackOf is the memory of a goroutine that stands in
// (*cache).get: every word of its frame is the address of the
// cache's lock.
type stackOf uint64

func (s stackOf) Stack(uint64) (uint64, bool) { return uint64(s), true }
func (s stackOf) Heap(uint64) (uint64, bool)  { return 0, false }

// The package comment names calls that exist, and the analysis
// of its example has the results that it shows.
func TestDocExample(t *testing.T) {
	(&cache{}).get()
	path := fixture.Must(os.Executable())(t)
	program := programOf(t, path)
	a := fixture.Must(New(program))(t)
	a.Refill(1 << 20)
	const name = "github.com/cpprof/cpprof/sampler/holders/syncflow.(*cache).get"
	f := program.Table.Find(name)[name]
	w := a.flowOf(f)
	if w == nil {
		t.Fatalf("%s can't be analysed", name)
	}
	i := slices.IndexFunc(w.code, func(x machinecode.Instr) bool {
		return x.Op == machinecode.OpCall && strings.HasSuffix(a.callee(x.Target).f.Name(), ".work")
	})
	if i < 0 {
		t.Fatal("it does not call work")
	}
	if s := w.stateBefore(0); len(s.holds) != 0 {
		t.Errorf("when it begins, it holds %v", s.holds)
	}
	// Lock's atomic instruction is there, and nothing is held before it.
	swap := slices.IndexFunc(w.code, func(x machinecode.Instr) bool { return x.Op == machinecode.OpSwap })
	if swap < 0 || swap > i || len(w.stateBefore(swap).holds) != 0 {
		t.Errorf("instruction %d takes the lock, before the call of work at %d", swap, i)
	}
	at := w.locksAt(w.code[i].Next, false)
	if len(at.held) != 1 || at.held[0].lock.kind != kStackWord {
		t.Errorf("in the call of work, it holds %v; want the lock whose address is a word of the stack", at.held)
	}
	for k := range w.code {
		if w.code[k].Op == machinecode.OpReturn && w.stateBefore(k) != nil && len(w.stateBefore(k).holds) != 0 {
			t.Errorf("when it returns, it holds %v", w.stateBefore(k).holds)
		}
	}
	const addr = 0xc000100000
	frames, memory := []unwind.Frame{{PC: w.code[i].Next, SP: 1 << 20}}, stackOf(addr)
	held, complete := a.Held(nil, frames, memory, nil)
	if want := []Held{{Lock: addr}}; !slices.Equal(held, want) || !complete {
		t.Errorf("a goroutine that stands there holds %v, %v; want %v", held, complete, want)
	}
	if actions, complete := a.Actions(nil, frames, memory, nil); len(actions) != 0 || !complete {
		t.Errorf("it may still do %v, %v", actions, complete)
	}
	if actions, _ := a.DeferredActions(nil, addr, memory); len(actions) != 0 {
		t.Errorf("a closure that is none may still do %v", actions)
	}
	if semaphore, sudog := a.Semaphore(frames, memory); semaphore != 0 || sudog != 0 {
		t.Errorf("it waits for a semaphore at %#x with %#x", semaphore, sudog)
	}
	if paths := a.LockPaths(&frames[0]); len(paths) != 0 {
		t.Errorf("the call of work takes a lock by %v", paths)
	}
}
