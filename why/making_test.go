package why

import (
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// Connections that goroutines of net/http make are made for the
// function that waits for them. Each has a goroutine that reads.
func TestMadeFor(t *testing.T) {
	s := newScene()
	client := s.spawn(1, "main.client")[0]
	dialer := s.spawn(1, "net/http.(*Transport).startDialConnForLocked.func1")[0]
	asks := strings.Fields("main.client main.ask net/http.(*Client).Do net/http.(*Transport).getConn")
	dials := strings.Fields("net/http.(*Transport).startDialConnForLocked.func1 net/http.(*Transport).dialConn net.(*Dialer).DialContext")
	selects := sampledata.State{Run: sampledata.Waiting, Reason: "select"}
	s.samples(t, 90, func(i int) {
		s.is[client], s.is[dialer] = s.at(selects, asks...), s.at(reads, dials...)
		if i%3 == 0 {
			s.is[client], s.is[dialer] = s.at(runs, "main.client"), s.at(reads, dials[0])
		}
		if i > 0 {
			s.gone = s.goroutines[len(s.goroutines)-2:]
		}
		for _, reader := range s.spawn(2, "net/http.(*persistConn).readLoop") {
			s.is[reader] = s.at(reads, "net/http.(*persistConn).readLoop")
		}
	})
	a := s.find(t)
	for _, f := range a.Findings {
		if f.Kind == MakingKind {
			if f.Made.What != "connections" || f.Made.For != "main.ask" || f.Remedy != whyNone {
				t.Errorf("%s are made for %q; %q", f.Made.What, f.Made.For, f.Remedy)
			}
			if got := f.Made.PerSecond; got < 98 || got > 100 {
				t.Errorf("%v are made a second, want 178 in 1.79 s", got)
			}
			return
		}
	}
	t.Error("nothing is made")
}

// A go statement is seen in few samples, and the goroutines that
// it started in many.
func TestStartsGoroutines(t *testing.T) {
	for started, want := range map[int]bool{0: false, 2: true} {
		s := newScene()
		worker := s.spawn(1, "main.worker")[0]
		var alive []sampledata.GoroutineID
		s.samples(t, 90, func(i int) {
			s.gone, alive = alive, nil
			s.is[worker] = s.at(runs, "main.worker")
			if i < 60 { // once, for long
				s.is[worker] = s.at(runs, strings.Fields("main.worker main.count runtime.newproc")...)
			}
			for range started {
				g := s.Goroutine(sampledata.Goroutine{ID: int64(1000 + 10*i + len(alive)), Start: s.function("main.one"), Parent: 1})
				alive = append(alive, g)
				s.is[g] = s.at(runs, "main.one")
			}
		})
		found := false
		for _, f := range s.find(t).Findings {
			found = found || f.Kind == MakingKind && f.Made.What == "goroutines" && f.Where.Function == "main.count" && f.Made.PerSecond > 90
		}
		if found != want {
			t.Errorf("with %d goroutines a sample, found: %v", started, found)
		}
	}
}

// Who does nothing but make things makes another one when it
// goes back to where one begins. The samples can count them if
// one takes longer than a few of them are apart.
func TestMakesAnother(t *testing.T) {
	for length, found := range map[int]bool{4: true, 200: false} { // samples that one takes
		s := newScene()
		callers := s.spawn(2, "main.caller")
		inLine := func(line int32, functions string) sampledata.State {
			at := s.at(sampledata.State{Run: sampledata.Waiting, Reason: "syscall"}, "main.caller")
			run := s.Node(sampledata.Node{Parent: at.Stack, Function: s.Function(sampledata.Function{Name: "os/exec.(*Cmd).Run"}), Line: line})
			at.Stack = s.Node(sampledata.Node{Parent: run, Function: s.Function(sampledata.Function{Name: functions})})
			return at
		}
		starts, waits := inLine(10, "os/exec.(*Cmd).Start"), inLine(12, "os/exec.(*Cmd).Wait")
		s.samples(t, 100, func(n int) {
			for i, g := range callers {
				if s.is[g] = waits; (n+i)%length == 0 {
					s.is[g] = starts
				}
			}
		})
		a := s.find(t)
		if got := len(a.Findings) > 0 && a.Findings[0].Kind == MakingKind; got != found {
			t.Fatalf("each of %d samples: %s: %+v", length, a.State, a.Findings)
		}
		if found && a.Findings[0].Made.Fast {
			t.Errorf("each of %d samples: %+v", length, a.Findings[0].Made)
		}
	}
}

// What is made within a thing is not in its measure.
func TestMeasureOfMaking(t *testing.T) {
	s := newScene()
	all := s.spawn(2, "main.caller")
	dial := []string{"main.caller", "net.(*Dialer).DialContext"}
	s.samples(t, 100, func(n int) {
		for i, g := range all {
			switch (n + i) % 4 {
			case 0:
				s.is[g] = s.at(runs, "main.caller")
			case 1:
				s.is[g] = s.at(reads, append(dial, "net.(*Resolver).lookupIPAddr")...)
			default:
				s.is[g] = s.at(reads, append(dial, "net.socket")...)
			}
		}
	})
	want := "(* ..net.(*Dialer).DialContext) and not (* ..net.(*Resolver).lookupIPAddr)"
	a := s.find(t)
	if !slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.Measure != nil && f.Measure.Keep == want }) {
		t.Errorf("%s: %+v", a.State, a.Findings)
	}
}

// Who runs a process for each piece of work is slow, and who
// looks after processes that live for seconds is not. Those that
// ran before the recording are not counted.
func TestAwaitsProcesses(t *testing.T) {
	for length, found := range map[int]bool{10: true, 150: false} { // samples that a process lives
		s := newScene()
		all := s.spawn(3, "main.keep")
		waits := s.at(sampledata.State{Run: sampledata.Waiting, Reason: "syscall"}, "main.keep", "main.once", "os/exec.(*Cmd).Wait")
		s.samples(t, 600, func(n int) {
			for i, g := range all {
				if s.is[g] = waits; (n+3*i)%length == 0 {
					s.is[g] = s.at(runs, "main.keep")
				}
			}
		})
		a := s.find(t)
		if (len(a.Findings) > 0) != found {
			t.Fatalf("each lives %d samples: %+v", length, a.Findings)
		}
		if !found {
			continue
		}
		made := a.Findings[0].Made
		if made == nil || made.PerSecond > 15.1 || made.PerSecond < 14 || a.Findings[0].Gain.Silent == "" {
			t.Errorf("%+v, gain %+v", made, a.Findings[0].Gain)
		}
	}
}

// Who waits for the collector while it opens files waits for what is
// allocated elsewhere, and who has no CPU, for the machine.
func TestFilesWithoutOpening(t *testing.T) {
	noCPU := runs
	noCPU.NoCPU = true
	for i, opens := range []sampledata.State{runs, {Run: sampledata.Waiting, Reason: "GC assist wait"}, noCPU} {
		s := newScene()
		workers := s.spawn(4, "main.worker")
		open := []string{"main.worker", "main.load", "os.Open", "os.OpenFile"}
		if opens.Run == sampledata.Waiting {
			open = append(open, "runtime.mallocgc", "runtime.gcAssistAlloc")
		}
		s.samples(t, 100, func(i int) {
			s.all(workers, s.at(runs, "main.worker", "main.load"))
			s.some(i, 2, workers, s.at(opens, open...))
		})
		a := s.find(t)
		if found := slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.Kind == MakingKind }); found != (i == 0) {
			t.Errorf("%+v: %+v %+v", opens, a.Findings, a.Hypotheses)
		}
	}
}
