package why

import (
	"slices"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// Several goroutines that have not moved in the middle of a
// request are a finding. A few, those that wait for work, and
// those that some have left, are no such finding.
func TestStandstill(t *testing.T) {
	for name, c := range map[string]struct {
		goroutines, samples int
		entry               string
		leaves              bool
		want                bool
	}{
		"all stand":                 {8, 200, "example.com/rpc/lib.(*Client).Call", false, true},
		"two may wait their turn":   {2, 200, "example.com/rpc/lib.(*Client).Call", false, false},
		"the recording is short":    {8, 100, "example.com/rpc/lib.(*Client).Call", false, false},
		"they wait for work":        {8, 200, "example.com/rpc/lib.(*Client).Receive", false, false},
		"one is seen to get an end": {8, 200, "example.com/rpc/lib.(*Client).Call", true, false},
	} {
		s := newScene()
		all := s.spawn(c.goroutines, "main.client")
		at := s.at(selects, "main.client", c.entry, "example.com/rpc/lib.(*Client).dispatch", "runtime.selectgo", "runtime.gopark")
		s.samples(t, c.samples, func(i int) {
			s.all(all, at)
			if c.leaves && i == 150 {
				s.is[all[0]] = s.at(runs, "main.client")
			}
		})
		a := s.find(t)
		found := len(a.Findings) == 1 && a.Findings[0].Kind == StandstillKind && a.Findings[0].Where.Function == "example.com/rpc/lib.(*Client).dispatch"
		if found != c.want {
			t.Errorf("%s: %+v", name, a.Findings)
		}
	}
}

// Who starts goroutines goes on, though each sample shows the same wait.
func TestStartsShowMoves(t *testing.T) {
	for _, starts := range []bool{true, false} {
		s := newScene()
		caller := s.spawn(1, "main.caller")[0]
		waits := sampledata.State{Run: sampledata.Waiting, Reason: "sync.Cond.Wait"}
		s.samples(t, 200, func(i int) {
			s.is[caller] = s.at(waits, "main.caller", "example.com/pool/lib.(*Pool).Submit", "example.com/pool/lib.(*Pool).retrieve", "sync.(*Cond).Wait")
			s.gone = append(s.gone, s.goroutines[1:]...)
			if s.goroutines = s.goroutines[:1]; starts && i%20 == 10 {
				child := s.Goroutine(sampledata.Goroutine{ID: int64(100 + i), Parent: 1, Start: s.function("main.task")})
				s.is[child] = s.at(runs, "main.task")
				s.goroutines = append(s.goroutines, child)
			}
		})
		a := s.find(t)
		if found := len(a.Findings) == 1 && a.Findings[0].Class == "go:main.caller"; found != starts || len(a.NotMoved) > 0 == starts {
			t.Errorf("starts %t: %+v, not moved %+v", starts, briefly(a), a.NotMoved)
		}
	}
}

// Goroutines that have not moved, while others of their class go round,
// stand beside the findings, unless these say where.
func TestStillBesideFindings(t *testing.T) {
	s := newScene()
	all := s.spawn(4, "main.client")
	waits := sampledata.State{Run: sampledata.Waiting, Reason: "sync.Cond.Wait"}
	s.samples(t, 200, func(i int) {
		s.all(all, s.at(waits, "main.client", "example.com/pool/lib.(*Pool).Submit", "sync.(*Cond).Wait"))
		s.is[all[0]] = s.at(reads, "main.client", "main.store", "os.(*File).Sync")
		s.sometimes(i, 10, all[0], s.at(runs, "main.client", "main.parse"))
	})
	a := s.find(t)
	if beside := a.Beside(); len(a.Findings) == 0 || len(beside) != 1 || beside[0].Count != 3 {
		t.Errorf("%+v, beside %+v, %+v, %+v", briefly(a), beside, a.NotMoved, a.Resting)
	}
	a.Findings[0].Where.Function = a.NotMoved[0].Function
	if beside := a.Beside(); len(beside) != 0 {
		t.Errorf("told twice: %+v", beside)
	}
}

// Who can't write is why others of its package stand still, and
// comes first.
func TestStandstillBehindAWriter(t *testing.T) {
	for call, found := range map[string]int{"net.(*netFD).Write": 2, "net.(*netFD).Read": 1} {
		s := newScene()
		all, sender := s.spawn(8, "main.client"), s.spawn(1, "example.com/rpc/lib.(*Client).run")[0]
		s.samples(t, 200, func(int) {
			s.is[sender] = s.at(reads, "example.com/rpc/lib.(*Client).run", "example.com/rpc/lib.(*Client).send", call, "internal/poll.(*FD).Write")
			s.all(all,
				s.at(selects, "main.client", "example.com/rpc/lib.(*Client).Call", "example.com/rpc/lib.(*Client).dispatch", "runtime.selectgo"))
		})
		a := s.find(t)
		if len(a.Findings) != found || (a.Findings[0].Kind == IOKind) != (found == 2) {
			t.Errorf("%s: %+v", call, a.Findings)
		}
	}
}

// Goroutines of one class that have two loops may wait for work
// in each. If each is in both, neither is its loop.
func TestTwoLoops(t *testing.T) {
	for own, found := range map[bool]int{true: 0, false: 1} {
		s := newScene()
		all := s.spawn(8, "main.loop")
		s.samples(t, 150, func(i int) {
			for j, g := range all {
				in := "main.(*reader).await"
				if own && j%2 == 0 || !own && i%100 < 75 {
					in = "main.(*writer).await"
				}
				s.is[g] = s.at(selects, "main.loop", in, "runtime.selectgo", "runtime.gopark")
				if (i+j)%20 == 0 {
					s.is[g] = s.at(runs, "main.loop", in)
				}
			}
		})
		if a := s.find(t); min(len(a.Findings), 1) != found {
			t.Errorf("each has one: %v: %s: %+v", own, a.State, a.Findings)
		}
	}
}

// What most of a class do not do is not said of the class.
func TestFewStandStill(t *testing.T) {
	for stands, want := range map[int]string{1: "", 3: notMoved} {
		s := newScene()
		all := s.spawn(4, "main.reader")
		s.samples(t, 150, func(i int) {
			for j, g := range all {
				switch {
				case j < stands:
					s.is[g] = s.at(reads, "main.reader", "main.(*conn).header", "internal/poll.(*FD).Read", "runtime.gopark")
				case (i+j)%20 == 0:
					s.is[g] = s.at(runs, "main.reader")
				default:
					s.is[g] = s.at(idles, "main.reader", "runtime.chanrecv1", "runtime.gopark")
				}
			}
		})
		resting := s.find(t).Resting
		if len(resting) != 1 || resting[0].Does != want || resting[0].NotMoved() != (want != "") {
			t.Errorf("%d of 4 stand still: %+v", stands, resting)
		}
	}
}

// A main goroutine that sleeps while the others wait for work
// does not make it a question what they wait for.
func TestMainSleeps(t *testing.T) {
	for at, want := range map[string]State{"runtime.main": Idle, "main.other": Waiting} {
		s := newScene()
		first, worker := s.spawn(1, at)[0], s.spawn(1, "main.worker")[0]
		s.samples(t, 150, func(i int) {
			in := []string{"main.start", "main.stop"}[i/75]
			s.is[first] = s.at(sleeps, at, "main.run", in, "time.Sleep")
			if s.is[worker] = s.at(idles, "main.worker"); i%10 == 0 {
				s.is[worker] = s.at(runs, "main.worker")
			}
		})
		if a := s.find(t); a.State != want {
			t.Errorf("%s sleeps: %s, want %s: %+v", at, a.State, want, a.Resting)
		}
	}
}

// The kernel says how long threads waited for a CPU, and ran,
// also those that no sample sees.
func TestDelayed(t *testing.T) {
	s := newScene()
	worker := s.spawn(1, "main.worker")[0]
	delay := s.Monitor(sampledata.Monitor{Name: "threads.run_delay", Layer: sampledata.Kernel, Kind: sampledata.Counter, Unit: "ns"})
	cpu := s.Monitor(sampledata.Monitor{Name: "process.cpu", Layer: sampledata.Kernel, Kind: sampledata.Counter, Unit: "ns"})
	s.samples(t, 100, func(i int) {
		s.is[worker] = s.at(idles, "main.worker")
		s.sometimes(i, 10, worker, s.at(runs, "main.worker"))
		s.Measure(delay, sampledata.Count(uint64(i)*30_000_000)) // each 20 ms
		s.Measure(cpu, sampledata.Count(uint64(i)*10_000_000))
	})
	a := s.find(t)
	if a.Delayed < 1.4 || a.Delayed > 1.55 || a.NoCPU != 0 {
		t.Errorf("%v threads wait, and %v were seen to", a.Delayed, a.NoCPU)
	}
	if used := a.Clock * a.Processors; used < 0.49 || used > 0.51 || a.Used.Share*a.Processors > 0.11 {
		t.Errorf("%v CPUs by the clock, %+v seen", used, a.Used)
	}
}

// One goroutine that waits for a context that nobody can cancel
// is as it is meant. Several, or one that sends, are not.
func TestWaitThatMayBeMeant(t *testing.T) {
	evict := []string{"main.evict"}
	for name, c := range map[string]struct {
		reason string
		wait   sampledata.Wait
		path   []string
		count  int
		serves bool // another goroutine waits for work
		found  bool
	}{
		"a context":            {"chan receive (nil chan)", sampledata.ForNil, evict, 1, false, false},
		"several":              {"chan receive (nil chan)", sampledata.ForNil, evict, 2, false, true},
		"a sender":             {"chan send (nil chan)", sampledata.ForNil, evict, 1, false, true},
		"a select for good":    {"select (no cases)", sampledata.ForNothing, evict, 1, false, false},
		"selects, too":         {"select (no cases)", sampledata.ForNothing, evict, 3, false, true},
		"main lives on":        {"chan receive", sampledata.ForSender, []string{"runtime.main", "main.main"}, 1, true, false},
		"main hangs":           {"chan receive", sampledata.ForSender, []string{"runtime.main", "main.main"}, 1, false, true},
		"main can't send":      {"chan send", sampledata.ForReceiver, []string{"runtime.main", "main.main"}, 1, true, true},
		"another one receives": {"chan receive", sampledata.ForSender, evict, 1, true, true},
	} {
		s := newScene()
		all := s.spawn(c.count, c.path[0])
		s.samples(t, 100, func(i int) {
			if c.serves {
				if i == 0 {
					s.spawn(1, "main.serve")
				}
				server := s.goroutines[len(s.goroutines)-1]
				if s.is[server] = s.at(idles, "main.serve"); i%10 == 0 {
					s.is[server] = s.at(runs, "main.serve", "main.handle")
				}
			}
			s.all(all, s.at(sampledata.State{Run: sampledata.Waiting, Reason: c.reason}, c.path...))
		})
		r := s.Recording()
		group := sampledata.MarkedGroup{Count: c.count, Reason: c.reason, Verdict: sampledata.Stuck, Wait: c.wait, Kept: -1}
		for _, f := range slices.Backward(c.path) {
			group.Calls = append(group.Calls, sampledata.Call{Function: f})
		}
		for _, g := range all {
			group.IDs = append(group.IDs, r.Goroutines.At(g).ID)
		}
		r.Marking = &sampledata.Marking{Groups: []sampledata.MarkedGroup{group}}
		a := fixture.Must(Find(r, configured()))(t)
		if found := len(a.Findings) == 1 && a.Findings[0].Kind == StuckKind; found != c.found || !found && a.State != Unmoved {
			t.Errorf("%s: %s %+v", name, a.State, a.Findings)
		}
		never := func(r Resting) bool { return r.Stuck }
		if said := slices.ContainsFunc(a.Resting, never); said == c.found {
			t.Errorf("%s: that it can never go on is said: %v", name, said)
		}
		r.Marking.Groups[0].Verdict = sampledata.Suspected
		if a = fixture.Must(Find(r, configured()))(t); slices.ContainsFunc(a.Resting, never) {
			t.Errorf("%s: that it can never go on is said though it is not known", name)
		}
	}
}

// Each of many waits once and for long for a place that two have
// at a time. Who waits to receive may have nothing to do.
func TestQueueThatMoves(t *testing.T) {
	for wait, found := range map[string]int{"for those with places": 1, "to send": 1, "to receive": 0} {
		s := newScene()
		other, all := s.spawn(1, "main.keep")[0], s.spawn(30, "main.visit")
		s.samples(t, 200, func(i int) {
			s.is[other] = s.at(idles, "main.keep")
			first := i / 20 * 2 // those before it have ended
			waits := sends
			switch wait {
			case "to receive":
				waits = idles
			case "for those with places":
				waits.Evidence, waits.Holders = sampledata.Likely, s.HolderSet(all[first:first+2])
			}
			if i > 5 {
				for j, g := range all {
					switch {
					case j < first-2:
					case j < first:
						if i%20 == 0 {
							s.gone = append(s.gone, g)
						}
					case j < first+2:
						s.is[g] = s.at(sleeps, "main.visit", "main.index", "main.store")
					default:
						s.is[g] = s.at(waits, "main.visit", "main.index", "main.enter")
					}
				}
			}
		})
		a := s.find(t)
		waits := slices.DeleteFunc(a.Findings, func(f *Finding) bool { return f.Where.Function != "main.enter" })
		if len(waits) != found || wait == "for those with places" && (len(waits[0].Causes) == 0 || waits[0].Causes[0].Activity != Sleeping) {
			t.Errorf("they wait %s: %+v %+v", wait, a.Findings, a.Hypotheses)
		}
	}
}

// One goroutine has a result that nobody needs yet. It is no queue.
func TestResultThatWaits(t *testing.T) {
	s := newScene()
	other, one := s.spawn(1, "main.run")[0], s.spawn(1, "main.sizes")[0]
	s.samples(t, 100, func(i int) {
		s.is[other] = s.at(runs, "main.run", "main.list")
		switch {
		case i < 60:
			s.is[one] = s.at(sends, "main.sizes")
		case i == 60:
			s.gone = []sampledata.GoroutineID{one}
		}
	})
	a := s.find(t)
	if slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.Kind == ChannelKind }) {
		t.Errorf("%+v %+v", a.Findings, a.Hypotheses)
	}
}

// Clients that wait for a lock, and whose holder writes for
// ever, came to a standstill: their findings say so, and have no
// gain. If most of them go on in the second half, or wait for
// another lock there, they have not.
func TestStandstillInTheRecording(t *testing.T) {
	for _, then := range []string{"", "runs", "waits for another lock"} {
		s := newScene()
		all := s.spawn(4, "main.client")
		writes := s.at(reads, "main.client", "main.send", "net.(*netFD).Write")
		waits := s.at(blocked, "main.client", "main.send", "sync.(*Mutex).Lock")
		waits.Lock, waits.Holders = 0x200, s.HolderSet(all[:1])
		s.samples(t, 400, func(i int) {
			if then == "waits for another lock" && i == 300 {
				waits.Lock = 0x300
			}
			s.is[all[0]] = writes
			s.is[all[1]] = waits
			s.is[all[2]] = waits
			s.is[all[3]] = waits
			if i < 20 || then == "runs" && i == 300 {
				s.is[all[2]], s.is[all[3]] = s.at(runs, "main.client", "main.encode"), s.at(runs, "main.client", "main.encode")
			}
		})
		f := s.lockFinding(t)
		if stalls := slices.Contains(f.Signs, stalled); stalls != (then == "") || stalls != (f.Gain.Silent != "") {
			t.Errorf("then it %q: %q, gain %+v", then, f.Signs, f.Gain)
		}
	}
}

// A class whose waits for work are for one that sleeps meanwhile may
// be as late as that.
func TestRestsForASleeper(t *testing.T) {
	for does, want := range map[sampledata.RunState]string{sleeps.Run: "go:main.batch", runs.Run: ""} {
		s := newScene()
		client, batcher := s.spawn(1, "main.client")[0], s.spawn(1, "main.batch")[0]
		for i := range 100 {
			waits := s.at(idles, "main.client")
			waits.Lock, waits.Evidence, waits.Holders = 0x500, sampledata.Ambiguous, s.HolderSet([]sampledata.GoroutineID{batcher})
			meanwhile := s.at(sleeps, "main.batch", "time.Sleep")
			if i%20 == 0 {
				waits = s.at(runs, "main.client")
			}
			if i%20 == 10 || does == runs.Run && i%2 == 0 {
				meanwhile = s.at(runs, "main.batch")
			}
			s.sample(t, states{client: waits, batcher: meanwhile})
		}
		resting := s.find(t).Resting
		i := slices.IndexFunc(resting, func(r Resting) bool { return r.Class == "go:main.client" })
		if i < 0 || resting[i].For != want {
			t.Errorf("%v: %+v", does, resting)
		}
	}
}

// Some of a class may wait for a group that nobody works for any
// more, while others go round. If these only come and go, or many are
// at work, that is no sign.
func TestLeftBehind(t *testing.T) {
	for name, found := range map[string]bool{"go round": true, "come and go": false, "others work": false} {
		s := newScene()
		waits := s.at(sampledata.State{Run: sampledata.Waiting, Reason: "sync.WaitGroup.Wait"}, "main.tenant", "main.batch", "sync.(*WaitGroup).Wait")
		left, others, workers := s.spawn(6, "main.tenant"), s.spawn(200, "main.tenant"), s.spawn(3, "main.worker")
		s.samples(t, 200, func(i int) {
			s.all(left, waits)
			s.all(workers, s.at(idles, "main.worker"))
			if name == "others work" {
				s.all(workers, s.at(runs, "main.worker", "main.task"))
			}
			g := others[0]
			if name == "come and go" {
				g = others[i]
			}
			if s.is[g] = s.at(sleeps, "main.tenant"); i%3 == 0 {
				s.is[g] = s.at(runs, "main.tenant", "main.batch")
			}
		})
		a := s.find(t)
		i := slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.Kind == LeftKind })
		if i >= 0 != found || found && (a.Findings[i].Left != 6 || a.Findings[i].Where.Function != "main.batch") {
			t.Errorf("%s: %+v", name, a.Findings)
		}
	}
}

// Supervisors wait for others of their class, which wait for work: an
// idle tree. Tenants wait for those that ask a server.
func TestNotLeftBehind(t *testing.T) {
	for name, c := range map[string]struct{ above, of, below, rests, works string }{
		"a tree":   {"main.(*node).run", "sync.(*WaitGroup).Wait", "main.(*node).run", "main.(*node).serve", "main.handle"},
		"a server": {"main.tenant", "main.batch", "main.fetch", "net/http.(*persistConn).roundTrip", "main.store"},
	} {
		s := newScene()
		waits := s.at(sampledata.State{Run: sampledata.Waiting, Reason: "sync.WaitGroup.Wait"}, c.above, c.of, "sync.(*WaitGroup).Wait")
		above, others, below := s.spawn(4, c.above), s.spawn(2, c.above), s.spawn(8, c.below)
		s.samples(t, 300, func(i int) {
			s.all(above, waits)
			s.all(others, s.at(sleeps, c.above))
			s.some(i, 10, others, s.at(runs, c.above, c.of))
			s.all(below, s.at(selects, c.below, c.rests))
			s.those(below, func(j int) bool { return (i+7*j)%40 == 0 },
				s.at(runs, c.below, c.rests, c.works))
		})
		if a := s.find(t); slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.Kind == LeftKind }) {
			t.Errorf("%s: %+v", name, a.Findings)
		}
	}
}

// A class rests though one of its many goroutines is stuck for good.
func TestRestBesideOneThatIsStuck(t *testing.T) {
	for others, want := range map[int]bool{40: true, 4: false} {
		s := newScene()
		all := s.spawn(others+1, "main.serve")
		s.samples(t, 300, func(i int) {
			s.all(all, s.at(idles, "main.serve"))
			s.some(i, 200, all[1:], s.at(runs, "main.serve", "main.handle"))
		})
		r := s.Recording()
		r.Marking = &sampledata.Marking{Groups: []sampledata.MarkedGroup{{Count: 1, Reason: idles.Reason, Verdict: sampledata.Stuck, Wait: sampledata.ForSender,
			Kept: -1, Calls: []sampledata.Call{{Function: "main.serve"}}, IDs: []int64{r.Goroutines.At(all[0]).ID}}}}
		a := fixture.Must(Find(r, configured()))(t)
		rests := slices.ContainsFunc(a.Resting, func(r Resting) bool { return r.Class == "go:main.serve" })
		if len(a.Findings) != 1 || a.Findings[0].Kind != StuckKind || rests != want {
			t.Errorf("%d others: %+v %+v", others, a.Findings, a.Resting)
		}
	}
}

// Code that takes a processor matters more than one goroutine that was
// left behind, but not more than several.
func TestCodeBesideOneThatIsStuck(t *testing.T) {
	for count, first := range map[int]Kind{1: ComputeKind, 3: StuckKind} {
		s := newScene()
		left, spins := s.spawn(count, "main.left"), s.spawn(1, "main.loop")
		s.samples(t, 300, func(i int) {
			s.all(left, s.at(idles, "main.left"))
			s.all(spins, s.at(runs, "main.loop", "main.poll"))
		})
		r := s.Recording()
		group := sampledata.MarkedGroup{Count: count, Reason: idles.Reason, Verdict: sampledata.Stuck, Wait: sampledata.ForSender,
			Kept: -1, Calls: []sampledata.Call{{Function: "main.left"}}}
		for _, g := range left {
			group.IDs = append(group.IDs, r.Goroutines.At(g).ID)
		}
		r.Marking = &sampledata.Marking{Groups: []sampledata.MarkedGroup{group}}
		if a := fixture.Must(Find(r, configured()))(t); len(a.Findings) != 2 || a.Findings[0].Kind != first {
			t.Errorf("%d: %+v", count, a.Findings)
		}
	}
}

// Who has not moved in a queue that moves is not held up for good, also
// if others enter it in another function.
func TestStillInAQueue(t *testing.T) {
	for name, c := range map[string]struct {
		moves  bool
		where  string
		heldUp bool
	}{
		"nobody moves": {false, "main.put", true}, "one moves": {true, "main.put", false},
		"one moves, in another function": {true, "main.putLast", false},
	} {
		s := newScene()
		s.LockName(sampledata.LockName{Address: 0x100, Name: "main.jobs"})
		all := s.spawn(8, "main.producer")
		waits := sends
		waits.Lock, waits.Evidence, waits.Holders = 0x100, sampledata.Likely, s.HolderSet(s.spawn(1, "main.consumer"))
		s.samples(t, 200, func(i int) {
			s.all(all[1:], s.at(waits, "main.producer", "main.put"))
			s.is[all[0]] = s.at(waits, "main.producer", c.where)
			if c.moves && i == 150 {
				s.is[all[0]] = s.at(runs, "main.producer", "main.make")
			}
		})
		a := s.find(t)
		i := slices.IndexFunc(a.NotMoved, func(s Still) bool { return s.Function == "main.put" })
		if i < 0 || a.NotMoved[i].HeldUp() != c.heldUp {
			t.Errorf("%s: %+v", name, a.NotMoved)
		}
	}
}
