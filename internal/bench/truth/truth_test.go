//go:build linux

package main

import (
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/trace"
	"strconv"
	"sync"
	"testing"
	"time"

	xtrace "golang.org/x/exp/trace"

	"github.com/cpprof/cpprof/internal/fixture"
)

// The error of a share of independent samples is the one that
// books have, and that of samples which come in groups of ten is
// larger.
func TestRatioError(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const n, p = 4000, 0.2
	ones, single, grouped := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		ones[i] = 1
		if random.Float64() < p {
			single[i] = 1
		}
		if i%10 == 0 && random.Float64() < p {
			for k := range 10 {
				grouped[i+k] = 1
			}
		}
	}
	want := math.Sqrt(p * (1 - p) / n)
	if got := ratioError(single, ones); got < 0.8*want || got > 1.6*want {
		t.Errorf("standard error %v, want about %v", got, want)
	}
	if got := ratioError(grouped, ones); got < 2*want || got > 6*want {
		t.Errorf("standard error %v of samples in groups of ten, want about %v", got, want*math.Sqrt(10))
	}
	if got := ratioError(ones[:9], ones[:9]); got != 1 {
		t.Errorf("standard error %v of nine samples, want 1: not known", got)
	}
}

func TestEffective(t *testing.T) {
	if got := effective([]float64{2, 2, 2, 2}); got != 4 {
		t.Errorf("four equal weights are worth %v", got)
	}
	if got := effective([]float64{1, 0, 0, 0}); got != 1 {
		t.Errorf("one weight is worth %v", got)
	}
}

// A trace of this program shows which goroutines slept, and
// which waited for a lock.
func TestReadTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace")
	f := fixture.Must(os.Create(path))(t)
	var mu sync.Mutex
	mu.Lock()
	go awaitLock(&mu)
	time.Sleep(10 * time.Millisecond)
	begin := time.Now()
	if err := trace.Start(f); err != nil {
		t.Skipf("something else traces this program: %v", err)
	}
	go nap()
	time.Sleep(200 * time.Millisecond)
	trace.Stop()
	end := time.Now()
	mu.Unlock()
	f.Close()
	got, err := readTrace(path)
	if err != nil || got.broken != nil {
		t.Fatal(err, got.broken)
	}
	if got.first.Before(begin.Add(-time.Second)) || got.last.After(end.Add(time.Second)) {
		t.Errorf("from %v to %v, want about from %v to %v", got.first, got.last, begin, end)
	}
	classOf := func(l *life) string { return l.start }
	all := got.between(got.first.UnixNano(), got.last.UnixNano(), classOf)
	moments, weights := []int64{}, []float64{}
	for at := got.first.Add(20 * time.Millisecond); at.Before(got.last); at = at.Add(time.Millisecond) {
		moments, weights = append(moments, at.UnixNano()), append(weights, 1)
	}
	at := got.atMoments(moments, weights, classOf)
	const pkg = "github.com/cpprof/cpprof/internal/bench/truth."
	for start, want := range map[string]state{pkg + "awaitLock": locked, pkg + "nap": waiting} {
		for what, from := range map[string]tally{"all": all, "at moments": at} {
			if share := from.share(start, want); share < 0.9 {
				t.Errorf("%s: %s is %v for %v of its time", what, start, want, share)
			}
		}
	}
}

// What happens while a trace goes from one generation to the
// next has times that are too late: nothing counts then.
func TestTimesThatATraceDoesNotKnow(t *testing.T) {
	const changer, worker = 6, 7
	tr := &tracer{traced: &traced{}, alive: map[xtrace.GoID]*life{}, clock: &xtrace.ClockSnapshot{Wall: time.Unix(0, 1000)}}
	for _, e := range []struct {
		at       xtrace.Time
		by       xtrace.GoID
		from, to xtrace.GoState
	}{
		{1, worker, xtrace.GoUndetermined, xtrace.GoRunning},
		{10, changer, xtrace.GoUndetermined, xtrace.GoWaiting},
		{99, changer, xtrace.GoWaiting, xtrace.GoRunnable},
		{100, changer, xtrace.GoRunnable, xtrace.GoRunning},
		{110, worker, xtrace.GoRunning, xtrace.GoRunnable},
		{300, 0, 0, 0}, // the next generation
		{301, changer, xtrace.GoUndetermined, xtrace.GoRunning},
		{302, worker, xtrace.GoUndetermined, xtrace.GoRunning},
		{303, worker, xtrace.GoRunning, xtrace.GoRunnable},
		{400, changer, xtrace.GoRunning, xtrace.GoWaiting},
	} {
		var ev xtrace.Event
		var err error
		if e.by == 0 {
			ev, err = xtrace.MakeEvent(xtrace.EventConfig[xtrace.Sync]{Time: e.at, Kind: xtrace.EventSync, Details: xtrace.Sync{N: 1}})
		} else {
			ev, err = xtrace.MakeEvent(xtrace.EventConfig[xtrace.StateTransition]{
				Time: e.at, Kind: xtrace.EventStateTransition, Goroutine: e.by, Details: xtrace.MakeGoStateTransition(e.by, e.from, e.to),
			})
		}
		fixture.Check(t, err)
		tr.event(&ev)
	}
	tr.finish()
	all := tr.between(1001, 1400, func(l *life) string { return strconv.FormatInt(l.id, 10) })
	want := tally{"6": {waiting: 98, ready: 1, running: 99}, "7": {running: 99 + 1, ready: 1 + 97}}
	if !maps.EqualFunc(all, want, func(a, b *[numStates]float64) bool { return *a == *b }) {
		t.Errorf("times of 6 %v and 7 %v, want %v and %v", *all["6"], *all["7"], *want["6"], *want["7"])
	}
	if known := tr.sure(1001, 1400); known != 399-201 {
		t.Errorf("%d ns are known, want 198", known)
	}
	if !tr.isSure(1099) || tr.isSure(1100) || tr.isSure(1300) || !tr.isSure(1301) {
		t.Errorf("not sure in %v, want from 1100 to 1301", tr.unsure)
	}
}

func awaitLock(mu *sync.Mutex) {
	mu.Lock()
	defer mu.Unlock()
}

func nap() { time.Sleep(time.Second) }

func TestOutside(t *testing.T) {
	for _, test := range []struct{ x, least, most, want float64 }{{0.5, 0.4, 0.6, 0}, {0.25, 0.5, 0.75, -0.25}, {1, 0.5, 0.75, 0.25}} {
		if got := outside(test.x, test.least, test.most); got != test.want {
			t.Errorf("%v is outside of %v to %v by %v, want %v", test.x, test.least, test.most, got, test.want)
		}
	}
}
