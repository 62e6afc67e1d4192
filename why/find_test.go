package why

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/sampledata"
)

func TestMain(m *testing.M) { fixture.Main(m) }

// A scene makes a recording of goroutines whose states a test
// gives, sample by sample.
type scene struct {
	*sampledata.Builder
	goroutines []sampledata.GoroutineID
	gone       []sampledata.GoroutineID // in the next sample
	is         states                   // in it, if these are new
	now        time.Duration
	collecting bool // garbage is collected in the next samples
}

type states map[sampledata.GoroutineID]sampledata.State

func newScene() *scene {
	return &scene{is: states{},
		Builder: sampledata.NewBuilder(sampledata.Header{GOMAXPROCS: 4, Start: time.Unix(0, 0)})}
}

// spawn starts goroutines of the class go:FUNCTION.
func (s *scene) spawn(n int, function string) (all []sampledata.GoroutineID) {
	for range n {
		g := s.Goroutine(sampledata.Goroutine{ID: int64(len(s.goroutines) + 1), Start: s.function(function)})
		s.goroutines, all = append(s.goroutines, g), append(all, g)
	}
	return all
}

func (s *scene) function(name string) sampledata.FunctionID {
	file := "/src/main.go"
	if module, _, of := strings.Cut(name, "/lib."); of { // a module for each package of this name
		file = "/go/pkg/mod/" + module + "@v1.2.3/lib/lib.go"
	}
	return s.Function(sampledata.Function{Name: name, File: file})
}

// at returns a state in a stack of functions, outermost first:
// main.main, or main.main:12 for a line.
func (s *scene) at(state sampledata.State, stack ...string) sampledata.State {
	state.Stack = sampledata.NoStack
	for _, f := range stack {
		f, text, ok := strings.Cut(f, ":")
		line := 7
		if ok {
			line, _ = strconv.Atoi(text)
		}
		state.Stack = s.Node(sampledata.Node{Parent: state.Stack, Function: s.function(f), Line: int32(line)})
	}
	return state
}

// all sets the state of goroutines in the next sample.
func (s *scene) all(goroutines []sampledata.GoroutineID, state sampledata.State) {
	s.those(goroutines, func(int) bool { return true }, state)
}

// some sets the state of every nth goroutine. Each sample begins with
// another one.
func (s *scene) some(sample, n int, goroutines []sampledata.GoroutineID, state sampledata.State) {
	s.those(goroutines, func(j int) bool { return (sample+j)%n == 0 }, state)
}

// those sets the state of the goroutines with some indexes.
func (s *scene) those(goroutines []sampledata.GoroutineID, has func(j int) bool, state sampledata.State) {
	for j, g := range goroutines {
		if has(j) {
			s.is[g] = state
		}
	}
}

// sometimes sets the state of one goroutine in every nth sample.
func (s *scene) sometimes(sample, n int, g sampledata.GoroutineID, state sampledata.State) {
	s.some(sample, n, []sampledata.GoroutineID{g}, state)
}

// samples adds samples. Before each, a function sets its states.
func (s *scene) samples(t *testing.T, n int, set func(sample int)) {
	t.Helper()
	for i := range n {
		set(i)
		s.sample(t)
	}
}

// sample adds a sample in which goroutines have the states that they
// were given, and more.
func (s *scene) sample(t *testing.T, more ...states) {
	t.Helper()
	for _, states := range more {
		maps.Copy(s.is, states)
	}
	s.now += 20 * time.Millisecond
	held := slices.Repeat([]sampledata.GoroutineID{sampledata.IdleProcessor}, 4)
	var changes []sampledata.Change
	for _, g := range s.gone {
		changes = append(changes, sampledata.Change{Goroutine: g, Gone: true})
	}
	s.gone = nil
	n := 0
	for g, state := range s.is {
		changes = append(changes, sampledata.Change{Goroutine: g, State: state})
		if state.Run == sampledata.Running && n < len(held) {
			held[n] = g
			n++
		}
	}
	fixture.Check(t, s.Sample(sampledata.Sample{Time: s.now, Processors: held, Collecting: s.collecting}, changes))
	clear(s.is)
}

// find searches the recording, and demands that it isn't slower
// than itself, and that it has one answer.
func (s *scene) find(t *testing.T) *Answer {
	t.Helper()
	r := s.Recording()
	fixture.Check(t, r.Check())
	a := fixture.Must(Find(r, configured()))(t)
	again := fixture.Must(Find(r, configured()))(t)
	if x, y := fmt.Sprint(briefly(a)), fmt.Sprint(briefly(again)); x != y {
		t.Errorf("asked again, it says\n%s\nand not\n%s", y, x)
	}
	for _, h := range a.Hypotheses {
		isFinding := slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.key == h.key })
		if h.Verdict == hotspots.Yes && isFinding == (h.Note != "") {
			t.Errorf("%s of %s holds; a finding: %t, the reason: %q", h.Kind, h.Where, isFinding, h.Note)
		}
	}
	same := fixture.Must(Compare(r, r, configured()))(t)
	if len(same.Findings) > 0 || len(same.Improved) > 0 {
		t.Errorf("compared with itself, %+v is slower, and %+v has improved", same.Findings, same.Improved)
	}
	return a
}

// briefly returns what an answer says, in its order, without its numbers.
func briefly(a *Answer) (list []any) {
	for _, f := range a.Findings {
		list = append(list, f.Key(), names(f.Others), names(f.Behind), names(f.Ready), f.Chained, f.Signs, f.Limit != nil, f.Bound != nil)
		for _, c := range f.Causes {
			list = append(list, c.Class, c.Activity, c.Certainty, c.Place.Function)
		}
	}
	for _, r := range a.Resting {
		list = append(list, r.Class, r.Does)
	}
	return append(list, a.State, a.NotMoved)
}

var (
	runs    = sampledata.State{Run: sampledata.Running}
	idles   = sampledata.State{Run: sampledata.Waiting, Reason: "chan receive"}
	sends   = sampledata.State{Run: sampledata.Waiting, Reason: "chan send", Lock: 0x100}
	reads   = sampledata.State{Run: sampledata.Waiting, Reason: "IO wait"}
	sleeps  = sampledata.State{Run: sampledata.Waiting, Reason: "sleep"}
	selects = sampledata.State{Run: sampledata.Waiting, Reason: "select"}
	blocked = sampledata.State{Run: sampledata.Blocked, Reason: "sync.Mutex.Lock", Evidence: sampledata.Inferred}
)

// A client that waits for workers, which wait for a lock, is no
// finding of its own, but mentioned with the lock.
func TestWaitsAreLedToTheirReason(t *testing.T) {
	s := newScene()
	client := s.spawn(1, "main.client")[0]
	workers := s.spawn(4, "main.worker")
	holder := s.spawn(1, "main.flusher")[0]
	locked, waits := blocked, sends
	locked.Lock, locked.Holders = 0x200, s.HolderSet([]sampledata.GoroutineID{holder})
	waits.Holders, waits.Evidence = s.HolderSet(workers), sampledata.Ambiguous
	s.LockName(sampledata.LockName{Address: 0x200, Name: "main.mu"})
	s.samples(t, 60, func(i int) {
		s.is[client] = s.at(waits, "main.client", "main.call")
		s.is[holder] = s.at(reads, "main.flusher", "main.flush", "os.(*File).Sync")
		s.all(workers, s.at(locked, "main.worker", "main.add"))
		s.sometimes(i, 10, client, s.at(runs, "main.client", "main.call"))
	})
	a := s.find(t)
	if len(a.Findings) != 1 {
		t.Fatalf("%d findings: %+v", len(a.Findings), a.Findings)
	}
	f := a.Findings[0]
	if f.Kind != LockKind || f.Lock != "main.mu" || f.Where.Function != "main.add" || len(f.Behind) != 1 || f.Behind[0].Name != "go:main.client" {
		t.Errorf("%+v", f)
	}
	if len(f.Causes) != 1 || f.Causes[0].Class != "go:main.flusher" || f.Causes[0].Activity != IO || f.Causes[0].Place.Function != "main.flush" {
		t.Errorf("causes are %+v", f.Causes)
	}
	if f.Remedy != syncOnce {
		t.Errorf("what helps is to %s", f.Remedy)
	}
}

// What waits for work, or sleeps, is not slow.
func TestIdleIsNotSlow(t *testing.T) {
	s := newScene()
	worker, ticker := s.spawn(1, "main.worker")[0], s.spawn(1, "main.ticker")[0]
	s.samples(t, 80, func(i int) {
		s.is[worker] = s.at(idles, "main.worker", "main.loop")
		s.is[ticker] = s.at(sleeps, "main.ticker")
		if i%20 == 0 {
			s.is[worker], s.is[ticker] = s.at(runs, "main.worker", "main.loop", "main.work"), s.at(runs, "main.ticker")
		}
	})
	if a := s.find(t); a.State != Idle || len(a.Findings) > 0 {
		t.Errorf("%s: %+v", a.State, a.Findings)
	}
}

// What has not moved, or waits in the middle of its work, is
// neither slow nor known to be idle.
func TestStillIsNotIdle(t *testing.T) {
	for name, c := range map[string]struct {
		state sampledata.State
		stack []string
		moves bool
		want  State
	}{
		"a send":            {sends, []string{"main.worker"}, false, Unmoved},
		"a receive":         {idles, []string{"main.worker"}, false, Unmoved},
		"a group":           {sampledata.State{Run: sampledata.Waiting, Reason: "sync.WaitGroup.Wait"}, []string{"main.worker"}, false, Unmoved},
		"select {}":         {sampledata.State{Run: sampledata.Waiting, Reason: "select (no cases)"}, []string{"main.worker"}, false, Unmoved},
		"a nil channel":     {sampledata.State{Run: sampledata.Waiting, Reason: "chan receive (nil chan)"}, []string{"main.worker"}, false, Unmoved},
		"a sleep in a pool": {sleeps, []string{"main.worker", "main.(*pool).get"}, true, Waiting},
	} {
		s := newScene()
		all := s.spawn(206, "main.worker")
		s.samples(t, 80, func(i int) {
			s.all(all, s.at(c.state, c.stack...))
			s.those(all, func(j int) bool { return c.moves && (i+j)%40 == 0 },
				s.at(reads, "main.worker", "main.query"))
		})
		r := s.Recording()
		r.Marking = &sampledata.Marking{Groups: []sampledata.MarkedGroup{{Count: 206, IDs: []int64{7}, Waited: time.Hour, Kept: -1}}}
		a := fixture.Must(Find(r, configured()))(t)
		if a.State != c.want || len(a.Findings) > 0 {
			t.Errorf("%s: %s: %+v", name, a.State, a.Findings)
		}
		still := Still{Class: "go:main.worker", Count: 206, Reason: c.state.Reason, Function: c.stack[len(c.stack)-1], Waited: time.Hour}
		if !c.moves && !slices.Equal(a.NotMoved, []Still{still}) {
			t.Errorf("%s: not moved are %+v, want %+v", name, a.NotMoved, still)
		}
	}
}

// What a driver of database/sql reads is an answer, also if no
// sample saw it ask, and if a timer drives the goroutines.
func TestAnswersOfADatabase(t *testing.T) {
	for client, found := range map[string]int{"database/sql.(*DB).Query": 1, "main.(*hub).Query": 0} {
		s := newScene()
		all := s.spawn(8, "main.worker")
		s.samples(t, 80, func(i int) {
			s.all(all, s.at(sleeps, "main.worker"))
			s.those(all, func(j int) bool { return (i/3+j)%3 == 0 },
				s.at(reads, "main.worker", "main.load", client, "example.com/pq/lib.(*conn).recv", "net.(*conn).Read"))
		})
		a := s.find(t)
		if len(a.Findings) != found || found > 0 && a.Findings[0].Kind != IOKind {
			t.Errorf("%s: %s: %+v", client, a.State, a.Findings)
		}
	}
}

// Who sleeps a little between two pieces of work may be slow in
// them. Who sleeps most of the time is driven by a timer.
func TestPausesBesideWork(t *testing.T) {
	for pauses, found := range map[int]int{2: 1, 6: 1, 8: 0} { // of 10 samples
		s := newScene()
		all := s.spawn(3, "main.worker")
		s.samples(t, 100, func(i int) {
			s.all(all, s.at(sleeps, "main.worker"))
			s.those(all, func(j int) bool { return (i+3*j)%10 >= pauses },
				s.at(sampledata.State{Run: sampledata.Waiting, Reason: "syscall"}, "main.worker", "main.store", "os.(*File).Sync"))
		})
		if a := s.find(t); len(a.Findings) != found || found > 0 && a.Findings[0].Where.Function != "main.store" {
			t.Errorf("%d pauses: %s: %+v", pauses, a.State, a.Findings)
		}
	}
}

// Nothing is guessed from few samples.
func TestTooFewSamples(t *testing.T) {
	s := newScene()
	g := s.spawn(1, "main.worker")[0]
	for range minSamples - 1 {
		s.sample(t, states{g: s.at(runs, "main.worker", "main.work")})
	}
	if a := s.find(t); a.State != TooLittle || len(a.Findings) > 0 || a.Exited {
		t.Errorf("%s, it ended: %t: %+v", a.State, a.Exited, a.Findings)
	}
	fixture.Check(t, s.Finish(sampledata.End{Cause: sampledata.EndExited}))
	if a := s.find(t); a.State != TooLittle || !a.Exited {
		t.Errorf("at its end: %s, it ended: %t", a.State, a.Exited)
	}
	empty := newScene()
	if a := empty.find(t); a.State != TooLittle {
		t.Errorf("no sample: %s", a.State)
	}
}

// How much is allocated is known from the runtime's counters,
// and where from the samples. Objects are counted less often.
func TestAllocationByCounters(t *testing.T) {
	s := newScene()
	all, sweeper := s.spawn(2, "main.parser"), s.spawn(1, "runtime.bgsweep")[0]
	counter := func(name string) sampledata.MonitorID {
		return s.Monitor(sampledata.Monitor{Name: name, Layer: sampledata.Runtime, Kind: sampledata.Counter})
	}
	bytes, objects := counter("heap.allocated_bytes"), counter("heap.allocated_objects")
	for i := range 101 {
		s.Measure(bytes, sampledata.Count(uint64(1000+i*20_000)))
		s.Measure(objects, sampledata.Count(uint64(i/30*30*200)))
		in := "main.parse"
		if i%3 == 0 {
			in = "main.split"
		}
		s.sample(t, states{
			all[0]: s.at(runs, "main.parser", in, "runtime.mallocgc"), all[1]: s.at(idles, "main.parser"),
			sweeper: s.at(runs, "runtime.bgsweep", "runtime.sweepone"),
		})
	}
	a := s.find(t)
	if len(a.Findings) == 0 || a.Findings[0].Kind != AllocationKind {
		t.Fatalf("%s: %+v", a.State, a.Findings)
	}
	g := a.Findings[0].Garbage // 100 samples of 20 ms: 2 s
	if g.Bytes != 1_000_000 || math.Round(g.Objects) != 10_000 || g.Collections != 0 {
		t.Errorf("%+v, want 1,000,000 bytes in 10,000 objects a second", g)
	}
	if len(g.Sites) != 2 || g.Sites[0].Name != "main.parse" || g.Sites[0].Share < 0.6 || g.Sites[1].Name != "main.split" {
		t.Errorf("sites %+v", g.Sites)
	}
	if parts := a.Findings[0].Parts; len(parts) != 2 || parts[0].Name != "allocating" || parts[1].Name != "the collector" {
		t.Errorf("it is %+v", parts)
	}
}

// A function that starts the goroutines of several classes is no
// finding: what it starts is.
func TestAStarterIsNoPlace(t *testing.T) {
	s := newScene()
	reader, writer := s.spawn(1, "main.reader")[0], s.spawn(1, "main.writer")[0]
	for i := range 100 {
		read, write := s.at(runs, "main.start", "main.readLoop", "main.parse"), s.at(runs, "main.start", "main.writeLoop", "main.encode")
		if i%3 == 0 {
			write = s.at(sleeps, "main.start", "main.writeLoop")
		}
		s.sample(t, states{reader: read, writer: write})
	}
	a := s.find(t)
	if len(a.Findings) != 2 || a.Findings[0].Where.Function != "main.parse" || a.Findings[1].Where.Function != "main.encode" {
		t.Errorf("%+v", a.Findings)
	}
}

// System calls of the goroutine that holds a lock come with the
// lock; those of others are findings.
func TestSystemCallsOfAHolder(t *testing.T) {
	s := newScene()
	workers, holder, other := s.spawn(4, "main.worker"), s.spawn(1, "main.flusher")[0], s.spawn(1, "main.logger")[0]
	locked := blocked
	locked.Lock, locked.Holders = 0x200, s.HolderSet([]sampledata.GoroutineID{holder})
	s.LockName(sampledata.LockName{Address: 0x200, Name: "main.mu"})
	s.samples(t, 60, func(int) {
		s.is[holder] = s.at(runs, "main.flusher", "main.flush", "os.(*File).Sync", "syscall.Fsync")
		s.is[other] = s.at(runs, "main.logger", "main.log", "os.(*File).Write", "syscall.write")
		s.all(workers, s.at(locked, "main.worker", "main.add"))
	})
	a := s.find(t)
	if len(a.Findings) != 2 || a.Findings[0].Kind != LockKind || a.Findings[1].Kind != SystemCallKind || a.Findings[1].Where.Function != "main.log" {
		for _, f := range a.Findings {
			t.Errorf("%+v", *f)
		}
	}
}

// What one sample shows is no finding, whatever time it stands for.
func TestClassInFewSamples(t *testing.T) {
	for seen, found := range map[int]int{2: 0, 3: 1} {
		s := newScene()
		loop, lives := s.spawn(1, "main.loop")[0], s.spawn(1, "main.walk")[0]
		s.samples(t, 60, func(i int) {
			s.is[loop] = s.at(idles, "main.loop")
			s.sometimes(i, 20, loop, s.at(runs, "main.loop"))
			switch {
			case i >= 30 && i < 30+seen:
				s.now += 2 * time.Second
				waits := s.at(sends, "main.walk", "main.emit")
				waits.Lock = uint64(i) << 8
				s.is[lives] = waits
			case i == 30+seen:
				s.gone = []sampledata.GoroutineID{lives}
			}
		})
		if a := s.find(t); len(a.Findings) != found {
			t.Errorf("in %d samples: %+v %+v", seen, a.Findings, a.Hypotheses)
		}
	}
}

// Waits for the collector's semaphores are no waits for a
// condition of the program.
func TestSemaphoresOfTheCollector(t *testing.T) {
	s := newScene()
	parsers := s.spawn(4, "main.parser")
	waits := s.at(sampledata.State{Run: sampledata.Waiting, Reason: "semacquire"}, "main.parser", "main.parse", "runtime.mallocgc", "runtime.gcStart", "runtime.semacquire", "runtime.gopark")
	works := s.at(runs, "main.parser", "main.parse")
	s.samples(t, 100, func(n int) {
		for i, g := range parsers {
			s.is[g] = works
			if (n+i)%2 == 0 {
				s.is[g] = waits
			}
		}
	})
	for _, h := range s.find(t).Hypotheses {
		if h.Kind == ConditionKind {
			t.Errorf("%+v", h)
		}
	}
}

// A finding says which system calls it is about, and what makes
// them. An aspect is what code does, not what its package is
// for.
func TestCallsAndAspects(t *testing.T) {
	s := newScene()
	loggers, checkers := s.spawn(1, "main.logger"), s.spawn(1, "main.checker")
	s.samples(t, 100, func(n int) {
		s.is[loggers[0]] = s.at(runs, "main.logger", "main.log", "os.(*File).Sync", "internal/poll.(*FD).Fsync", "syscall.Fsync", "syscall.Syscall")
		s.is[checkers[0]] = s.at(runs, "main.checker", "github.com/golang-jwt/jwt/v5.parse", "strings.genSplit")
		s.sometimes(n, 10, loggers[0], s.at(runs, "main.logger", "main.log"))
	})
	found := make(map[Kind]*Finding)
	for _, f := range s.find(t).Findings {
		found[f.Kind] = f
	}
	if f := found[SystemCallKind]; f == nil || len(f.Calls) != 1 || f.Calls[0].Name != "fsync, by os.(*File).Sync" {
		t.Errorf("system calls: %+v", f)
	}
	if f := found[ComputeKind]; f == nil || len(f.Parts) != 1 || f.Parts[0].Name != "@strings" {
		t.Errorf("computing: %+v", f)
	}
}

// What is made again and again could be kept. What each
// goroutine makes once is no finding, and neither is a wait
// within.
func TestMaking(t *testing.T) {
	for _, again := range []bool{true, false} {
		s := newScene()
		clients := s.spawn(4, "main.client")
		shakes := s.at(reads, "main.client", "main.dial", "crypto/tls.(*Conn).clientHandshake", "net.(*conn).Read")
		works := s.at(runs, "main.client")
		s.samples(t, 100, func(n int) {
			for i, g := range clients {
				s.is[g] = shakes
				if again && (n+i)%4 == 0 || n > 60 {
					s.is[g] = works
				}
			}
		})
		var found []string
		for _, f := range s.find(t).Findings {
			found = append(found, string(f.Kind)+" "+f.Where.Function)
		}
		if got := slices.Contains(found, "making main.dial"); got != again {
			t.Errorf("made again: %v; found %q", again, found)
		}
		if again && slices.Contains(found, "I/O main.dial") {
			t.Errorf("found %q", found)
		}
	}
}

// Of a few samples that differ much, nobody can say that the
// program is balanced.
func TestBalanced(t *testing.T) {
	for samples, want := range map[int]State{13: Undecided, 400: Balanced} {
		s := newScene()
		classes := make(map[string]sampledata.GoroutineID)
		for i := range 32 {
			name := fmt.Sprintf("main.serve%d", i)
			classes[name] = s.spawn(1, name)[0]
		}
		for i := range samples {
			for name, g := range classes {
				s.is[g] = s.at(idles, name)
			}
			for n := range 4 * max(0, 1-i%4) { // four at a time, others each time
				name := fmt.Sprintf("main.serve%d", (i+n)%32)
				s.is[classes[name]] = s.at(runs, name)
			}
			s.sample(t)
		}
		if a := s.find(t); a.State != want {
			t.Errorf("%d samples, %.2f ± %.2f used: %s, want %s: %+v", samples, a.Used.Share, a.Used.Margin(), a.State, want, a.Findings)
		}
	}
}
