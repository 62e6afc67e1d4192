package why

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// Who is always seen in a limiter of rates waits for no work,
// whatever else it may do there. The limiter's own loop does.
func TestPacedByALimit(t *testing.T) {
	for wait, found := range map[string]int{"golang.org/x/time/rate.(*Limiter).wait": 1, "example.com/ratelimiter.(*rateLimiter[go.shape.string]).Acquire": 1, "main.(*RateLimiter).cleanUp": 0, "main.wait": 0} {
		s := newScene()
		all := s.spawn(3, "main.loop")
		s.samples(t, 100, func(i int) {
			s.all(all, s.at(selects, "main.loop", wait))
			s.some(i, 10, all, s.at(runs, "main.loop", wait))
		})
		a := s.find(t)
		n := slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.Kind == ChannelKind })
		if (n >= 0) != (found == 1) || found == 1 && (!slices.Contains(a.Findings[n].Signs, paced) || a.Findings[n].Gain.Silent == "") {
			t.Errorf("%s: %+v %+v", wait, a.Findings, a.Resting)
		}
	}
}

// Who waits for goroutines that are in a limiter is paced by it, too.
func TestPacedByALimitOfOthers(t *testing.T) {
	for wait, want := range map[string]bool{"golang.org/x/time/rate.(*Limiter).wait": true, "main.fetch": false} {
		s := newScene()
		feeder, workers := s.spawn(1, "main.feed")[0], s.spawn(2, "main.work")
		waits := sends
		waits.Lock, waits.Evidence, waits.Holders = 0x100, sampledata.Likely, s.HolderSet(workers)
		s.samples(t, 100, func(i int) {
			s.is[feeder] = s.at(waits, "main.feed", "main.put")
			s.sometimes(i, 10, feeder, s.at(runs, "main.feed", "main.put"))
			s.all(workers, s.at(sleeps, "main.work", wait))
			s.some(i, 20, workers, s.at(runs, "main.work"))
		})
		a := s.find(t)
		n := slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.Class == "go:main.feed" })
		if n < 0 || slices.Contains(a.Findings[n].Signs, paced) != want {
			t.Errorf("%s: %+v", wait, a.Findings)
		}
	}
}

// Workers wait for work in a helper of what takes it, too, and
// behind one that a timer drives. Somebody at work may be asked.
func TestHelpersThatWait(t *testing.T) {
	for _, c := range []struct {
		stack string
		asked bool // who ends the wait is at work meanwhile
		found int
	}{
		{"main.work kit/lib.(*Queue).Pull kit/lib.(*Queue).waitForItem", true, 0},
		{"main.work main.(*log).waitFor", false, 0},
		{"main.work main.(*log).waitFor", true, 1},
		{"main.work main.(*log).ready", false, 0},
		{"main.work main.do main.(*log).commit", false, 1},
	} {
		s := newScene()
		workers, maker := s.spawn(2, "main.work"), s.spawn(1, "main.produce")[0]
		frames := strings.Fields(c.stack)
		s.samples(t, 100, func(i int) {
			s.is[maker] = s.at(sleeps, "main.produce")
			if c.asked || i%20 == 0 {
				s.is[maker] = s.at(runs, "main.produce", "main.answer")
			}
			for j, g := range workers {
				waits := s.at(sampledata.State{Run: sampledata.Waiting, Reason: "sync.Cond.Wait"}, frames...)
				waits.Holders, waits.Evidence = s.HolderSet([]sampledata.GoroutineID{maker}), sampledata.Ambiguous
				if s.is[g] = waits; (i+j)%20 == 0 {
					s.is[g] = s.at(runs, "main.work", "main.process")
				}
			}
		})
		a := s.find(t)
		n := 0
		for _, f := range a.Findings {
			if f.Kind == ConditionKind || len(f.Behind) > 0 {
				n++
			}
		}
		if n != c.found {
			t.Errorf("%s, asked %v: %+v %+v", c.stack, c.asked, a.Findings, a.Hypotheses)
		}
	}
}

// The part of a wait that is in what its function calls is said:
// it is a wait of its own.
func TestWaitsBelow(t *testing.T) {
	s := newScene()
	g := s.spawn(1, "net/http.(*conn).serve")[0]
	for i := range 100 {
		state := s.at(selects, "net/http.(*conn).serve", "main.handle", "main.retry")
		switch {
		case i%5 == 0:
			state = s.at(selects, "net/http.(*conn).serve", "main.handle", "main.retry", "main.ask", "net/http.(*persistConn).roundTrip")
		case i%20 == 1:
			state = s.at(runs, "net/http.(*conn).serve", "main.handle")
		}
		s.sample(t, states{g: state})
	}
	for _, f := range s.find(t).Findings {
		if below := f.Where.Function == "main.retry"; below != (f.Below > 0.2 && f.Below < 0.23) {
			t.Errorf("%s: %.2f of it is below", f.Where.Function, f.Below)
		}
	}
}

// Who reads in a loop from what is no connection may wait for
// requests; who reads in a step of its work waits for an answer.
func TestReadersOfChannels(t *testing.T) {
	for stack, found := range map[string]int{
		"main.readLoop quic.(*Stream).Read": 0,
		"main.worker quic.(*Stream).Read":   1,
		"main.process http1.Server.Serve netpoll.(*Conn).Peek netpoll.(*conn).waitReadWithTimeout": 0,
		"main.process main.(*handler).ServeHTTP netpoll.(*Conn).Peek":                              1,
		"main.readLoop quic.(*Pool).Get":                                                           1,
	} {
		s := newScene()
		readers := s.spawn(2, strings.Fields(stack)[0])
		s.samples(t, 80, func(i int) {
			s.all(readers, s.at(idles, strings.Fields(stack)...))
			s.some(i, 8, readers, s.at(runs, strings.Fields(stack)[0], "main.handle"))
		})
		if a := s.find(t); len(a.Findings) != found {
			t.Errorf("%s: %s: %+v", stack, a.State, a.Findings)
		}
	}
}

// Who reads where a goroutine does all that it does waits for
// work if it lives on. If goroutines are started for one piece
// of work each, they read an answer, unless their names say that
// they read requests.
func TestReadersThatEnd(t *testing.T) {
	for _, c := range []struct {
		stack string
		ends  bool
		found int
	}{
		{"main.serve main.lookup main.ask", true, 1},
		{"main.serve main.lookup main.ask", false, 0},
		{"main.serve main.readRequest main.readHeader", true, 0},
		{"main.serve main.tunnel io.Copy io.copyBuffer main.(*counter).Read net.(*conn).Read", true, 0},
		{"main.serve main.download io.Copy io.copyBuffer net/http.(*body).Read bufio.(*Reader).Read net.(*conn).Read", true, 1},
	} {
		s := newScene()
		readers := s.spawn(3, "main.serve")
		s.samples(t, 120, func(i int) {
			if c.ends && i%6 == 5 {
				s.gone = readers
				readers = s.spawn(3, "main.serve")
			}
			s.all(readers,
				s.at(reads, append(strings.Fields(c.stack), "internal/poll.(*FD).Read")...))
			if !c.ends && i%6 == 5 {
				s.is[readers[i%3]] = s.at(runs, strings.Fields(c.stack)...)
			}
		})
		if a := s.find(t); len(a.Findings) != c.found {
			t.Errorf("%s, ends %t: %s: %+v %+v", c.stack, c.ends, a.State, a.Findings, a.Resting)
		}
	}
}

// Of a wait that nobody is known to end, the reason is
// elsewhere: code that is found comes first.
func TestWaitWithoutEnder(t *testing.T) {
	s := newScene()
	callers, reader := s.spawn(2, "main.caller"), s.spawn(1, "main.reader")[0]
	s.samples(t, 90, func(i int) {
		s.is[reader] = s.at(runs, "main.reader", "main.readByte")
		s.all(callers, s.at(idles, "main.caller", "main.request", "main.await"))
		s.some(i, 9, callers, s.at(runs, "main.caller", "main.request"))
	})
	a := s.find(t)
	if len(a.Findings) != 2 || a.Findings[0].Where.Function != "main.readByte" || a.Findings[1].Kind != ChannelKind {
		for _, f := range a.Findings {
			t.Errorf("%s in %s: severity %v, causes %v", f.Kind, f.Where.Function, f.Severity, f.Causes)
		}
	}
}

// Of two classes that wait in one function, one may wait for
// messages, and the other one for answers.
func TestOtherClassesInOneFunction(t *testing.T) {
	s := newScene()
	subscribers, clients := s.spawn(5, "redis/lib.(*channel).receive"), s.spawn(3, "main.client")
	s.samples(t, 100, func(i int) {
		s.all(subscribers,
			s.at(reads, "redis/lib.(*channel).receive", "redis/lib.(*Reader).readLine", "net.(*conn).Read"))
		s.all(clients, s.at(sleeps, "main.client"))
		s.some(i, 2, clients,
			s.at(reads, "main.client", "main.lookup", "redis/lib.(*Client).Get", "redis/lib.(*Reader).readLine", "net.(*conn).Read"))
	})
	a := s.find(t)
	if len(a.Findings) != 1 || a.Findings[0].Class != "go:main.client" {
		t.Errorf("%+v %+v", a.Findings, a.Hypotheses)
	}
}

// Who hardly ever waits to send, while the other end waits for
// work, is not slow.
func TestSendsToWhoWaits(t *testing.T) {
	for busy, found := range map[bool]int{false: 0, true: 1} {
		s := newScene()
		senders, receiver := s.spawn(30, "main.forward"), s.spawn(1, "main.take")[0]
		s.samples(t, 200, func(i int) {
			taken := s.at(idles, "main.take")
			if taken.Lock = 0x100; i%20 == 0 || busy {
				taken = s.at(runs, "main.take", "main.store")
			}
			s.is[receiver] = taken
			s.all(senders, s.at(idles, "main.forward"))
			s.some(i, 40, senders, s.at(sends, "main.forward"))
		})
		a := s.find(t)
		n := 0
		for _, f := range a.Findings {
			if f.Class == "go:main.forward" || len(f.Behind) > 0 {
				n++
			}
		}
		if n != found {
			t.Errorf("busy %v: %+v %+v", busy, a.Findings, a.Hypotheses)
		}
	}
}

// Who waits for an answer on a channel of its own is not at
// home, though nobody is at work: a timer may hold it up. The
// next message, or a state, is no such answer.
func TestAnswersThatTimersSend(t *testing.T) {
	for function, found := range map[string]int{"main.(*writer).Put": 1, "main.(*feed).Next": 0, "main.awaitState": 0} {
		s := newScene()
		all := s.spawn(5, "main.produce")
		s.samples(t, 120, func(i int) {
			for j, g := range all {
				waits := s.at(idles, "main.produce", function)
				if waits.Lock = uint64(i/5+1)<<8 + uint64(j)<<4; i%5 == 4 && j == i%3 {
					waits = s.at(runs, "main.produce")
				}
				s.is[g] = waits
			}
		})
		if a := s.find(t); len(a.Findings) != found {
			t.Errorf("%s: %+v %+v", function, a.Findings, a.Hypotheses)
		}
	}
}

// Who reads in its first function again and again serves a
// connection, though each such goroutine ends. Who reads once
// may have asked.
func TestReadsAgain(t *testing.T) {
	for every, found := range map[int]int{5: 0, 40: 1} {
		s := newScene()
		readers := s.spawn(3, "main.pump")
		s.samples(t, 200, func(i int) {
			if i%20 == 19 {
				s.gone, readers = readers, s.spawn(3, "main.pump")
			}
			s.all(readers, s.at(reads, "main.pump", "net.(*conn).Read", "internal/poll.(*FD).Read"))
			if i%every == every-1 {
				s.all(readers, s.at(runs, "main.pump"))
			}
		})
		a := s.find(t)
		if n := len(slices.DeleteFunc(a.Findings, func(f *Finding) bool { return f.Kind != IOKind })); n != found {
			t.Errorf("elsewhere each %d samples: %+v %+v", every, a.Findings, a.Hypotheses)
		}
	}
}

// A server of HTTP that reads has asked its client nothing: it
// waits for the body of a request, or a connection that was
// taken over for the next message, whatever the library calls
// itself. A handler that asks another server waits for the
// answer.
func TestHandlersThatRead(t *testing.T) {
	for stack, found := range map[string]int{
		"main.store net/http.(*body).Read net/http.(*connReader).Read":                         0,
		"main.serve socket/lib.(*Conn).ReadMessage socket/lib.(*Conn).advanceFrame bufio.Fill": 0,
		"main.proxy socket/lib.(*Conn).ReadMessage socket/lib.(*Conn).advanceFrame bufio.Fill": 1,
		"main.serve db/lib.(*Conn).Query db/lib.(*Conn).readRow bufio.Fill":                    1,
	} {
		s := newScene()
		handlers := s.spawn(6, "net/http.(*conn).serve")
		s.samples(t, 120, func(i int) {
			for j, g := range handlers {
				frames := append([]string{"net/http.(*conn).serve", "net/http.HandlerFunc.ServeHTTP"}, strings.Fields(stack)...)
				if s.is[g] = s.at(reads, append(frames, "net.(*conn).Read")...); (i+j)%5 == 0 {
					s.is[g] = s.at(runs, frames[:3]...)
				}
			}
		})
		a := s.find(t)
		if n := len(slices.DeleteFunc(a.Findings, func(f *Finding) bool { return f.Kind != IOKind })); n != found {
			t.Errorf("%s: %+v %+v", stack, a.Hypotheses, a.Resting)
		}
	}
}

// What a loop first calls, and nobody at work is in, takes work,
// whatever it is called, if no other class is at work. What
// takes a place or asks may have to wait for others of the
// class.
func TestConditionsOfQueues(t *testing.T) {
	for stack, found := range map[string]int{
		"main.work main.(*queue).pop main.(*queue).nonEmpty": 0,
		"main.work main.(*engine).due":                       0,
		"main.work main.(*gate).enter":                       1,
		"main.work main.(*log).commit":                       1,
		"main.work main.do main.(*engine).due":               1,
	} {
		s := newScene()
		workers := s.spawn(4, "main.work")
		s.samples(t, 120, func(i int) {
			s.all(workers,
				s.at(sampledata.State{Run: sampledata.Waiting, Reason: "sync.Cond.Wait"}, strings.Fields(stack)...))
			s.those(workers, func(j int) bool { return (i+3*j)%8 == 0 },
				s.at(runs, "main.work", "main.process"))
		})
		a := s.find(t)
		if n := len(slices.DeleteFunc(a.Findings, func(f *Finding) bool { return f.Kind != ConditionKind })); n != found {
			t.Errorf("%s: %+v", stack, a.Hypotheses)
		}
	}
}

// Who looks at a ring or a file again and again, and sleeps in
// between, waits for its next piece.
func TestLoopsThatLookAndSleep(t *testing.T) {
	for looks, found := range map[string]int{"main.pause": 0, "main.(*sched).next main.(*sched).waitUntil": 0, "main.(*pool).get main.(*pool).wait": 1, "main.(*ring).await": 0, "main.(*client).retry": 1, "main.(*tailer).line bufio.(*Reader).ReadString": 0, "main.(*client).try net.(*conn).Read": 1} {
		helper, _, _ := strings.Cut(looks, " ")
		own := slices.DeleteFunc(strings.Fields(looks), func(f string) bool { return !strings.HasPrefix(f, "main.") })
		s := newScene()
		all := s.spawn(3, "main.consume")
		s.samples(t, 120, func(i int) {
			for j, g := range all {
				switch s.is[g] = s.at(sleeps, append([]string{"main.consume"}, own...)...); (i + j) % 20 {
				case 0:
					if s.is[g] = s.at(selects, "main.consume", helper); helper == "main.pause" {
						break
					}
					s.is[g] = s.at(runs, append([]string{"main.consume"}, strings.Fields(looks)...)...)
				case 1:
					s.is[g] = s.at(runs, "main.consume")
				}
			}
		})
		a := s.find(t)
		if n := len(slices.DeleteFunc(a.Findings, func(f *Finding) bool { return f.Kind != SleepKind })); n != found {
			t.Errorf("%s: %+v", helper, a.Hypotheses)
		}
	}
}

// In one function, waits for the answer of a server, at its own
// channels, and asleep are three findings, each with its own
// share and gain. Who sleeps has no answer that others wait for.
// What a function has started ends no wait for an answer.
func TestWaitsApart(t *testing.T) {
	s := newScene()
	all, child := s.spawn(6, "net/http.(*conn).serve"), s.spawn(1, "main.extend")[0]
	s.samples(t, 100, func(i int) {
		s.is[child] = s.at(runs, "main.extend")
		for j, g := range all {
			state := s.at(selects, "net/http.(*conn).serve", "main.main.func1", "api.com/v2.(*Client).get:9", "net/http.(*persistConn).roundTrip")
			switch (i + j) % 6 {
			case 0, 1:
				state = s.at(selects, "net/http.(*conn).serve", "main.main.func1", "api.com/v2.(*Client).get:12")
			case 5:
				state = s.at(reads, "net/http.(*conn).serve", "net/http.(*conn).readRequest", "net.(*conn).Read")
			case 2:
				state = s.at(sleeps, "net/http.(*conn).serve", "main.main.func1", "api.com/v2.(*Client).get:15", "time.Sleep")
			}
			s.is[g] = state
		}
	})
	got := make(map[string]float64)
	for _, f := range s.find(t).Findings {
		got[f.Reason+" "+f.Where.Library] = f.Share.Share
		if len(f.Causes) > 0 && f.Where.inRoundTrip() {
			t.Errorf("an answer is a wait for %+v", f.Causes)
		}
		if f.Kind == SleepKind && (f.Gain.Less == nil || f.Gain.Less.Share > 0.65) {
			t.Errorf("gain of a sleep: %+v, %+v", f.Gain, f.Gain.Less)
		}
	}
	for wait, share := range map[string]float64{"select net/http.(*persistConn).roundTrip": 0.4, "select ": 0.4, "sleep ": 0.2} {
		if !nearly(got[wait], share) {
			t.Errorf("%q has %v, want %v: %v", wait, got[wait], share, got)
		}
	}
}

// Who waits for who waits for others waits for these. The place
// of each remains.
func TestFoldedWaitsRemain(t *testing.T) {
	wait := func(class, where string, causes ...Cause) *Finding {
		return &Finding{Kind: ChannelKind, Class: class, Where: Place{Function: where}, Causes: causes}
	}
	does := func(class, where string) Cause {
		return Cause{Class: class, Activity: Selecting, Share: 1, Place: Place{Function: where}}
	}
	root := wait("go:main.worker", "main.ask")
	a := &searched{&Answer{Findings: []*Finding{
		wait("go:main.serve", "main.lock", does("go:main.renew", "main.fetch")),
		wait("go:main.renew", "main.fetch", does("go:main.worker", "main.ask")), root}}, &searcher{}}
	a.foldWaits()
	want := []Part{{Name: "go:main.renew", Where: "main.fetch"}, {Name: "go:main.serve", Where: "main.lock"}}
	if len(a.Findings) != 1 || a.Findings[0] != root || !reflect.DeepEqual(root.Behind, want) {
		t.Errorf("%+v, want those behind it: %+v", a.Findings, want)
	}
}

// Who goes round and produces things in advance is not slow, unless
// others are at work that take them. A ticker is no such work, and a
// sleep may be.
func TestAhead(t *testing.T) {
	onTimer := idles
	onTimer.Reason += sampledata.OnTimer
	for _, c := range []struct {
		taker sampledata.State // what takes them mostly does
		known bool             // that it takes them
		found bool
	}{{reads, false, false}, {runs, false, true}, {onTimer, true, false}, {sleeps, true, true}, {runs, true, true}} {
		s := newScene()
		makers, taker := s.spawn(2, "main.produce"), s.spawn(1, "main.serve")[0]
		sends := sends
		if c.known {
			sends.Evidence, sends.Holders = sampledata.Likely, s.HolderSet([]sampledata.GoroutineID{taker})
		}
		s.samples(t, 300, func(i int) {
			s.is[taker] = s.at(c.taker, "main.serve", "main.next")
			if i%20 == 0 {
				s.is[taker] = s.at(runs, "main.serve", "main.answer")
			}
			s.all(makers, s.at(sends, "main.produce"))
			if i%20 == 0 {
				s.all(makers, s.at(runs, "main.produce", "main.make"))
			}
		})
		a := s.find(t)
		waits := slices.ContainsFunc(a.Hypotheses, func(h Hypothesis) bool { return h.Kind == ChannelKind && h.Note != notTaken })
		if waits != c.found {
			t.Errorf("%+v: %+v %+v", c, a.Findings, a.Hypotheses)
		}
	}
}

// Goroutines that wait to send and then end have a result that
// nobody takes yet. Those that go on are held up, and so are those
// that have sent before, unless another case of a select stops them.
func TestResultsThatNobodyTakesYet(t *testing.T) {
	for _, c := range []struct{ goesOn, again, stopped bool }{{}, {goesOn: true}, {again: true}, {again: true, stopped: true}} {
		s, sends := newScene(), sends
		if c.stopped {
			sends.Reason = selects.Reason + sampledata.ToSend
		}
		s.samples(t, 300, func(i int) {
			if i%15 == 0 {
				if i > 0 {
					s.gone = s.goroutines[len(s.goroutines)-2:]
				}
				s.spawn(2, "main.list")
			}
			for _, g := range s.goroutines[len(s.goroutines)-2:] {
				if s.is[g] = s.at(sends, "main.list"); c.goesOn && i%15 >= 12 || c.again && i%5 == 0 {
					s.is[g] = s.at(runs, "main.list", "main.sort")
				}
			}
		})
		a := s.find(t)
		waits := slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.Kind == ChannelKind })
		if waits != (c.goesOn || c.again && !c.stopped) {
			t.Errorf("%+v: %+v %+v", c, a.Findings, a.Hypotheses)
		}
	}
}
