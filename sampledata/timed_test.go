package sampledata

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cpprof/cpprof/internal/fixture"
)

// A timedState is a state of a goroutine from one time to another.
type timedState struct {
	from, to time.Duration
	run      RunState
}

// playTimed passes the states of goroutines to a Timed, in the
// order of their ends, as they become known.
func playTimed(most int, lives [][]timedState) *Recording {
	t := NewTimed(Header{}, 0, most)
	node := t.Node(Node{Parent: NoStack, Function: t.Function(Function{Name: "main.main"})})
	open := make([]OpenRun, len(lives))
	next := make([]int, len(lives))
	codes := make([]GoroutineID, len(lives))
	var end time.Duration
	for g, l := range lives {
		codes[g] = t.Goroutine(Goroutine{ID: int64(g), Start: 0})
		end = max(end, l[len(l)-1].to)
		open[g] = t.OpenAtStart()
	}
	for {
		first := -1
		for g, l := range lives {
			if next[g] < len(l) && (first < 0 || l[next[g]].to < lives[first][next[first]].to) {
				first = g
			}
		}
		if first < 0 {
			break
		}
		s := lives[first][next[first]]
		next[first]++
		if a, b := t.Close(open[first], s.to); a < b {
			t.Run(codes[first], a, b, State{Stack: node, Run: s.run})
		}
		if next[first] < len(lives[first]) {
			open[first] = t.Open(s.to)
		}
	}
	return t.Recording(End{Time: end})
}

// times returns how long each goroutine is in each state, by the
// weights of a recording.
func times(r *Recording) map[string]int64 {
	w := r.Weights()
	sum := map[string]int64{}
	for _, run := range r.Runs.All() {
		sum[fmt.Sprint(run.Goroutine, " ", run.Run)] += w.Of(int(run.First), int(run.Last)+1)
	}
	return sum
}

func drawLives(t *rapid.T) (lives [][]timedState) {
	end := time.Duration(rapid.IntRange(1, 1000).Draw(t, "end"))
	for range rapid.IntRange(1, 4).Draw(t, "goroutines") {
		var l []timedState
		for at := time.Duration(0); at < end; {
			to := min(end, at+time.Duration(rapid.IntRange(1, 100).Draw(t, "length")))
			l = append(l, timedState{at, to, RunState(rapid.IntRange(1, 5).Draw(t, "state"))})
			at = to
		}
		lives = append(lives, l)
	}
	return lives
}

// With room for every change, each goroutine has exactly its
// times in each state.
func TestTimedIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lives := drawLives(t)
		r := playTimed(10_000, lives)
		fixture.Check(t, r.Check())
		want := map[string]int64{}
		for g, l := range lives {
			for _, s := range l {
				want[fmt.Sprint(g, " ", s.run)] += int64(s.to - s.from)
			}
		}
		if got := times(r); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// With less room, it is still a recording of the same length,
// and has no more samples than it may.
func TestTimedIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lives := drawLives(t)
		most := rapid.IntRange(4, 40).Draw(t, "most")
		r := playTimed(most, lives)
		fixture.Check(t, r.Check())
		if n := r.Samples.Len(); n > most {
			t.Fatalf("%d samples, want at most %d", n, most)
		}
	})
}

// Of many short states, the shares are right although only a
// part of the changes is kept.
func TestTimedKeepsShares(t *testing.T) {
	const n = 200_000
	var l []timedState
	for i := range n {
		at := time.Duration(i) * 1000
		l = append(l, timedState{at, at + 300, Running}, timedState{at + 300, at + 1000, Waiting})
	}
	r := playTimed(20_000, [][]timedState{l})
	got := times(r)
	share := float64(got["0 running"]) / float64(got["0 running"]+got["0 waiting"])
	if se := math.Sqrt(0.3 * 0.7 / 5000); math.Abs(share-0.3) > 5*se {
		t.Errorf("running for %.4f of the time, want 0.3000 ± %.4f", share, 5*se)
	}
}

// A release is kept in files and texts.
func TestRelease(t *testing.T) {
	text := "cpprof recording 1\nfunction f0 main.main\nnode n0 f0\nnode n1 f0 under=n0\ngoroutine g0 1 start=f0\n" +
		"sample 1ms\n    g0 waiting n0 reason=\"chan receive\" release=n1\nend duration time=2ms\n"
	r := fixture.Must(ReadText(strings.NewReader(text)))(t)
	if got := r.Runs.At(0).Release.Stack(); got != 1 {
		t.Errorf("released by the stack %d, want 1", got)
	}
	if _, err := ReadText(strings.NewReader(strings.Replace(text, "waiting", "running", 1))); err == nil || !strings.Contains(err.Error(), "no wait") {
		t.Errorf("the release of a running goroutine: %v", err)
	}
}

// Of goroutines that come and go, not many more are kept than
// there are samples, and those that are kept are the right ones.
func TestTimedForgetsGoroutines(t *testing.T) {
	const most, goroutines = 100, 100_000
	timed := NewTimed(Header{}, 0, most)
	node := timed.Node(Node{Parent: NoStack, Function: timed.Function(Function{Name: "main.main"})})
	goroutine := func(i int64) Goroutine {
		return Goroutine{
			ID: i, Start: FunctionID(i%2 - 1), Site: Site{Function: "main.main", File: "main.go", Line: int32(i % 7)}, Parent: i / 2,
			System: i%3 == 0, GC: i%6 == 0,
		}
	}
	for i := range goroutines {
		from := time.Duration(i) * time.Millisecond
		open, code := timed.Open(from), GoroutineID(-1)
		for _, to := range []time.Duration{from + time.Millisecond/2, from + time.Millisecond} {
			if first, end := timed.Close(open, to); first < end {
				if code < 0 {
					code = timed.Goroutine(goroutine(int64(i)))
				}
				timed.Run(code, first, end, State{Stack: node, Run: Running})
			}
			open = timed.Open(to)
		}
		timed.Close(open, from+time.Millisecond)
		if code >= 0 {
			timed.Ended(code)
		}
	}
	r := timed.Recording(End{Time: goroutines * time.Millisecond})
	fixture.Check(t, r.Check())
	if n := r.Goroutines.Len(); n > 3*most {
		t.Errorf("%d goroutines for %d samples", n, r.Samples.Len())
	}
	for _, run := range r.Runs.All() {
		for i := run.First; i <= run.Last; i++ {
			at := r.Samples.Time(int(i))
			if got, want := r.Goroutines.At(run.Goroutine), goroutine(int64(at/time.Millisecond)); got != want {
				t.Errorf("at %v, goroutine %+v ran, want %+v", at, got, want)
			}
		}
	}
}
