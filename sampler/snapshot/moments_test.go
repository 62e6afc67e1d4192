//go:build linux && (amd64 || arm64)

package snapshot

import (
	"bufio"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// A span of time, by the system's monotonic clock in nanoseconds.
type period struct{ from, until int64 }

func (p period) has(at int64) bool { return p.from < at && at < p.until }

// moments is what testdata/programs/moments reports about itself.
type moments struct {
	turns    [2][]period // the main goroutine was in even, in odd
	runnable []period    // a sleeper was runnable
}

func readMoments(t testing.TB, v *fixture.Running) (m moments) {
	t.Helper()
	v.Process.Signal(syscall.SIGTERM)
	for in := bufio.NewScanner(v.Out); in.Scan(); {
		var p period
		var parity int
		if _, err := fmt.Sscanf(in.Text(), "turn %d %d %d", &parity, &p.from, &p.until); err == nil {
			m.turns[parity] = append(m.turns[parity], p)
		} else if _, err := fmt.Sscanf(in.Text(), "runnable %d %d", &p.from, &p.until); err == nil {
			m.runnable = append(m.runnable, p)
		} else {
			t.Fatalf("the program printed %q", in.Text())
		}
	}
	return m
}

// count returns how many of the periods have a moment.
func count(periods []period, at int64) (n int) {
	for _, p := range periods {
		if p.has(at) {
			n++
		}
	}
	return n
}

// around returns how long before a moment the last period with
// it began, and how long after it that ended.
func around(periods []period, at int64) (since, until time.Duration) {
	for _, p := range periods {
		if p.has(at) {
			since, until = time.Duration(at-p.from), time.Duration(p.until-at)
		}
	}
	return since, until
}

// monotonic returns a moment by the system's monotonic clock.
func monotonic(t testing.TB, at time.Time) int64 {
	t.Helper()
	var ts unix.Timespec
	fixture.Check(t, unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts))
	return ts.Nano() + int64(time.Until(at))
}

// A moment is what one sample shows of the program.
type moment struct {
	at     int64
	parity int // of the turn that the main goroutine is in; -1: between two turns
	asleep int // sleepers that wait
}

func momentsOf(r *sampledata.Recording, start int64) []moment {
	all := make([]moment, r.Samples.Len())
	for i, s := range r.Samples.All() {
		all[i] = moment{at: start + int64(s.Time), parity: -1}
	}
	for _, run := range r.Runs.All() {
		stack := strings.Join(frames(r, run.Stack), " ")
		for i := run.First; i <= run.Last; i++ {
			switch m := &all[i]; {
			case strings.Contains(stack, "main.even "):
				m.parity = 0
			case strings.Contains(stack, "main.odd "):
				m.parity = 1
			case strings.Contains(stack, "main.sleep ") && run.Run == sampledata.Waiting:
				m.asleep++
			}
		}
	}
	return all
}

// By the clock of the target itself, the time of a sample is
// that of the states that it has: the function that it shows
// executing was executing then, and goroutines that were
// runnable are not reported as waiting.
func TestMomentsLong(t *testing.T) {
	fixture.Long(t)
	fixture.Measure(t, checkMoments)
}

func checkMoments(t testing.TB) {
	v := fixture.Start(t, fixture.Build(t, "moments"))
	b := open(t, v.Pid())
	start := monotonic(t, b.header.Start)
	r := record(t, b, 300)
	known := readMoments(t, v)
	inTurn, wrong, certain, missed := 0, 0, 0, 0
	for i, m := range momentsOf(r, start) {
		if m.parity >= 0 {
			inTurn++
			if count(known.turns[m.parity], m.at) == 0 {
				wrong++
			}
		}
		runnable := count(known.runnable, m.at)
		certain += runnable
		if n := max(0, runnable+m.asleep-16); n > 0 {
			missed += n
			since, until := around(known.runnable, m.at)
			t.Logf("sample %d at %v: %d were runnable, %d are reported as waiting; since %v, for %v; halt %v",
				i, time.Duration(m.at-start), runnable, m.asleep, since, until, r.Samples.At(i).Halt)
		}
	}
	if inTurn < 50 || wrong > 0 {
		t.Errorf("of %d samples that show a function executing, %d have a time at which it was not", inTurn, wrong)
	}
	if certain < 8 || missed > 0 {
		t.Errorf("sleepers were runnable %d times; %d times they are reported as waiting", certain, missed)
	}
}
