package interchange

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"runtime/trace"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// Functions that spend their time in known ways.

func traceNap(d time.Duration) { time.Sleep(d) }

func traceAwaitLock(mu *sync.Mutex) {
	mu.Lock()
	defer mu.Unlock()
}

func traceAwaitReadLock(mu *sync.RWMutex) {
	mu.RLock()
	defer mu.RUnlock()
}

func traceReceive(c chan int) { <-c }

func traceSpin(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
	}
}

func traceRegion(d time.Duration) {
	ctx, task := trace.NewTask(context.Background(), "order")
	defer task.End()
	trace.WithRegion(ctx, "pack", func() { traceSpin(d) })
}

// traceOf traces this program while all these functions run. The
// main goroutine of the test ends their waits.
func traceOf(t testing.TB, length time.Duration) []byte {
	t.Helper()
	var file bytes.Buffer
	var wg sync.WaitGroup
	var mu sync.Mutex
	var rw sync.RWMutex
	c := make(chan int)
	if err := trace.Start(&file); err != nil {
		t.Skipf("something else traces this program: %v", err)
	}
	mu.Lock()
	rw.Lock()
	for _, f := range []func(){
		func() { traceNap(length) }, func() { traceAwaitLock(&mu) }, func() { traceAwaitReadLock(&rw) }, func() { traceReceive(c) },
		func() { traceRegion(length / 4) },
	} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			f()
		}()
	}
	time.Sleep(length)
	traceRelease(c, &mu, &rw)
	wg.Wait()
	trace.Stop()
	return file.Bytes()
}

//go:noinline
func traceRelease(c chan int, mu *sync.Mutex, rw *sync.RWMutex) {
	c <- 1
	mu.Unlock()
	rw.Unlock()
}

// spent returns for each function of this file how long
// goroutines spent in it, by state, reason and region, and the
// functions of the stacks that ended waits in it.
func spent(r *sampledata.Recording) (times map[string]int64, releases map[string]string) {
	times, releases = map[string]int64{}, map[string]string{}
	w := r.Weights()
	for _, run := range r.Runs.All() {
		for n := run.Stack; n != sampledata.NoStack; n = r.Nodes[n].Parent {
			_, name, ok := strings.Cut(r.Functions[r.Nodes[n].Function].Name, "interchange.trace")
			if !ok {
				continue
			}
			key := fmt.Sprint(name, " ", run.Run, " ", run.Reason, r.LabelSets[run.Labels])
			times[key] += w.Of(int(run.First), int(run.Last)+1)
			for b := run.Release.Stack(); b != sampledata.NoStack; b = r.Nodes[b].Parent {
				releases[name] += r.Functions[r.Nodes[b].Function].Name + " "
			}
		}
	}
	return times, releases
}

// A trace of this program says exactly who slept, who waited for
// a lock, and who ended the waits.
func TestExecutionTrace(t *testing.T) {
	const length = 100 * time.Millisecond
	data := traceOf(t, length)
	r := fixture.Must(readBytes(t, data, Options{}))(t)
	times, releases := spent(r)
	if got := time.Duration(times["Nap waiting sleep[]"]); got < length {
		t.Errorf("asleep for %v, want %v at least", got, length)
	}
	for name, want := range map[string]string{"AwaitLock": "blocked sync.Mutex.Lock[]", "AwaitReadLock": "blocked sync.RWMutex.RLock[]", "Receive": "waiting chan receive[]"} {
		for key, d := range times {
			state, of := strings.CutPrefix(key, name+" ")
			if of && state != want && state != "runnable []" && state != "running []" {
				t.Errorf("%s is %s for %v", name, state, time.Duration(d))
			}
		}
		if got := time.Duration(times[name+" "+want]); got < length/10 { // it waits as soon as it gets a CPU
			t.Errorf("%s is %s for %v; there are %v", name, want, got, times)
		}
	}
	labelled := time.Duration(0)
	for key, d := range times {
		if strings.Contains(key, "[{region pack} {task order}]") {
			labelled += time.Duration(d)
		}
	}
	if labelled < length/8 {
		t.Errorf("%v in the region, want %v; there are %v", labelled, length/4, times)
	}
	for _, name := range []string{"Receive", "AwaitReadLock"} {
		if !strings.Contains(releases[name], "interchange.traceRelease") {
			t.Errorf("%s was released by %q", name, releases[name])
		}
	}
	if !r.Complete() || r.Header.GOMAXPROCS != int32(runtime.GOMAXPROCS(0)) || time.Since(r.Header.Start) > time.Hour {
		t.Errorf("complete: %v, header %+v", r.Complete(), r.Header)
	}
}

// All times of all goroutines together are the same, however the
// trace is cut into parts.
func TestPartsOfATrace(t *testing.T) {
	data := traceOf(t, 40*time.Millisecond)
	total := func(o Options) (sum int64, r *sampledata.Recording) {
		r, err := readBytes(t, data, o)
		fixture.Check(t, err)
		times, _ := spent(r)
		for _, d := range times {
			sum += d
		}
		return sum, r
	}
	all, r := total(Options{})
	sum := int64(0)
	cuts := []time.Duration{0, 10 * time.Millisecond, 15 * time.Millisecond, r.End.Time}
	for i, to := range cuts[1:] {
		part, _ := total(Options{From: cuts[i], To: to})
		sum += part
	}
	if sum != all {
		t.Errorf("the parts have %v, the whole has %v", time.Duration(sum), time.Duration(all))
	}
}

// A trace that is cut off is good up to there, and says that it
// is not complete. What is left must not crash the reader.
func TestTraceThatIsCutOff(t *testing.T) {
	data := traceOf(t, 20*time.Millisecond)
	var complete []int // a cut between two parts of a trace, each of which can be read by itself, can't be seen
	for n := 20; n < len(data)-1; n += max(1, len(data)/50) {
		r, err := readBytes(t, data[:n], Options{})
		if err != nil {
			if !strings.Contains(err.Error(), "byte ") {
				t.Errorf("%d bytes: the error names no byte: %v", n, err)
			}
			continue
		}
		if r.Complete() {
			complete = append(complete, n)
		}
	}
	if len(complete) > 1 {
		t.Errorf("cut off after %v of %d bytes, the recording is complete", complete, len(data))
	}
}

func FuzzReadTrace(f *testing.F) {
	f.Add(traceOf(f, time.Millisecond))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := Stream(bytes.NewReader(data), "x", "trace")
		if err != nil {
			return
		}
		r, err := in.Recording(Options{MaxMemory: 1 << 28})
		if err != nil {
			return
		}
		fixture.Check(t, r.Check())
	})
}

// The regions and tasks of a trace are calls, with both ends.
func TestTracedCalls(t *testing.T) {
	const length = 40 * time.Millisecond
	r := fixture.Must(readBytes(t, traceOf(t, length), Options{}))(t)
	fixture.Check(t, r.Check())
	pack, order := r.TimedCalls("region:pack"), r.TimedCalls("task:order")
	if pack == nil || order == nil || len(pack.Calls) != 1 || len(order.Calls) != 1 {
		t.Fatalf("the calls are %+v", r.Calls)
	}
	p, o := pack.Calls[0], order.Calls[0]
	if p.CutBegin || p.CutEnd || o.CutEnd || p.End-p.Begin < length/4 || p.Begin < o.Begin || o.End < p.End || p.Goroutine != o.Goroutine ||
		!strings.HasSuffix(o.Site.Function, "traceRegion") {
		t.Errorf("the region is %+v, within the task %+v", p, o)
	}
}
