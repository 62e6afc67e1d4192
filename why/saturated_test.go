package why

import (
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// A wait that nobody is known to end comes after a server that
// is always at work, however many wait. One that waits for a
// processor is at work, too. If it mostly rests, it is no reason.
func TestSaturatedServers(t *testing.T) {
	for _, c := range []struct {
		syncs, ready int // of 10 samples: it waits for the disk, or for a processor
		want         string
	}{{9, 0, "main.store"}, {5, 4, "main.store"}, {5, 0, "main.ask"}} {
		s := newScene()
		callers, server := s.spawn(6, "main.call"), s.spawn(1, "main.serve")[0]
		s.samples(t, 100, func(i int) {
			s.is[server] = s.at(idles, "main.serve")
			switch {
			case i%10 < c.syncs:
				s.is[server] = s.at(sampledata.State{Run: sampledata.Waiting, Reason: "syscall"}, "main.serve", "main.store", "os.(*File).Sync")
			case i%10 < c.syncs+c.ready:
				s.is[server] = s.at(sampledata.State{Run: sampledata.Runnable}, "main.serve", "main.store")
			}
			s.all(callers, s.at(selects, "main.call", "main.ask"))
			s.some(i, 25, callers, s.at(runs, "main.call", "main.think"))
		})
		a := s.find(t)
		if len(a.Findings) < 2 || a.Findings[0].Where.Function != c.want {
			t.Fatalf("%+v: %+v", c, a.Findings)
		}
		for _, f := range a.Findings {
			if signed := slices.Contains(f.Signs, saturated); signed != (c.want == "main.store" && f.Class == "go:main.serve") {
				t.Errorf("%+v: %s has the signs %q", c, f.Where.Function, f.Signs)
			}
			says := slices.Contains(f.Signs, "it may wait for what go:main.serve does in main.store")
			if says != (c.want == "main.store" && f.Class == "go:main.call") {
				t.Errorf("%+v: %s has the signs %q", c, f.Where.Function, f.Signs)
			}
		}
	}
}

// A server that mostly rests is a reason, too, if others wait
// just while it is at work.
func TestServersWhileOthersWait(t *testing.T) {
	for shift, want := range map[int]string{0: "main.store", 5: "main.ask"} { // samples later
		s := newScene()
		callers, server := s.spawn(6, "main.call"), s.spawn(1, "main.serve")[0]
		s.samples(t, 100, func(i int) {
			s.is[server] = s.at(idles, "main.serve")
			if (i+shift)%10 < 2 {
				s.is[server] = s.at(sampledata.State{Run: sampledata.Waiting, Reason: "syscall"}, "main.serve", "main.store", "os.(*File).Sync")
			}
			for j, g := range callers {
				if s.is[g] = s.at(idles, "main.call"); i%10 < 3 {
					s.is[g] = s.at(selects, "main.call", "main.ask")
				} else if (i+j)%25 == 0 {
					s.is[g] = s.at(runs, "main.call", "main.think")
				}
			}
		})
		a := s.find(t)
		if len(a.Findings) != 2 || a.Findings[0].Where.Function != want {
			t.Errorf("%d samples later: %+v", shift, a.Findings)
		}
		for _, f := range a.Findings {
			if signed := slices.Contains(f.Signs, coincident); signed != (want == "main.store" && f.Where.Function == want) {
				t.Errorf("%d samples later: %s has the signs %q", shift, f.Where.Function, f.Signs)
			}
		}
	}
}

// Several goroutines that are at work one by one may hold up
// others. At random, they are often at work at once.
func TestInTurns(t *testing.T) {
	for name, at := range map[string]func(i, j int) bool{
		"one by one": func(i, j int) bool { return i%4 == j }, "at random": func(i, j int) bool { return (i*7+j*j*5)%17 < 4 },
	} {
		s := newScene()
		publisher, handlers := s.spawn(1, "main.publish")[0], s.spawn(4, "main.handle")
		s.samples(t, 120, func(i int) {
			s.is[publisher] = s.at(selects, "main.publish", "hub/lib.(*Hub).Publish", "hub/lib.(*Hub).awaitAll")
			s.all(handlers, s.at(idles, "main.handle"))
			s.those(handlers, func(j int) bool { return at(i, j) },
				s.at(selects, "main.handle", "main.store", "net/http.(*persistConn).roundTrip"))
			s.sometimes(i, 40, publisher, s.at(runs, "main.publish"))
		})
		a := s.find(t)
		signed := slices.ContainsFunc(a.Findings, func(f *Finding) bool { return slices.Contains(f.Signs, inTurns) })
		if signed != (name == "one by one") {
			t.Errorf("%s: signed: %v; %+v", name, signed, a.Hypotheses)
		}
	}
}

// A client may ask the program itself: the handlers that wait
// meanwhile do so because of it.
func TestClientsOfTheirOwnHandlers(t *testing.T) {
	for asks, signed := range map[string]bool{"net/http.(*persistConn).roundTrip": false, "os.(*File).Sync": true} {
		s := newScene()
		handler, client := s.spawn(1, "net/http.(*conn).serve")[0], s.spawn(1, "main.poll")[0]
		s.samples(t, 100, func(i int) {
			s.is[handler] = s.at(reads, "net/http.(*conn).serve", "net/http.(*conn).readRequest")
			s.is[client] = s.at(idles, "main.poll")
			if i%10 < 3 {
				s.is[handler] = s.at(selects, "net/http.(*conn).serve", "main.handle")
				s.is[client] = s.at(selects, "main.poll", "main.fetch", asks)
				if signed {
					s.is[client] = s.at(sampledata.State{Run: sampledata.Waiting, Reason: "syscall"}, "main.poll", "main.fetch", asks)
				}
			}
		})
		a := s.find(t)
		got := slices.ContainsFunc(a.Findings, func(f *Finding) bool { return slices.Contains(f.Signs, coincident) })
		if len(a.Findings) != 2 || got != signed {
			t.Errorf("%q: the client is signed: %v; %+v", asks, got, a.Findings)
		}
	}
}

// Handlers may wait for the one goroutine of a library's client, which asks
// a server for all of them.
func TestHandlersBehindAClient(t *testing.T) {
	for receives, signed := range map[string]bool{"rpc/lib.(*Future).Result": true, "other/lib.(*Future).Result": false} {
		s := newScene()
		handlers, client := s.spawn(8, "net/http.(*conn).serve"), s.spawn(1, "rpc/lib.(*Client).loop")[0]
		s.samples(t, 100, func(i int) {
			s.all(handlers, s.at(idles, "net/http.(*conn).serve", "main.handle", receives))
			s.some(i, 20, handlers, s.at(runs, "net/http.(*conn).serve", "main.handle"))
			s.is[client] = s.at(selects, "rpc/lib.(*Client).loop", "rpc/lib.(*Client).post", "net/http.(*persistConn).roundTrip")
			s.sometimes(i, 20, client, s.at(runs, "rpc/lib.(*Client).loop"))
		})
		f := s.find(t).Findings
		if len(f) != 2 || slices.Contains(f[0].Signs, saturated) != signed {
			t.Errorf("%s: %+v", receives, f)
		}
	}
}

// Who asks a server alone, and rests at times, is a finding only if it is
// known that others wait for it, or not known for whom others wait.
func TestAskingAlone(t *testing.T) {
	for name, c := range map[string]struct {
		rests int // samples of ten
		waits bool
		found int
	}{"it rests": {4, false, 0}, "it hardly rests": {1, false, 1}, "others wait": {4, true, 2}} {
		s := newScene()
		reporter, handlers := s.spawn(1, "main.report")[0], s.spawn(2, "main.handle")
		s.samples(t, 200, func(i int) {
			s.is[reporter] = s.at(selects, "main.report", "main.post", "net/http.(*persistConn).roundTrip")
			if i%10 < c.rests {
				s.is[reporter] = s.at(sleeps, "main.report")
			}
			s.all(handlers, s.at(idles, "main.handle"))
			if c.waits {
				s.all(handlers, s.at(selects, "main.handle", "main.store", "main.await"))
				s.some(i, 10, handlers, s.at(runs, "main.handle"))
			}
		})
		if f := s.find(t).Findings; len(f) != c.found {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// Who waits alone to write is a finding if others of its package
// wait, and it is not known for whom.
func TestWritersBehindWhomOthersWait(t *testing.T) {
	for ask, found := range map[string]int{"hub/lib.(*Client).stall": 2, "other/lib.(*Client).stall": 1} {
		s := newScene()
		callers, writers := s.spawn(3, "main.call"), s.spawn(4, "main.write")
		s.samples(t, 100, func(i int) {
			s.all(writers, s.at(idles, "main.write"))
			s.those(writers, func(j int) bool { return j == 0 || (i+j)%20 == 0 },
				s.at(runs, "main.write", "hub/lib.(*Client).flush"))
			if i%10 != 9 {
				s.is[writers[0]] = s.at(reads, "main.write", "hub/lib.(*Client).flush", "net.(*netFD).Write", "internal/poll.(*FD).Write")
			}
			s.all(callers, s.at(selects, "main.call", ask))
			s.some(i, 10, callers, s.at(runs, "main.call", "main.think"))
		})
		a := s.find(t)
		if len(a.Findings) != found || found == 2 && !slices.Contains(slices.Concat(a.Findings[0].Signs, a.Findings[1].Signs), "it waits until the other end reads") {
			t.Errorf("%s: %+v, %+v", ask, a.Findings, a.Hypotheses)
		}
	}
}

// Who can't write is a finding, too, if others stand still for a lock in
// its package.
func TestWritersBehindALock(t *testing.T) {
	for flush, found := range map[string]bool{"hub/lib.(*Client).flush": true, "other/lib.(*Client).flush": false} {
		s := newScene()
		publishers, writers := s.spawn(4, "main.publish"), s.spawn(4, "main.write")
		waits, sends := blocked, sends
		waits.Lock, waits.Holders = 0x200, s.HolderSet(publishers[:1])
		s.samples(t, 400, func(i int) {
			if i > 0 {
				return
			}
			s.all(publishers, s.at(waits, "main.publish", "hub/lib.(*Hub).Publish", "sync.(*Mutex).Lock"))
			s.is[publishers[0]] = s.at(sends, "main.publish", "hub/lib.(*Hub).Publish")
			s.all(writers, s.at(idles, "main.write"))
			s.is[writers[0]] = s.at(reads, "main.write", flush, "net.(*netFD).Write", "internal/poll.(*FD).Write")
		})
		a := s.find(t)
		if got := slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.Kind == IOKind }); got != found {
			t.Errorf("%s: %+v, %+v", flush, a.Findings, a.Hypotheses)
		}
	}
}

// A handler that sleeps does so in the middle of its work, since
// a goroutine of the standard library has called it.
func TestSleepInAHandler(t *testing.T) {
	for first, found := range map[string]int{"net/http.(*conn).serve": 1, "main.loop": 0} {
		s := newScene()
		all := s.spawn(4, first)
		s.samples(t, 100, func(i int) {
			s.all(all, s.at(sleeps, first, "main.slow"))
			s.some(i, 4, all, s.at(runs, first, "main.other"))
		})
		a := s.find(t)
		n := len(slices.DeleteFunc(a.Findings, func(f *Finding) bool { return f.Kind != SleepKind }))
		if n != found {
			t.Errorf("%s: %+v", first, a.Findings)
		}
	}
}

// Workers that wait where they take work are slow only if
// somebody is at work whom they may wait for.
func TestNobodyToWaitFor(t *testing.T) {
	waits := sampledata.State{Run: sampledata.Waiting, Reason: "sync.Cond.Wait"}
	for _, c := range []struct {
		state  sampledata.State
		stack  string
		busy   bool
		listed bool
	}{
		{waits, "main.worker queue.(*Type).Get", false, false},
		{waits, "main.worker queue.(*Type).Get", true, true},
		{waits, "main.worker queue.(*Type).Acquire", false, true},
		{selects, "main.worker queue.(*Client).PollFetches queue.(*Client).PollRecords", false, false},
		{selects, "main.worker queue.(*Client).PollFetches queue.(*Client).PollRecords", true, true},
		{selects, "main.worker main.waitForChanges", false, false},
		{selects, "main.worker main.waitForChanges", true, true},
		{selects, "main.worker main.waitForChanges database/sql.(*DB).conn", false, true},
		{selects, "main.worker main.call main.waitForAnswer", false, true},
	} {
		s := newScene()
		workers, other := s.spawn(4, "main.worker"), s.spawn(1, "main.other")[0]
		s.samples(t, 120, func(i int) {
			s.is[other] = s.at(idles, "main.other")
			if c.busy || i%20 == 0 {
				s.is[other] = s.at(runs, "main.other", "main.work")
			}
			s.all(workers, s.at(c.state, strings.Fields(c.stack)...))
			s.those(workers, func(j int) bool { return (i+10*j)%40 == 0 },
				s.at(runs, "main.worker", "main.handle"))
		})
		a := s.find(t)
		listed := slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.Class == "go:main.worker" })
		if listed != c.listed {
			t.Errorf("%s, busy %t: %+v %+v", c.stack, c.busy, a.Findings, a.Hypotheses)
		}
	}
}

// A goroutine that does nothing but wait in its first function
// may wait for work, though it has to wait for a processor
// first.
func TestWatchersThatEnd(t *testing.T) {
	s := newScene()
	for range 20 {
		all := s.spawn(2, "main.listen")
		s.samples(t, 6, func(i int) {
			s.all(all, s.at(selects, "main.listen"))
			if i == 0 {
				s.all(all, sampledata.State{Stack: sampledata.NoStack, Run: sampledata.Runnable})
			}
		})
		s.gone = all
	}
	if a := s.find(t); slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.Kind == ChannelKind }) {
		t.Errorf("%+v", a.Findings)
	}
}

// A request that a server answers once there is something is no
// wait for a slow server, by its name. Nor is a stream.
func TestLongPolls(t *testing.T) {
	const get = " bot.(*API).Do net/http.(*persistConn).roundTrip"
	condition := sampledata.State{Run: sampledata.Waiting, Reason: "sync.Cond.Wait"}
	sending := sampledata.State{Run: sampledata.Waiting, Reason: "select (send)"}
	for stack, c := range map[string]struct {
		waits sampledata.State
		found int
	}{
		"main.worker bot.(*API).GetUpdates" + get:                              {selects, 0},
		"main.worker bot.(*API).GetUser" + get:                                 {selects, 1},
		"main.worker main.next main.get net/http.(*http2ClientConn).roundTrip": {selects, 0},
		"main.listen main.react main.ask net/http.(*persistConn).roundTrip":    {selects, 1}, // the loop around it
		"main.listen net/rpc.(*Client).Call":                                   {idles, 0},
		"main.worker main.ask net/rpc.(*Client).Call":                          {idles, 1},
		"main.watch net/http.(*http2pipe).Read":                                {condition, 0},
		"main.watch main.(*store).next":                                        {idles, 0}, // a reply that an actor sends once there is one
		"main.watch store/lib.(*Store).Put":                                    {idles, 1},
		"net/http.(*conn).serve main.poll bus/lib.(*Subscription).Next":        {selects, 0}, // it answers then
		"net/http.(*conn).serve main.poll bus/lib.(*Bus).Publish":              {selects, 1},
		"net/http.(*conn).serve main.(*doc).poll":                              {selects, 0},
		"net/http.(*conn).serve main.(*doc).store":                             {selects, 1},
		"net/http.(*conn).serve io/polling.(*conn).serve io/payload.Flush":     {sending, 0}, // it offers the answer to who sends
		"net/http.(*conn).serve io/direct.(*conn).serve io/payload.Flush":      {sending, 1},
	} {
		s := newScene()
		frames := strings.Fields(stack)
		g, rests := s.spawn(1, frames[0])[0], strings.Contains(stack, "doc")
		for i := range 100 {
			state := s.at(c.waits, frames...)
			if rests && i%10 < 3 { // between two requests
				state = s.at(reads, frames[0], "net/http.(*conn).readRequest")
			}
			state.Lock = uint64(i/2+1) << 8 // of each request
			if i%20 == 0 {
				state = s.at(runs, frames[0], "main.handle")
			}
			s.sample(t, states{g: state})
		}
		if a := s.find(t); len(a.Findings) != c.found {
			t.Errorf("%s: %+v %+v", stack, a.Findings, a.Hypotheses)
		}
	}
}

// One goroutine that is alone, and waits somewhere in its
// module, waits for work if nobody is at work. It may have to
// wait for another module, and several goroutines may wait for
// one another.
func TestAloneInItsModule(t *testing.T) {
	for _, c := range []struct {
		count, found int
		wait         string
	}{
		{1, 0, "main.(*queue).park"}, {3, 1, "main.(*queue).park"}, {1, 1, "nats/lib.(*Conn).do"},
	} {
		s := newScene()
		all := s.spawn(c.count, "main.reap")
		s.samples(t, 120, func(i int) {
			s.all(all, s.at(selects, "main.reap", "main.(*queue).expired", c.wait))
			s.some(i, 30, all, s.at(runs, "main.reap", "main.evict"))
		})
		if a := s.find(t); len(a.Findings) != c.found {
			t.Errorf("%d in %s: %+v %+v", c.count, c.wait, a.Findings, a.Hypotheses)
		}
	}
}

// Many of a class wait, nobody knows for whom. If code of the class
// has all processors, that comes first: it may keep them waiting.
func TestCodeWhileOthersOfItsClassWait(t *testing.T) {
	for busy, first := range map[int]string{4: "main.format", 1: "main.order"} { // of 4 processors
		s := newScene()
		var all []sampledata.GoroutineID
		s.samples(t, 120, func(i int) {
			if i%24 == 0 {
				s.gone, all = all, s.spawn(24, "main.add")
			}
			s.all(all, s.at(idles, "main.add", "main.order"))
			for j := range busy {
				s.is[all[(i+j)%24]] = s.at(runs, "main.add", "main.format")
			}
		})
		if f := s.find(t).Findings; len(f) != 2 || f[0].Where.Function != first {
			t.Errorf("%d busy: %+v", busy, f)
		}
	}
}

// One goroutine of a library that calls the program for one thing after
// another holds up what comes next, though nobody is seen to wait.
func TestHandlesInOrder(t *testing.T) {
	for _, c := range []struct {
		workers int
		loop    string
		want    bool
	}{
		{1, "example.com/rpc/lib.(*Conn).readMessages", true},
		{3, "example.com/rpc/lib.(*Conn).readMessages", false},
		{1, "main.readMessages", false},
	} {
		s := newScene()
		all := s.spawn(c.workers, c.loop)
		s.samples(t, 200, func(i int) {
			s.all(all, s.at(selects, c.loop, "main.lookup", "main.fetch", "net/http.(*Client).Do", "net/http.(*persistConn).roundTrip"))
			s.some(i, 20, all, s.at(runs, c.loop, "main.lookup"))
		})
		a := s.find(t)
		if len(a.Findings) == 0 || slices.Contains(a.Findings[0].Signs, inOrder) != c.want {
			t.Errorf("%+v: %+v", c, briefly(a))
		}
	}
}

// Who waits in a library may wait for its goroutines that live for one
// piece of work, one at a time.
func TestBehindOneAtATime(t *testing.T) {
	for _, c := range []struct {
		sends string
		once  bool // each handles one message, and not all
		said  bool
	}{{"bus/lib.(*Bus).deliver", true, true}, {"bus/lib.(*Bus).deliver", false, false}, {"other/lib.deliver", true, false}} {
		s := newScene()
		publisher, handlers, sender := s.spawn(1, "main.publish")[0], s.spawn(4, "main.handle"), s.spawn(1, "bus/lib.(*Bus).send.func1")
		s.samples(t, 400, func(i int) {
			if c.once && i%8 == 7 {
				s.gone, sender = sender, s.spawn(1, "bus/lib.(*Bus).send.func1")
			}
			s.is[publisher] = s.at(selects, "main.publish", "bus/lib.(*Bus).Publish", "bus/lib.(*Bus).await")
			s.sometimes(i, 40, publisher, s.at(runs, "main.publish"))
			s.all(sender, s.at(selects, "bus/lib.(*Bus).send.func1", c.sends))
			s.all(handlers, s.at(idles, "main.handle"))
			s.is[handlers[i/2%4]] = s.at(selects, "main.handle", "main.call", "net/http.(*persistConn).roundTrip")
		})
		a := s.find(t)
		said := slices.ContainsFunc(a.Findings, func(f *Finding) bool {
			return slices.ContainsFunc(f.Signs, func(sign string) bool { return strings.Contains(sign, "one at a time") })
		})
		if said != c.said {
			t.Errorf("%+v: %+v %+v", c, a.Findings, a.Hypotheses)
		}
	}
}
