package calls

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// served is a recording of a goroutine for each of some
// requests. Each begins in a sample of its own and takes 4
// samples. One of five takes 16: for 12 of these it waits for a
// lock that the first goroutine holds, which sleeps.
func served(t *testing.T, requests int) *sampledata.Recording {
	const waits = `blocked n5 reason="sync.Mutex.Lock" lock=0xc000 holders=h1 evidence=inferred`
	return servedWith(t, requests, func(int) string { return waits })
}

// servedWith says what each slow request waits for.
func servedWith(t *testing.T, requests int, waits func(i int) string) *sampledata.Recording {
	text := `function f0 main.handle
function f1 main.lock
function f2 main.hold
function f3 main.send
node n0 f0 line=1
node n1 f1 under=n0 line=2
node n2 f2 line=3
node n3 f3 line=4
node n4 f0 under=n3 line=5
node n5 f1 under=n4 line=2
goroutine g0 1 start=f2
`
	const running, gone = "running n4", "gone"
	changes := make([]string, 3*requests+40)
	changes[0] = "    g0 waiting n2 reason=sleep\n"
	for i := range requests {
		text += fmt.Sprintf("goroutine g%d %d\n", i+1, i+2)
		at := func(sample int, what string) {
			changes[sample] += fmt.Sprintf("    g%d %s\n", i+1, what)
		}
		begin := 3*i + 2
		at(begin, running)
		switch {
		case i%5 == 0:
			at(begin+4, waits(i))
			at(begin+16, gone)
		default:
			at(begin+4, gone)
		}
	}
	text += "holders h1 g0\n"
	for i, c := range changes {
		text += fmt.Sprintf("sample %dms processors=idle,idle\n%s", 10*(i+1), c)
	}
	return read(t, text)
}

func TestContrast(t *testing.T) {
	table := fixture.Must(Of(served(t, 100), "main.handle"))(t)
	slow := fixture.Must(ParseCondition("> p80"))(t)
	c := fixture.Must(table.Contrast(slow, views.Options{}))(t)
	if c.Slow.Calls != 20 || c.Rest.Calls != 80 || c.Slow.Longest != 160*time.Millisecond || c.Rest.Longest != 40*time.Millisecond {
		t.Fatalf("the slow ones are %+v, the rest %+v", c.Slow, c.Rest)
	}
	for typed, want := range map[views.TypedTime]float64{views.Monitor: 0.75, views.Run: 0.25} {
		if e := c.Slow.Parts[typed]; !near(e.Share, want) || e.Low > want || e.High < want {
			t.Errorf("%v takes %+v of the slow ones, want %v", typed, e, want)
		}
	}
	if e := c.Rest.Parts[views.Run]; e.Share != 1 {
		t.Errorf("the rest runs for %+v of the time, want all", e)
	}
	if len(c.More) != 1 {
		t.Fatalf("the slow ones have more of %+v, want one thing", c.More)
	}
	m := c.More[0]
	if m.Kind != HeldBy || m.Class != "go:main.hold" || !near(m.Difference.Share, 0.75) || m.Difference.Low <= 0 ||
		m.Meanwhile == nil || m.Meanwhile.Doing != views.Sleeping || m.Meanwhile.Function != "main.hold" {
		t.Errorf("the slow ones have more of %+v, meanwhile %+v", m, m.Meanwhile)
	}
	steps := table.Steps(&table.Calls[0], views.Options{})
	if len(steps) != 2 || steps[1].Doing != views.AwaitingLock || steps[1].Length != 120*time.Millisecond || !steps[1].Certain ||
		len(steps[1].Holders) != 1 || steps[1].Holders[0].Class != "go:main.hold" {
		t.Errorf("the longest call's steps are %+v", steps)
	}
}

// Who has a channel that is used as a lock holds up others as
// the holder of a lock does.
func TestHeldUpByAChannel(t *testing.T) {
	table, err := Of(servedWith(t, 100, func(int) string { return "waiting n5 reason=select holders=h1 evidence=likely" }), "main.handle")
	fixture.Check(t, err)
	slow, _ := ParseCondition("> p80")
	c := fixture.Must(table.Contrast(slow, views.Options{}))(t)
	if m := c.More; len(m) != 1 || m[0].Kind != HeldBy || m[0].Doing != views.Selecting || m[0].Function != "main.lock" || m[0].Class != "go:main.hold" {
		t.Errorf("the slow ones have more of %+v", m)
	}
}

// What one slow call did is not what slow calls have more of.
func TestOneOddCall(t *testing.T) {
	for odd, want := range map[int]bool{1: false, 10: true} {
		table, err := Of(servedWith(t, 50, func(i int) string {
			if i/5 < odd {
				return "waiting n5 reason=sleep"
			}
			return "running n5"
		}), "main.handle")
		fixture.Check(t, err)
		slow, _ := ParseCondition("> p80")
		c, err := table.Contrast(slow, views.Options{})
		if err != nil || c.TooFew() {
			t.Fatal(c, err)
		}
		sleeps := slices.ContainsFunc(c.More, func(m Common) bool { return m.Doing == views.Sleeping })
		if sleeps != want {
			t.Errorf("if %d of %d slow calls sleep, they have more of %+v", odd, c.Slow.Calls, c.More)
		}
	}
}

// Of few slow calls nothing is said.
func TestTooFew(t *testing.T) {
	table := fixture.Must(Of(served(t, 40), "main.handle"))(t)
	c, err := table.Contrast(Slowest, views.Options{})
	if err != nil || !c.TooFew() || c.More != nil {
		t.Errorf("of %d slow calls the contrast is %+v, %v", c.Slow.Calls, c, err)
	}
}

// Calls are in the order of what they took at most, not of how long
// they look.
func TestSides(t *testing.T) {
	one := Call{Begin: 0, End: 80, Took: Range{40, 120}}
	other := Call{Begin: 0, End: 90, Took: Range{85, 95}}
	last := Call{Begin: 0, End: 85, Took: Range{84, 86}}
	if s := sideOf([]*Call{&one, &other, &last}); s.Shortest != 80 || s.Longest != 90 || s.Total != 255 {
		t.Errorf("%+v", s)
	}
}
