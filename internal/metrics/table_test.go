package metrics

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// recorded makes a recording of ten samples, 100 ms apart. A
// goroutine of main.work runs main.fast; in the samples 3 to 6,
// it runs main.slow and has the label route=/slow. Another one
// waits for main.mu in the samples 4 and 5.
func recorded(t testing.TB) *sampledata.Recording {
	b := sampledata.NewBuilder(sampledata.Header{})
	served := b.Monitor(sampledata.Monitor{Name: "main.srv.stats[0].hits", Kind: sampledata.Counter})
	large := b.Monitor(sampledata.Monitor{Name: "heap.allocated", Kind: sampledata.Counter, Unit: "bytes"})
	queue := b.Monitor(sampledata.Monitor{Name: "len(main.(*server).queue)", Kind: sampledata.Level})
	phase := b.Monitor(sampledata.Monitor{Name: "gc.phase", Kind: sampledata.Nominal})
	b.Monitor(sampledata.Monitor{Name: "cycles", Kind: sampledata.Counter, Unmeasured: "no PMU"})
	function := func(name string) sampledata.FunctionID { return b.Function(sampledata.Function{Name: name}) }
	work := b.Node(sampledata.Node{Parent: sampledata.NoStack, Function: function("main.work")})
	fast := b.Node(sampledata.Node{Parent: work, Function: function("main.fast")})
	slow := b.Node(sampledata.Node{Parent: work, Function: function("main.slow")})
	label := b.LabelSet([]sampledata.Label{{Key: "route", Value: "/slow"}})
	g := b.Goroutine(sampledata.Goroutine{ID: 1, Start: function("main.work")})
	waiter := b.Goroutine(sampledata.Goroutine{ID: 2, Start: function("main.wait")})
	for i := range 10 {
		b.Measure(served, sampledata.Count(uint64(100+i*i)))
		b.Measure(large, sampledata.Count(math.MaxUint64-100+uint64(i)))
		b.Measure(queue, sampledata.Number(int64(i%3)))
		b.Measure(phase, sampledata.Word([]string{"off", "mark"}[i/5]))
		state := sampledata.State{Stack: fast, Run: sampledata.Running}
		if i >= 3 && i <= 6 {
			state.Stack, state.Labels = slow, label
		}
		changes := []sampledata.Change{{Goroutine: g, State: state}, {Goroutine: waiter, Gone: i != 4 && i != 5, State: sampledata.State{
			Stack: slow, Run: sampledata.Blocked, Lock: 0x1000, Reason: "sync.Mutex.Lock",
		}}}
		s := sampledata.Sample{Time: time.Duration(i+1) * 100 * time.Millisecond, Processors: []sampledata.GoroutineID{g}, Collecting: i >= 8}
		fixture.Check(t, b.Sample(s, changes))
		if i == 4 {
			b.LockName(sampledata.LockName{Address: 0x1000, First: 4, Name: "main.mu"})
		}
	}
	r := b.Recording()
	fixture.Check(t, r.Check())
	return r
}

func table(t testing.TB) *Table {
	return New(recorded(t), Options{
		Metrics: []Definition{{Name: "served", Expr: "rate(main.srv.stats[0].hits)"}, {Name: "loop", Expr: "loop + 1"}, {Name: "a", Expr: "b + 1"}, {Name: "b", Expr: "a + 1"}},
		Lists:   []Definition{{Name: "late", Expr: "span(500ms,)"}, {Name: "slow", Expr: "hits(* ..main.slow) > 0"}, {Name: "ring", Expr: "ring | slow"}},
	})
}

// number returns the values of an expression as integers; -1000
// for undefined ones.
func numbersOf(t *testing.T, table *Table, expr string) []int {
	t.Helper()
	m, err := table.Metric(expr)
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	var list []int
	for _, x := range m.Column {
		if !Defined(x) {
			x = -1000
		}
		list = append(list, int(math.Round(x)))
	}
	return list
}

func TestMetric(t *testing.T) {
	table := table(t)
	const u = -1000
	for expr, want := range map[string][]int{
		"main.srv.stats[0].hits":               {100, 101, 104, 109, 116, 125, 136, 149, 164, 181},
		"served / 10":                          {u, 1, 3, 5, 7, 9, 11, 13, 15, 17},
		"delta(heap.allocated)":                {u, 1, 1, 1, 1, 1, 1, 1, 1, 1}, // float64 has not all of these numbers
		"len(main.(*server).queue) * 2":        {0, 2, 4, 0, 2, 4, 0, 2, 4, 0},
		"hits(* ..main.slow)":                  {0, 0, 0, 1, 2, 2, 1, 0, 0, 0},
		"hits(main.slow :RUN)":                 {0, 0, 0, 1, 1, 1, 1, 0, 0, 0},
		"hits(go:main.wait ..main.slow)":       {0, 0, 0, 0, 1, 1, 0, 0, 0, 0},
		"hits(go:main.work)":                   {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
		"lock(main.mu) + label(route=/slow)":   {0, 0, 0, 1, 2, 2, 1, 0, 0, 0},
		"goroutines - goroutines.blocked":      {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
		"time * 10":                            {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
		"gc.running":                           {0, 0, 0, 0, 0, 0, 0, 0, 1, 1},
		`gc.phase == "mark" && !slow`:          {0, 0, 0, 0, 0, 0, 0, 1, 1, 1},
		`gc.phase != "sweep"`:                  {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
		"delta(lag(main.srv.stats[0].hits,2))": {u, u, u, 1, 3, 5, 7, 9, 11, 13},
		"delta(main.srv.stats[0].hits*2)":      {u, 2, 6, 10, 14, 18, 22, 26, 30, 34},
		"delta(main.srv.stats[0].hits*2) > 10": {u, 0, 0, 0, 1, 1, 1, 1, 1, 1},
		"cycles > 1 && false":                  {0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		"cycles > 1 || served > 0":             {u, 1, 1, 1, 1, 1, 1, 1, 1, 1},
		"min(time, 0.3, cycles)":               {u, u, u, u, u, u, u, u, u, u},
		"-lag(max(time * 10, 3), 9)":           {u, u, u, u, u, u, u, u, u, -3},
	} {
		if got := numbersOf(t, table, expr); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", expr, got, want)
		}
	}
}

func TestList(t *testing.T) {
	table := table(t)
	for expr, want := range map[string][]int{
		"slow":                         {3, 4, 5, 6},
		"late & slow":                  {4, 5, 6},
		"slow - late":                  {3},
		"!slow & !late":                {0, 1, 2},
		"late - slow | samples(0)":     {0, 7, 8, 9},
		"late & (served < 100)":        {4, 5},
		"span(200ms, 300ms) | slow":    {1, 3, 4, 5, 6},
		"all - (late | slow)":          {0, 1, 2},
		"slow && late":                 {4, 5, 6},
		"!(served < 100)":              {6, 7, 8, 9}, // a predicate: undefined in sample 0
		"all - (served < 100)":         {0, 6, 7, 8, 9},
		"late && !slow || samples(0)":  {0, 7, 8, 9},
		"slow & served < 100":          {3, 4, 5},
		"samples(0-2, 9)":              {0, 1, 2, 9},
		"time > 0.85":                  {8, 9},
		"(slow | late) & (gc.running)": {8, 9},
		"(slow | late)\n& gc.phase != 'off' & !false": {5, 6, 7, 8, 9},
	} {
		l, err := table.List(expr)
		if err != nil {
			t.Errorf("%s: %v", expr, err)
			continue
		}
		if got := l.Members(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", expr, got, want)
		}
	}
}

// Messages say what is wrong, where, and what there is instead.
func TestErrors(t *testing.T) {
	table := table(t)
	for expr, want := range map[string]string{
		"served +":               "expected operand, found 'EOF'\n    served +\n            ^",
		"1 + heap.alocated":      "there is no monitor or metric \"heap.alocated\": did you mean heap.allocated?\n    1 + heap.alocated\n        ^",
		"1 + main.served":        "there is no monitor or metric \"main.served\"",
		"len(main.queue)":        "there is no monitor \"len(main.queue)\"",
		"gc.phase + 1":           "+ takes no nominal monitor, whose values are words: numbers are main.srv.stats[0].hits, heap.allocated, ",
		"served && slow":         "&& takes what is true or false, and this is a number: compare it, such as with > 0",
		"slow + 1":               "+ takes numbers, and this is true or false",
		"sqrt(served)":           "there is no function sqrt: there are abs(x), delta(x), ",
		"lag(served, 0.5)":       "lag(x, k): want a whole number k of samples",
		"lag(served)":            "want lag(x, k)",
		"served ? 1 : 2":         "illegal character U+003F '?'",
		"func() {}":              "this is not possible in a metric: there are + - * /",
		"served gc.phase":        "expected 'EOF', found gc.phase\n    served gc.phase\n           ^",
		"delta(served > 1":       "a ) is missing\n    delta(served > 1\n                    ^",
		"1i":                     "1i is not a number",
		"served ^ 2":             "there is no operator ^ in metrics",
		"gc.phase == served":     "== compares a nominal monitor with a word",
		"hits(* ..main.slw)":     "hits: main.slw does not occur in this view: did you mean main.slow?",
		"1 + hits(* ..)":         "\n    1 + hits(* ..)\n               ^",
		"hits(* ..main.slow":     "hits: the parenthesis is not closed",
		"hits(go:main.wrk)":      "there is no thread class \"go:main.wrk\": did you mean go:main.work?",
		"lock(main.m)":           "did you mean main.mu?",
		"label(route=/fast)":     "there is no label \"route=/fast\": there are route=/slow",
		"slow |":                 "expected operand, found 'EOF'\n    slow |\n          ^",
		"slow | late & 1":        "&& takes what is true or false, and this is a number: compare it, such as with > 0\n    slow | late & 1\n                  ^",
		"span(1s, 0.5s) && slow": "want offsets from the start, the first before the second",
		"samples(3-12)":          "there is no sample 12: the recording has 10, from 0 on",
		"loop":                   "metric loop is defined by itself: loop + 1",
		"a":                      "is defined by itself",
		"ring":                   "list ring is defined by itself: ring | slow",
		"served & slow":          "&& takes what is true or false, and this is a number",
	} {
		_, err := table.List(expr)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", expr, err, want)
		}
	}
	if _, err := table.List("served"); err == nil || !strings.Contains(err.Error(), "this is a number") {
		t.Errorf("a list of a number: %v", err)
	}
	var syntax *callpath.SyntaxError
	if _, err := table.Metric("ä + ö"); !errors.As(err, &syntax) || syntax.Offset != 0 {
		t.Errorf("%+v", err)
	}
}

func TestUnits(t *testing.T) {
	table := table(t)
	for expr, want := range map[string]string{
		"heap.allocated":                        "bytes",
		"rate(heap.allocated)":                  "bytes/s",
		"heap.allocated / time":                 "bytes/s",
		"served * time":                         "",
		"served":                                "1/s",
		"heap.allocated / heap.allocated * 100": "",
		"heap.allocated / 1e6":                  "",
		"heap.allocated + 1":                    "bytes",
		"heap.allocated + time":                 "",
		"log2(heap.allocated)":                  "",
		"max(sample.halt, 5)":                   "ns",
		"time * time / sample.halt":             "s*s/ns",
		"heap.allocated > 5":                    "",
	} {
		m := fixture.Must(table.Metric(expr))(t)
		if got := m.Unit.String(); got != want {
			t.Errorf("%s is in %q, want %q", expr, got, want)
		}
	}
}

// A counter that begins anew has an undefined difference there,
// which is counted.
func TestRestarts(t *testing.T) {
	b := sampledata.NewBuilder(sampledata.Header{})
	c := b.Monitor(sampledata.Monitor{Name: "c", Kind: sampledata.Counter})
	d := b.Monitor(sampledata.Monitor{Name: "d", Kind: sampledata.Counter})
	for i, v := range []uint64{5, 7, 2, 4, 1} {
		b.Measure(c, sampledata.Count(v))
		b.Measure(d, sampledata.Count(uint64(10*i)))
		fixture.Check(t, b.Sample(sampledata.Sample{Time: time.Duration(i) * time.Second}, nil))
	}
	table := New(b.Recording(), Options{Metrics: []Definition{{Name: "m", Expr: "rate(c)"}}})
	for expr, want := range map[string][]int{
		"m": {-1000, 2, -1000, 2, -1000}, "delta(c + d)": {-1000, 12, -1000, 12, -1000}, "delta(2 * c) / delta(d) * 100": {-1000, 40, -1000, 40, -1000},
		"rate(c) / rate(d) * 10": {-1000, 2, -1000, 2, -1000},
	} {
		if got := numbersOf(t, table, expr); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", expr, got, want)
		}
		if m, _ := table.Metric(expr); m.Restarts != 2 {
			t.Errorf("%s: the counter began anew %d times, want 2", expr, m.Restarts)
		}
	}
}
