//go:build linux && (amd64 || arm64)

package probe

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

func TestMain(m *testing.M) { fixture.Main(m) }

// A target is testdata/programs/probed while it waits for a line.
type target struct {
	*fixture.Running
	in      io.Writer
	program *Program
}

func start(t *testing.T, args ...string) *target {
	t.Helper()
	path := fixture.Build(t, "probed")
	in, out, err := os.Pipe()
	fixture.Check(t, err)
	t.Cleanup(func() { out.Close(); in.Close() })
	r := fixture.StartWith(t, exec.Command(path, args...), in)
	p := fixture.Must(OpenPID(r.Pid()))(t)
	return &target{r, out, p}
}

// run lets the program do its work, and returns the numbers that
// it prints.
func (g *target) run(t *testing.T) (numbers []int64) {
	t.Helper()
	for i, word := range g.words(t) {
		if n, err := strconv.ParseInt(word, 10, 64); err == nil && i%2 == 1 {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// words lets the program do its work, and returns what it prints.
func (g *target) words(t *testing.T) []string {
	t.Helper()
	fmt.Fprintln(g.in)
	line := fixture.Must(g.Out.ReadString('\n'))(t)
	return strings.Fields(line)
}

// probe puts instruments into a function of the program. It
// skips the test if that is not permitted.
func (g *target) probe(t *testing.T, name string, o Options) *Set {
	t.Helper()
	f := fixture.Must(g.program.Function(name))(t)
	functions := []Function{f}
	g.program.AddArguments(functions)
	began := time.Now()
	o.Clock = func() time.Duration { return time.Since(began) }
	s, err := Start(g.program, functions, o)
	if err != nil {
		t.Skip(err)
	}
	s.mu.Lock()
	r := s.probes[0].result
	s.mu.Unlock()
	if !o.Breakpoints && r.Instrument != sampledata.Uprobe || r.Instrument == sampledata.NoInstrument {
		s.Close()
		t.Skip(r.Note)
	}
	return s
}

// callsToMake is the number of calls that are counted;
// CPPROF_PROBE_CALLS is another one.
func callsToMake(t *testing.T, usual int) string {
	if n := os.Getenv("CPPROF_PROBE_CALLS"); n != "" {
		return n
	}
	return strconv.Itoa(usual)
}

func TestCountsAreExact(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
	}{{"uprobes", Options{}}, {"counts only", Options{CountsOnly: true}}, {"breakpoints", Options{Breakpoints: true}}} {
		t.Run(c.name, func(t *testing.T) {
			g := start(t, "count", callsToMake(t, 20_000))
			s := g.probe(t, "main.tick", c.o)
			want := g.run(t)[0]
			fixture.Check(t, s.Close())
			r := s.Results()[0]
			t.Logf("%d calls, cost %v a call; %d lost", r.Calls, r.Cost/time.Duration(max(1, r.Calls)), r.Lost)
			if int64(r.Calls) != want || r.TakenOut {
				t.Errorf("%d calls were counted (taken out: %v), the program made %d", r.Calls, r.TakenOut, want)
			}
			if c.name == "uprobes" && r.Lost == 0 && int64(r.Returned) != want {
				t.Errorf("%d calls returned, want %d (%d unfinished)", r.Returned, want, r.Unfinished)
			}
		})
	}
}

// TestElapsedIsThatOfTheProgramsClock compares the times of
// calls with those that the program measured of the same calls.
// On a busy machine, a thread is now and then interrupted
// between the program's clock and the instrument, for longer
// than a call takes: the longest tenth of the calls does not
// count, and a few attempts may be made. What is measured
// wrongly is wrong in each.
func TestElapsedIsThatOfTheProgramsClock(t *testing.T) {
	for range 4 {
		got, want := elapsedByBoth(t)
		t.Logf("usual times %.1f µs, by the program's clock %.1f µs", got/1e3, want/1e3)
		if 0.95*want <= got && got <= 1.05*want || t.Failed() {
			return
		}
	}
	t.Error("the times that calls usually take differ by more than 5 %, in each attempt")
}

// elapsedByBoth returns the usual time of the calls of a run, as
// it was measured, and by the program's clock.
func elapsedByBoth(t *testing.T) (got, want float64) {
	t.Helper()
	g := start(t, "time", "1500")
	s := g.probe(t, "main.work", Options{})
	own := distribution(t, g.words(t)[1])
	s.Close()
	r := s.Results()[0]
	calls := own.Count()
	if r.Returned != calls {
		t.Errorf("%d calls, want %d", r.Returned, calls)
	}
	if len(r.Arguments) != 2 || r.Arguments[0].Name != "worker" || r.Arguments[0].Values.Max != 2 || r.Arguments[1].Values.Max != int64(calls/3-1) {
		t.Errorf("arguments %+v", r.Arguments)
	}
	if len(r.Sites) != 1 || r.Sites[0].Caller != "main.timed.func1" || r.Sites[0].Calls != calls {
		t.Errorf("sites %+v", r.Sites)
	}
	return usual(&r.Elapsed), usual(&own)
}

// distribution returns numbers that are separated by commas.
func distribution(t *testing.T, list string) (d sampledata.Distribution) {
	t.Helper()
	for word := range strings.SplitSeq(list, ",") {
		n := fixture.Must(strconv.ParseInt(word, 10, 64))(t)
		d.Add(n)
	}
	return d
}

// usual returns the mean time of the calls without the longest tenth.
func usual(d *sampledata.Distribution) (mean float64) {
	const n = 90
	for i := range n {
		mean += float64(d.Quantile((float64(i)+0.5)/100)) / n
	}
	return mean
}

func TestPanicsAreUnfinished(t *testing.T) {
	g := start(t, "panics", "200")
	s := g.probe(t, "main.fails", Options{})
	g.run(t)
	s.Close()
	// The last one of them is found out by a further call only.
	if r := s.Results()[0]; r.Calls != 200 || r.Returned != 100 || r.Unfinished < 99 {
		t.Errorf("%d calls, %d returned, %d unfinished: want 200, 100, 99 or 100", r.Calls, r.Returned, r.Unfinished)
	}
}

// Of half of the calls, nothing more is heard: runtime.Goexit
// ends them and their goroutines.
func TestGoexitIsUnfinished(t *testing.T) {
	g := start(t, "goexit", "500")
	s := g.probe(t, "main.leaves", Options{})
	want := uint64(g.run(t)[0])
	s.Close()
	r := s.Results()
	if len(r) != 1 || r[0].Calls != 500 || r[0].Returned != want || r[0].Unfinished != 500-want {
		t.Errorf("%+v: want 500 calls, %d returned, %d unfinished", r, want, 500-want)
	}
}

// TestTimesOfRecursion times calls that consist of others. If
// these are short, most of the time is that of hits, and no time
// can be given.
func TestTimesOfRecursion(t *testing.T) {
	g := start(t, "tree", "20", "1")
	s := g.probe(t, "main.branch", Options{})
	g.words(t)
	s.Close()
	r := s.Results()[0]
	if r.Elapsed.Count() > 0 || r.Sites[0].Elapsed.Count() > 0 || !strings.Contains(r.Note, "times of calls are not known") {
		t.Errorf("times %+v of calls that take no time: %q", r.Elapsed, r.Note)
	}
	g = start(t, "tree", "4", "300000")
	s = g.probe(t, "main.branch", Options{})
	own := distribution(t, g.words(t)[1])
	s.Close()
	r = s.Results()[0]
	t.Logf("own times %v, measured %v", own.Mean(), r.Elapsed.Mean())
	if got, want := r.Elapsed.Mean(), own.Mean(); r.Elapsed.Count() != 4 || got < 0.8*want || got > want {
		t.Errorf("%d times, mean %v; want 4, %v (%s)", r.Elapsed.Count(), got, want, r.Note)
	}
}

func TestRecursionCountsOutermostTimes(t *testing.T) {
	g := start(t, "recursive", "20")
	s := g.probe(t, "main.descend", Options{})
	g.run(t)
	s.Close()
	r := s.Results()[0]
	if r.Calls != 100 || r.Elapsed.Count() != 20 || len(r.Sites) != 2 {
		t.Errorf("%d calls, %d times, %d sites: want 100, 20, 2", r.Calls, r.Elapsed.Count(), len(r.Sites))
	}
}

func TestCostlyProbesAreTakenOut(t *testing.T) {
	t.Parallel()
	g := start(t, "fast")
	fmt.Fprintln(g.in)
	g.Out.ReadString('\n') // it has found its speed
	s := g.probe(t, "main.tick", Options{MaxOverhead: 0.01})
	for deadline := time.Now().Add(20 * time.Second); s.measures() && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	r := s.Results()[0]
	t.Logf("%d calls in %v, cost %v: %s", r.Calls, r.To-r.From, r.Cost, r.Note)
	if !r.TakenOut || r.Note == "" {
		t.Errorf("it was not taken out: %+v", r)
	}
	if len(r.Sites) == 0 || r.Sites[0].Caller != "main.fast" {
		t.Errorf("call sites %+v", r.Sites)
	}
	s.Close()
	g.Out.ReadString('\n')
}

// TestTwoAtOnce probes one function from two sides, as a second
// cpprof does: both count all calls, and one ends before the
// other.
func TestTwoAtOnce(t *testing.T) {
	g := start(t, "recursive", "20")
	first, second := g.probe(t, "main.descend", Options{}), g.probe(t, "main.descend", Options{CountsOnly: true})
	want := uint64(g.run(t)[0])
	if err := errors.Join(second.Close(), first.Close()); err != nil {
		t.Error(err)
	}
	a, b := first.Results()[0], second.Results()[0]
	if a.Calls != want || b.Calls != want || a.Returned != want {
		t.Errorf("%d calls, of which %d returned, and %d: want %d", a.Calls, a.Returned, b.Calls, want)
	}
}

func TestTheTargetDies(t *testing.T) {
	g := start(t, "fast")
	s := g.probe(t, "main.tick", Options{CountsOnly: true})
	fmt.Fprintln(g.in)
	for s.Results()[0].Calls == 0 {
		time.Sleep(time.Millisecond)
	}
	g.Process.Kill()
	g.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if r := s.Results()[0]; r.Calls == 0 || r.TakenOut {
		t.Errorf("%+v", r)
	}
	p, err := OpenPID(g.Pid())
	if err == nil {
		_, err = Start(p, nil, Options{})
	}
	if err == nil {
		t.Error("a process that has ended was opened")
	}
}

// TestTheTargetExecutes probes a program that becomes another
// one meanwhile: that one is not harmed, whether the probes are
// still in or not.
func TestTheTargetExecutes(t *testing.T) {
	g := start(t, "exec", "500")
	s := g.probe(t, "main.tick", Options{})
	g.run(t)
	if r := s.Results()[0]; r.Calls != 500 {
		t.Errorf("%d calls before it, want 500", r.Calls)
	}
	fmt.Fprintln(g.in)
	if line, err := g.Out.ReadString('\n'); err != nil || !strings.HasPrefix(line, "pid") {
		t.Fatalf("%v: it says %q", err, line)
	}
	if n := g.run(t)[0]; n != 500 {
		t.Errorf("it made %d calls then, want 500", n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if r := s.Results()[0]; r.Returned < 500 || r.Calls < 500 {
		t.Errorf("%+v", r)
	}
}

func TestRefusals(t *testing.T) {
	g := start(t, "count", "1")
	for name, want := range map[string]string{
		"main.tack":                "no such function, or does not use it: probe main.tick",
		"main.wait":                "",
		"sync/atomic.(*Int64).Add": "inlined",
		"main.leaf":                "no frame of its own (it calls nothing, and keeps all it needs in registers): probe main.tick instead",
		"runtime.memmove":          "assembly",
	} {
		_, err := g.program.Function(name)
		var refused *RefusedError
		if want == "" && err == nil {
			continue
		}
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want a refusal with %q", name, err, want)
		}
		t.Log(err)
	}
}

// TestProbesEndWithTheProcess kills a process with SIGKILL that
// has put probes into another one: the kernel takes them out.
func TestProbesEndWithTheProcess(t *testing.T) {
	if pid := os.Getenv("CPPROF_PROBE_AND_WAIT"); pid != "" {
		n, _ := strconv.Atoi(pid)
		p := fixture.Must(OpenPID(n))(t)
		g := &target{program: p}
		g.probe(t, "main.descend", Options{})
		fmt.Println("probed")
		select {}
	}
	g := start(t, "recursive", "3")
	g.probe(t, "main.descend", Options{}).Close() // or the test is skipped
	cmd := exec.Command(os.Args[0], "-test.run=^TestProbesEndWithTheProcess$")
	cmd.Env = append(os.Environ(), "CPPROF_PROBE_AND_WAIT="+strconv.Itoa(g.Pid()))
	other := fixture.StartWith(t, cmd, nil)
	if other.Line != "probed" {
		t.Fatalf("it says %q", other.Line)
	}
	f := fixture.Must(g.program.Function("main.descend"))(t)
	patched := g.byteAt(t, f.Entry)
	other.Process.Kill()
	other.Wait()
	for range 1000 {
		if g.byteAt(t, f.Entry) != patched {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if now := g.byteAt(t, f.Entry); now == patched {
		t.Errorf("the code at %#x is still %#x", f.Entry, now)
	}
	if got := g.run(t)[0]; got != 15 {
		t.Errorf("the program made %d calls after that, want 15", got)
	}
}

// byteAt returns a byte of the program's memory.
func (g *target) byteAt(t *testing.T, addr uint64) byte {
	t.Helper()
	f := fixture.Must(os.Open(fmt.Sprintf("/proc/%d/mem", g.Pid())))(t)
	defer f.Close()
	var b [1]byte
	fixture.Must(f.ReadAt(b[:], int64(addr)))(t)
	return b[0]
}
