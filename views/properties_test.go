package views

import (
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"pgregory.net/rapid"
)

// drawRecording makes a small recording in which every state can occur.
func drawRecording(t *rapid.T) *sampledata.Recording {
	b := sampledata.NewBuilder(sampledata.Header{Start: time.Unix(0, 0)})
	var fns []sampledata.FunctionID
	for _, f := range []sampledata.Function{{Name: "a.F", File: "/src/a.go"}, {Name: "a.G", File: "/src/a.go"}, {Name: "x/b.F", File: "/src/b.go"}} {
		fns = append(fns, b.Function(f))
	}
	stacks := []sampledata.NodeID{sampledata.NoStack}
	for range 6 {
		stacks = append(stacks, b.Node(sampledata.Node{
			Parent:   rapid.SampledFrom(stacks).Draw(t, "parent"),
			Function: rapid.SampledFrom(fns).Draw(t, "function"),
			Line:     rapid.Int32Range(0, 2).Draw(t, "line"),
		}))
	}
	labels := []sampledata.LabelSetID{0, b.LabelSet([]sampledata.Label{{Key: "k", Value: "1"}}), b.LabelSet([]sampledata.Label{{Key: "k", Value: "2"}})}
	n := rapid.IntRange(1, 7).Draw(t, "goroutines")
	gs := make([]sampledata.GoroutineID, n)
	for i := range gs {
		g := sampledata.Goroutine{ID: int64(i + 1), Start: rapid.SampledFrom([]sampledata.FunctionID{-1, fns[0], fns[1]}).Draw(t, "start")}
		if rapid.Bool().Draw(t, "site known") {
			g.Site = sampledata.Site{Function: "a.G", File: "/src/a.go", Line: int32(1 + i%2)}
		}
		g.GC = rapid.IntRange(0, 9).Draw(t, "gc") == 0
		g.Parent = rapid.Int64Range(0, int64(n)+1).Draw(t, "parent")
		gs[i] = b.Goroutine(g)
	}
	d := &drawer{t: t, b: b, gs: gs, stacks: stacks, labels: labels, state: make([]*sampledata.State, n)}
	now := time.Duration(0)
	for range rapid.IntRange(0, 10).Draw(t, "samples") {
		now += time.Duration(rapid.IntRange(0, 4).Draw(t, "interval"))
		d.sample(now)
	}
	r := b.Recording()
	fixture.Check(t, r.Check())
	return r
}

type drawer struct {
	t      *rapid.T
	b      *sampledata.Builder
	gs     []sampledata.GoroutineID
	stacks []sampledata.NodeID
	labels []sampledata.LabelSetID
	state  []*sampledata.State // nil if the goroutine doesn't exist
	last   sampledata.Sample
}

func (d *drawer) sample(now time.Duration) {
	d.last.Time, d.last.Weight = now, 0
	if rapid.IntRange(0, 5).Draw(d.t, "explicit") == 0 {
		d.last.Weight = time.Duration(rapid.IntRange(1, 100).Draw(d.t, "weight"))
	}
	if rapid.IntRange(0, 3).Draw(d.t, "alike") == 0 && len(d.last.Processors) > 0 {
		d.end(nil)
		return
	}
	var changes []sampledata.Change
	for i, g := range d.gs {
		switch rapid.IntRange(0, 5).Draw(d.t, "change") {
		case 0:
			if d.state[i] != nil {
				changes = append(changes, sampledata.Change{Goroutine: g, Gone: true})
			}
			d.state[i] = nil
		case 1, 2, 3:
			s := d.drawState()
			d.state[i] = &s
			changes = append(changes, sampledata.Change{Goroutine: g, State: s})
		}
	}
	d.last.StoppedWorld = rapid.IntRange(0, 5).Draw(d.t, "stopped") == 0
	d.last.Processors = d.processors(changes)
	d.end(changes)
}

func (d *drawer) end(changes []sampledata.Change) {
	fixture.Check(d.t, d.b.Sample(d.last, changes))
}

func (d *drawer) drawState() sampledata.State {
	t := d.t
	s := sampledata.State{
		Stack:    rapid.SampledFrom(d.stacks).Draw(t, "stack"),
		Run:      rapid.SampledFrom([]sampledata.RunState{0, 1, 1, 2, 3, 3, 3, 4, 5, 5, 5}).Draw(t, "state"),
		Priority: rapid.Int32Range(0, 1).Draw(t, "priority"),
		Labels:   rapid.SampledFrom(d.labels).Draw(t, "labels"),
	}
	switch s.Run {
	case sampledata.Running, sampledata.Detached:
		s.NoCPU = rapid.IntRange(0, 3).Draw(t, "no CPU") == 0
	case sampledata.Waiting:
		s.Reason = rapid.SampledFrom([]string{"chan receive", "IO wait"}).Draw(t, "reason")
	case sampledata.Blocked:
		s.Evidence = rapid.SampledFrom([]sampledata.Evidence{sampledata.NoEvidence, sampledata.Inferred, sampledata.Inferred,
			sampledata.Ambiguous, sampledata.Recorded, sampledata.Likely, sampledata.Free}).Draw(t, "evidence")
		if s.Evidence != sampledata.NoEvidence {
			set := rapid.SliceOfNDistinct(rapid.SampledFrom(d.gs), 1, min(2, len(d.gs)), rapid.ID).Draw(t, "holders")
			slices.Sort(set)
			s.Holders = d.b.HolderSet(set)
		}
	}
	return s
}

// processors lists most of the running goroutines, and other
// possible entries. Mostly, the list changes only if states do.
func (d *drawer) processors(changes []sampledata.Change) []sampledata.GoroutineID {
	if len(changes) == 0 && len(d.last.Processors) > 0 && rapid.IntRange(0, 3).Draw(d.t, "moved") > 0 {
		return d.last.Processors
	}
	var ps []sampledata.GoroutineID
	for i, s := range d.state {
		if s != nil && s.Run == sampledata.Running && rapid.IntRange(0, 3).Draw(d.t, "listed") > 0 {
			ps = append(ps, d.gs[i])
		}
	}
	for range rapid.IntRange(0, 2).Draw(d.t, "other processors") {
		ps = append(ps, rapid.SampledFrom([]sampledata.GoroutineID{sampledata.IdleProcessor, sampledata.SystemProcessor}).Draw(d.t, "processor"))
	}
	if len(ps) == 0 {
		ps = append(ps, sampledata.IdleProcessor)
	}
	return ps
}

func drawOptions(t *rapid.T) Options {
	o := Options{
		Accounting:  Accounting(rapid.IntRange(0, 2).Draw(t, "accounting")),
		Granularity: Granularity(rapid.IntRange(0, 3).Draw(t, "granularity")),
		Classes:     rapid.SampledFrom([]ClassBy{{}, {Site: true}, {Label: "k"}}).Draw(t, "classes"),
	}
	if rapid.Bool().Draw(t, "configured") {
		o.Priority = func(class string) (int32, bool) { return 2, class == "go:a.F" || class == "label:k=1" }
	}
	if rapid.Bool().Draw(t, "span") {
		o.Span.From = time.Duration(rapid.IntRange(0, 16).Draw(t, "from"))
		o.Span.To = o.Span.From + time.Duration(rapid.IntRange(0, 24).Draw(t, "length"))
	}
	return o
}

// TestAgainstOracle compares every view of random recordings with the definitions.
func TestAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, o := drawRecording(t), drawOptions(t)
		want := oracle{r, o}.views()
		for root, truth := range want {
			build := func() (*View, error) { return Thread(r, root, o) }
			if root == "*" {
				build = func() (*View, error) { return Server(r, o) }
			}
			v := fixture.Must(build())(t)
			fixture.Check(t, v.Tree.Check())
			compareHits(t, root, hitsOf(v.Tree), texts(truth.hits))
			compareHits(t, root+", time", weightsOf(v.Tree), texts(truth.time))
			m := v.Tree.Main()
			if d := m.Hits().Denominator; d.Cmp(big.NewRat(truth.denominator, 1)) != 0 || m.Denominator.Cmp(big.NewRat(truth.whole, 1)) != 0 {
				t.Errorf("%s: denominators %v and %v, want %d and %d", root, d, m.Denominator, truth.denominator, truth.whole)
			}
			switch c := m.Cost(m.Cum(0)).Cmp(big.NewRat(1, 1)); {
			case root == "*" && c > 0:
				t.Errorf("the server view costs %v", m.Cost(m.Cum(0)))
			case root != "*" && c != 0:
				t.Errorf("%s costs %v", root, m.Cost(m.Cum(0)))
			}
		}
		checkClasses(t, r, o, want)
	})
}

// checkClasses compares the summaries with the views.
func checkClasses(t *rapid.T, r *sampledata.Recording, o Options, want map[string]*truth) {
	classes := fixture.Must(Classes(r, o))(t)
	if len(classes) != len(want)-1 {
		t.Errorf("%d classes, want %d", len(classes), len(want)-1)
	}
	run := new(big.Rat)
	for i, c := range classes {
		if i > 0 && classes[i-1].Time.Cmp(c.Time) < 0 {
			t.Errorf("%s comes before %s", classes[i-1].Class, c.Class)
		}
		view := fixture.Must(Thread(r, c.Class, o))(t)
		whole := view.Tree.Main().Through(0)
		if got := c.total(); got.Cmp(whole.Weight) != 0 || got.Cmp(c.Time) != 0 {
			t.Errorf("%s: parts sum to %v, the time is %v, the view has %v", c.Class, got, c.Time, whole.Weight)
		}
		if got := c.HitParts.total(); got.Cmp(whole.Hits) != 0 || got.Cmp(big.NewRat(c.Hits, 1)) != 0 {
			t.Errorf("%s: parts sum to %v, hits are %d, the view has %v", c.Class, got, c.Hits, whole.Hits)
		}
		if c.Goroutines != len(want[c.Class].goroutines) {
			t.Errorf("%s: %d goroutines, want %d", c.Class, c.Goroutines, len(want[c.Class].goroutines))
		}
		compareParts(t, c.Class+", hits", append(c.HitParts[:], c.Attributed.Hits), want[c.Class].hits)
		compareParts(t, c.Class+", time", append(c.Parts[:], c.Attributed.Weight), want[c.Class].time)
		run.Add(run, c.Parts[Run])
	}
	server := fixture.Must(Server(r, o))(t)
	if run.Cmp(server.Tree.Main().Cum(0)) != 0 {
		t.Errorf(":RUN of all classes is %v, the server view has %v", run, server.Tree.Main().Cum(0))
	}
}

func (p Parts) total() *big.Rat {
	total := new(big.Rat)
	for _, h := range p {
		total.Add(total, h)
	}
	return total
}

// compareParts finds each stack's first typed time.
func compareParts(t *rapid.T, what string, got []*big.Rat, want map[string]*big.Rat) {
	sums := make(map[string]*big.Rat)
	for _, k := range []string{":RUN", ":LOAD", ":PRIO", ":MONITOR", ":WAIT", "attributed"} {
		sums[k] = new(big.Rat)
	}
	for stack, hits := range want {
		frames := strings.Split(stack, "\n")
		for i, f := range frames {
			if s := sums[f]; s != nil {
				s.Add(s, hits)
				if f == ":MONITOR" && frames[i+1] != ":unknown-holder" && frames[i+1] != ":free-lock" {
					sums["attributed"].Add(sums["attributed"], hits)
				}
				break
			}
		}
	}
	for i, k := range []string{":RUN", ":LOAD", ":PRIO", ":MONITOR", ":WAIT", "attributed"} {
		if got[i].Cmp(sums[k]) != 0 {
			t.Errorf("%s: %s %v, want %v", what, k, got[i], sums[k])
		}
	}
}

// TestSpansPartition splits a recording in two: the weights of
// both parts must add up to the whole.
func TestSpansPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, o := drawRecording(t), drawOptions(t)
		o.Span = Span{}
		at := time.Duration(rapid.IntRange(1, 15).Draw(t, "at"))
		first, second := o, o
		first.Span.To, second.Span.From = at, at
		whole := viewWeights(t, r, o)
		sum := make(map[string]*big.Rat)
		for _, part := range []Options{first, second} {
			for stack, h := range viewWeights(t, r, part) {
				if sum[stack] == nil {
					sum[stack] = new(big.Rat)
				}
				sum[stack].Add(sum[stack], h)
			}
		}
		compareHits(t, "sum", texts(sum), texts(whole))
	})
}

// viewWeights returns the weights of all views of a recording, by stack.
func viewWeights(t *rapid.T, r *sampledata.Recording, o Options) map[string]*big.Rat {
	trees := make(map[string]*big.Rat)
	classes := fixture.Must(Classes(r, o))(t)
	roots := []string{"*"}
	for _, c := range classes {
		roots = append(roots, c.Class)
	}
	for _, root := range roots {
		view, err := Server(r, o)
		if root != "*" {
			view, err = Thread(r, root, o)
		}
		fixture.Check(t, err)
		for stack, h := range weightsOf(view.Tree) {
			trees[stack], _ = new(big.Rat).SetString(h)
		}
	}
	return trees
}

// TestTimelineSumsUp compares each bucket with the classes of its span.
func TestTimelineSumsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, o := drawRecording(t), drawOptions(t)
		buckets := fixture.Must(Timeline(r, o, rapid.IntRange(1, 9).Draw(t, "buckets")))(t)
		var length int64
		for i, b := range buckets {
			length += b.Length
			if i > 0 && b.From != buckets[i-1].To {
				t.Errorf("bucket %d begins at %v, the one before ends at %v", i, b.From, buckets[i-1].To)
			}
			checkBucket(t, r, o, b)
		}
		from, to, _ := o.Span.Samples(r)
		if want := r.Weights().Of(int(from), int(to)); length != want {
			t.Errorf("the buckets stand for %d, want %d", length, want)
		}
	})
}

func checkBucket(t *rapid.T, r *sampledata.Recording, o Options, b Bucket) {
	var want []ClassSummary
	if b.To > b.From {
		o.Span = Span{b.From, b.To}
		want = fixture.Must(Classes(r, o))(t)
	}
	sums := []*big.Rat{new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)}
	time := new(big.Rat)
	for _, c := range want {
		time.Add(time, c.Time)
		for i, h := range c.Parts {
			sums[i].Add(sums[i], h)
		}
	}
	if time.Cmp(b.Time) != 0 {
		t.Errorf("%v to %v: %v ns, want %v", b.From, b.To, b.Time, time)
	}
	for i, h := range b.Parts {
		if h.Cmp(sums[i]) != 0 {
			t.Errorf("%v to %v: part %d is %v, want %v", b.From, b.To, i, h, sums[i])
		}
	}
}
