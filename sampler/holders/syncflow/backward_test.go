package syncflow

import (
	"slices"
	"testing"
)

// provenLocks lists functions of testdata/programs/lockcode, and
// how many locks their frames prove to be held during a call.
var provenLocks = []struct {
	function, calls string
	locks           int
	mode            Mode
}{
	{"main.(*thing).funcField", "main.work", 1, Write},
	{"main.(*thing).funcVariable", "main.work", 1, Read},
	{"main.(*thing).lockerDeferred", "main.work", 1, Write},
	{"main.(*thing).callbacks", "main.work", 1, Write},
	{"main.(*thing).array", "main.work", 1, Write},
	{"main.(*thing).arguments", "main.work", 1, Write},
	{"main.(*thing).forever", "main.work", 1, Write},
	{"main.(*thing).forever", "main.pause", 0, Write},
	{"main.(*thing).releasedByCallback", "main.work", 0, Write},
	{"main.(*thing).finishes", "main.pause", 0, Write},
	{"main.(*thing).finish", "main.work", 1, Write},
	{"main.(*thing).try", "main.work", 1, Write},
	{"main.(*thing).try", "main.pause", 0, Write},
	{"main.(*thing).spin", "main.work", 1, Write},
	{"main.(*thing).spin", "main.pause", 0, Write},
	{"main.(*thing).manyDefers", "main.work", 1, Write},
	{"main.(*thing).deferInLoop", "main.work", 1, Write},
	{"main.(*thing).inBackground", "main.pause", 0, Write},
	{"main.(*thing).inBackground.func1", "main.work", 1, Write},
}

func TestProvenLocks(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		for name, flags := range map[string][]string{
			"plain": nil, "not inlined": {"-gcflags=-l"}, "not optimised": {"-gcflags=-N -l"},
		} {
			t.Run(arch+" "+name, func(t *testing.T) {
				a := analyzer(t, buildFor(t, arch, "lockcode", flags...))
				for _, want := range provenLocks {
					for _, p := range during(t, a, want.function, want.calls) {
						if len(p.held) != want.locks || p.unknown || want.locks > 0 && p.held[0].mode != want.mode {
							t.Errorf("%s calls %s: %v are held, want %d", want.function, want.calls, p.held, want.locks)
						}
					}
				}
			})
		}
	}
}

// A function calls closures that helpers have returned. The
// frame leads to those that it surely calls, and that may hold a
// lock.
func TestCallsToCome(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		a := analyzer(t, build(t, arch))
		for _, c := range []struct {
			function string
			want     []int // by call of work, or use
		}{
			{"main.(*thing).release", []int{1, 0}}, {"main.(*thing).returnedDeferred", []int{1}}, {"main.(*thing).returnedMethod", []int{1}},
		} {
			for i, p := range during(t, a, c.function, "main.work", "main.use") {
				if len(p.toCome) != c.want[i] || c.want[i] > 0 && p.toCome[0].certainty != Sure {
					t.Errorf("%s, %s: %v, want %d", arch, c.function, p.toCome, c.want[i])
				}
			}
		}
	}
}

// Whoever calls a closure later may take its lock before.
func TestCallReleases(t *testing.T) {
	vs := newValues()
	closure, lock := vs.named(1, 0), vs.entry(2)
	call := lockEvent{kind: eventReleases, futureRelease: futureRelease{lockName: lockName{lock: closure, call: true}}}
	for name, c := range map[string]struct {
		events []lockEvent
		weak   bool
	}{
		"at once":             {[]lockEvent{call}, false},
		"after taking a lock": {[]lockEvent{{kind: eventTakes, futureRelease: futureRelease{lockName: lockName{lock: lock}}}, call}, true},
		"after another call":  {[]lockEvent{{kind: eventUnknown}, call}, true},
		"after a release":     {[]lockEvent{{kind: eventReleases, futureRelease: futureRelease{lockName: lockName{lock: lock}}}, call}, false},
	} {
		f := future{returns: true}
		f.applyAll(vs, c.events)
		r := f.releases[indexOf(f.releases, call.lockName)]
		if r.weak != c.weak {
			t.Errorf("%s: weak %v", name, r.weak)
		}
	}
}

// Locks that some paths release, under conditions or not.
func TestMayRelease(t *testing.T) {
	vs := newValues()
	r := futureRelease{lockName: lockName{lock: vs.entry(1)}}
	flag, other := condition{v: vs.low(vs.entry(2)), mask: 0xff}, condition{v: vs.low(vs.entry(3)), mask: 0xff}
	under := func(c condition) futureRelease {
		u := r
		u.under = c
		return u
	}
	always := future{returns: true, releases: []futureRelease{r}}
	maybe := func(c condition) future { return future{returns: true, may: []futureRelease{under(c)}} }
	never, panics := future{returns: true}, future{}
	for _, c := range []struct {
		name string
		a, b future
		want []futureRelease
	}{
		{"on one path", always, never, []futureRelease{under(flag)}},
		{"on the other", never, always, []futureRelease{under(flag.not())}},
		{"on both", always, always, nil},
		{"the other one panics", always, panics, nil},
		{"under a condition that follows", maybe(other), never, []futureRelease{under(other)}},
		{"perhaps, on one path", maybe(condition{}), never, []futureRelease{under(flag)}},
		{"under a condition on both", maybe(other), maybe(other), []futureRelease{under(other)}},
		{"under two conditions", maybe(other), maybe(other.not()), []futureRelease{r}},
		{"always, or under a condition", always, maybe(other), []futureRelease{r}},
	} {
		a, b := c.a.clone(), c.b.clone()
		a.releasedUnder, b.releasedUnder = flag, flag.not()
		if a.join(&b); !slices.Equal(a.may, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, a.may, c.want)
		}
	}
	f := maybe(flag)
	f.forget(vs, flag.v)
	if !slices.Equal(f.may, []futureRelease{r}) {
		t.Errorf("after the byte has changed: %+v", f.may)
	}
}
