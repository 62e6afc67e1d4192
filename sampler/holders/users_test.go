package holders

import (
	"testing"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

const (
	channel = 0x500
	group   = 0x600

	toReceive = "chan receive"
	toSend    = "chan send"
	forGroup  = "sync.WaitGroup.Wait"

	inSelect = "select"
)

// Goroutine 0 begins to wait for a channel: its sudog has the
// channel, and the goroutines that may send to it are named.
func TestChannels(t *testing.T) {
	const sudog = 0x900
	s := newScene(t, 4)
	s.put(sudog, int(sceneSudog.G), s.seen[0].Addr)
	s.put(sudog, int(sceneSudog.C), channel)
	s.does(1, syncflow.Action{Object: channel, Kind: syncflow.Send})
	s.does(2, syncflow.Action{Object: channel, Kind: syncflow.Receive})
	s.does(3, syncflow.Action{Object: channel + 8, Kind: syncflow.Send})
	s.waits(0, toReceive, 0, sudog)
	s.f.Find(Halt{})
	s.expect(0, ambiguous, 101)
	if s.states[0].Lock != channel {
		t.Errorf("it waits for %#x, want %#x", s.states[0].Lock, channel)
	}

	// It is found out and reported once.
	s.next()
	delete(s.memory, sudog)
	updates := s.updates
	s.waits(0, toReceive, 0, sudog)
	s.f.Find(Halt{})
	s.expect(0, ambiguous, 101)
	if s.states[0].Lock != channel || s.updates != updates {
		t.Errorf("the same wait is for %#x now, after %d updates", s.states[0].Lock, s.updates-updates)
	}

	// Another wait at the same place may be for another channel.
	s.next()
	s.seen[0].Wait.Count++
	s.waits(0, toReceive, 0, sudog)
	s.f.Find(Halt{})
	s.expect(0, none)
	if s.states[0].Lock != 0 {
		t.Errorf("it is said to wait for %#x, which was not read", s.states[0].Lock)
	}
}

// Whoever may close the channel ends the wait of a receiver, too.
// It is named only if nobody is known to send.
func TestChannelsThatAreClosed(t *testing.T) {
	const sudog = 0x900
	closes := syncflow.Action{Object: channel, Kind: syncflow.Close}
	for name, c := range map[string]struct {
		reason string
		sends  bool
		named  []sampledata.GoroutineID
	}{
		"a receiver":                        {toReceive, false, []sampledata.GoroutineID{101}},
		"a receiver to which another sends": {toReceive, true, []sampledata.GoroutineID{102}},
		"a sender":                          {toSend, false, nil},
	} {
		s := newScene(t, 3)
		s.put(sudog, int(sceneSudog.G), s.seen[0].Addr)
		s.put(sudog, int(sceneSudog.C), channel)
		s.does(1, closes)
		if c.sends {
			s.does(2, syncflow.Action{Object: channel, Kind: syncflow.Send})
		}
		s.waits(0, c.reason, 0, sudog)
		s.f.Find(Halt{})
		t.Log(name)
		evidence := ambiguous
		if c.named == nil {
			evidence = none
		}
		s.expect(0, evidence, c.named...)
	}
}

// Many that may send are not named, and no one that only closes the
// channel is in their place.
func TestManySendersAndACloser(t *testing.T) {
	const sudog = 0x900
	s := newScene(t, maxEnders+3)
	s.put(sudog, int(sceneSudog.G), s.seen[0].Addr)
	s.put(sudog, int(sceneSudog.C), channel)
	s.does(1, syncflow.Action{Object: channel, Kind: syncflow.Close})
	for k := range int32(maxEnders + 1) {
		s.does(k+2, syncflow.Action{Object: channel, Kind: syncflow.Send})
	}
	s.waits(0, toReceive, 0, sudog)
	s.f.Find(Halt{})
	s.expect(0, none)
}

// If a goroutine has moved since the halt, or the sudog belongs
// to another one, no channel is reported.
func TestChannelsNotKnown(t *testing.T) {
	const sudog = 0x900
	for name, change := range map[string]func(s *scene){
		"it has moved on":         func(s *scene) { s.leaves[0] = true },
		"the sudog is another's":  func(s *scene) { s.put(sudog, int(sceneSudog.G), s.seen[1].Addr) },
		"the sudog was not there": func(s *scene) { delete(s.memory, sudog) },
	} {
		s := newScene(t, 2)
		s.put(sudog, int(sceneSudog.G), s.seen[0].Addr)
		s.put(sudog, int(sceneSudog.C), channel)
		s.does(1, syncflow.Action{Object: channel, Kind: syncflow.Send})
		change(s)
		s.waits(0, toReceive, 0, sudog)
		s.f.Find(Halt{})
		if s.expect(0, none); s.states[0].Lock != 0 {
			t.Errorf("%s: it is said to wait for %#x", name, s.states[0].Lock)
		}
	}
}

// If many begin to wait in one sample, the channels of the last
// are found in the next one, unless they wait no longer.
func TestChannelsOfMany(t *testing.T) {
	const sudogs, fit = 0x100000, 2 * maxChannels
	s := newScene(t, fit+3)
	for key := range s.seen {
		sudog := sudogs + 0x100*uint64(key)
		s.put(sudog, int(sceneSudog.G), s.seen[key].Addr)
		s.put(sudog, int(sceneSudog.C), channel)
		s.waits(int32(key), toReceive, 0, sudog)
	}
	s.f.Find(Halt{})
	known := func(key int) bool { return s.states[key].Lock == channel }
	if first, last := known(fit-1), known(fit); !first || last {
		t.Errorf("in the first sample, the channel of the last that fits is known: %v, of the next one: %v", first, last)
	}
	s.next()
	s.seen[fit].Wait.Count++
	s.seen[fit+1].Run = sampledata.Running
	s.f.Find(Halt{})
	for key, want := range map[int]bool{0: true, fit: false, fit + 1: false, fit + 2: true} {
		if known(key) != want {
			t.Errorf("goroutine %d: its channel is known: %v, want %v", key, known(key), want)
		}
	}
	updates := s.updates
	s.next()
	if s.f.Find(Halt{}); s.updates != updates || len(s.f.enders.late) > 0 {
		t.Errorf("%d updates more, and %d that are late", s.updates-updates, len(s.f.enders.late))
	}
}

// For a goroutine that waits for a group, those that have yet to
// call Done are named, again in each sample; none if they are
// too many.
func TestGroups(t *testing.T) {
	done := syncflow.Action{Object: group, Kind: syncflow.Done}
	waits := syncflow.Action{Object: group, Kind: syncflow.Done, Awaited: true}
	s := newScene(t, maxEnders+3)
	s.does(0, waits)
	s.does(1, waits)
	s.does(1, done) // but first it waits for the same group
	s.does(2, done)
	s.does(3, done)
	s.waits(0, forGroup, 0, 0)
	s.f.Find(Halt{})
	s.expect(0, ambiguous, 102, 103)

	s.next()
	s.seen[2].Exists = false
	s.f.Find(Halt{})
	s.expect(0, ambiguous, 103)

	s.next()
	s.seen[2].Exists = true
	for key := int32(4); key < maxEnders+3; key++ {
		s.does(key, done)
	}
	s.f.Find(Halt{})
	s.expect(0, none)
}

// Of a pool with three connections, one of which nobody uses,
// two goroutines have one each: they are likely those for whom
// others wait. If the pool counts more, somebody else has one,
// too.
func TestPools(t *testing.T) {
	const pool = 0x700
	for open, evidence := range map[uint64]sampledata.Evidence{2: ambiguous, 3: sampledata.Likely, 4: ambiguous} {
		s := newScene(t, 3)
		s.f.release = goruntime.Release{Line: 23}
		s.put(pool, goruntime.PoolIdle, 1)
		s.put(pool, s.f.release.PoolOpen(), open)
		s.does(0, syncflow.Action{Object: pool, Kind: syncflow.Return, Awaited: true})
		s.does(1, syncflow.Action{Object: pool, Kind: syncflow.Return})
		s.does(2, syncflow.Action{Object: pool, Kind: syncflow.Return})
		s.waits(0, inSelect, 0, 0)
		s.f.Find(Halt{})
		s.expect(0, evidence, 101, 102)
	}
}

// Those that have places of a semaphore are likely why others wait,
// unless most places are free: then somebody who wants many may be
// in front.
func TestPlacesOfSemaphores(t *testing.T) {
	const weighted = 0x700
	for size, evidence := range map[uint64]sampledata.Evidence{2: sampledata.Likely, 4: sampledata.Likely, 10: ambiguous} {
		s := newScene(t, 3)
		s.put(weighted, goruntime.WeightedSize, size)
		s.put(weighted, goruntime.WeightedTaken, 2)
		s.does(0, syncflow.Action{Object: weighted, Kind: syncflow.Release, Awaited: true})
		s.does(1, syncflow.Action{Object: weighted, Kind: syncflow.Release})
		s.does(2, syncflow.Action{Object: weighted, Kind: syncflow.Release})
		s.waits(0, inSelect, 0, 0)
		s.f.Find(Halt{})
		s.expect(0, evidence, 101, 102)
	}
}

// A goroutine that will send to an empty channel of one element
// has its token only if it was seen to receive one before. Else
// it may be a loop that gives others work.
func TestTokens(t *testing.T) {
	const sudog = 0x900
	for evidence, received := range map[sampledata.Evidence]bool{ambiguous: false, sampledata.Likely: true} {
		s := newScene(t, 2)
		s.put(channel, goruntime.ChannelCapacity, 1)
		s.put(sudog, int(sceneSudog.C), channel)
		if received {
			s.put(sudog, int(sceneSudog.G), s.seen[1].Addr)
			s.waits(1, toReceive, 0, sudog)
			s.f.Find(Halt{})
			s.next()
			s.seen[1].Run = sampledata.Running
		}
		s.put(sudog, int(sceneSudog.G), s.seen[0].Addr)
		s.does(1, syncflow.Action{Object: channel, Kind: syncflow.Send})
		s.waits(0, toReceive, 0, sudog)
		s.f.Find(Halt{})
		s.next()
		s.waits(0, toReceive, 0, sudog)
		s.f.Find(Halt{})
		s.expect(0, evidence, 101)
	}
}

// In a select, a goroutine waits for the channel that it sends
// to, or that a value comes from: not for a signal, a timer, or
// for one of several.
func TestSelects(t *testing.T) {
	const (
		sudog, timer = 0x10000, 0x800
		other, done  = 0xa00, 0xb00
		queues       = 64
	)
	for name, c := range map[string]struct {
		cases []uint64 // their channels
		value uint     // bits: from which of them a value comes, or to which it goes
		want  uint64
		sends uint // bits: to which of them it sends
	}{
		"an answer, or a context that is done":  {[]uint64{done, channel}, 0b10, channel, 0},
		"the same, in another order":            {[]uint64{channel, done}, 0b01, channel, 0},
		"an answer, or a timer":                 {[]uint64{timer, channel, done}, 0b011, channel, 0},
		"answers or errors":                     {[]uint64{channel, other, done}, 0b011, 0, 0},
		"signals only":                          {[]uint64{channel, other}, 0, 0, 0},
		"one channel twice":                     {[]uint64{channel, channel}, 0b11, channel, 0},
		"a result, or a context that is done":   {[]uint64{done, channel}, 0b10, channel, 0b10},
		"a result goes, or another value comes": {[]uint64{other, channel}, 0b11, 0, 0b10},
		"two results":                           {[]uint64{other, channel}, 0b11, 0, 0b11},
		"more cases than are read":              {[]uint64{1, 2, 3, 4, 5, 6, 7, channel, 8}, 0b10000000, 0, 0},
	} {
		s := newScene(t, 2)
		s.f.release = goruntime.Release{Line: 25}
		s.put(timer+32, 0, 0xc000)
		for i, of := range c.cases {
			at := uint64(sudog + 0x1000*i)
			s.put(at, int(sceneSudog.G), s.seen[0].Addr)
			s.put(at, int(sceneSudog.C), of)
			s.put(at, int(sceneSudog.Elem), uint64(c.value>>i&1))
			s.put(of+queues, 0, uint64(^c.sends>>i&1))
			s.put(of+queues+16, 0, uint64(c.sends>>i&1))
			if i+1 < len(c.cases) {
				s.put(at, int(sceneSudog.WaitLink), at+0x1000)
			}
		}
		kind, reason := syncflow.Send, inSelect
		if c.sends != 0 && c.want != 0 {
			kind, reason = syncflow.Receive, inSelect+sampledata.ToSend
		}
		s.does(1, syncflow.Action{Object: channel, Kind: kind})
		for range 2 { // the next sample repeats it
			s.waits(0, inSelect, 0, sudog)
			s.f.Find(Halt{})
			if got := s.states[0]; got.Lock != c.want || got.Reason != reason {
				t.Errorf("%s: it waits for %#x (%s), want %#x (%s)", name, got.Lock, got.Reason, c.want, reason)
			}
			if c.want != 0 {
				s.expect(0, ambiguous, 101)
			}
			s.next()
		}
	}
}

// A goroutine that sends in a select, and then waits to send again,
// waits for the same others, also before the wait is read.
func TestSelectsThatSendAgain(t *testing.T) {
	const sudogs, queues, many = 0x10000, 64, 2*maxChannels + 10
	s := newScene(t, many+1)
	s.f.release = goruntime.Release{Line: 25}
	s.put(channel+queues, 0, 0)
	s.put(channel+queues+16, 0, 1)
	s.does(many, syncflow.Action{Object: channel, Kind: syncflow.Receive})
	for sample := range 8 {
		for key := range int32(many) {
			at := uint64(sudogs + 0x100*int(key))
			s.put(at, int(sceneSudog.G), s.seen[key].Addr)
			s.put(at, int(sceneSudog.C), channel)
			s.put(at, int(sceneSudog.Elem), 1)
			s.waits(key, inSelect, 0, at)
		}
		s.f.Find(Halt{})
		for key := range int32(many) {
			if sample < 3 { // the first wait of some is late
				continue
			}
			if got := s.states[key].Reason; got != inSelect+sampledata.ToSend {
				t.Fatalf("sample %d: goroutine %d: %q", sample, key, got)
			}
			s.expect(key, ambiguous, sampledata.GoroutineID(100+many))
			s.seen[key].Wait.Count++ // it has sent, and waits again
		}
		s.next()
	}
	s.put(channel+queues+16, 0, 0)
	s.put(channel+queues, 0, 1) // now it waits to receive
	s.seen[0].Wait.Count++
	s.waits(0, inSelect, 0, sudogs)
	s.f.Find(Halt{})
	if got := s.states[0].Reason; got != inSelect {
		t.Errorf("a wait to receive is %q", got)
	}
}
