package report

import (
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calls"
	"github.com/cpprof/cpprof/why"
)

// A goroutine alone can't wait for another one.
func TestDeadlockWords(t *testing.T) {
	for _, c := range []struct {
		count   int
		chained []string
		want    string
	}{
		{1, []string{"main.mu"}, "A goroutine waits for a lock that it holds itself: a deadlock. it locks main.mu a second time before it unlocks it"},
		{2, []string{"main.a", "main.b"}, "2 goroutines wait for one another's locks in a circle: a deadlock. each holds a lock that the next one waits for: main.a, main.b"},
		{2, []string{"main.mu"}, "A goroutine reads again what it has locked for reading, behind a writer that waits for it: a deadlock. the lock is main.mu: others that read it wait, too"},
	} {
		f := &why.Finding{Kind: why.DeadlockKind, Count: c.count, Lock: c.chained[0], Chained: c.chained, ReadsAgain: c.count > len(c.chained),
			Itself: c.count == 1}
		if got := Sentence(f) + " " + strings.Join(WhyLines(f), " "); got != c.want {
			t.Errorf("%d goroutines: %q, want %q", c.count, got, c.want)
		}
	}
}

// What may be a deadlock of one goroutine is said with a doubt.
func TestWordsOfWhoLocksAgain(t *testing.T) {
	f := &why.Finding{Kind: why.DeadlockKind, Count: 1, Lock: "main.mu of instance 2", Itself: true, Likely: true}
	want := "A goroutine has not moved for seconds, and seems to wait for a lock that it holds itself. " +
		"a function that has locked main.mu has called one that locks it, too; nobody else may hold it, as far as is known"
	if got := Sentence(f) + " " + strings.Join(WhyLines(f), " "); got != want {
		t.Errorf("%q", got)
	}
}

// A semaphore can have free places while somebody waits for more
// of them.
func TestWordsOfWhatIsFull(t *testing.T) {
	limit := &why.Limit{Channel: "main.pool.places", Capacity: 8}
	for library, want := range map[string]string{
		"": "main.pool.places is full: its buffer has 8 elements",
		"golang.org/x/sync/semaphore.(*Weighted).Acquire": "main.pool.places has 8 places: too few are free, or somebody who wants more of them is first in the queue",
	} {
		if got := fullText(&why.Finding{Limit: limit, Where: why.Place{Library: library}}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A pause may end with what others do, which takes as long if it
// is woken in time.
func TestGainOfPause(t *testing.T) {
	g := &why.Gain{Class: "go:main.f", Law: why.Either, Less: &hotspots.Estimate{Share: 0.54, Low: 0.44, High: 0.64}}
	for kind, want := range map[why.Kind]string{
		why.ChannelKind: "a piece of work takes at most 54.0 % ± 10 % less time; whether more gets done is not known",
		why.SleepKind:   "a piece of work takes at most 54.0 % ± 10 % less time; whether more gets done is not known; what it sleeps for, if anything, must still be waited for",
	} {
		if got := findingGain(&why.Finding{Kind: kind, Class: "go:main.f", Gain: g}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The words of a kind that begins with what is wrong, and the
// words of one whose share is not of a class's life.
func TestSentences(t *testing.T) {
	share := hotspots.Estimate{Share: 0.745, Low: 0.665, High: 0.825}
	for _, c := range []struct {
		f    why.Finding
		want string
	}{
		{why.Finding{Kind: why.ProcessorKind}, "More goroutines are ready to run than processors: go:main.f (4.0 goroutines) spends 74.5 % ± 8 % of its life waiting for a processor."},
		{why.Finding{Kind: why.ComputeKind, Mean: 1.49, Where: why.Place{Function: "main.g"}}, "main.g, in go:main.f (4.0 goroutines), takes 74.5 % ± 8 % of the processors (1.5 of them)."},
		{why.Finding{Kind: why.ChannelKind, Reason: "select", Asked: "lib.ask", Where: why.Place{Function: "main.g", Library: "lib.ask"}}, "go:main.f (4.0 goroutines) spends 74.5 % ± 8 % of its life waiting in a select for channels in main.g, lib.ask."},
		{why.Finding{Kind: why.ChannelKind, Reason: "chan send", Where: why.Place{Function: "main.g"}}, "go:main.f (4.0 goroutines) spends 74.5 % ± 8 % of its life waiting to send to a channel in main.g."},
		{why.Finding{Kind: why.ChannelKind, Reason: "chan send", Where: why.Place{Function: "main.g"}, InCalls: true}, "go:main.f (4.0 goroutines) spends 74.5 % ± 8 % of its time in these calls waiting to send to a channel in main.g."},
	} {
		c.f.Class, c.f.Alive, c.f.Count, c.f.Share = "go:main.f", 4, 4, share
		if got := Sentence(&c.f); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A period has the digits that samples tell.
func TestPeriodWords(t *testing.T) {
	for period, want := range map[time.Duration]string{
		283_930_123:               "all the time, 0.0 to 4.0 s; it comes and goes about every 280ms",
		2_049_000_000:             "all the time, 0.0 to 4.0 s; it comes and goes about every 2s",
		39_990 * time.Microsecond: "all the time, 0.0 to 4.0 s; it comes and goes about every 40ms",
	} {
		f := &why.Finding{When: why.When{Always: true, Period: period}}
		if got := whenText(f, 0, 4*time.Second); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	f := &why.Finding{When: why.When{Always: true, Present: 0.158}}
	if got, want := whenText(f, 0, 4*time.Second), "whenever they are at work, which is 16 % of the time, 0.0 to 4.0 s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Code that several classes run has the share of all.
func TestCodeOfSeveralWords(t *testing.T) {
	for others, want := range map[int]string{0: "main.f, in go:main.a (1 goroutine), takes", 1: "main.f, in go:main.a (1 goroutine) and others, takes"} {
		f := &why.Finding{Kind: why.ComputeKind, Class: "go:main.a", Alive: 1, Count: 1, Where: why.Place{Function: "main.f"},
			Others: []why.Part{{Name: "go:main.b", Share: 1}}[:others]}
		if got := Sentence(f); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What is not only in some spans has a share at other times.
func TestSpanWords(t *testing.T) {
	for otherwise, want := range map[float64]string{
		0:    "only 1.0 to 2.0 s (50 % then)",
		0.09: "1.0 to 2.0 s (50 % then), and 9 % at other times",
	} {
		f := &why.Finding{When: why.When{Spans: []why.Span{{From: time.Second, To: 2 * time.Second, Share: 0.5}}, Otherwise: otherwise}}
		if got := whenText(f, 0, 4*time.Second); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Functions and the aspects beside them are shares of the same time.
func TestPartsWords(t *testing.T) {
	f := &why.Finding{Kind: why.ComputeKind, Parts: []why.Part{{Name: "main.f", Share: 0.6}, {Name: "main.g", Share: 0.4}, {Name: "@map", Share: 0.7}, {Name: "@copy", Share: 0.2}}}
	want := "it computes: 60 % in main.f, 40 % in main.g; 70 % in @map, 20 % in @copy"
	if got := strings.Join(WhyLines(f), " "); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What is said of classes that are not slow.
func TestRestWords(t *testing.T) {
	y := &Why{Answer: &why.Answer{NotMoved: []why.Still{{Class: "go:main.client", Count: 3, Function: "main.(*group).do"}}, Resting: []why.Resting{
		{Class: "go:main.poll", Alive: 1, Idle: 0.97, Asleep: 0.9},
		{Class: "go:main.work", Alive: 4, Idle: 0.97, Asleep: 0.1, For: "go:main.poll"},
		{Class: "go:main.reader", Alive: 3, Still: 0.34, Does: "it may wait for work"},
		{Class: "go:main.client", Alive: 4, Still: 0.75},
		{Class: "go:main.keep", Alive: 1, Still: 1, Stuck: true},
		{Class: "go:main.part", Alive: 5, Ready: 0.9},
		{Class: "go:main.sweep", Alive: 1, Idle: 0.3, Locked: 0.7},
		{Class: "go:main.turn", Alive: 2, Locked: 0.9, Does: "it may wait for work"},
		{Class: "go:main.dial", Alive: 1, Idle: 0.7, Asleep: 0.7, Pauses: "main.backOff", Paused: 0.28},
		{Class: "go:main.step", Alive: 1, Does: "it is one goroutine, and nobody is known to wait for it", Pauses: "lib.yield", Paused: 0.99},
	}}}
	want := `
Not slow: go:main.poll (1 goroutine, 97 % idle: it sleeps), go:main.work (4.0 goroutines, 97 % idle:
it may wait for go:main.poll, which sleeps), go:main.reader (3.0 goroutines; it may wait for work),
go:main.turn (2.0 goroutines; it may wait for work), go:main.dial (1 goroutine, 70 % idle: it
sleeps; for 28 %, it sleeps in main.backOff). Mostly waiting for a processor: go:main.part (5.0
goroutines). Mostly waiting for a lock, but too seldom seen to be sure: go:main.sweep (1 goroutine,
30 % idle). Asleep in its work, though nobody is known to wait for it: go:main.step (99 % of its
life, in lib.yield). Not seen to move: 3 of go:main.client (4.0 goroutines), in main.(*group).do,
go:main.keep (1 goroutine; it can never go on, which may be meant: see 'cpprof stuck').
`
	b := new(strings.Builder)
	if y.rest(b); b.String() != want {
		t.Errorf("%s\nwant%s", b, want)
	}
}

// Of who hardly does anything but wait, the laws give no bound.
func TestUnboundedGain(t *testing.T) {
	const unbounded = "at half the cost, at most 1.80 ± 0.2 times as much work gets done; without it more, but what the limit would be was not seen"
	for f, want := range map[why.Factor]string{
		{Times: 60, Low: 30, High: 1000}:    unbounded,
		{Times: 1000, Low: 999, High: 1000}: unbounded, // the greatest factor
		{Times: 5, Low: 3, High: 12}:        "at most 5.0 times as much work gets done (3.0 to 12); 1.80 times at half the cost",
		{Times: 40, Low: 36, High: 44}:      "at most 40 ± 4.0 times as much work gets done; 1.80 times at half the cost",
	} {
		half := why.Factor{Times: 1.8, Low: 1.7, High: 2}
		g := &why.Gain{Class: "go:main.f", Law: why.Closed, Times: &f, Half: &half, Next: &why.Next{Centre: why.NoCentre}}
		if got := findingGain(&why.Finding{Kind: why.ChannelKind, Class: "go:main.f", Gain: g}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A count by samples that may be far too low is said to be one.
func TestWordsOfMaking(t *testing.T) {
	for want, m := range map[string]why.Made{
		"at least 3 a second": {PerSecond: 3, Counted: true},
		"at least 3 a second; samples can't tell how many more":                             {PerSecond: 3},
		"samples can't tell how many: each takes less time than passes between two samples": {PerSecond: 3, Fast: true},
		"at least 3 a second, in at most 200ms each on average":                             {PerSecond: 3, Each: 0.2},
	} {
		if got := eachText(&m); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Who sleeps in a loop need not wait for work.
func TestWordsOfRest(t *testing.T) {
	for asleep, want := range map[float64]string{0.2: "25 % of its life it sleeps in its loop.", 0.1: "25 % of its life it waits for work."} {
		f := &why.Finding{Kind: why.LockKind, Class: "go:main.f", Lock: "main.mu", Idle: 0.25, Asleep: asleep}
		if got := Sentence(f); !strings.HasSuffix(got, want) {
			t.Errorf("asleep %v: %s", asleep, got)
		}
	}
}

// What the kernel's clock has beyond the samples is said.
func TestDelayWords(t *testing.T) {
	const says = "By the kernel's clock, 0.8 of its threads wait for a CPU"
	for _, c := range []struct {
		delayed, noCPU float64
		want           bool
	}{{0.8, 0.1, true}, {0.8, 0.5, true}, {0.8, 0.7, false}, {0.3, 0, false}} {
		y := &Why{Answer: &why.Answer{State: why.Idle, Delayed: c.delayed, NoCPU: c.noCPU, Clock: c.noCPU}}
		got := y.Verdict()
		if strings.Contains(got, says) != c.want {
			t.Errorf("%v by the kernel's clock, %v seen: %s", c.delayed, c.noCPU, got)
		}
		if strings.Contains(got, "processors by the kernel's clock") != (c.noCPU > 0) {
			t.Errorf("CPUs by the kernel's clock: %s", got)
		}
	}
}

// If the kernel's clock contradicts the samples, shares of the
// processors are no more than what samples show.
func TestOtherClockWords(t *testing.T) {
	for clock, want := range map[float64]string{0.2: "may be too high.", 0.6: "may be too low."} {
		y := &Why{Answer: &why.Answer{State: why.Slow, Clock: clock, ClockDiffers: true,
			Used: hotspots.Estimate{Share: 0.4}, Findings: []*why.Finding{{Kind: why.ComputeKind}}}}
		text := new(strings.Builder)
		y.Write(text)
		if !strings.Contains(text.String(), want) {
			t.Errorf("%v by the kernel's clock: %s", clock, text)
		}
		y.ClockDiffers = false
		if text := y.otherClock(); text != "" {
			t.Errorf("they don't differ: %s", text)
		}
	}
}

// Who waits to send has not moved because of others.
func TestVerdictOfThoseHeldUp(t *testing.T) {
	for reason, want := range map[string]bool{"chan send": true, "select (send)": true, "sync.Mutex.Lock": true, "IO wait": false} {
		y := &Why{Answer: &why.Answer{State: why.Unmoved, NotMoved: []why.Still{{Count: 1, Reason: "select", Function: "main.a"}, {Count: 2, Reason: reason, Function: "main.b"}}}}
		if got := y.Verdict(); strings.Contains(got, "goroutines may be stuck, or wait for longer") != want {
			t.Errorf("%s: %s", reason, got)
		}
	}
}

// What may be stuck is said before what is slow, if it is many
// goroutines and no finding is about them.
func TestHeldUpBesideFindings(t *testing.T) {
	sends := why.Still{Class: "go:main.worker", Count: 3, Reason: "chan send", Function: "main.send"}
	two, place, about, alone := sends, sends, sends, sends
	two.Count = 2
	place.Reason, place.Place = "select", true
	about.Function = "main.slow"
	alone.Reason = "select"
	behind, queue := sends, sends
	behind.Function, queue.Queue = "main.put", true
	for name, c := range map[string]struct {
		still why.Still
		want  string
	}{
		"they send":           {sends, "3 goroutines have not moved (chan send in main.send)."},
		"two do":              {two, ""},
		"of a semaphore":      {place, "3 goroutines have not moved (for a place in a semaphore, in main.send)."},
		"a finding says more": {about, ""},
		"they receive":        {alone, ""},
		"it is behind one":    {behind, ""},
		"others get through":  {queue, ""},
	} {
		y := &Why{Answer: &why.Answer{State: why.Slow, To: 4 * time.Second, NotMoved: []why.Still{c.still},
			Findings: []*why.Finding{{Kind: why.ChannelKind, Class: "go:main.worker", Where: why.Place{Function: "main.slow"},
				Behind: []why.Part{{Name: "go:main.worker", Where: "main.put"}}}}}}
		if got := y.Verdict(); !strings.HasSuffix(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: %q", name, got)
		}
		if y.To = time.Second; y.Verdict() != "" {
			t.Errorf("%s, after a second: %q", name, y.Verdict())
		}
	}
}

// Goroutines that sleep all the time are said before the rest, if they
// are several.
func TestLongSleepsWords(t *testing.T) {
	for count, want := range map[int]string{
		7: "Nothing was seen to be slow, but goroutines sleep for longer than it was recorded; 7 goroutines have not moved (sleep in lib.retry).",
		1: "Nothing was seen to be slow; 1 goroutine has not moved (sleep in lib.retry).",
	} {
		y := &Why{Answer: &why.Answer{State: why.Unmoved, To: 4 * time.Second, NotMoved: []why.Still{
			{Class: "go:main.handle", Count: count, Reason: "sleep", Function: "lib.retry"}}}}
		if got := y.Verdict(); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A program that has ended can't be recorded for longer.
func TestMoreSamplesWords(t *testing.T) {
	for exited, want := range map[bool]string{
		false: "Too few samples to say anything: only 5. Record for longer.",
		true:  "Too few samples to say anything: only 5. The program ended: give it more to do, or take more samples with 'cpprof record --rate 1000 --max-cpu 0 --max-overhead 0'.",
	} {
		y := &Why{Answer: &why.Answer{State: why.TooLittle, Samples: 5, Exited: exited}}
		if got := y.Verdict(); got != want {
			t.Errorf("it ended: %t: %s", exited, got)
		}
	}
}

// A gain may be greater than the share of its finding.
func TestGainOfThoseThatWait(t *testing.T) {
	for less, want := range map[float64]bool{0.44: false, 0.7: true} {
		f := &why.Finding{Kind: why.ChannelKind, Class: "go:main.f", Share: hotspots.Estimate{Share: 0.4},
			Gain: &why.Gain{Class: "go:main.f", Law: why.Open, Less: &hotspots.Estimate{Share: less}}}
		if got := findingGain(f); strings.HasSuffix(got, "; that counts who waits for these, too") != want {
			t.Errorf("%v less: %s", less, got)
		}
	}
}

// A call that comes back to a wait may be several: what it took
// is no more than a guess.
func TestSlowTextOfSeveral(t *testing.T) {
	s := &why.SlowCalls{Function: "main.save", Source: calls.Samples, Calls: 7, Least: 80 * time.Millisecond, Usual: 10 * time.Millisecond,
		More: calls.Common{Feature: calls.Feature{Kind: calls.Does, Doing: views.InSystemCall, Function: "main.sync"}}}
	for several, want := range map[bool]string{
		false: "The 7 slowest calls of main.save take 80ms or more, half of all at most 10ms: ",
		true:  "The 7 slowest calls of main.save take 80ms or more, if none is several that followed one another, half of all at most 10ms: ",
	} {
		s.Several = several
		if got := slowText(s); !strings.HasPrefix(got, want) {
			t.Errorf("several %v: %s", several, got)
		}
	}
}

// If it is known of a part of a wait who ends it, the rest is said,
// too; of a lock, always.
func TestUnknownText(t *testing.T) {
	cause := []why.Cause{{Share: 0.1, Certainty: why.Likely}}
	for _, c := range []struct {
		f    why.Finding
		want string
	}{
		{why.Finding{Kind: why.LockKind}, "who holds it is not known for 100 % of that time"},
		{why.Finding{Kind: why.LockKind, Unknown: 0.1}, ""}, // by many, each for a moment
		{why.Finding{Kind: why.ChannelKind, Causes: cause, Unknown: 0.9}, "who has what they wait for is not known for 90 % of that time"},
		{why.Finding{Kind: why.GroupKind, Causes: cause, Unknown: 0.3}, "for whom it waits is not known for 30 % of that time"},
		{why.Finding{Kind: why.ChannelKind, Causes: cause}, ""},
		{why.Finding{Kind: why.ChannelKind}, ""},
	} {
		if got := strings.Join(unknownText(&c.f), ""); got != c.want {
			t.Errorf("%s, unknown %v: %q, want %q", c.f.Kind, c.f.Unknown, got, c.want)
		}
	}
}

// Without what is done under a lock, more gets done: that is said if it is
// more, with a figure if there is a bound.
func TestWordsOfWhatIsUnderALock(t *testing.T) {
	for under, want := range map[float64]string{
		2:    "",
		3.1:  "; 3.1 times if what is done under the lock cost nothing, too",
		1000: "; more if what is done under the lock cost less, too",
	} {
		g := &why.Gain{Class: "go:main.f", Law: why.Closed, Times: &why.Factor{Times: 2, Low: 1.9, High: 2.1},
			Half: &why.Factor{Times: 1.5, Low: 1.4, High: 1.6}, Next: &why.Next{Centre: why.Processors},
			Under: &why.Factor{Times: under, Low: under, High: under}}
		if got := gainText(g, "go:main.f"); got != "at most 2.0 ± 0.1 times as much work gets done; 1.50 times at half the cost; then the processors are full"+want {
			t.Errorf("%v: %s", under, got)
		}
	}
}

// Of several ways into a module, the one that is named already is left out.
func TestWordsOfWays(t *testing.T) {
	for through, want := range map[string]string{
		"lib.Get or lib.Add": "; also through lib.Add", "lib.Add or lib.Del": "; through lib.Add or lib.Del", "lib.Get": "",
	} {
		if got := throughText(&why.Finding{Through: []string{through}}, "lib.Get, called by main.work"); got != want {
			t.Errorf("%s: %q, want %q", through, got, want)
		}
	}
}

func TestNamesAsPeopleWriteThem(t *testing.T) {
	y := Why{}
	if got := y.readable("gopkg.in/yaml%2ev3.Marshal computes"); got != "gopkg.in/yaml.v3.Marshal computes" {
		t.Error(got)
	}
	if got := y.readable("main.f[go.shape.struct { Key string }] computes"); got != "main.f[go.shape.struct {…}] computes" {
		t.Errorf("%q", got)
	}
}

// What waits for a process has evidence enough.
func TestVerdictOfProcess(t *testing.T) {
	y := &Why{Answer: &why.Answer{State: why.Undecided, ForProcess: &why.Part{Name: "main.list", Share: 0.95}, Processors: 2}}
	if got := y.Verdict(); !strings.HasPrefix(got, "For 95 % of the time, it waits until a process ends, in main.list; nothing else was seen to be slow. ") {
		t.Error(got)
	}
}

// Names of a recording never reach the terminal as they are.
func TestHostileNamesOfRest(t *testing.T) {
	y := &Why{Answer: &why.Answer{NotMoved: []why.Still{{Class: "go:main.a", Count: 3, Function: "main.\x1b]0;f"}}, Resting: []why.Resting{
		{Class: "go:main.a", Alive: 4, Still: 0.75}, {Class: "go:main.b", Alive: 1, Idle: 0.9, For: "go:main.\x1b]0;g"}}}}
	b := new(strings.Builder)
	if y.rest(b); strings.Contains(b.String(), "\x1b") || !strings.Contains(b.String(), "3 of go:main.a (4.0 goroutines), in main.") || !strings.Contains(b.String(), "it may wait for go:main.") {
		t.Errorf("%q", b)
	}
}

// It is said once why no gain is.
func TestNoGainWords(t *testing.T) {
	f := &why.Finding{Kind: why.ComputeKind, Class: "go:main.f", Gain: &why.Gain{Silent: why.NoCPUs}}
	y := &Why{Answer: &why.Answer{State: why.Slow, Findings: []*why.Finding{f, f}}}
	var b strings.Builder
	y.Write(&b)
	if got := strings.Join(strings.Fields(b.String()), " "); strings.Count(got, "No gain is said of 2 findings: the machine often has no CPU") != 1 {
		t.Error(got)
	}
}

// A heap that grows is reported beside what is slow, and without it.
func TestVerdictOfHeap(t *testing.T) {
	for _, state := range []why.State{why.Slow, why.Idle} {
		y := &Why{Answer: &why.Answer{State: state, Processors: 2, HeapGrows: &why.HeapGrowth{From: 50 << 20, To: 200 << 20}}}
		if got, want := y.Verdict(), "Its heap grows: after collections, it had 50.0 MiB at first, and 200.0 MiB at last. "; !strings.Contains(got, want) {
			t.Errorf("%s: %s", state, got)
		}
	}
}

// If the machine has too few CPUs, that is the only thing that is slow.
// What waits for a process, or nobody knows for what, is said as without it.
func TestVerdictOfMachine(t *testing.T) {
	for state, want := range map[why.State]string{
		why.Balanced: "But for the machine's CPUs, nothing was seen to be slow. ",
		why.Idle:     "But for the machine's CPUs, nothing was seen to be slow. ",
		why.Waiting:  "Nothing was seen to be slow, but goroutines wait, ",
	} {
		y := &Why{Answer: &why.Answer{State: state, Processors: 2, Findings: []*why.Finding{{Kind: why.MachineKind}}}}
		if got := y.Verdict(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", state, got)
		}
	}
}

// If the kernel's clock says otherwise than samples, that is said.
func TestDelayedWords(t *testing.T) {
	for samples, want := range map[float64]string{0.4: "samples show only a part", 1.3: "", 1.8: "only 1.2 of its threads wait"} {
		f := &why.Finding{Kind: why.MachineKind, Mean: samples, Crowd: &why.Crowd{Turns: 1000, Delay: 1.2e6}}
		if text := strings.Join(crowdLines(f), "; "); want != "" && !strings.Contains(text, want) || want == "" && strings.Contains(text, "clock") {
			t.Errorf("%g in samples: %s", samples, text)
		}
	}
}

// Of many passages between modules, the first two and the last three are
// said.
func TestThroughWords(t *testing.T) {
	for n, want := range map[int]string{5: "; through a, b, c, d, e", 7: "; through a, b, ..., e, f, g"} {
		f := &why.Finding{Through: strings.Split("a b c d e f g", " ")[:n]}
		if got := throughText(f, ""); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What an idle program waits for is no more than is known.
func TestIdleWords(t *testing.T) {
	for does, want := range map[string]string{"a ticker drives it, in one request all the time": "or are in requests that go on.", "": "its goroutines wait for work."} {
		y := &Why{Answer: &why.Answer{State: why.Idle, Resting: []why.Resting{{Class: "go:main.f", Alive: 1, Idle: 1, Does: does}}}}
		if got := y.Verdict(); !strings.HasSuffix(got, want) {
			t.Errorf("%q: %s", does, got)
		}
	}
}
