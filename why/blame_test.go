package why

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A method Lock waits for its caller: the place is where the
// caller takes the lock, and of the holder it is said where it
// took it.
func TestTaken(t *testing.T) {
	s := newScene()
	workers := s.spawn(4, "main.worker")
	waits := blocked
	waits.Lock, waits.Holders = 0x200, s.HolderSet(workers[:1])
	s.samples(t, 60, func(i int) {
		s.is[workers[0]] = s.at(reads, "main.worker", "main.log", "main.fire", "main.send", "net.(*conn).Read")
		s.all(workers[1:],
			s.at(waits, "main.worker", "main.log", "main.(*mutex).Lock", "sync.(*Mutex).Lock"))
		s.sometimes(i, 4, workers[1],
			s.at(waits, "main.worker", "main.log", "main.fire", "main.(*mutex).Lock", "sync.(*Mutex).Lock"))
	})
	a := s.find(t)
	if len(a.Findings) == 0 || a.Findings[0].Kind != LockKind {
		t.Fatalf("found %+v", a.Findings)
	}
	f := a.Findings[0]
	if f.Lock != "a lock taken in main.log" || f.Where.Function != "main.log" {
		t.Errorf("they wait for %s in %s", f.Lock, f.Where.Function)
	}
	if len(f.Causes) != 1 || f.Causes[0].Taken != "main.fire" || f.Causes[0].Place.Function != "main.send" {
		t.Errorf("causes are %+v", f.Causes)
	}
}

// If no member of a group is known, a goroutine waits for those
// that it has started there, and not for others.
func TestStartedMembers(t *testing.T) {
	s := newScene()
	server := s.spawn(1, "main.serve")[0]
	group := sampledata.State{Run: sampledata.Waiting, Reason: "sync.WaitGroup.Wait"}
	id := int64(100)
	start := func(function, site string) sampledata.GoroutineID {
		id++
		return s.Goroutine(sampledata.Goroutine{ID: id, Start: s.function(function), Parent: 1,
			Site: sampledata.Site{Function: site}})
	}
	logger := start("main.log", "main.serve.func1")
	for i := range 30 {
		part := start("main.fetch", "main.gather")
		s.sample(t, states{
			server: s.at(group, "main.serve", "main.gather", "sync.(*WaitGroup).Wait"),
			part:   s.at(sleeps, "main.fetch", "main.retry"), logger: s.at(reads, "main.log", "main.write"),
		})
		s.sample(t, states{server: s.at(runs, "main.serve", "main.gather", "main.merge")})
		if i < 29 {
			s.gone = append(s.gone, part)
		}
	}
	e := fixture.Must(newEvidence(s.Recording(), configured().Views))(t)
	causes, _ := e.blame(func(at *situation) bool { return at.state.Doing == views.AwaitingGroup })
	if len(causes) != 1 || causes[0].Class != "go:main.fetch" || causes[0].Certainty != Started ||
		causes[0].Activity != Sleeping || causes[0].Share < 0.99 {
		t.Errorf("causes are %+v", causes)
	}
}

// A query is done in stages, one goroutine each. Whoever waits
// for all of them waits for the one that computes, and so do the
// other stages.
func TestStages(t *testing.T) {
	s := newScene()
	s.spawn(1, "main.serve")
	group := sampledata.State{Run: sampledata.Waiting, Reason: "sync.WaitGroup.Wait"}
	id := int64(100)
	start := func(function string) sampledata.GoroutineID {
		id++
		return s.Goroutine(sampledata.Goroutine{ID: id, Start: s.function(function), Parent: 1,
			Site: sampledata.Site{Function: "main.query"}})
	}
	for range 30 {
		stages := []sampledata.GoroutineID{start("main.rows"), start("main.batches"), start("main.closer")}
		s.sample(t, states{
			s.goroutines[0]: s.at(group, "main.serve", "main.query", "sync.(*WaitGroup).Wait"),
			stages[0]:       s.at(runs, "main.rows", "main.join"),
			stages[1]:       s.at(idles, "main.batches", "main.collect"),
			stages[2]:       s.at(group, "main.closer", "main.closeAfter", "sync.(*WaitGroup).Wait"),
		})
		s.sample(t, states{stages[1]: s.at(runs, "main.batches")})
		s.gone = append(s.gone, stages...)
		s.sample(t, states{s.goroutines[0]: s.at(idles, "main.serve")})
	}
	e := fixture.Must(newEvidence(s.Recording(), configured().Views))(t)
	rows := 0.0
	causes, _ := e.blame(func(at *situation) bool { return at.state.Doing == views.AwaitingGroup })
	for _, c := range causes {
		if c.Activity == Joining {
			t.Errorf("a cause is %+v", c)
		}
		if c.Class == "go:main.rows" && c.Activity == Computing {
			rows += c.Share
		}
	}
	if rows < 0.4 {
		t.Errorf("they wait for what computes in %.2f of the time", rows)
	}
	for _, f := range s.find(t).Findings {
		if f.Kind != ComputeKind {
			t.Errorf("found %s of %s: %+v", f.Kind, f.Class, f.Causes)
		}
	}
}

// Clients wait until others have done their work. Those that
// were started with them, and live on, are not who they wait
// for.
func TestLivingSiblings(t *testing.T) {
	s := newScene()
	s.spawn(1, "main.main")
	var clients []sampledata.GoroutineID
	for n := range 4 {
		clients = append(clients, s.Goroutine(sampledata.Goroutine{ID: int64(100 + n), Start: s.function("main.client"), Parent: 1,
			Site: sampledata.Site{Function: "main.main"}}))
	}
	group := sampledata.State{Run: sampledata.Waiting, Reason: "sync.WaitGroup.Wait"}
	s.samples(t, 60, func(i int) {
		for n, c := range clients {
			s.is[c] = s.at(group, "main.client", "main.put", "main.commit", "sync.(*WaitGroup).Wait")
			if (i+n)%3 == 0 {
				s.is[c] = s.at(runs, "main.client", "main.put")
			}
		}
	})
	for _, f := range s.find(t).Findings {
		if f.Kind == GroupKind {
			if f.Where.Function != "main.commit" || len(f.Causes) > 0 {
				t.Errorf("they wait in %s; causes are %+v", f.Where.Function, f.Causes)
			}
			return
		}
	}
	t.Error("nothing waits for a group")
}

// Goroutines that were started with those that wait, and compute
// meanwhile, may be whom these wait for. Two of fifty are not.
func TestSiblingsThatHardlyLive(t *testing.T) {
	for every, found := range map[int]int{1: 0, 25: 1} {
		s := newScene()
		loop := s.spawn(1, "main.loop")[0]
		id := int64(100)
		start := func(function string) sampledata.GoroutineID {
			id++
			return s.Goroutine(sampledata.Goroutine{ID: id, Start: s.function(function), Parent: 1, Site: sampledata.Site{Function: "main.loop"}})
		}
		for i := range 50 {
			s.is[loop] = s.at(idles, "main.loop")
			var gone []sampledata.GoroutineID
			for range 2 {
				page := start("main.page")
				if s.is[page] = s.at(idles, "main.page", "main.render", "main.part", "main.(*store).load"); i%10 == 0 {
					s.is[page] = s.at(runs, "main.page", "main.begin")
				}
				gone = append(gone, page)
			}
			if i%every == 0 {
				other := start("main.encode")
				s.is[other] = s.at(runs, "main.encode", "main.write")
				gone = append(gone, other)
			}
			s.sample(t)
			s.gone = gone
			s.sample(t, states{loop: s.at(runs, "main.loop")})
			if i == 49 {
				s.gone = nil
			}
		}
		a := s.find(t)
		waits := slices.DeleteFunc(a.Findings, func(f *Finding) bool { return f.Class != "go:main.page" })
		if len(waits) != found {
			t.Errorf("a sibling each %d: %+v %+v", every, waits, a.Hypotheses)
		}
	}
}

// A goroutine waits for what another one sends that it has
// started there, or for a deadline. The one that logs is not
// waited for. What the other one does is why it waits, be it
// that it sleeps or that it computes: the wait is no finding of
// its own.
func TestChildren(t *testing.T) {
	for _, does := range []sampledata.State{sleeps, runs} {
		s := newScene()
		var servers []sampledata.GoroutineID
		for i := range 3 {
			servers = append(servers, s.Goroutine(sampledata.Goroutine{ID: int64(i + 1), Start: s.function("main.serve")}))
		}
		id := int64(100)
		start := func(parent int, site string) sampledata.GoroutineID {
			id++
			return s.Goroutine(sampledata.Goroutine{ID: id, Start: s.function("main.deadline.func1"), Parent: int64(parent),
				Site: sampledata.Site{Function: site}})
		}
		log := start(1, "main.deadline") // it lives on
		for range 30 {
			s.is[log] = s.at(sleeps, "main.deadline.func1", "main.log", "main.again")
			var ended []sampledata.GoroutineID
			for i, server := range servers {
				child := start(i+1, "main.deadline")
				s.is[server] = s.at(selects, "main.serve", "main.store", "main.deadline")
				s.is[child] = s.at(does, "main.deadline.func1", "main.write", "main.again")
				ended = append(ended, child)
			}
			s.sample(t)
			s.gone = ended
			again := make(map[sampledata.GoroutineID]sampledata.State)
			for _, server := range servers {
				again[server] = s.at(runs, "main.serve", "main.store")
			}
			s.sample(t, again)
		}
		all := s.find(t).Findings
		if slices.ContainsFunc(all, func(f *Finding) bool { return f.Kind == ChannelKind }) {
			t.Error("a wait for goroutines that are known is a finding of its own")
		}
		if f := all[0]; does == sleeps && (f.Where.Function != "main.again" || len(f.Behind) != 1 || f.Behind[0].Name != "go:main.serve") {
			t.Errorf("found %s in %s, for which wait %+v", f.Kind, f.Where.Function, f.Behind)
		}
	}
}

// Readers wait behind a writer that waits for an earlier reader.
// That reader has the lock.
func TestBehindWriter(t *testing.T) {
	s := newScene()
	workers := s.spawn(4, "main.worker")
	scanner := s.spawn(1, "main.scanner")
	write, read := blocked, blocked
	write.Lock, write.Holders = 0x200, s.HolderSet(scanner)
	read.Lock, read.Holders = 0x200, s.HolderSet(workers[:1])
	s.samples(t, 60, func(int) {
		s.is[scanner[0]] = s.at(reads, "main.scanner", "main.scan", "net.(*conn).Read")
		s.is[workers[0]] = s.at(write, "main.worker", "main.put", "sync.(*RWMutex).Lock")
		s.all(workers[1:], s.at(read, "main.worker", "main.get", "sync.(*RWMutex).RLock"))
	})
	f := s.find(t).Findings[0]
	if f.Kind != LockKind || len(f.Causes) != 1 || f.Causes[0].Class != "go:main.scanner" || f.Causes[0].Share < 0.99 {
		t.Errorf("%s; causes are %+v", f.Kind, f.Causes)
	}
}

// Others of a class may have what a goroutine waits for, if they
// are past the wait. A goroutine alone has no others: what it
// does at other times is no cause.
func TestFellows(t *testing.T) {
	for _, c := range []struct {
		n     int
		other []string
		want  bool
	}{
		{1, []string{"main.commit:12", "main.encode"}, false},
		{3, []string{"main.commit:12", "main.encode"}, true},
		{3, []string{"main.commit:3", "main.prepare"}, false},
		{3, []string{"main.commit", "main.take"}, false}, // woken, but not running yet
	} {
		s := newScene()
		all := s.spawn(c.n, "main.loop")
		s.samples(t, 60, func(i int) {
			for k, g := range all {
				switch (i/3 + k) % 4 {
				case 0:
					s.is[g] = s.at(runs, append([]string{"main.loop"}, c.other...)...)
				case 1:
					s.is[g] = s.at(idles, "main.loop")
				default:
					s.is[g] = s.at(sends, "main.loop", "main.commit", "main.take")
				}
			}
		})
		a := s.find(t)
		at := slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.Kind == ChannelKind })
		if at < 0 {
			t.Fatalf("%d goroutines: %+v", c.n, a.Findings)
		}
		fellow := func(c Cause) bool { return c.Certainty == Fellow }
		if slices.ContainsFunc(a.Findings[at].Causes, fellow) != c.want {
			t.Errorf("%d goroutines, others in %q: %+v", c.n, c.other, a.Findings[at])
		}
	}
}

// Who waits with a lock that others wait for does not wait for
// work, though it waits where it otherwise does.
func TestHoldersDoNotWaitForWork(t *testing.T) {
	s := newScene()
	holder, workers := s.spawn(1, "main.deliver")[0], s.spawn(3, "main.worker")
	locked := blocked
	locked.Lock, locked.Holders = 0x200, s.HolderSet([]sampledata.GoroutineID{holder})
	s.samples(t, 80, func(i int) {
		s.is[holder] = s.at(selects, "main.deliver")
		s.sometimes(i, 10, holder, s.at(runs, "main.deliver", "main.encode"))
		s.all(workers, s.at(locked, "main.worker", "main.send"))
	})
	f := s.find(t).Findings[0]
	if f.Kind != LockKind || len(f.Causes) == 0 || f.Causes[0].Activity != Selecting {
		t.Errorf("%s: %+v", f.Kind, f.Causes)
	}
}

// If nobody is named for some waits, those may end them who may end the
// others. The last of a chain has all that wait for it. Who has
// gone on to send does not keep them waiting.
func TestUnnamedCandidates(t *testing.T) {
	s := newScene()
	pages, parts := s.spawn(1, "main.page"), s.spawn(3, "main.part")
	batch, late := s.spawn(1, "main.batch")[0], s.spawn(1, "main.batch")[0]
	group := sampledata.State{Run: sampledata.Waiting, Reason: "sync.WaitGroup.Wait", Holders: s.HolderSet(parts), Evidence: sampledata.Likely}
	receives := sampledata.State{Run: sampledata.Waiting, Reason: "chan receive"}
	s.samples(t, 100, func(i int) {
		waits := receives
		if waits.Lock = 0x900 + uint64(i%2); i%2 == 0 {
			waits.Holders, waits.Evidence = s.HolderSet([]sampledata.GoroutineID{batch}), sampledata.Ambiguous
		}
		s.all(pages, s.at(group, "main.page", "main.gather", "sync.(*WaitGroup).Wait"))
		s.all(parts, s.at(waits, "main.part", "main.load", "main.(*loader).wait"))
		s.is[batch] = s.at(reads, "main.batch", "main.fetch", "net.(*conn).Read")
		s.is[late] = s.at(sampledata.State{Run: sampledata.Waiting, Reason: "chan send"}, "main.batch")
		if i%10 == 0 {
			s.all(pages, s.at(runs, "main.page"))
			s.all(parts, s.at(runs, "main.part"))
			s.is[batch] = s.at(sleeps, "main.batch")
			s.is[late] = s.at(runs, "main.batch")
		}
	})
	f := s.find(t).Findings[0]
	if behind := names(f.Behind); f.Class != "go:main.batch" || f.Where.Function != "main.fetch" ||
		!slices.Contains(behind, "go:main.page") || !slices.Contains(behind, "go:main.part") {
		t.Errorf("found %+v", f)
	}
	causes, _ := fixture.Must(newSearcher(s.Recording(), configured()))(t).e.blame(func(at *situation) bool { return at.state.Doing == views.Receiving })
	if len(causes) != 1 || causes[0].Certainty != Candidate || causes[0].Share < 0.7 {
		t.Errorf("causes are %+v", causes)
	}
}

// Who waits for a group waits for what those do that it has started.
func TestGainOfStartedMembers(t *testing.T) {
	s := newScene()
	server, busy := s.spawn(1, "main.serve")[0], s.spawn(2, "main.count")
	group := sampledata.State{Run: sampledata.Waiting, Reason: "sync.WaitGroup.Wait"}
	part := s.Goroutine(sampledata.Goroutine{ID: 100, Start: s.function("main.fetch"), Parent: 1, Site: sampledata.Site{Function: "main.gather"}})
	s.samples(t, 200, func(i int) {
		s.all(busy, s.at(runs, "main.count"))
		if s.is[server] = s.at(group, "main.serve", "main.gather", "sync.(*WaitGroup).Wait"); i%4 == 0 {
			s.is[server] = s.at(runs, "main.serve", "main.merge")
		}
		if s.is[part] = s.at(sleeps, "main.fetch", "main.retry"); i%4 == 0 {
			s.is[part] = s.at(runs, "main.fetch")
		}
	})
	searched := fixture.Must(findIn(s.Recording(), configured()))(t)
	b := newMoments(searched.searcher).tracer(target{hit: func(at *situation) bool { return at.state.Doing == views.Sleeping }})
	if g := b.gain([]int32{searched.e.byName["go:main.serve"]}, 1); g.Times == nil || !nearly(g.Times.Times, 4) {
		t.Errorf("%+v %+v", g, g.Times)
	}
}

// If the holder of a lock waits for another, which is no finding, whoever
// holds that is said.
func TestHolderBehindHolder(t *testing.T) {
	s := newScene()
	all := s.spawn(40, "main.worker")
	first, second := blocked, blocked
	first.Lock, first.Holders = 0x200, s.HolderSet(all[1:2])
	second.Lock, second.Holders = 0x300, s.HolderSet(all[:1])
	s.samples(t, 100, func(i int) {
		s.all(all[2:], s.at(first, "main.worker", "main.refresh", "sync.(*Mutex).Lock"))
		s.is[all[1]] = s.at(second, "main.worker", "main.refresh", "main.size", "sync.(*Mutex).Lock")
		s.is[all[0]] = s.at(reads, "main.worker", "main.send", "net.(*conn).Read")
		s.some(i, 50, all[2:], s.at(runs, "main.worker"))
	})
	f := s.find(t).Findings[0]
	if f.Kind != LockKind || f.Causes[0].Behind == nil || f.Causes[0].Behind.Place.Function != "main.send" || f.Remedy != otherLock {
		t.Errorf("found %+v", f)
	}
}

// What a holder calls is said if it is most of what it does.
func TestWhatHoldersCall(t *testing.T) {
	for every, want := range map[int]string{1: "bytes.(*Buffer).WriteString", 3: ""} {
		s := newScene()
		all := s.spawn(4, "main.worker")
		waits := blocked
		waits.Lock, waits.Holders = 0x200, s.HolderSet(all[:1])
		s.samples(t, 100, func(i int) {
			s.all(all[1:], s.at(waits, "main.worker", "main.log", "sync.(*Mutex).Lock"))
			called := "bytes.(*Buffer).WriteString"
			if i%every > 0 {
				called = fmt.Sprintf("strings.part%d", i)
			}
			s.is[all[0]] = s.at(runs, "main.worker", "main.log", "main.format", called)
			s.some(i, 20, all[1:], s.at(runs, "main.worker"))
		})
		f := s.find(t).Findings[0]
		if p := &f.Causes[0].Place; p.Function != "main.format" || p.Library != want {
			t.Errorf("the holder is in %s, %s, want %q", p.Function, p.Library, want)
		}
	}
}

// Whoever waits for one that only collects the results of others waits for
// these: their code is the reason, and not the little that they allocate.
func TestInTheEnd(t *testing.T) {
	s := newScene()
	handlers := s.spawn(4, "main.serve")
	receives := sampledata.State{Run: sampledata.Waiting, Reason: "chan receive", Evidence: sampledata.Ambiguous}
	var collect, compute []sampledata.GoroutineID
	s.samples(t, 200, func(i int) {
		if i%4 == 0 { // each piece of work takes four samples
			s.gone = slices.Concat(collect, compute)
			collect, compute = s.spawn(4, "main.validate.func1"), s.spawn(4, "main.validate.func2")
		}
		for k, g := range handlers {
			first, then := receives, receives
			first.Lock, first.Holders = 0x900+uint64(k), s.HolderSet(collect[k:k+1])
			then.Lock, then.Holders = 0xa00+uint64(k), s.HolderSet(compute[k:k+1])
			s.is[g] = s.at(first, "main.serve", "main.handle", "main.validate")
			s.is[collect[k]] = s.at(then, "main.validate.func1")
			s.is[compute[k]] = s.at(runs, "main.validate.func2", "main.check", "main.render")
			if (i/4+k)%6 == 0 {
				s.is[compute[k]] = s.at(runs, "main.validate.func2", "main.check", "main.render", "runtime.mallocgc")
			}
			if (i/4+k)%3 == 0 {
				s.is[compute[k]] = s.at(runs, "main.validate.func2", "main.compare")
			}
		}
		s.some(i, 8, handlers, s.at(runs, "main.serve", "main.handle"))
	})
	f := s.find(t).Findings[0]
	if f.Kind != ComputeKind || f.Where.Function != "main.render" || !slices.Contains(names(f.Behind), "go:main.serve") {
		t.Errorf("found %+v", f)
	}
}

// Who holds a lock, and waits for a group, holds it also while none of the
// group is known.
func TestHolderOfALockInAGroup(t *testing.T) {
	s := newScene()
	all := s.spawn(6, "main.worker")
	waits, group := blocked, sampledata.State{Run: sampledata.Waiting, Reason: "sync.WaitGroup.Wait"}
	waits.Lock, waits.Holders = 0x200, s.HolderSet(all[:1])
	part := s.Goroutine(sampledata.Goroutine{ID: 100, Start: s.function("main.fetch"), Parent: 1, Site: sampledata.Site{Function: "main.gather"}})
	s.samples(t, 100, func(i int) {
		s.all(all[1:], s.at(waits, "main.worker", "main.load", "sync.(*Mutex).Lock"))
		s.some(i, 20, all[1:], s.at(runs, "main.worker"))
		s.is[all[0]] = s.at(group, "main.worker", "main.load", "main.gather", "sync.(*WaitGroup).Wait")
		if i < 50 {
			s.is[part] = s.at(reads, "main.fetch", "net.(*conn).Read")
		}
		if i == 50 {
			s.gone = []sampledata.GoroutineID{part}
		}
	})
	f := s.find(t).Findings[0]
	joins := shareWhere(f.Causes, doing(Joining))
	if f.Kind != LockKind || f.Unknown > 0.05 || joins < 0.4 || joins > 0.6 {
		t.Errorf("found %+v: %g waits for a group", f, joins)
	}
}
