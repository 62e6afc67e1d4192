package metrics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// drawColumn draws a metric with some undefined values.
func drawColumn(t *rapid.T, n int, name string) Column {
	c := make(Column, n)
	for i := range c {
		if c[i] = float64(rapid.IntRange(-3, 6).Draw(t, name)); c[i] < -2 {
			c[i] = undefined
		}
	}
	return c
}

func drawList(t *rapid.T, n int) List {
	l := NewList(n)
	for i := range n {
		if rapid.IntRange(0, 5).Draw(t, "in") > 0 {
			l.Add(i)
		}
	}
	return l
}

// A series that is computed from its steps correlates as the
// same series sample by sample.
func TestStepsCorrelateAsColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		y, l := drawColumn(t, n, "y"), drawList(t, n)
		c := newCounts(n)
		var steps []step
		for range rapid.IntRange(0, 12).Draw(t, "stays") {
			first := int32(rapid.IntRange(0, n-1).Draw(t, "first"))
			last := int32(rapid.IntRange(int(first), n-1).Draw(t, "last"))
			c.add(first, last)
			steps = append(steps, step{first, 1}, step{last + 1, -1})
		}
		x := c.column()
		got := newTarget(y, l).correlate(sortSteps(steps, make([]int32, n+1)))
		want := Correlate(x, y, l)
		if !near(got.pearson, want.Pearson) || !near(got.p, want.P) {
			t.Errorf("r = %v, p = %v, want %v, %v\nx %v\ny %v", got.pearson, got.p, want.Pearson, want.P, x, y)
		}
	})
}

func near(a, b float64) bool {
	return !Defined(a) && !Defined(b) || math.Abs(a-b) < 1e-6
}

// alternating makes a recording in which a queue is long
// whenever goroutines are in main.slow, below one of several
// callers. Other functions come and go as they like.
func alternating(t testing.TB, samples int) *sampledata.Recording {
	b := sampledata.NewBuilder(sampledata.Header{})
	queue := b.Monitor(sampledata.Monitor{Name: "queue", Kind: sampledata.Level})
	other := b.Monitor(sampledata.Monitor{Name: "other", Kind: sampledata.Counter})
	node := func(parent sampledata.NodeID, name string) sampledata.NodeID {
		return b.Node(sampledata.Node{Parent: parent, Function: b.Function(sampledata.Function{Name: name})})
	}
	root := node(sampledata.NoStack, "main.main")
	serve := node(root, "main.serve")
	slow, fast := node(node(serve, "main.slow"), "time.Sleep"), node(serve, "main.fast")
	noise := []sampledata.NodeID{node(root, "main.a"), node(root, "main.b"), node(root, "main.c")}
	g1, g2 := b.Goroutine(sampledata.Goroutine{ID: 1}), b.Goroutine(sampledata.Goroutine{ID: 2})
	random := uint64(1)
	next := func(n uint64) uint64 {
		random = random*6364136223846793005 + 1442695040888963407
		return random >> 33 % n
	}
	var total uint64
	for i := range samples {
		state := sampledata.State{Stack: fast, Run: sampledata.Running}
		length := int64(next(3))
		if next(4) == 0 {
			state = sampledata.State{Stack: slow, Run: sampledata.Waiting, Reason: "sleep"}
			length += 10
		}
		total += next(100)
		b.Measure(queue, sampledata.Number(length))
		b.Measure(other, sampledata.Count(total))
		err := b.Sample(sampledata.Sample{Time: time.Duration(i+1) * 10 * time.Millisecond}, []sampledata.Change{
			{Goroutine: g1, State: state}, {Goroutine: g2, State: sampledata.State{Stack: noise[next(3)], Run: sampledata.Running}},
		})
		fixture.Check(t, err)
	}
	return b.Recording()
}

// The path that goes with the queue is found, and nothing of the
// rest is said to.
func TestRank(t *testing.T) {
	table := New(alternating(t, 400), Options{Metrics: []Definition{{Name: "double", Expr: "queue * 2"}}})
	got := fixture.Must(table.Rank("queue", All(400), RankOptions{Least: 0.01, Most: 20}))(t)
	best := got.List[0]
	if best.Expr != "hits(* ..main.slow)" && got.List[1].Expr != "hits(* ..main.slow)" {
		t.Errorf("the best are %s and %s", best.Expr, got.List[1].Expr)
	}
	if math.Abs(best.Pearson) < 0.9 || !best.Survives || best.N != 400 || got.Tried < 8 || got.Paths < 5 {
		t.Errorf("%+v of %d tried, %d paths", best, got.Tried, got.Paths)
	}
	for _, c := range got.List {
		if c.Expr == "double" || c.Expr == "queue" {
			t.Errorf("%s is the metric itself", c.Expr)
		}
		if math.Abs(c.Pearson) < 0.15 && c.Survives {
			t.Errorf("%s survives with r = %v", c.Expr, c.Pearson)
		}
		m, err := table.Metric(c.Expr)
		if err != nil {
			t.Errorf("%s: %v", c.Expr, err)
			continue
		}
		y, _ := table.Metric("queue")
		if again := Correlate(m.Column, y.Column, All(400)); !near(again.Pearson, c.Pearson) || again.N != c.N {
			t.Errorf("%s: r = %v, but the expression has %v", c.Expr, c.Pearson, again.Pearson)
		}
	}
	if _, err := table.Rank("quue", All(400), RankOptions{}); err == nil {
		t.Error("a ranking of an unknown metric")
	}
}

// Monitors that go with a metric leave room for a call path that
// goes with it, too, and has few hits in each sample. Of the
// paths of a chain of calls one is enough.
func TestRoomForCallPaths(t *testing.T) {
	table := New(crowded(400), Options{})
	for most, paths := range map[int]int{6: 1, 9: 1, 1000: 2} {
		got := fixture.Must(table.Rank("queue", All(400), RankOptions{Least: 0.01, Most: most}))(t)
		slow, before := 0, 2.0
		for _, c := range got.List {
			if c.What == APath && (strings.HasSuffix(c.Expr, "main.slow)") || strings.Contains(c.Expr, "main.slowStep")) {
				if slow++; !c.Survives || c.Pearson < 0.2 {
					t.Errorf("%+v", c)
				}
			}
			if r := math.Abs(c.Pearson); c.Survives && r > before {
				t.Errorf("%s has r = %v after %v", c.Expr, c.Pearson, before)
			} else if c.Survives {
				before = r
			}
		}
		if len(got.List) != min(most, got.Tried) || slow != paths {
			t.Errorf("%d of %d: %d call paths lead to main.slow in %+v", len(got.List), got.Tried, slow, got.List)
		}
	}
}

// crowded makes a recording of a queue that is long half of the
// time, of many monitors that follow it, and of a goroutine that
// is more often in main.slow then.
func crowded(samples int) *sampledata.Recording {
	r := rand.New(rand.NewPCG(3, 4))
	b := sampledata.NewBuilder(sampledata.Header{})
	var ids []sampledata.MonitorID
	for i := range 12 {
		name := "queue"
		if i > 0 {
			name = fmt.Sprint("follower", i)
		}
		ids = append(ids, b.Monitor(sampledata.Monitor{Name: name, Kind: sampledata.Level}))
	}
	node := func(parent sampledata.NodeID, name string) sampledata.NodeID {
		return b.Node(sampledata.Node{Parent: parent, Function: b.Function(sampledata.Function{Name: name})})
	}
	start := node(sampledata.NoStack, "main.worker")
	other := node(start, "main.other")
	outer := node(start, "main.slow")
	inner := node(outer, "main.slowStep")
	g := b.Goroutine(sampledata.Goroutine{ID: 1, Start: b.Function(sampledata.Function{Name: "main.worker"})})
	for s := range samples {
		long := s / 20 % 2
		for _, id := range ids {
			b.Measure(id, sampledata.Number(int64(100*long)+r.Int64N(40)))
		}
		stack := other
		if r.Float64() < 0.1+0.4*float64(long) {
			if stack = inner; r.IntN(40) == 0 {
				stack = outer
			}
		}
		changes := []sampledata.Change{{Goroutine: g, State: sampledata.State{Stack: stack, Run: sampledata.Running}}}
		if err := b.Sample(sampledata.Sample{Time: time.Duration(s+1) * 10 * time.Millisecond}, changes); err != nil {
			panic(err)
		}
	}
	return b.Recording()
}

// At most about one in twenty of the correlations that survive
// is by chance: of a metric that is noise, usually none.
func TestSurvivors(t *testing.T) {
	if got := survivors([]float64{0.04, 0.001, 0.9, 0.03, 0.02}); !slices.Equal(got, []bool{true, true, false, true, true}) {
		// the bounds are 0.01, 0.02, 0.03, 0.04: 0.04 is the fourth smallest
		t.Errorf("%v", got)
	}
	if got := survivors([]float64{0.06, 0.03}); slices.Contains(got, true) {
		t.Errorf("%v", got)
	}
	if p := chance(0.5, 20); math.Abs(p-0.0248) > 0.0005 { // as in tables of Student's t
		t.Errorf("p = %v", p)
	}
	if chance(undefined, 10) != 1 || chance(1, 10) != 0 || chance(0.9, 2) != 1 {
		t.Error("edge cases")
	}
}

func benchTable(b *testing.B, samples, columns int) *Table {
	build := sampledata.NewBuilder(sampledata.Header{})
	var ids []sampledata.MonitorID
	for i := range columns {
		ids = append(ids, build.Monitor(sampledata.Monitor{Name: fmt.Sprintf("c%d", i), Kind: sampledata.Kind(i % 2)}))
	}
	for s := range samples {
		for i, id := range ids {
			v := sampledata.Count(uint64(s * (i + 1)))
			if i%2 == 1 {
				v = sampledata.Number(int64(s % (i + 7)))
			}
			build.Measure(id, v)
		}
		fixture.Check(b, build.Sample(sampledata.Sample{Time: time.Duration(s) * time.Millisecond}, nil))
	}
	return New(build.Recording(), Options{})
}

// A metric of each of 20 columns, over 1,000,000 samples.
func BenchmarkMetrics(b *testing.B) {
	const columns = 20
	t := benchTable(b, 1_000_000, columns)
	exprs := make([]string, columns)
	for i := range exprs {
		exprs[i] = fmt.Sprintf("rate(c%d) / (c%d + 1) > 3", i/2*2, i/2*2+1)
		fixture.Must(t.Metric(fmt.Sprintf("c%d", i)))(b)
	}
	for b.Loop() {
		clear(t.metrics)
		for _, e := range exprs {
			fixture.Must(t.Metric(e))(b)
		}
	}
}

// bushy makes a recording whose stacks make a tree of many nodes.
func bushy(samples, nodes, goroutines int) *sampledata.Recording {
	r := rand.New(rand.NewPCG(1, 2))
	b := sampledata.NewBuilder(sampledata.Header{})
	queue := b.Monitor(sampledata.Monitor{Name: "queue", Kind: sampledata.Level})
	var functions []sampledata.FunctionID
	for i := range 5000 {
		functions = append(functions, b.Function(sampledata.Function{Name: fmt.Sprintf("main.f%d", i)}))
	}
	var leaves []sampledata.NodeID
	for len(leaves) < nodes {
		parent := sampledata.NoStack
		if len(leaves) > 20 { // mostly deep stacks
			parent = leaves[r.IntN(len(leaves))]
		}
		leaves = append(leaves, b.Node(sampledata.Node{Parent: parent, Function: functions[r.IntN(len(functions))]}))
	}
	var all []sampledata.GoroutineID
	for i := range goroutines {
		all = append(all, b.Goroutine(sampledata.Goroutine{ID: int64(i + 1), Start: functions[i%10]}))
	}
	for i := range samples {
		b.Measure(queue, sampledata.Number(r.Int64N(100)))
		var changes []sampledata.Change
		for _, g := range all {
			if i == 0 || r.IntN(4) == 0 {
				changes = append(changes, sampledata.Change{Goroutine: g, State: sampledata.State{Stack: leaves[r.IntN(len(leaves))], Run: sampledata.Running}})
			}
		}
		if err := b.Sample(sampledata.Sample{Time: time.Duration(i+1) * 10 * time.Millisecond}, changes); err != nil {
			panic(err)
		}
	}
	return b.Recording()
}

// Ranking everything: 10,000 samples, and a tree of more than 100,000 nodes.
func BenchmarkRank(b *testing.B) {
	r := bushy(10_000, 60_000, 100)
	for b.Loop() {
		t := New(r, Options{})
		fixture.Must(t.Rank("queue", All(t.samples), RankOptions{Least: 0.001, Most: 30}))(b)
		b.ReportMetric(float64(t.presence.Tree.Len()), "nodes")
	}
}
