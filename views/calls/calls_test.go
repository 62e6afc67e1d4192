package calls

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

func read(t *testing.T, text string) *sampledata.Recording {
	t.Helper()
	r, err := sampledata.ReadText(strings.NewReader("cpprof recording 1\nstart 2026-01-02T03:04:05Z\n" + text))
	fixture.Check(t, err)
	fixture.Check(t, r.Check())
	return r
}

const stacks = `function f0 main.loop
function f1 main.handle
function f2 main.get
node n0 f0 line=10
node n1 f0 line=11
node n2 f1 under=n1 line=20
node n3 f2 under=n2 line=30
node n4 f1 under=n3 line=20
node n5 f0 line=12
node n6 f1 under=n5 line=20
node n7 f2 line=30
goroutine g0 7
`

func TestOf(t *testing.T) {
	for _, c := range []struct{ name, samples, want string }{
		{"a call between two waits", "n0 n2 n3 n0", "1-2"},
		{"the outermost of a recursive one", "n0 n2 n4 n3 n0", "1-3"},
		{"another caller's line", "n0 n2 n2 n6 n6 n0", "1-2 3-4"},
		{"a short one", "n0 n2 n0 n2 n3 n0", "1-1short 3-4"},
		{"cut at both ends", "n2 n0 n2", "0-0cut-begin,short 2-2cut-end,short"},
		{"all the time", "n2 n3 n2", "0-2cut-begin,cut-end,several"},
		{"all the time in one wait", "n2@1 = =", "0-2cut-begin,cut-end"},
		{"all the time at a lock", "n2!1 n2!1 n2!1", "0-2cut-begin,cut-end,several"},
		{"all the time in one wait for a lock", "n2!1 = =", "0-2cut-begin,cut-end"},
		{"back to a lock", "n0 n3!1 n2 n3!1 n0", "1-3several"},
		{"one wait", "n0 n3@1 = n0", "1-2"},
		{"the same wait again", "n0 n3@1 n3@1 n0", "1-2several"},
		{"two waits", "n0 n2@1 n3@1 n0", "1-2"},
		{"a wait for something else", "n0 n3@1 n3@2 n0", "1-2several"},
		{"back to a wait", "n0 n3@1 n2 n3@1 n0", "1-3several"},
		{"a torn stack within", "n0 n2 n7torn n3 n0", "1-3"},
		{"a torn stack at its end", "n0 n2 n3 n7torn n0", "1-2"},
		{"a goroutine that ends", "n0 n2 n3 gone gone", "1-2"},
		{"no call", "n0 n0", ""},
	} {
		text := stacks
		for i, s := range strings.Fields(c.samples) {
			text += fmt.Sprintf("sample %dms\n", 10*(i+1))
			stack, torn := strings.CutSuffix(s, "torn")
			switch stack, lock, waits := strings.Cut(stack, "@"); {
			case strings.Contains(s, "!"):
				node, lock, _ := strings.Cut(s, "!")
				text += "    g0 blocked " + node + " reason=sync.Mutex.Lock lock=0x" + lock + "00\n"
			case s == "=":
			case waits:
				text += "    g0 waiting " + stack + " reason=select lock=0x" + lock + "00\n"
			case s == "gone" && i > 0 && strings.Fields(c.samples)[i-1] == "gone":
			case s == "gone":
				text += "    g0 gone\n"
			case torn:
				text += "    g0 running " + stack + " torn\n"
			default:
				text += "    g0 running " + stack + "\n"
			}
		}
		table, err := Of(read(t, text), "main.handle")
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var got []string
		for s := range int32(9) {
			for _, call := range table.Calls {
				if call.First == s {
					got = append(got, describe(call))
				}
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: the calls are %q, want %q", c.name, s, c.want)
		}
	}
}

// A goroutine calls its first function once.
func TestFirstFunctionIsOneCall(t *testing.T) {
	for _, c := range []struct {
		function string
		several  bool
	}{{"main.loop", false}, {"main.handle", true}} {
		table, err := Of(read(t, stacks+`sample 10ms
    g0 waiting n3 reason=select lock=0x100
sample 20ms
    g0 waiting n3 reason=select lock=0x200
sample 30ms
    g0 running n3
`), c.function)
		if err != nil || len(table.Calls) != 1 || table.Calls[0].Several != c.several || table.Repeats() != c.several {
			t.Errorf("%s: %+v, %v", c.function, table, err)
		}
	}
}

func describe(c Call) string {
	var marks []string
	for _, m := range []struct {
		is   bool
		text string
	}{{c.CutBegin, "cut-begin"}, {c.CutEnd, "cut-end"}, {c.Short, "short"}, {c.Several, "several"}} {
		if m.is {
			marks = append(marks, m.text)
		}
	}
	return fmt.Sprintf("%d-%d%s", c.First, c.Last, strings.Join(marks, ","))
}

func TestLengths(t *testing.T) {
	table, err := Of(read(t, stacks+`sample 10ms
    g0 running n0
sample 20ms
    g0 running n2
sample 30ms
sample 50ms
    g0 running n0
sample 60ms
`), "main.handle")
	fixture.Check(t, err)
	c := table.Calls[0]
	if c.Begin != 15*time.Millisecond || c.End != 40*time.Millisecond || !c.Whole() {
		t.Errorf("the call is from %v to %v, want from 15ms to 40ms", c.Begin, c.End)
	}
	steps := table.Steps(&c, views.Options{})
	if len(steps) != 1 || steps[0].At != c.Begin || steps[0].Length != c.Length() {
		t.Errorf("the steps are %+v", steps)
	}
}

// A goroutine that is hardly seen outside of its long calls
// counts by their time, however many short ones others make.
func TestMerges(t *testing.T) {
	for pause, want := range map[int]bool{1: true, 5: false} {
		text := stacks + "goroutine g1 8\n"
		for i := range 200 {
			text += fmt.Sprintf("sample %dms\n", 10*(i+1))
			for g, inside := range []bool{i%20 < 20-pause, i%5 == 0} {
				text += fmt.Sprintf("    g%d running %s\n", g, map[bool]string{true: "n2", false: "n0"}[inside])
			}
		}
		table := fixture.Must(Of(read(t, text), "main.handle"))(t)
		if table.Merges() != want {
			t.Errorf("outside in %d samples: touching %v", pause, table.Touching)
		}
	}
}

// Calls that are no more than chance puts into several samples
// are marked. Those that are longer are not.
func TestMergedByChance(t *testing.T) {
	for length, want := range map[int]bool{1: true, 5: false} {
		random := rand.New(rand.NewPCG(1, 2))
		text := stacks + "goroutine g1 8\n"
		left := 0
		for i := range 400 {
			if left--; left <= 0 && random.Float64() < 0.3/float64(length) {
				left = length
			}
			text += fmt.Sprintf("sample %dms\n    g0 running %s\n    g1 running n0\n", 10*(i+1), map[bool]string{true: "n2", false: "n0"}[left > 0])
		}
		table := fixture.Must(Of(read(t, text), "main.handle"))(t)
		if table.Merges() != want || table.Touching >= touching {
			t.Errorf("calls of %d samples: chance %v, touching %v", length, table.Chance, table.Touching)
		}
	}
}

func TestUnknownFunction(t *testing.T) {
	_, err := Of(read(t, stacks+"sample 10ms\n    g0 running n2\n"), "main.hadnle")
	if err == nil || !strings.Contains(err.Error(), "did you mean main.handle?") {
		t.Errorf("the error is %v", err)
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"main.handle", "main.handle, "},
		{"main.(*T[...]).f > p99", "main.(*T[...]).f, > p99"},
		{"main.f>=1.5s", "main.f, >=1.5s"},
		{"main.f < p99.9", "main.f, < p99.9"},
		{"main.f > 5ms < 80ms @ 1.2s,3.4s", "main.f, > 5ms < 80ms @ 1.2s,3.4s"},
		{"main.f>=5ms<p99@,3.4s", "main.f, >=5ms<p99@,3.4s"},
		{"main.f @ 2s,", "main.f, @ 2s,"},
		{"a <b> at x@y > p9", "a <b> at x@y, > p9"},
		{"main.f @ 3s,2s", "want two offsets"},
		{"main.f @ 3s", "want two offsets"},
		{"main.f @ -1s,2s", "want two offsets"},
		{"main.f @ 1s,2s > p90", "main.f, @ 1s,2s > p90"},
		{"main.f @ 1s,2s @ 1s,2s > p", "want two offsets"},
		{"main.f > 5ms 80ms", "want a comparison"},
		{"> p99", "want a function"},
		{"main.f >", "want a comparison"},
		{"main.f > 200", "want a comparison"},
		{"main.f > -1s", "want a comparison"},
		{"main.f > p0", "want a quantile"},
		{"main.f > p101", "want a quantile"},
		{"main.f > pNaN", "want a quantile"},
	} {
		function, condition, err := Parse(c.text)
		got := function + ", " + condition.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || err == nil && got != c.want {
			t.Errorf("%q is %q, want %q", c.text, got, c.want)
		}
	}
}

// The time inside calls is the sum of their lengths.
func TestRestrictedTime(t *testing.T) {
	table := fixture.Must(Of(served(t, 100), "main.handle"))(t)
	_, slow, err := Parse("main.handle > 50ms")
	fixture.Check(t, err)
	r := fixture.Must(table.Restrict(slow, false))(t)
	v := fixture.Must(views.Threads(r, views.Options{}))(t)
	if total := v.Tree.Main().Denominator.RatString(); total != fmt.Sprint(int64(20*160*time.Millisecond)) {
		t.Errorf("the time inside 20 calls of 160ms is %s ns", total)
	}
	_, none, err := Parse("main.handle > 1h")
	fixture.Check(t, err)
	if _, err := table.Restrict(none, false); err == nil || !strings.Contains(err.Error(), "none of the 100 calls") {
		t.Errorf("without calls, the error is %v", err)
	}
}

// A condition may have several bounds, and when calls begin; a
// call of exactly the bound is longer only for >=.
func TestChosen(t *testing.T) {
	table := fixture.Must(Of(served(t, 100), "main.handle"))(t)
	for text, want := range map[string]int{
		"": 100, "> 40ms": 20, ">= 40ms": 100, ">= 40ms < 160ms": 80, "> 40ms < 160ms": 0, "> p50 <= p100": 20,
		"@ 0s,": 100, "@ 0s,1s": 33, ">= 160ms @ 1s,2s": 7, "@ 1h,": 0,
	} {
		var c Condition
		if text != "" {
			c = fixture.Must(ParseCondition(text))(t)
		}
		if chosen, rest := table.choose(c); len(chosen) != want || len(chosen)+len(rest) != 100 {
			t.Errorf("%q chooses %d calls and leaves %d, want %d", text, len(chosen), len(rest), want)
		}
	}
}

// The calls of a span have quantiles of their own, and a
// condition of them chooses the same calls of all.
func TestDuring(t *testing.T) {
	all := fixture.Must(Of(served(t, 100), "main.handle"))(t)
	during := all.During(views.Span{From: time.Second, To: 2 * time.Second})
	if during.Whole() != 33 || during.Duration != time.Second || during.Covered != time.Second || all.Whole() != 100 {
		t.Fatalf("%d of %d calls in %v, %v of it covered", during.Whole(), all.Whole(), during.Duration, during.Covered)
	}
	for text, want := range map[string]int{"> p50": 7, ">= p90": 7, "< p90 @ 1.5s,": 12} {
		c := fixture.Must(ParseCondition(text))(t)
		same := fixture.Must(ParseCondition(c.In(during)))(t)
		chosen, _ := during.choose(c)
		ofAll, _ := all.choose(same)
		if len(chosen) != want || len(ofAll) != want || chosen[0].Begin != ofAll[0].Begin {
			t.Errorf("%q chooses %d calls of the span, %q %d of all: want %d", text, len(chosen), same, len(ofAll), want)
		}
	}
	timed := &Table{Duration: time.Second, windows: []sampledata.CallWindow{{From: 900 * time.Millisecond, To: 2 * time.Second}}}
	if timed.cover(0, time.Hour); timed.Windows != 1 || timed.Covered != 1100*time.Millisecond {
		t.Errorf("a window that ends after the last sample: %d, %v", timed.Windows, timed.Covered)
	}
	if part := timed.During(views.Span{To: time.Second}); part.Covered != 100*time.Millisecond {
		t.Errorf("a part of a window covers %v", part.Covered)
	}
	if after := all.During(views.Span{From: time.Hour}); after.Whole() != 0 || after.Covered != 0 || after.Duration != 0 {
		t.Errorf("after the end: %+v", after)
	}
}

// Probes see no call that neither begins nor ends. The samples do,
// if probes have timed all others.
func TestCallsBeforeProbes(t *testing.T) {
	const from, to = 10 * time.Millisecond, 30 * time.Millisecond
	for _, test := range []struct {
		windows []sampledata.CallWindow
		want    int
	}{
		{[]sampledata.CallWindow{{From: 0, To: to}}, 2},
		{[]sampledata.CallWindow{{From: 0, To: from}, {From: 2 * from, To: to}}, 1},
		{[]sampledata.CallWindow{{From: 0, To: from}}, 1},
	} {
		r := read(t, stacks+"goroutine g1 8\nsample 10ms\n g0 running n0\n g1 running n2\nsample 20ms\nsample 30ms\n g1 running n3\n")
		r.Calls = []sampledata.CallTable{{Function: "main.handle", Source: sampledata.CallsByUprobe, Windows: test.windows,
			Calls: []sampledata.TimedCall{{Goroutine: 7, Begin: 2 * time.Millisecond, End: 3 * time.Millisecond}}}}
		table := fixture.Must(Of(r, "main.handle"))(t)
		if got := len(table.Calls); got != test.want {
			t.Errorf("%v: %d calls, want %d", test.windows, got, test.want)
		}
		if c := table.Calls[0]; test.want == 2 && (c.ID != 8 || c.Whole() || c.Several) {
			t.Errorf("%v: the longest is %+v", test.windows, c)
		}
		r.Nodes[2].Inlined = true
		if got := len(fixture.Must(Of(r, "main.handle"))(t).Calls); got != 1 {
			t.Errorf("%v: %d calls if some are inlined, want 1", test.windows, got)
		}
	}
}

// What a condition was parsed from says the same again.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"main.handle", "main.(*T[...]).f > p99", "main.f>=1.5s", "> p99", "f < p0", "f > -1s", "label:id <= 2ms"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		function, c, err := Parse(text)
		if err != nil {
			return
		}
		again, same, err := Parse(function + " " + c.String())
		if err != nil || again != function || !reflect.DeepEqual(same, c) {
			t.Errorf("%q is %q, %+v, and then %q, %+v, %v", text, function, c, again, same, err)
		}
	})
}

// Calls of 60 ms among samples each 40 ms took 40 to 80 ms, and no
// quantile is more certain. What may be several took any time
// below, and what was timed took what it took.
func TestBetween(t *testing.T) {
	seen := func(least, most time.Duration) Call { return Call{End: (least + most) / 2, Took: Range{least, most}} }
	several := seen(80, 160)
	several.Several = true
	cut := seen(90, 90)
	cut.CutEnd = true
	for _, test := range []struct {
		calls []Call
		q     float64
		want  Range
	}{
		{nil, 0.5, Range{}},
		{[]Call{seen(40, 120), seen(40, 80), seen(0, 80), cut}, 1, Range{40, 120}},
		{[]Call{seen(40, 120), seen(40, 80), seen(0, 80), cut}, 0.3, Range{0, 80}},
		{[]Call{seen(40, 120), seen(40, 80), several}, 1, Range{40, 160}},
		{[]Call{seen(60, 60), seen(30, 30)}, 0.5, Range{30, 30}},
	} {
		table := &Table{Calls: slices.Clone(test.calls)}
		table.sortCalls()
		if got := table.Between(test.q); got != test.want {
			t.Errorf("quantile %v of %v: %v, want %v", test.q, test.calls, got, test.want)
		}
		if !slices.IsSortedFunc(table.Calls, func(a, b Call) int { return int(b.bound() - a.bound()) }) {
			t.Errorf("the longest are %v", table.Calls)
		}
	}
}

// Torn stacks beside a call may be a part of it. If nothing else
// follows, the call may go on after the recording.
func TestTornBesideCalls(t *testing.T) {
	const torn = "    g0 running n7 torn\n"
	for _, test := range []struct {
		samples string
		whole   bool
		most    time.Duration
	}{
		{"sample 10ms\n    g0 running n0\nsample 20ms\n" + torn + "sample 30ms\n    g0 running n2\nsample 40ms\n" + torn +
			"sample 50ms\n    g0 running n0\nsample 60ms\n", true, 40 * time.Millisecond},
		{"sample 10ms\n    g0 running n0\nsample 20ms\n    g0 running n2\nsample 30ms\n" + torn + "sample 40ms\n" + torn, false, 0},
	} {
		table := fixture.Must(Of(read(t, stacks+test.samples), "main.handle"))(t)
		c := table.Calls[0]
		if c.Whole() != test.whole || test.whole && c.Took != (Range{0, test.most}) {
			t.Errorf("%s: %+v", test.samples, c)
		}
	}
}
