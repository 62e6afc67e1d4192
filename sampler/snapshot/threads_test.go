//go:build linux && (amd64 || arm64)

package snapshot

import (
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/sampledata"
)

// onOneCPU calls f on the first CPU that the test may use. What f starts stays there.
func onOneCPU(t *testing.T, f func()) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	cpu := 0
	for !all.IsSet(cpu) {
		cpu++
	}
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		t.Fatal(err)
	}
	defer unix.SchedSetaffinity(0, &all)
	f()
}

// Three goroutines compute on three processors, but there is one CPU for them. So at most one of them has it, and two have
// none.
func TestNoCPU(t *testing.T) {
	t.Setenv("GOMAXPROCS", "3")
	var v *victim
	onOneCPU(t, func() { v = begin(t, build(t), "-busy=3") })
	r := record(t, attach(t, v), 150)
	on, off := make([]int, r.Samples.Len()), make([]int, r.Samples.Len())
	for _, run := range r.Runs.All() {
		if g := r.Goroutines[run.Goroutine]; g.Start < 0 || r.Functions[g.Start].Name != "main.compute" {
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

// The counts grow as a thread gets turns, and are 0 for a thread that doesn't exist.
func TestTurns(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	states := threadStates{pid: unix.Getpid()}
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

func TestExecStart(t *testing.T) {
	if at, known := execStart([]byte("cat (31486, #threads: 1)\n----\nse.exec_start       :      11601875.366659\nse.vruntime : 1.5\n")); !known || at != 11601875366659 {
		t.Errorf("%d, %v", at, known)
	}
	for _, text := range []string{"", "se.exec_start", "se.exec_start : 12.000001", "se.exec_start : 12\n", "se.exec_start 12.000001\n"} {
		if at, known := execStart([]byte(text)); known {
			t.Errorf("%q: %v", text, at)
		}
	}
}

// A thread that computes got its CPU before it asks, and later ones get theirs later.
func TestOwn(t *testing.T) {
	runtime.LockOSThread() // the thread ends with the test: it stays on its CPU, whose clock may differ from that of another one
	var cpus, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &cpus); err != nil {
		t.Fatal(err)
	}
	for cpu := range len(cpus) * strconv.IntSize {
		if cpus.IsSet(cpu) {
			one.Set(cpu)
			break
		}
	}
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		t.Fatal(err)
	}
	states := threadStates{pid: unix.Getpid()}
	defer states.close()
	before := states.own()
	if before == 0 {
		t.Skip("the kernel does not say when a thread got its CPU")
	}
	time.Sleep(5 * time.Millisecond)
	if after := states.own(); after < before+5*time.Millisecond {
		t.Errorf("a thread got its CPU at %v, and after a sleep of 5 ms at %v", before, after)
	}
	if _, known := states.leftCPU(1 << 30); known {
		t.Error("a thread that doesn't exist has left its CPU")
	}
}
