//go:build linux && (amd64 || arm64)

package snapshot

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// onOneCPU calls f on the first CPU that the test may use. What
// f starts stays there.
func onOneCPU(t *testing.T, f func()) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, one unix.CPUSet
	fixture.Check(t, unix.SchedGetaffinity(0, &all))
	cpu := 0
	for !all.IsSet(cpu) {
		cpu++
	}
	one.Set(cpu)
	fixture.Check(t, unix.SchedSetaffinity(0, &one))
	defer unix.SchedSetaffinity(0, &all)
	f()
}

// Three goroutines compute on three processors, but there is one
// CPU for them. So at most one of them has it, and two have
// none.
func TestNoCPU(t *testing.T) {
	t.Setenv("GOMAXPROCS", "3")
	var v *victim
	onOneCPU(t, func() { v = begin(t, build(t), "-busy=3") })
	r := record(t, attach(t, v), 60)
	on, off := make([]int, r.Samples.Len()), make([]int, r.Samples.Len())
	for _, run := range r.Runs.All() {
		if g := r.Goroutines.At(run.Goroutine); g.Start < 0 || r.Functions[g.Start].Name != "main.compute" {
			continue
		}
		for s := run.First; s <= run.Last; s++ {
			switch {
			case run.NoCPU:
				off[s]++
			case run.Run == sampledata.Running:
				on[s]++
			}
		}
	}
	some, several, none := 0, 0, 0
	for s := range on {
		if on[s] > 0 {
			some++
		}
		if on[s] > 1 {
			several++
		}
		none += off[s]
	}
	n := len(on)
	// One may get the CPU from the other while the sampler looks.
	if several > n/5 {
		t.Errorf("more than one goroutine is on the CPU in %d of %d samples", several, n)
	}
	// Other programs may take most of the CPU, but not all.
	if some < n/10 {
		t.Errorf("a goroutine is on the CPU in only %d of %d samples", some, n)
	}
	if none < n*3/2 {
		t.Errorf("goroutines are seen without a CPU %d times in %d samples, not about two in each", none, n)
	}
}

// What is known of a thread that needed another turn on a CPU to stop.
func TestWaitedUntil(t *testing.T) {
	const us = time.Microsecond
	before := turns{waited: 5 * time.Millisecond, number: 7}
	for _, test := range []struct {
		after turns
		woken time.Duration
		want  bool
	}{
		{turns{5 * time.Millisecond, 7}, 50 * us, false},              // it was on a CPU
		{turns{5*time.Millisecond + 45*us, 8}, 50 * us, false},        // the sampler took the CPU from it
		{turns{5*time.Millisecond + 900*us, 8}, 50 * us, true},        // something else had it before
		{turns{9 * time.Millisecond, 8}, 4 * time.Millisecond, false}, // the sampler took it, and others were next
		{turns{}, 50 * us, false},                                     // it has ended
	} {
		if got := before.waitedUntil(test.after, test.woken); got != test.want {
			t.Errorf("%+v, %v after the sampler woke: %v", test.after, test.woken, got)
		}
	}
	if (turns{}).waitedUntil(turns{time.Second, 8}, 50*us) {
		t.Error("something is known although the kernel does not count")
	}
}

// The counts grow as a thread gets turns, and are 0 for a thread
// that doesn't exist.
func TestTurns(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	states := newThreadStates(unix.Getpid())
	defer states.close()
	before := states.turns(unix.Gettid())
	time.Sleep(time.Millisecond)
	for end := time.Now().Add(time.Millisecond); time.Now().Before(end); {
	}
	after := states.turns(unix.Gettid())
	if before.number == 0 {
		t.Skip("the kernel does not count the turns of threads")
	}
	if after.number <= before.number || after.waited < before.waited {
		t.Errorf("counts %+v, and after a sleep %+v", before, after)
	}
	if got := states.turns(1 << 30); got != (turns{}) {
		t.Errorf("a thread that doesn't exist: %+v", got)
	}
}

func TestSchedTime(t *testing.T) {
	if at, known := schedTime([]byte("cat (31486, #threads: 1)\n----\nse.exec_start       :      11601875.366659\nse.vruntime : 1.5\n"), "se.exec_start"); !known || at != 11601875366659 {
		t.Errorf("%d, %v", at, known)
	}
	for _, text := range []string{"", "se.exec_start", "se.exec_start : 12.000001", "se.exec_start : 12\n", "se.exec_start 12.000001\n"} {
		if at, known := schedTime([]byte(text), "se.exec_start"); known {
			t.Errorf("%q: %v", text, at)
		}
	}
}

// A thread that arrives later on a CPU knows a later time of
// that CPU's clock. Threads that left the CPU when it arrived
// were displaced. Another thread of this program, which sleeps,
// was not, and is known to have left its CPU before.
func TestArrived(t *testing.T) {
	onOneCPU(t, func() {
		states := newThreadStates(unix.Getpid())
		defer states.close()
		var here unix.CPUSet
		fixture.Check(t, unix.SchedGetaffinity(0, &here))
		sleeper, quit := make(chan int), make(chan struct{})
		go func() {
			runtime.LockOSThread()                                  // and never unlocks it: the thread ends with the goroutine
			if err := unix.SchedSetaffinity(0, &here); err != nil { // the clock of another CPU may differ
				t.Error(err)
			}
			sleeper <- unix.Gettid()
			<-quit
		}()
		tid := <-sleeper
		defer close(quit)
		arrive := func() arrival {
			a := states.arrived(time.Now())
			a.readClock(&states)
			return a
		}
		before := arrive()
		if before.clock == 0 {
			t.Skip("the kernel does not say when a thread got its CPU")
		}
		time.Sleep(5 * time.Millisecond)
		after := arrive()
		if after.clock < before.clock+4*time.Millisecond {
			t.Errorf("a thread arrived at %+v, and after a sleep of 5 ms at %+v", before, after)
		}
		if left, known := states.leftCPU(tid); !known || left > after.clock {
			t.Errorf("a thread that sleeps left its CPU at %v (%v), but this one arrived at %v", left, known, after.clock)
		} else if displaced, _ := states.displaced(tid, arrival{clock: left + 20*time.Microsecond}); !displaced {
			t.Error("a thread that left its CPU just before another one arrived is not displaced")
		}
		if displaced, known := states.displaced(tid, after); displaced || !known {
			t.Errorf("displaced %v, known %v", displaced, known)
		}
		if _, known := states.leftCPU(1 << 30); known {
			t.Error("a thread that doesn't exist has left its CPU")
		}
	})
}

// When a thread got its CPU does not change while it keeps the
// CPU, although the kernel's own record does, at each tick.
func TestArrivalTicks(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	states := newThreadStates(unix.Getpid())
	defer states.close()
	for range 100 {
		time.Sleep(time.Millisecond)
		begin, first := states.turns(unix.Gettid()), states.arrived(time.Now())
		first.readClock(&states)
		for busy := time.Now(); time.Since(busy) < 5*time.Millisecond; {
		}
		later := first
		later.readClock(&states)
		if first.clock == 0 {
			t.Skip("the kernel does not say when a thread got its CPU")
		}
		if states.turns(unix.Gettid()).number != begin.number {
			continue // it has lost its CPU
		}
		if d := (later.clock - first.clock).Abs(); d > displacing {
			t.Errorf("after some ticks, a thread got its CPU %v earlier or later", d)
		}
		return
	}
	t.Skip("the machine is too busy: the thread always loses its CPU")
}

// A late thread that stops without another turn on a CPU was on
// one all the time.
func TestLateWaited(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	states := newThreadStates(unix.Getpid())
	defer states.close()
	ps := processors{threads: &states, got: arrival{at: time.Now()}}
	p := processor{tid: unix.Gettid(), verdict: verdict{settled: true, noCPU: true}}
	if p.turns = states.turns(p.tid); p.turns.number == 0 {
		t.Skip("the kernel does not count the turns of threads")
	}
	same := 0
	for range 100 { // the thread may lose its CPU between the two
		if p.turns = states.turns(p.tid); !ps.lateWaited(&p) {
			same++
		}
	}
	if same == 0 {
		t.Error("a thread that was on its CPU all the time is said to have waited for one")
	}
	time.Sleep(time.Millisecond)
	if !ps.lateWaited(&p) {
		t.Error("a thread that needed another turn, and was not displaced by the sampler, is said to have had a CPU")
	}
}
