package why

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// Goroutines that sleep once, and end, are a part of the work of
// those that wait for them. Else they only do something later.
func TestSleepsOnce(t *testing.T) {
	for site, found := range map[string]int{"main.(*future).get.func1": 1, "main.later": 0} {
		s := newScene()
		loop := s.spawn(1, "main.loop")[0]
		id := int64(100)
		start := func(function string, parent int64, site string) sampledata.GoroutineID {
			id++
			return s.Goroutine(sampledata.Goroutine{ID: id, Start: s.function(function), Parent: parent, Site: sampledata.Site{Function: site}})
		}
		for i := range 50 {
			page, other := start("main.page", 1, "main.loop"), start("main.page", 1, "main.loop")
			query := start("main.query", id, site)
			s.is[loop] = s.at(idles, "main.loop")
			s.is[query] = s.at(sleeps, "main.query", "main.sleep")
			for _, g := range []sampledata.GoroutineID{page, other} {
				if s.is[g] = s.at(runs, "main.page", "main.begin"); found > 0 && i%10 > 0 {
					s.is[g] = s.at(idles, "main.page", "main.render", "main.part", "main.(*future).get")
				}
			}
			s.sample(t)
			s.gone = []sampledata.GoroutineID{page, other, query}
			s.sample(t, states{loop: s.at(runs, "main.loop")})
			if i == 49 {
				s.gone = nil
			}
		}
		a := s.find(t)
		waits := slices.DeleteFunc(a.Findings, func(f *Finding) bool { return f.OfProcessors() })
		if len(waits) != found || found > 0 && (waits[0].Kind != SleepKind || len(waits[0].Behind) != 1) {
			t.Errorf("started in %s: %+v, resting: %+v", site, waits, a.Resting)
		}
	}
}

// One goroutine that sleeps in the middle of its work holds up
// nobody, as far as is known. Of three, each does for its work,
// though fewer than one does at a time.
func TestPausesOfFew(t *testing.T) {
	for count, found := range map[int]int{1: 0, 3: 1} {
		s := newScene()
		all := s.spawn(count, "main.sync")
		s.samples(t, 100, func(i int) {
			for j, g := range all {
				switch n := (i + 3*j) % 10; {
				case n < 3:
					s.is[g] = s.at(sleeps, "main.sync", "main.job", "main.dial")
				case n == 3:
					s.is[g] = s.at(runs, "main.sync", "main.job", "main.send")
				default:
					s.is[g] = s.at(sleeps, "main.sync")
				}
			}
		})
		if a := s.find(t); len(a.Findings) != found {
			t.Errorf("%d: %+v %+v", count, a.Findings, a.Hypotheses)
		}
	}
}

// Who waits at a barrier waits for the others of the step, and
// not for the next piece of work.
func TestBarrierIsNoRest(t *testing.T) {
	for wait, idle := range map[string]bool{
		"main.(*queue).await": true, "main.(*barrier).await": false, "acme/barrier-gw/lib.(*queue).await": true,
	} {
		s := newScene()
		all := s.spawn(3, "main.main.func1")
		s.samples(t, 90, func(i int) {
			for j, g := range all {
				switch step := i % 6; {
				case step < 2:
					s.is[g] = s.at(sleeps, "main.main.func1", "time.Sleep")
				case step == 2 || step == 3 && j > 0 || j == 2:
					s.is[g] = s.at(runs, "main.main.func1", "main.relax")
				default:
					s.is[g] = s.at(sampledata.State{Run: sampledata.Waiting, Reason: "sync.Cond.Wait"}, "main.main.func1", wait, "sync.(*Cond).Wait")
				}
			}
		})
		e := fixture.Must(newEvidence(s.Recording(), configured().Views))(t)
		for _, at := range e.situations {
			if at.state.Doing == views.AwaitingCondition && at.idle != idle {
				t.Errorf("%s: idle: %t", wait, at.idle)
			}
		}
	}
}

// Others sleep beside a wait that is no finding. One of them was
// named in a tenth of it: that is not why anybody waits.
func TestSleepersThatAreNotAwaited(t *testing.T) {
	s := newScene()
	waiter, adder := s.spawn(1, "main.join")[0], s.spawn(1, "main.calc")[0]
	for i := range 60 {
		fresh := s.spawn(4, "main.later")
		s.samples(t, 5, func(k int) {
			s.is[adder] = s.at(runs, "main.calc")
			s.all(fresh, s.at(sleeps, "main.later"))
			w := sampledata.State{Run: sampledata.Waiting, Reason: "sync.WaitGroup.Wait", Lock: 0x500, Evidence: sampledata.Likely,
				Holders: s.HolderSet([]sampledata.GoroutineID{adder})}
			if (i*5+k)%8 == 1 {
				w.Holders = s.HolderSet(fresh[:1])
			}
			if s.is[waiter] = s.at(w, "main.join", "main.run", "sync.(*WaitGroup).Wait"); k == 0 {
				s.is[waiter] = s.at(runs, "main.join")
			}
		})
		s.gone = fresh
	}
	s.sample(t, nil)
	if a := s.find(t); slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.Class == "go:main.later" }) {
		t.Errorf("%+v", a.Findings)
	}
}

// Who sends a request for another goroutine is waited for. Nobody is
// known to wait for one that writes alone.
func TestWhoSendsARequest(t *testing.T) {
	for _, c := range []struct {
		calls string
		note  string
	}{
		{"net/http.(*persistConn).writeLoop net/http.(*Request).write net.(*netFD).Write", ""},
		{"net/http.(*persistConn).writeLoop bufio.(*Writer).Flush net.(*netFD).Write", lonely},
		{"net/http.(*persistConn).writeLoop net/http.(*Request).write io.Copy os.(*File).Read", nextMessage}, // of a pipe
	} {
		s := newScene()
		path := strings.Fields(c.calls)
		g := s.spawn(1, path[0])[0]
		for i := range 100 {
			state := s.at(reads, path...)
			if i%10 == 0 {
				state = s.at(runs, path...)
			}
			s.sample(t, states{g: state})
		}
		a := s.find(t)
		i := slices.IndexFunc(a.Hypotheses, func(h Hypothesis) bool { return h.Kind == IOKind })
		if i < 0 || a.Hypotheses[i].Note != c.note || (c.note == "") != (len(a.Findings) == 1) {
			t.Errorf("%s: %+v %+v", c.calls, a.Findings, a.Hypotheses)
		}
	}
}

// Who does nothing but relay what comes in a library's stream waits
// for the next message. Who reads from a stream of the program's own may
// wait for whoever writes to it, and who downloads between other work
// waits for an answer.
func TestRelaysOfStreams(t *testing.T) {
	for _, c := range []struct{ calls, read, want string }{
		{"main.echo", "example.com/mux/lib.(*Stream).Read", nextMessage}, {"main.echo", "main.(*stream).Read", ""},
		{"main.echo main.fetch", "example.com/mux/lib.(*Body).Read", ""},
	} {
		s := newScene()
		g, worker := s.spawn(1, "main.echo"), s.spawn(1, "main.work")
		path := append(strings.Fields(c.calls), "io.Copy", "io.copyBuffer")
		s.samples(t, 100, func(i int) {
			s.all(g, s.at(selects, append(path, c.read)...))
			if i%5 == 0 {
				s.all(g, s.at(runs, "main.echo", "main.use"))
			}
			s.all(worker, s.at(runs, "main.work"))
		})
		a := s.find(t)
		i := slices.IndexFunc(a.Hypotheses, func(h Hypothesis) bool { return h.Kind == ChannelKind })
		if i < 0 || (a.Hypotheses[i].Note == nextMessage) != (c.want == nextMessage) {
			t.Errorf("%+v: %+v %+v", c, a.Findings, a.Hypotheses)
		}
	}
}

// Many goroutines that each wait once, and end, don't wait for work.
// Those that come back to the wait may. Those that a library has
// started handle requests, and take that time.
func TestWhoLivesOnce(t *testing.T) {
	const library = "example.com/dns/lib.(*Server).serve"
	for start, comes := range map[string]int{"main.run.func1": 1, "main.run.func2": 5, library: 1} {
		s := newScene()
		var job sampledata.GoroutineID
		for i := range 450 {
			if i%15 == 0 {
				if i > 0 {
					s.gone = []sampledata.GoroutineID{job}
				}
				job = s.Goroutine(sampledata.Goroutine{ID: int64(100 + i), Start: s.function(start), Parent: 1,
					Site: sampledata.Site{Function: "main.run"}})
			}
			state := s.at(selects, start, "main.job")
			if i%15%(15/comes) == 0 {
				state = s.at(runs, start, "main.job", "main.step")
			}
			s.sample(t, states{job: state})
		}
		a := s.find(t)
		once := slices.ContainsFunc(a.Hypotheses, func(h Hypothesis) bool { return h.Note == livesOnce })
		if once != (comes == 1 && start != library) || (len(a.Findings) == 1) != (start == library) {
			t.Errorf("%s comes %d times to wait: %+v %+v", start, comes, a.Findings, a.Hypotheses)
		}
	}
}

// Goroutines that were only seen to wait for a place in a pool don't
// wait for work, as those that take a job out of one may.
func TestPlacesInPoolsAreNoWork(t *testing.T) {
	for last, waits := range map[string]bool{
		"redis/lib.(*Pool).GetContext": true, "redis/lib.(*Queue).Get": false, "redis/lib.(*WorkerPool).getJob": false,
		"redis/lib.(*workerPool).getConn": false, "redis/lib.(*spool).get": false, "redis/lib.(*Pool[...]).Acquire": true,
	} {
		s := newScene()
		all := s.spawn(8, "main.request")
		for range 100 {
			s.now += 20 * time.Millisecond
			var changes []sampledata.Change
			for _, g := range all { // each time, it has run in between
				changes = append(changes, sampledata.Change{Goroutine: g, Again: true, State: s.at(selects, "main.request", last, "redis/lib.(*Pool).vacant")})
			}
			fixture.Check(t, s.Sample(sampledata.Sample{Time: s.now}, changes))
		}
		a := s.find(t)
		if len(a.Findings) == 1 != waits {
			t.Fatalf("%s: %+v %+v", last, a.Findings, a.Hypotheses)
		}
		if waits && (a.Findings[0].Remedy != giveBack || a.Findings[0].Gain.Silent == "") {
			t.Errorf("%s: the remedy is %q, the gain %+v", last, a.Findings[0].Remedy, a.Findings[0].Gain)
		}
	}
}

// If some have a place in a pool, those that others wait for are not lost.
func TestPlacesInUseAreNotLost(t *testing.T) {
	s := newScene()
	all := s.spawn(100, "main.request")
	s.samples(t, 400, func(i int) {
		s.all(all,
			s.at(selects, "main.request", "main.query", "main.(*Pool).Get", "main.(*Pool).vacant"))
		s.those(all, func(j int) bool { return (i/2+7*j)%100 < 2 },
			s.at(selects, "main.request", "main.query:9", "main.(*conn).roundtrip"))
	})
	a := s.find(t)
	if len(a.Findings) == 0 || a.Findings[0].Where.Function != "main.(*Pool).vacant" || a.Findings[0].Remedy == giveBack {
		t.Errorf("%+v %+v", a.Findings, a.Hypotheses)
	}
}

// Who takes work out of a queue may register there, with a channel of
// its own. Who else makes a channel for each wait has asked for
// something.
func TestDequeuing(t *testing.T) {
	for function, want := range map[string]string{"DequeueOrWait": forWork, "Lookup": ""} {
		s := newScene()
		consumers := s.spawn(4, "main.serve")
		s.samples(t, 200, func(i int) {
			for j, g := range consumers {
				if s.is[g] = s.at(runs, "main.serve"); (i+j)%20 > 0 {
					waits := selects
					waits.Lock = uint64((i+j)/20*4+j+1) << 8
					s.is[g] = s.at(waits, "main.serve", "example.com/queue/lib.(*FIFO)."+function)
				}
			}
		})
		a := s.find(t)
		i := slices.IndexFunc(a.Hypotheses, func(h Hypothesis) bool { return h.Kind == ChannelKind && h.Share.Share > 0.5 })
		if i < 0 || a.Hypotheses[i].Note != want {
			t.Errorf("%s: %+v %+v", function, a.Findings, a.Hypotheses)
		}
	}
}

// A handler that a pool of another module does something for waits for
// that, also if it is never seen elsewhere.
func TestHandlersOfPools(t *testing.T) {
	for calls, found := range map[string]bool{
		"net/http.(*conn).serve main.serve tunny/lib.(*Pool).Process":  true,
		"net/http.(*conn).serve main.serve events/lib.(*Feed).Receive": false,
	} {
		s := newScene()
		handlers, worker := s.spawn(6, "net/http.(*conn).serve"), s.spawn(1, "main.work")
		s.samples(t, 120, func(i int) {
			wait := s.at(idles, strings.Fields(calls)...)
			wait.Lock = 0x1000
			s.all(handlers, wait)
			if i%6 == 0 {
				s.is[handlers[i/6%6]] = s.at(runs, strings.Fields(calls)...)
			}
			s.all(worker, s.at(runs, "main.work", "main.render"))
		})
		waits := slices.ContainsFunc(s.find(t).Hypotheses, func(h Hypothesis) bool { return h.Kind == ChannelKind && h.Note == forWork })
		if waits == found {
			t.Errorf("%s: waits for work: %t", calls, waits)
		}
	}
}

// Nothing comes after a Close: who always waits in it does not wait
// for work.
func TestWaitsToClose(t *testing.T) {
	for calls, found := range map[string]int{
		"net/http.(*conn).serve main.serve socket/lib.(*Conn).Close socket/lib.(*Conn).readLoop net.(*conn).Read": 1,
		"net/http.(*conn).serve main.serve socket/lib.(*Conn).Run socket/lib.(*Conn).readLoop net.(*conn).Read":   0,
	} {
		s := newScene()
		var handlers []sampledata.GoroutineID
		s.samples(t, 120, func(i int) {
			if i%60 == 0 {
				s.gone, handlers = handlers, s.spawn(6, "net/http.(*conn).serve")
			}
			s.all(handlers, s.at(reads, strings.Fields(calls)...))
		})
		if a := s.find(t); len(a.Findings) != found {
			t.Errorf("%s: %+v %+v", calls, a.Findings, a.Hypotheses)
		}
	}
}

// One goroutine that closes connections holds up nobody, and what is
// called Close may be a query.
func TestClosesForOthers(t *testing.T) {
	for calls, want := range map[string]string{
		"main.closer socket/lib.(*Conn).Close net.(*conn).Read":                      "",
		"main.worker main.(*Issue).Close pq/lib.(*conn).Exec net.(*conn).Read":       "ask for less, ask earlier, or ask for several things at once",
		"main.worker socket/lib.(*Conn).Close socket/lib.readFrame net.(*conn).Read": "close it without that wait, or wait for less time",
	} {
		s := newScene()
		path := strings.Fields(calls)
		all := s.spawn(1, path[0])
		if want != "" {
			all = append(all, s.spawn(4, path[0])...)
		}
		s.samples(t, 200, func(i int) {
			s.all(all, s.at(reads, path...))
			s.some(i, 20, all, s.at(runs, path[0]))
		})
		remedy := ""
		if f := s.find(t).Findings; len(f) > 0 {
			remedy = f[0].Remedy
		}
		if remedy != want {
			t.Errorf("%s: remedy %q, want %q", calls, remedy, want)
		}
	}
}

// A library's loop that sleeps between two looks may be why
// others wait. The program's own is meant to. Long sleeps are for chores,
// unless others wait for that.
func TestLibraryThatPolls(t *testing.T) {
	ticks := sampledata.State{Run: sampledata.Waiting, Reason: "select (timer)"}
	for loop, want := range map[string]string{"queue/lib.(*queue).consume": "queue/lib.(*queue).consume", "main.tick": "", "queue/lib.(*queue).expire": "", "queue/lib.(*queue).sweep": "", "queue/lib.(*queue).fetch": "queue/lib.(*queue).fetch"} {
		s := newScene()
		poller, worker := s.spawn(1, loop)[0], s.spawn(1, "main.work")[0]
		s.samples(t, 400, func(i int) {
			waits := idles
			if strings.HasSuffix(loop, "fetch") { // for whom others wait
				waits.Holders, waits.Evidence = s.HolderSet([]sampledata.GoroutineID{poller}), sampledata.Likely
			}
			s.is[poller], s.is[worker] = s.at(sleeps, loop), s.at(waits, "main.work")
			if strings.HasSuffix(loop, "expire") {
				s.is[poller] = s.at(ticks, loop)
			}
			each := 10
			if strings.HasSuffix(loop, "sweep") || strings.HasSuffix(loop, "fetch") { // once in two seconds
				each = 100
			}
			if i%each == 0 {
				s.is[poller] = s.at(runs, loop)
			}
			if i%10 == 0 {
				s.is[worker] = s.at(runs, "main.work", "main.do")
			}
		})
		a := s.find(t)
		i := slices.IndexFunc(a.Resting, func(r Resting) bool { return r.Class == "go:"+loop })
		if i < 0 || a.Resting[i].Polls != want {
			t.Errorf("%s: %+v", loop, a.Resting)
		}
	}
}

// One goroutine that tries again and again in the background is not slow,
// if nobody is known to wait for it. The main one may be.
func TestBacksOffAlone(t *testing.T) {
	for start, slow := range map[string]bool{"main.export": false, "runtime.main": true} {
		s := newScene()
		exporter := s.spawn(1, start)[0]
		s.samples(t, 200, func(i int) {
			s.is[exporter] = s.at(selects, start, "main.main", "example.com/otlp/lib.(*client).Upload", "example.com/otlp/lib.retryWait")
			s.sometimes(i, 20, exporter, s.at(runs, start, "main.main", "example.com/otlp/lib.(*client).Upload"))
		})
		a := s.find(t)
		if len(a.Findings) > 0 != slow || !slow && (len(a.Resting) != 1 || a.Resting[0].Pauses == "") {
			t.Errorf("%s: %+v, resting %+v", start, briefly(a), a.Resting)
		}
	}
}

// Who has started the ticker that it waits for looks for a result. One that
// lives as long may be the loop's.
func TestAwaitsItsTicker(t *testing.T) {
	const runsTicker = "example.com/backoff/lib.(*Ticker).run"
	for _, ends := range []bool{true, false} {
		s := newScene()
		drives := s.spawn(1, "main.drive")[0]
		var ticker sampledata.GoroutineID
		s.samples(t, 240, func(i int) {
			if i == 0 || ends && i%30 == 0 {
				if i > 0 {
					s.gone = append(s.gone, ticker)
				}
				ticker = s.Goroutine(sampledata.Goroutine{ID: int64(10 + i), Parent: 1, Start: s.function(runsTicker)})
			}
			s.is[ticker] = s.at(sleeps, runsTicker)
			s.is[drives] = s.at(idles, "main.drive", "example.com/flow/lib.Wait")
		})
		of := fixture.Must(newSearcher(s.Recording(), configured()))(t)
		f := newFinding(ChannelKind)
		f.Causes = []Cause{{Class: "go:" + runsTicker, Activity: Sleeping, Certainty: Likely}}
		if of.awaitsStarted(of.e.byName["go:main.drive"], f) != ends {
			t.Errorf("the ticker ends: %t", ends)
		}
	}
}

// A loop that reads from a file, such as standard input, waits for that.
func TestReadsFromAFile(t *testing.T) {
	for read, want := range map[string]string{"os.(*File).Read": fromFile, "net.(*conn).Read": ""} {
		s := newScene()
		loop := s.spawn(1, "runtime.main")[0]
		s.samples(t, 200, func(i int) {
			s.is[loop] = s.at(sampledata.State{Run: sampledata.Waiting, Reason: "syscall"}, "runtime.main", "main.main", "main.split", read, "syscall.read")
			s.sometimes(i, 10, loop, s.at(runs, "runtime.main", "main.main", "main.split", "main.hash"))
		})
		a := s.find(t)
		if got := slices.ContainsFunc(a.Resting, func(r Resting) bool { return r.Does == fromFile }); got != (want == fromFile) {
			t.Errorf("%s: %s %+v", read, a.State, a.Resting)
		}
	}
}
