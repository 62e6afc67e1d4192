//go:build linux && (amd64 || arm64)

package probe

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// TestCallsAreKept holds each call against the program's clock, call by call.
func TestCallsAreKept(t *testing.T) {
	g := start(t, "time", "300")
	s := g.probe(t, "main.work", Options{Keep: true})
	own := strings.Split(g.words(t)[1], ",")
	fixture.Check(t, s.Close())
	table := s.Calls()[0]
	if len(table.Calls) != len(own) || len(table.Windows) != 1 || !slices.Equal(table.Arguments, []string{"worker", "call"}) && len(table.Arguments) != 2 {
		t.Fatalf("%d calls, want %d; windows %v, arguments %v", len(table.Calls), len(own), table.Windows, table.Arguments)
	}
	w := table.Windows[0]
	byWorker := map[int64]sampledata.TimedCall{}
	for _, c := range table.Calls {
		last := byWorker[c.Values[0]]
		if c.CutBegin || c.CutEnd || c.Begin < w.From || c.End > w.To || c.Begin < last.End || c.End-c.Begin < 150*time.Microsecond ||
			c.Site.Function != "main.timed.func1" || last.Goroutine != 0 && (last.Goroutine != c.Goroutine || c.Values[1] != last.Values[1]+1) {
			t.Fatalf("%+v after %+v, within %v", c, last, w)
		}
		byWorker[c.Values[0]] = c
	}
	if more := s.Calls()[0]; len(more.Calls) > 0 || len(more.Windows) > 0 {
		t.Errorf("again %+v", more)
	}
}

func TestKeptCallsAreOutermost(t *testing.T) {
	g := start(t, "recursive", "20")
	s := g.probe(t, "main.descend", Options{Keep: true})
	g.run(t)
	s.Close()
	if table := s.Calls()[0]; len(table.Calls) != 20 {
		t.Errorf("%d calls, want 20", len(table.Calls))
	}
}

// A function that is called too often has several windows, and
// calls only in them.
func TestWindows(t *testing.T) {
	t.Parallel()
	g := start(t, "fast")
	fmt.Fprintln(g.in)
	g.Out.ReadString('\n') // it has found its speed
	s := g.probe(t, "main.tick", Options{MaxOverhead: 0.1, Keep: true})
	var windows []sampledata.CallWindow
	var calls []sampledata.TimedCall
	for deadline := time.Now().Add(20 * time.Second); len(windows) < 4 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
		windows, calls = added(s, windows, calls)
	}
	fixture.Check(t, s.Close())
	windows, calls = added(s, windows, calls)
	if len(windows) < 4 || len(calls) == 0 {
		t.Fatalf("%d calls in windows %v", len(calls), windows)
	}
	for i, w := range windows[1:] {
		if w.From < windows[i].To {
			t.Errorf("windows overlap: %v", windows)
		}
	}
	for _, c := range calls {
		if !slices.ContainsFunc(windows, func(w sampledata.CallWindow) bool { return w.From <= c.Begin && c.End <= w.To }) {
			t.Fatalf("call %+v is in none of %v", c, windows)
		}
	}
}

// added adds what is new, and joins windows that came piece by piece.
func added(s *Set, windows []sampledata.CallWindow, calls []sampledata.TimedCall) ([]sampledata.CallWindow, []sampledata.TimedCall) {
	table := s.Calls()[0]
	for _, w := range table.Windows {
		if n := len(windows); n > 0 && windows[n-1].To == w.From {
			windows[n-1].To = w.To
			continue
		}
		windows = append(windows, w)
	}
	return windows, append(calls, table.Calls...)
}

// What is recorded is read to an end, also if hits come faster than
// they are read: Close waits for it.
func TestReadingEnds(t *testing.T) {
	t.Parallel()
	g := start(t, "fast")
	fmt.Fprintln(g.in)
	g.Out.ReadString('\n') // it has found its speed
	s := g.probe(t, "main.tick", Options{})
	defer s.Close()
	ends := make(chan int, 1)
	go func() {
		s.recorded.Lock()
		defer s.recorded.Unlock()
		n := 0
		time.Sleep(50 * time.Millisecond) // some are recorded
		s.kernel.drain(func(*hit) {
			n++
			for end := time.Now().Add(20 * time.Microsecond); n < 500_000 && time.Now().Before(end); {
			}
		})
		ends <- n
	}()
	select {
	case n := <-ends:
		t.Logf("%d hits", n)
		if n > ringBytes/64 {
			t.Errorf("%d hits were read at once", n)
		}
	case <-time.After(time.Minute):
		t.Error("it does not end")
	}
}
