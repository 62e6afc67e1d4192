package why

import (
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// Who waits for a goroutine that it has started elsewhere waits as
// long as that lives. One that lives on is no reason.
func TestOffspring(t *testing.T) {
	for _, c := range []struct {
		waits, lives int // samples
		named        bool
	}{{5, 5, true}, {5, 2, false}, {5, 9, false}, {2, 1, false}} {
		s := newScene()
		publisher := s.spawn(1, "main.publish")[0]
		var alive []sampledata.GoroutineID
		ends := make(map[int]sampledata.GoroutineID)
		for i := range 120 {
			if s.is[publisher] = s.at(selects, "main.publish", "bus/lib.(*Bus).Publish"); i%6 >= c.waits {
				s.is[publisher] = s.at(runs, "main.publish")
			}
			if i%6 == 0 {
				g := s.Goroutine(sampledata.Goroutine{ID: int64(100 + i), Start: s.function("bus/lib.deliver"), Parent: 1,
					Site: sampledata.Site{Function: "bus/lib.(*Bus).begin"}})
				alive, ends[i+c.lives] = append(alive, g), g
			}
			if g, ended := ends[i]; ended {
				alive = slices.DeleteFunc(alive, func(other sampledata.GoroutineID) bool { return other == g })
				s.gone = []sampledata.GoroutineID{g}
			}
			s.all(alive, s.at(selects, "bus/lib.deliver", "bus/lib.awaitAck"))
			s.sample(t)
			s.gone = nil
		}
		a := s.find(t)
		i := slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.Class == "go:main.publish" })
		if i < 0 {
			t.Fatalf("%+v %+v", a.Findings, a.Hypotheses)
		}
		causes := a.Findings[i].Causes
		named := len(causes) == 1 && causes[0].Certainty == Meanwhile && causes[0].Place.Function == "bus/lib.awaitAck"
		if named != c.named {
			t.Errorf("%+v: %+v", c, causes)
		}
	}
}

// Who leaves the wait for a process to another goroutine waits for
// the process. One that lives on may look after it.
func TestLeftToChild(t *testing.T) {
	for lives, found := range map[int]int{10: 1, 20: 1, 200: 0} {
		s := newScene()
		main := s.spawn(1, "main.build")[0]
		var child sampledata.GoroutineID
		for i := range 120 {
			state := s.at(selects, "main.build", "main.run")
			state.Lock = uint64(i/lives+1) << 8 // a channel for each
			if i%lives == 0 {
				if i > 0 {
					s.gone = []sampledata.GoroutineID{child}
				}
				child = s.Goroutine(sampledata.Goroutine{ID: int64(100 + i), Start: s.function("main.run.func1"), Parent: 1,
					Site: sampledata.Site{Function: "main.run"}})
				state = s.at(runs, "main.build", "main.run")
			}
			s.sample(t, states{main: state,
				child: s.at(sampledata.State{Run: sampledata.Waiting, Reason: "syscall"}, "main.run.func1", "os/exec.(*Cmd).Wait", "os.(*Process).Wait")})
		}
		a := s.find(t)
		if len(a.Findings) != found || found > 0 && len(a.Findings[0].Behind) != 1 {
			t.Errorf("it lives for %d samples: %+v %+v", lives, a.Findings, a.Hypotheses)
		}
		if signed := found > 0 && slices.Contains(a.Findings[0].Signs, ofProcess); signed != (lives == 20) { // else it makes many
			t.Errorf("it lives for %d samples: %+v", lives, a.Findings)
		}
	}
}

// Who is only guessed to be waited for is no finding because of that,
// and the wait is one.
func TestGuessedOffspring(t *testing.T) {
	s := newScene()
	client := s.spawn(1, "main.publish")[0]
	var audit sampledata.GoroutineID
	s.samples(t, 120, func(i int) {
		switch i % 6 {
		case 0:
			audit = s.Goroutine(sampledata.Goroutine{ID: int64(100 + i), Start: s.function("main.audit"), Parent: 1,
				Site: sampledata.Site{Function: "main.begin"}})
		case 5:
			s.gone = []sampledata.GoroutineID{audit}
		}
		if s.is[client] = s.at(selects, "main.publish", "main.(*client).awaitAck"); i%6 == 5 {
			s.is[client] = s.at(runs, "main.publish")
		} else {
			s.is[audit] = s.at(sleeps, "main.audit")
		}
	})
	a := s.find(t)
	waits := slices.DeleteFunc(a.Findings, func(f *Finding) bool { return f.OfProcessors() })
	if len(waits) != 1 || waits[0].Class != "go:main.publish" || waits[0].Remedy != lookAtTimer || waits[0].Gain.Silent == "" {
		t.Errorf("%+v %+v", waits, a.Hypotheses)
	}
}

// One that waits for a process is not why another goroutine waits, if
// it does so for a small part of that.
func TestOtherThanTheChild(t *testing.T) {
	s := newScene()
	main, worker := s.spawn(1, "main.build")[0], s.spawn(1, "main.worker")[0]
	holders := s.HolderSet([]sampledata.GoroutineID{worker})
	syscall := sampledata.State{Run: sampledata.Waiting, Reason: "syscall"}
	var child sampledata.GoroutineID
	s.samples(t, 200, func(i int) {
		state := s.at(idles, "main.build", "main.run")
		state.Lock, state.Evidence, state.Holders = uint64(i/20+1)<<8, sampledata.Likely, holders
		s.is[worker] = s.at(syscall, "main.worker", "main.store", "os.(*File).Sync")
		switch i % 20 {
		case 0:
			child = s.Goroutine(sampledata.Goroutine{ID: int64(1000 + i), Start: s.function("main.run.func1"), Parent: 1,
				Site: sampledata.Site{Function: "main.run"}})
			state, s.is[worker] = s.at(runs, "main.build", "main.run"), s.at(idles, "main.worker")
		case 4:
			s.gone = []sampledata.GoroutineID{child}
		}
		if s.is[main] = state; i%20 < 4 {
			s.is[child] = s.at(syscall, "main.run.func1", "os/exec.(*Cmd).Wait", "os.(*Process).Wait")
		}
	})
	a := s.find(t)
	if len(a.Findings) == 0 || a.Findings[0].Class != "go:main.worker" || !slices.Equal(names(a.Findings[0].Behind), []string{"go:main.build"}) {
		t.Errorf("%+v %+v", a.Findings, a.Hypotheses)
	}
}

// Others of the class that are further on, and wait for others
// themselves, are at the next step of their work: they have nothing
// that these wait for, unless it is taken by its name.
func TestTheNextStepIsNoFellow(t *testing.T) {
	for first, fellows := range map[string]bool{"main.(*future).wait": false, "main.(*pool).acquire": true} {
		s := newScene()
		all := s.spawn(6, "main.save")
		s.samples(t, 120, func(i int) {
			for j, g := range all {
				switch (i/4 + j) % 6 {
				case 0:
					s.is[g] = s.at(runs, "main.save")
				case 1, 2:
					s.is[g] = s.at(selects, "main.save", "main.file", first)
				default:
					s.is[g] = s.at(selects, "main.save", "main.file:9", "main.(*blob).send")
				}
			}
		})
		a, seen := s.find(t), 0
		for _, f := range a.Findings {
			if f.Where.Function != first {
				continue
			}
			seen++
			if got := len(f.Causes) > 0 && f.Causes[0].Certainty == Fellow; got != fellows {
				t.Errorf("%s: %+v", first, f.Causes)
			}
		}
		if seen != 1 {
			t.Errorf("%s: %+v %+v", first, a.Findings, a.Hypotheses)
		}
	}
}

// Of channels that each call makes, only who has the other end of one
// counts, as long as somebody waits there: not those left behind.
func TestOtherEndsOfCalls(t *testing.T) {
	s := newScene()
	callers := s.spawn(3, "main.call")
	var working, left []sampledata.GoroutineID
	s.samples(t, 200, func(i int) {
		call := uint64(i / 20)
		if i%20 == 0 {
			left, working = append(left, working...), s.spawn(3, "main.run")
		}
		for j, g := range callers {
			wait := s.at(selects, "main.call", "main.ask")
			wait.Lock = 0x1000 + 0x100*call + 0x10*uint64(j)
			s.is[g] = wait
		}
		s.all(working, s.at(reads, "main.run", "main.fetch"))
		for j, g := range left {
			wait := s.at(sampledata.State{Run: sampledata.Waiting, Reason: "chan send"}, "main.run")
			wait.Lock = 0x1000 + 0x100*uint64(j/3) + 0x10*uint64(j%3)
			s.is[g] = wait
		}
	})
	f := s.find(t).Findings
	at := slices.IndexFunc(f, func(f *Finding) bool { return f.Class == "go:main.call" })
	if at < 0 || len(f[at].Causes) != 1 || f[at].Causes[0].Activity != IO || f[at].Causes[0].Certainty != OtherSide {
		for _, f := range f {
			t.Errorf("%s %s in %s: %+v", f.Kind, f.Class, f.Where.Function, f.Causes)
		}
	}
}

// A place in a pool may be kept by a caller of who takes it, in the
// handler; what else is further on there has nothing of it.
func TestFellowsInTheCaller(t *testing.T) {
	for first, want := range map[string]string{"main.(*pool).acquire": "main.handle", "main.(*future).wait": ""} {
		s := newScene()
		all := s.spawn(6, "main.serve")
		s.samples(t, 120, func(i int) {
			s.all(all, s.at(selects, "main.serve", "main.handle", "main.open", first))
			s.is[all[i/4%6]] = s.at(reads, "main.serve", "main.handle:9", "main.scan")
			s.is[all[(i/4+1)%6]] = s.at(idles, "main.serve")
		})
		f := s.find(t).Findings
		at := slices.IndexFunc(f, func(f *Finding) bool { return f.Where.Function == first })
		if at < 0 {
			t.Fatalf("%s: %+v", first, f)
		}
		got := ""
		if c := f[at].Causes; len(c) > 0 && c[0].Certainty == Fellow {
			got = c[0].Taken
		}
		if got != want {
			t.Errorf("%s: %q: %+v", first, got, f[at].Causes)
		}
	}
}

// Goroutines that live for one piece of work never rest: a few of them
// that wait for others are not slow.
func TestFewShortLives(t *testing.T) {
	for every, few := range map[int]bool{15: true, 5: false} { // samples from one to the next, which lives for four
		s := newScene()
		var child []sampledata.GoroutineID
		waits, writer := idles, s.spawn(1, "main.write")
		waits.Evidence, waits.Holders = sampledata.Likely, s.HolderSet(writer)
		s.samples(t, 300, func(i int) {
			s.all(writer, s.at(runs, "main.write", "main.encode"))
			s.sometimes(i, 7, writer[0], s.at(idles, "main.write"))
			switch i % every {
			case 0:
				child = s.spawn(1, "main.handle")
			case 4:
				s.gone, child = child, nil
			}
			s.all(child, s.at(waits, "main.handle", "main.send"))
		})
		a := s.find(t)
		i := slices.IndexFunc(a.Hypotheses, func(h Hypothesis) bool { return h.Class == "go:main.handle" && h.Kind == ChannelKind })
		if i < 0 || strings.Contains(a.Hypotheses[i].Note, "it concerns only") != few {
			t.Errorf("every %d: %+v %+v", every, a.Findings, a.Hypotheses)
		}
	}
}
