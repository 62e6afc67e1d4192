package views

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
	"pgregory.net/rapid"
)

// A sketch makes recordings whose samples are 10 ms apart.
type sketch struct {
	*sampledata.Builder
	t        *testing.T
	samples  int
	interval time.Duration
}

func newSketch(t *testing.T) *sketch {
	return &sketch{sampledata.NewBuilder(sampledata.Header{Start: time.Unix(0, 0), GOMAXPROCS: 2}), t, 0, 10 * time.Millisecond}
}

func (s *sketch) goroutine(start string) sampledata.GoroutineID {
	return s.Goroutine(sampledata.Goroutine{Start: s.Function(sampledata.Function{Name: start})})
}

func (s *sketch) sample(states map[sampledata.GoroutineID]sampledata.State, gone ...sampledata.GoroutineID) {
	s.t.Helper()
	var changes []sampledata.Change
	for g, st := range states {
		changes = append(changes, sampledata.Change{Goroutine: g, State: st})
	}
	for _, g := range gone {
		changes = append(changes, sampledata.Change{Goroutine: g, Gone: true})
	}
	at := time.Duration(s.samples) * s.interval
	s.samples++
	fixture.Check(s.t, s.Sample(sampledata.Sample{Time: at, Weight: 10 * time.Millisecond}, changes))
}

func (s *sketch) blocked(holders ...sampledata.GoroutineID) sampledata.State {
	return sampledata.State{Stack: stackOf(s.Builder, "f"), Run: sampledata.Blocked, Evidence: sampledata.Inferred, Holders: s.HolderSet(holders)}
}

func thread(t *testing.T, r *sampledata.Recording, class string, o Options) *View {
	t.Helper()
	v := fixture.Must(Thread(r, class, o))(t)
	fixture.Check(t, v.Tree.Check())
	m := v.Tree.Main()
	if one := m.Cost(m.Cum(0)); one.Cmp(big.NewRat(1, 1)) != 0 {
		t.Fatalf("%s costs %v", class, one)
	}
	return v
}

// TestProcessorsOfTheHeader uses GOMAXPROCS if samples don't list their processors.
func TestProcessorsOfTheHeader(t *testing.T) {
	s := newSketch(t)
	a, b := s.goroutine("a"), s.goroutine("b")
	s.sample(map[sampledata.GoroutineID]sampledata.State{
		a: {Run: sampledata.Running, Stack: sampledata.NoStack},
		b: {Run: sampledata.Runnable, Stack: sampledata.NoStack},
	})
	r := s.Recording()
	compareHits(t, "b", hitsOf(thread(t, r, "go:b", Options{}).Tree), map[string]string{
		"go:b\n:LOAD\ngo:a":            "1/2",
		"go:b\n:LOAD\n:idle-processor": "1/2",
	})
	server := fixture.Must(Server(r, Options{}))(t)
	if d := server.Tree.Main().Hits().Denominator; d.Cmp(big.NewRat(2, 1)) != 0 {
		t.Errorf("denominator %v", d)
	}
}

// A goroutine on a processor whose thread has no CPU waits, and
// the Server View has the share of the CPUs that was used. It
// keeps its processor from others all the same.
func TestNoCPU(t *testing.T) {
	s := newSketch(t)
	a, b, c, d := s.goroutine("a"), s.goroutine("b"), s.goroutine("c"), s.goroutine("d")
	s.sample(map[sampledata.GoroutineID]sampledata.State{
		a: {Run: sampledata.Running, Stack: sampledata.NoStack},
		b: {Run: sampledata.Running, NoCPU: true, Stack: sampledata.NoStack},
		c: {Run: sampledata.Detached, NoCPU: true, Stack: sampledata.NoStack},
		d: {Run: sampledata.Runnable, Stack: sampledata.NoStack},
	})
	r := s.Recording()
	for class, want := range map[string]map[string]string{
		"go:a": {"go:a\n:RUN": "1"},
		"go:b": {"go:b\n:LOAD\n:no-CPU": "1"},
		"go:c": {"go:c\n:LOAD\n:no-CPU": "1"},
		"go:d": {"go:d\n:LOAD\ngo:a": "1/2", "go:d\n:LOAD\ngo:b": "1/2"},
	} {
		compareHits(t, class, hitsOf(thread(t, r, class, Options{}).Tree), want)
	}
	server := fixture.Must(Server(r, Options{}))(t)
	if root := server.Tree.Main().Cost(server.Tree.Main().Cum(0)); root.Cmp(big.NewRat(1, 2)) != 0 {
		t.Errorf("one of two processors is used, but the root of the Server View costs %v", root)
	}
	// The estimates don't ask who runs.
	estimated := fixture.Must(Server(r, Options{Accounting: Processors}))(t)
	if n := estimated.Tree.Main().Hits().Denominator; n.Cmp(big.NewRat(3, 1)) != 0 {
		t.Errorf("denominator %v for the three goroutines that run", n)
	}
}

func TestUnknownStateIsWarnedOf(t *testing.T) {
	s := newSketch(t)
	g := s.goroutine("a")
	s.sample(map[sampledata.GoroutineID]sampledata.State{g: {Stack: sampledata.NoStack}})
	s.sample(nil)
	v := thread(t, s.Recording(), "go:a", Options{})
	compareHits(t, "a", hitsOf(v.Tree), map[string]string{"go:a\n:WAIT\n:unknown": "2"})
	if len(v.Warnings) != 1 || v.Warnings[0].Kind != "unknown-state" || v.Warnings[0].Count != 2 {
		t.Errorf("warnings %+v", v.Warnings)
	}
}

func TestDeepStackKeepsItsLeaf(t *testing.T) {
	s := newSketch(t)
	var frames []string
	for i := range 1500 {
		frames = append(frames, fmt.Sprint("f", i))
	}
	g := s.goroutine("a")
	s.sample(map[sampledata.GoroutineID]sampledata.State{g: {Run: sampledata.Running, Stack: stackOf(s.Builder, frames...)}})
	s.sample(map[sampledata.GoroutineID]sampledata.State{g: {Run: sampledata.Running, Stack: stackOf(s.Builder, frames[:1000]...)}})
	v := thread(t, s.Recording(), "go:a", Options{})
	compareHits(t, "a", hitsOf(v.Tree), map[string]string{
		"go:a\n" + strings.Join(frames[500:], "\n") + "\n:RUN":  "1",
		"go:a\n" + strings.Join(frames[:1000], "\n") + "\n:RUN": "1",
	})
	if len(v.Warnings) != 1 || v.Warnings[0].Kind != "deep-stack" || v.Warnings[0].Count != 1 || !strings.Contains(v.Warnings[0].Message, "1500") {
		t.Errorf("warnings %+v", v.Warnings)
	}
}

// TestBootstrapFrameIsLeftOut: this is so only for the outermost
// frame; elsewhere it is a function like others.
func TestBootstrapFrameIsLeftOut(t *testing.T) {
	s := newSketch(t)
	g := s.goroutine("a")
	stack := stackOf(s.Builder, "runtime.goexit", "a", "runtime.goexit")
	s.sample(map[sampledata.GoroutineID]sampledata.State{g: {Run: sampledata.Running, Stack: stack}})
	compareHits(t, "a", hitsOf(thread(t, s.Recording(), "go:a", Options{}).Tree),
		map[string]string{"go:a\na\nruntime.goexit\n:RUN": "1"})
}

func TestLongChainIsCut(t *testing.T) {
	s := newSketch(t)
	first := s.goroutine("first")
	gs := []sampledata.GoroutineID{first}
	for range 100 {
		gs = append(gs, s.goroutine("next"))
	}
	states := map[sampledata.GoroutineID]sampledata.State{gs[100]: {Run: sampledata.Waiting, Stack: sampledata.NoStack}}
	for i, g := range gs[:100] {
		states[g] = s.blocked(gs[i+1])
	}
	s.sample(states)
	v := thread(t, s.Recording(), "go:first", Options{})
	want := "go:first\nf" + strings.Repeat("\n:MONITOR\ngo:next\nf", maxChain) + "\n:MONITOR\ngo:next\n:cut"
	compareHits(t, "first", hitsOf(v.Tree), map[string]string{want: "1"})
	if len(v.Warnings) != 1 || v.Warnings[0].Kind != "cut-chain" {
		t.Errorf("warnings %+v", v.Warnings)
	}
}

// TestTinySharesAreExact: half of each lock's holders do not
// exist any more, so that shares become smaller than 1/2^63.
func TestTinySharesAreExact(t *testing.T) {
	s := newSketch(t)
	first, ghost := s.goroutine("first"), s.goroutine("ghost")
	gs := []sampledata.GoroutineID{first}
	for range 80 {
		gs = append(gs, s.goroutine("next"))
	}
	states := map[sampledata.GoroutineID]sampledata.State{gs[80]: {Run: sampledata.Waiting, Stack: sampledata.NoStack}}
	for i, g := range gs[:80] {
		states[g] = s.blocked(ghost, gs[i+1])
	}
	s.sample(states)
	v := thread(t, s.Recording(), "go:first", Options{})
	hits := hitsOf(v.Tree)
	last := "go:first\nf" + strings.Repeat("\n:MONITOR\ngo:next\nf", maxChain) + "\n:MONITOR\n"
	for _, end := range []string{":unknown-holder", "go:next\n:cut"} {
		if got := hits[last+end]; got != "1/36893488147419103232" { // 2^65
			t.Errorf("%s: %s hits", end, got)
		}
	}
}

// TestHitsBeyondInt64: sums that would be too large go to the
// tree at once.
func TestHitsBeyondInt64(t *testing.T) {
	b := newBuilder(newScene(&sampledata.Recording{}, Options{}), "go:a")
	g := &group[instance]{n: 1}
	sp := &spread{of: 2, waits: []wait{{typed: Load, to: idleProcessor.inPlaceOfClass(), heads: 1, num: 1, den: 2}}}
	sp.typed[Run], sp.typed[Load] = 1, 1
	for range 3 {
		b.collect(g, sp, observed{1 << 62, 1 << 61})
	}
	b.flush(g)
	tree := fixture.Must(b.tree.Tree())(t)
	hits := new(big.Rat).SetInt64(3 << 61).RatString()
	compareHits(t, "a", hitsOf(tree), map[string]string{"go:a\n:RUN": hits, "go:a\n:LOAD\n:idle-processor": hits})
	time := new(big.Rat).SetInt64(3 << 60).RatString()
	compareHits(t, "a", weightsOf(tree), map[string]string{"go:a\n:RUN": time, "go:a\n:LOAD\n:idle-processor": time})
}

// TestFlushingEarly compares views whose collected hits go into
// the tree early and late.
func TestFlushingEarly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, o := drawRecording(t), drawOptions(t)
		from, to, err := o.samples(r)
		fixture.Check(t, err)
		b := newBuilder(newScene(r, o), "*")
		b.server, b.flushAt = true, 0
		v := fixture.Must(b.view(from, to))(t)
		compareHits(t, "server", hitsOf(v.Tree), texts(oracle{r, o}.views()["*"].hits))
	})
}

// TestWaysThroughLocksMultiply: each of many goroutines waits
// for the holders of two locks, which do the same. There are too
// many ways to visit, but the view's root still costs 1.
func TestWaysThroughLocksMultiply(t *testing.T) {
	s := newSketch(t)
	var gs []sampledata.GoroutineID
	for range 60 {
		gs = append(gs, s.goroutine("a"))
	}
	states := make(map[sampledata.GoroutineID]sampledata.State)
	for i := range gs[:58] {
		pair := i / 2 * 2
		states[gs[i]] = s.blocked(gs[pair+2], gs[pair+3])
	}
	states[gs[58]], states[gs[59]] = sampledata.State{Run: sampledata.Waiting}, sampledata.State{Run: sampledata.Waiting}
	s.sample(states)
	v := thread(t, s.Recording(), "go:a", Options{})
	if len(v.Warnings) != 1 || v.Warnings[0].Kind != "cut-chain" {
		t.Errorf("warnings %+v", v.Warnings)
	}
}

func TestUnknownClass(t *testing.T) {
	s := newSketch(t)
	wait := sampledata.State{Run: sampledata.Waiting, Stack: sampledata.NoStack}
	states := make(map[sampledata.GoroutineID]sampledata.State)
	for _, f := range []string{"main.worker", "main.flusher", "net/http.(*conn).serve", "main.worker.func1", "runtime.main"} {
		states[s.goroutine(f)] = wait
	}
	s.sample(states)
	r := s.Recording()
	_, err := Thread(r, "go:main.wroker", Options{})
	want := "no thread class \"go:main.wroker\" in this recording; " +
		"closest: go:main.worker; 'cpprof classes' lists all"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %v", err, want)
	}
	_, err = Thread(r, "conn", Options{})
	var unknown *UnknownClassError
	if !errors.As(err, &unknown) || unknown.Closest[0] != "go:net/http.(*conn).serve" {
		t.Errorf("got %v", err)
	}
	if _, err = Thread(r, "net.serve", Options{}); !errors.As(err, &unknown) || unknown.Closest[0] != "go:net/http.(*conn).serve" {
		t.Errorf("got %v", err)
	}
	if _, err = Thread(r, "main.func1", Options{}); !errors.As(err, &unknown) || unknown.Closest[0] != "go:main.worker.func1" {
		t.Errorf("got %v", err)
	}
	for part, want := range map[string]string{
		"worker": "go:main.worker", "flush": "go:main.flusher", "(*conn).serve": "go:net/http.(*conn).serve", "func1": "go:main.worker.func1",
	} {
		if v, err := ThreadMaker(part)(r, Options{}); err != nil || v.Tree.Root() != want {
			t.Errorf("%s: %v", part, err)
		}
	}
	if _, wide := ThreadMaker("main.")(r, Options{}); wide == nil || !strings.Contains(wide.Error(), `"main." is a part of the names of several thread classes: go:main.flusher, go:main.worker, go:main.worker.func1`) {
		t.Errorf("got %v", wide)
	}
	_, err = Thread(r, "go:main.worker", Options{Span: Span{From: time.Second}})
	if !errors.As(err, &unknown) || !unknown.Outside || !strings.Contains(err.Error(), "in this time span") {
		t.Errorf("got %v", err)
	}
}

func TestBadOptions(t *testing.T) {
	r := newSketch(t).Recording()
	for _, o := range []Options{
		{Span: Span{From: 2, To: 1}}, {Span: Span{From: -1}}, {Span: Span{To: -1}}, {Accounting: 3}, {Granularity: 4},
	} {
		_, serverErr := Server(r, o)
		_, threadErr := Thread(r, "go:a", o)
		_, classesErr := Classes(r, o)
		_, timelineErr := Timeline(r, o, 1)
		for _, err := range []error{serverErr, threadErr, classesErr, timelineErr} {
			if err == nil {
				t.Errorf("%+v: no error", o)
			}
		}
	}
	if _, err := Timeline(r, Options{}, 0); err == nil {
		t.Error("no error for a timeline of no buckets")
	}
}

func TestEmptyRecording(t *testing.T) {
	r := &sampledata.Recording{}
	server := fixture.Must(Server(r, Options{}))(t)
	if err := server.Tree.Check(); err != nil {
		t.Error(err)
	}
	if classes, err := Classes(r, Options{}); err != nil || len(classes) > 0 {
		t.Errorf("classes %v, error %v", classes, err)
	}
	if buckets, err := Timeline(r, Options{}, 2); err != nil || len(buckets) != 2 {
		t.Errorf("buckets %v, error %v", buckets, err)
	}
	if _, err := Thread(r, "go:a", Options{}); err == nil {
		t.Error("a thread view of nothing")
	}
}

// TestTimelineToTheEndOfTime has a last sample at the greatest possible time.
func TestTimelineToTheEndOfTime(t *testing.T) {
	s := newSketch(t)
	a := s.goroutine("a")
	for _, at := range []time.Duration{0, math.MaxInt64} {
		changes := []sampledata.Change{{Goroutine: a, State: sampledata.State{Run: sampledata.Waiting, Stack: sampledata.NoStack}}}
		fixture.Check(t, s.Sample(sampledata.Sample{Time: at}, changes))
	}
	buckets := fixture.Must(Timeline(s.Recording(), Options{}, 4))(t)
	if len(buckets) != 4 || buckets[0].Time.Sign() <= 0 || buckets[3].Time.Sign() <= 0 || buckets[3].To != math.MaxInt64 {
		t.Errorf("buckets %+v", buckets)
	}
}

func TestAttribution(t *testing.T) {
	s := newSketch(t)
	a, b, c, d := s.goroutine("a"), s.goroutine("b"), s.goroutine("c"), s.goroutine("d")
	unknown := s.blocked(c)
	unknown.Evidence = sampledata.Ambiguous
	s.sample(map[sampledata.GoroutineID]sampledata.State{a: s.blocked(c, d), b: unknown, c: {Run: sampledata.Waiting}})
	classes := fixture.Must(Classes(s.Recording(), Options{}))(t) // d does not exist
	attributed, monitor := new(big.Rat), new(big.Rat)
	for _, c := range classes {
		attributed.Add(attributed, c.Attributed.Hits)
		monitor.Add(monitor, c.HitParts[Monitor])
	}
	if attributed.RatString() != "1/2" || monitor.RatString() != "2" {
		t.Errorf("%v of %v attributed", attributed, monitor)
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		by   Granularity
		fn   sampledata.Function
		line int32
		want string
	}{
		{ByFunction, sampledata.Function{Name: "net/http.(*conn).serve", File: "server.go"}, 3, "net/http.(*conn).serve"},
		{ByLine, sampledata.Function{Name: "main.f"}, 3, "main.f:3"},
		{ByLine, sampledata.Function{Name: "main.f"}, 0, "main.f"},
		{ByFile, sampledata.Function{Name: "main.f", File: "/src/main.go"}, 3, "/src/main.go"},
		{ByFile, sampledata.Function{Name: "malloc"}, 3, "malloc"},
		{ByPackage, sampledata.Function{Name: "net/http.(*conn).serve"}, 0, "net/http"},
		{ByPackage, sampledata.Function{Name: "main.main.func1"}, 0, "main"},
		{ByPackage, sampledata.Function{Name: "gopkg.in/yaml%2ev3.(*Node).Decode"}, 0, "gopkg.in/yaml.v3"},
		{ByPackage, sampledata.Function{Name: "main.sum[go.shape.int]"}, 0, "main"},
		{ByPackage, sampledata.Function{Name: "x/y.keep[net/http.Header,a/b.T].func1"}, 0, "x/y"},
		{ByPackage, sampledata.Function{Name: "malloc"}, 0, "malloc"},
		{ByFunction, sampledata.Function{}, 0, "?"},
		{ByFunction, sampledata.Function{Name: ":RUN"}, 0, "?:RUN"},
		{ByFunction, sampledata.Function{Name: "go:f"}, 0, "?go:f"},
		{ByFunction, sampledata.Function{Name: "*"}, 0, "?*"},
	} {
		if got := frameName(&c.fn, c.line, c.by); got != c.want {
			t.Errorf("%s %q: got %q, want %q", c.by, c.fn.Name, got, c.want)
		}
	}
	for reason, want := range map[string]string{
		"chan receive": ":chan-receive", "IO wait": ":IO-wait", "": ":unknown", " ": ":unknown",
		"sync.WaitGroup.Wait": ":sync.WaitGroup.Wait", "GC worker (idle)": ":GC-worker-(idle)",
	} {
		if got := ReasonFrame(reason); got != want {
			t.Errorf("reason %q: got %q, want %q", reason, got, want)
		}
	}
	if got := baseName(`C:\src\main.go`); got != "main.go" {
		t.Errorf("base name %q", got)
	}
}

func TestOptionsReadWhatTheyWrite(t *testing.T) {
	for _, a := range []Accounting{Observed, Single, Processors} {
		if got, err := ParseAccounting(a.String()); err != nil || got != a {
			t.Errorf("%s: got %s, error %v", a, got, err)
		}
	}
	for _, g := range []Granularity{ByFunction, ByLine, ByFile, ByPackage} {
		if got, err := ParseGranularity(g.String()); err != nil || got != g {
			t.Errorf("%s: got %s, error %v", g, got, err)
		}
	}
	for _, c := range []ClassBy{{}, {Site: true}, {Label: "route"}} {
		if got, err := ParseClassBy(c.String()); err != nil || got != c {
			t.Errorf("%s: got %s, error %v", c, got, err)
		}
	}
	if _, err := ParseAccounting("all"); err == nil || err.Error() != `unknown accounting "all": want one of observed, single, processors` {
		t.Errorf("error %v", err)
	}
	if _, err := ParseClassBy("label:"); err == nil {
		t.Error("no error for a label without a key")
	}
}

// TestSharesAreExact compares with big.Rat, beyond int64 too.
func TestSharesAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seen := observed{hits: rapid.Int64Range(1, 1000).Draw(t, "hits"), time: rapid.Int64Range(1, math.MaxInt64).Draw(t, "time")}
		s, want := seen.of(1), big.NewRat(1, 1)
		size := rapid.SampledFrom([]int64{10, 1 << 20, 1<<63 - 1}).Draw(t, "size")
		for range rapid.IntRange(0, 12).Draw(t, "factors") {
			num, den := rapid.Int64Range(1, size).Draw(t, "num"), rapid.Int64Range(1, size).Draw(t, "den")
			s = s.times(num, den)
			want.Mul(want, big.NewRat(num, den))
		}
		if s.rat().Cmp(want) != 0 {
			t.Errorf("got %v, want %v", s.rat(), want)
		}
		b := calltree.NewBuilder(new(calltree.Symbols), "*", "time", "nanoseconds")
		s.addTo(b, 0)
		tree := fixture.Must(b.Tree())(t)
		got := tree.Main().Through(0)
		hits, time := new(big.Rat).Mul(want, big.NewRat(seen.hits, 1)), new(big.Rat).Mul(want, big.NewRat(seen.time, 1))
		if got.Hits.Cmp(hits) != 0 || got.Weight.Cmp(time) != 0 {
			t.Errorf("added %v hits in %v ns, want %v in %v", got.Hits, got.Weight, hits, time)
		}
	})
}

// TestFieldCounts lets goroutines enter and leave, of more
// classes than a field keeps empty places for.
func TestFieldCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f field
		var in []rival // one for each that is in; n is its priority
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			for range rapid.IntRange(0, 50).Draw(t, "leaving") {
				if len(in) == 0 {
					break
				}
				i := rapid.IntRange(0, len(in)-1).Draw(t, "who")
				f.leave(in[i].class, in[i].n)
				in = slices.Delete(in, i, i+1)
			}
			for range rapid.IntRange(0, 50).Draw(t, "coming") {
				r := rival{classID(rapid.IntRange(0, 60).Draw(t, "class")), rapid.Int64Range(0, 2).Draw(t, "priority")}
				f.enter(r.class, r.n)
				in = append(in, r)
			}
		}
		counted := make(map[rival]int64)
		for _, r := range in {
			counted[r]++
		}
		var total int64
		for i, l := range f.levels {
			if i > 0 && f.levels[i-1].priority <= l.priority {
				t.Errorf("priority %d after %d", l.priority, f.levels[i-1].priority)
			}
			empty := 0
			for _, r := range l.rivals {
				if r.n == 0 {
					empty++
				}
				if r.n != counted[rival{r.class, l.priority}] {
					t.Errorf("priority %d, class %d: %d, want %d", l.priority, r.class, r.n, counted[rival{r.class, l.priority}])
				}
				total += r.n
			}
			if l.empty != empty {
				t.Errorf("priority %d: %d empty, want %d", l.priority, l.empty, empty)
			}
		}
		if total != int64(len(in)) {
			t.Errorf("%d counted of %d", total, len(in))
		}
	})
}

// The view of all classes has each class's Thread View below the class.
func TestThreads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRecording(t)
		all := fixture.Must(Threads(r, Options{}))(t)
		fixture.Check(t, all.Tree.Check())
		whole := new(big.Rat)
		for n := int32(1); n < int32(all.Tree.Len()); n = all.Tree.Ends()[n] {
			v := fixture.Must(Thread(r, all.Tree.Symbols().Name(all.Tree.Funcs()[n]), Options{}))(t)
			whole.Add(whole, v.Tree.Main().Denominator)
			if v.Tree.Main().Cum(0).Cmp(all.Tree.Main().Cum(n)) != 0 || int32(v.Tree.Len()) != all.Tree.Ends()[n]-n {
				t.Fatalf("class %v: %v and %d nodes, want %v and %d", all.Tree.Frames(n), all.Tree.Main().Cum(n), all.Tree.Ends()[n]-n, v.Tree.Main().Cum(0), v.Tree.Len())
			}
		}
		if whole.Cmp(all.Tree.Main().Denominator) != 0 {
			t.Fatalf("the denominator is %v, want %v", all.Tree.Main().Denominator, whole)
		}
	})
}
