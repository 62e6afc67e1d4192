package views

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
	"pgregory.net/rapid"
)

// idleOptions are the roles of a few functions.
func idleOptions() Options {
	return Options{
		LeaveOutIdle: true,
		Wrapper:      func(f string) bool { return strings.HasPrefix(f, "pool.") },
		Role: func(f string) Role {
			switch {
			case f == "net.accept":
				return IdleRole
			case f == "main.fanIn":
				return BusyRole
			case slices.Contains([]string{"net.Read", "runtime.gopark", "runtime.selectgo"}, f), strings.HasPrefix(f, "runtime."):
				return AnyRole
			}
			return OtherRole
		},
	}
}

func TestIdle(t *testing.T) {
	for _, c := range []struct {
		stack, reason string
		want          bool
	}{
		{"http.Serve net.accept runtime.gopark", "IO wait", true},
		{"http.serve main.handle db.Query net.Read runtime.gopark", "IO wait", false},
		{"main.loop net.Read runtime.gopark", "IO wait", true},
		{"main.loop net.Write runtime.gopark", "IO wait", false},
		{"main.watch runtime.selectgo runtime.gopark", "select", true},
		{"main.watch runtime.gopark", "chan send", false},
		{"main.watch runtime.gopark", "semacquire", false},
		{"main.deep main.watch runtime.gopark", "select", false},
		{"main.main.func2 main.watch runtime.gopark", "select", true},
		{"main.main.func2.1 main.watch runtime.gopark", "select", true},
		{"main.main.function main.watch runtime.gopark", "select", false},
		{"pool.run pool.run.func1 main.watch runtime.gopark", "chan receive", true},
		{"runtime.main main.main runtime.gopark", "sleep", true},
		{"runtime.main main.main main.run runtime.gopark", "select (no cases)", true},
		{"runtime.main main.main main.run runtime.gopark", "select", false},
		{"main.fanIn runtime.gopark", "chan receive", false},
		{"runtime.bgsweep runtime.gopark", "GC sweep wait", true},
		{"runtime.main runtime.gopark", "GC sweep wait", false},
	} {
		s := newSketch(t)
		g := s.goroutine("f")
		stack := stackOf(s.Builder, append([]string{bootstrap}, strings.Fields(c.stack)...)...)
		s.sample(map[sampledata.GoroutineID]sampledata.State{g: {Stack: stack, Run: sampledata.Waiting, Reason: c.reason}})
		r := s.Recording()
		if got := newIdleness(r, idleOptions()).has(r.Runs.At(0)); got != c.want {
			t.Errorf("%s, %s: waits for work: %v, want %v", c.stack, c.reason, got, c.want)
		}
	}
}

// TestIdleLeftOut checks that a Thread View and the sums of its class lack waiting for work, unless there is nothing else.
func TestIdleLeftOut(t *testing.T) {
	s := newSketch(t)
	a, b := s.goroutine("a"), s.goroutine("b")
	waits := func(frames ...string) sampledata.State {
		return sampledata.State{Stack: stackOf(s.Builder, frames...), Run: sampledata.Waiting, Reason: "select"}
	}
	runs := sampledata.State{Stack: stackOf(s.Builder, "main.loop"), Run: sampledata.Running}
	s.sample(map[sampledata.GoroutineID]sampledata.State{a: waits("main.loop", "runtime.gopark"), b: waits("main.loop", "runtime.gopark")})
	s.sample(nil)
	s.sample(map[sampledata.GoroutineID]sampledata.State{a: waits("main.loop", "main.ask", "runtime.gopark")})
	s.sample(map[sampledata.GoroutineID]sampledata.State{a: runs})
	r := s.Recording()
	o := idleOptions()
	v := thread(t, r, "go:a", o)
	compareHits(t, "a", hitsOf(v.Tree), map[string]string{
		"go:a\nmain.loop\n:RUN": "1",
		"go:a\nmain.loop\nmain.ask\nruntime.gopark\n:WAIT\n:select": "1",
	})
	if share := v.IdleShare(); share.Cmp(big.NewRat(1, 2)) != 0 {
		t.Errorf("the view lacks %v, want a half", share)
	}
	if v := thread(t, r, "go:b", o); v.IdleShare().Sign() != 0 || v.Tree.Main().Hits().Denominator.Cmp(big.NewRat(4, 1)) != 0 {
		t.Errorf("a class that only waits for work has %v hits, and lacks %v", v.Tree.Main().Hits().Denominator, v.IdleShare())
	}
	classes, err := Classes(r, o)
	if err != nil {
		t.Fatal(err)
	}
	if c := classes[0]; c.Class != "go:a" || c.Hits != 2 || c.Idle.Hits.Cmp(big.NewRat(2, 1)) != 0 || c.Shares()[Run].Cmp(big.NewRat(1, 2)) != 0 {
		t.Errorf("a: %+v", c)
	}
	if c := classes[1]; c.Hits != 0 || c.Idle.Hits.Cmp(big.NewRat(4, 1)) != 0 || !c.OnlyIdle() || c.IdleShare().Cmp(big.NewRat(1, 1)) != 0 {
		t.Errorf("b: %+v", c)
	}
}

// TestIdleIsTheRest checks for random recordings that leaving out waiting for work takes that and nothing else from
// views and sums.
func TestIdleIsTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, with := drawRecording(t), drawOptions(t)
		salt := rapid.IntRange(0, 3).Draw(t, "salt")
		with.Role = func(f string) Role { return Role((len(f) + salt) % 4) }
		without := with
		without.LeaveOutIdle = true
		all, err := Classes(r, with)
		if err != nil {
			t.Fatal(err)
		}
		rest, err := Classes(r, without)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			i := slices.IndexFunc(rest, func(d ClassSummary) bool { return d.Class == c.Class })
			d := rest[i]
			work := calltree.Total{Weight: c.Time, Hits: big.NewRat(c.Hits, 1)}.Minus(c.Idle)
			if d.Idle.Hits.Cmp(c.Idle.Hits) != 0 || d.Idle.Weight.Cmp(c.Idle.Weight) != 0 || d.Time.Cmp(work.Weight) != 0 ||
				d.HitParts.total().Cmp(work.Hits) != 0 || d.total().Cmp(d.Time) != 0 || big.NewRat(d.Hits, 1).Cmp(work.Hits) != 0 || d.IdleShare().Cmp(c.IdleShare()) != 0 || d.OnlyIdle() != c.OnlyIdle() {
				t.Fatalf("%+v, and without idle %+v", c, d)
			}
			v, err := Thread(r, c.Class, without)
			if err != nil {
				t.Fatal(err)
			}
			if d.Hits > 0 && (v.Tree.Main().Denominator.Cmp(d.Time) != 0 || v.IdleShare().Cmp(d.IdleShare()) != 0) {
				t.Fatalf("%s: the view has %v ns and lacks %v, the sums have %v and lack %v", c.Class, v.Tree.Main().Denominator, v.IdleShare(), d.Time, d.IdleShare())
			}
		}
	})
}
