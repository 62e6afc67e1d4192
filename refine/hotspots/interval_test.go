package hotspots

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// recordings are of testdata/programs/planted, and of the demo.
var recordings = []string{"testdata/lock", "testdata/queue", "testdata/runnable", "../../cmd/cpprof/testdata/demo.txt"}

func recording(t *testing.T, path string) *sampledata.Recording {
	t.Helper()
	if filepath.Ext(path) != ".txt" {
		return fixture.Must(sampledata.Open(path))(t)
	}
	f := fixture.Must(os.Open(path))(t)
	defer f.Close()
	return fixture.Must(sampledata.ReadText(f))(t)
}

// viewsOf returns the Server View and the Thread Views of a span.
func viewsOf(t *testing.T, r *sampledata.Recording, span views.Span) (trees []*calltree.Tree) {
	t.Helper()
	o := views.Options{Slices: true, Span: span}
	v := fixture.Must(views.Server(r, o))(t)
	trees = append(trees, v.Tree)
	classes := fixture.Must(views.Classes(r, o))(t)
	for i := range classes {
		v := fixture.Must(views.Thread(r, classes[i].Class, o))(t)
		trees = append(trees, v.Tree)
	}
	return trees
}

// A function is a path "* ..f" of a view, with what was observed
// of it in each slice.
type function struct {
	name     string
	observed []Observation
	each     int
	share    float64
}

// functions returns the functions of a view, but not those that
// are in all of its stacks or hardly any.
func functions(t *calltree.Tree) (all []function) {
	m := t.Main()
	s := m.Slices()
	for _, f := range inclusive(t) {
		share, _ := m.Cost(f.Weight).Float64()
		if share < 0.001 || share > 0.999 {
			continue
		}
		of := function{name: t.Root() + " .." + t.Symbols().Name(f.Func), each: s.Each, share: share}
		for i, hits := range s.Hits(f.Ranges...) {
			of.observed = append(of.observed, Observation{Weight: s.Lengths[i], Hits: hits, Base: s.Whole[i]})
		}
		all = append(all, of)
	}
	return all
}

// drawn returns observations of a recording that blocks of
// another one make up, which are taken at random. The last block
// is followed by the first.
func drawn(r *rand.Rand, all []Observation, block, n int) []Observation {
	list := make([]Observation, 0, n)
	for len(list) < n {
		at := r.IntN(len(all))
		for k := range min(block, n-len(list)) {
			list = append(list, all[(at+k)%len(all)])
		}
	}
	return list
}

// goroutinesIndependent returns the interval of a share if all
// goroutines of all samples were independent.
func goroutinesIndependent(all []Observation, each int) Estimate {
	r := RatioOf(all, each)
	p := min(max(r.Value, 0), 1)
	low, high := wilson(p, r.count, normal)
	return Estimate{Share: p, Low: low, High: high}
}

// A covered counts the intervals that have the true share.
type covered struct{ with, of int }

func (c *covered) add(e Estimate, truth float64) {
	c.of++
	if e.Low <= truth && truth <= e.High {
		c.with++
	}
}

func (c covered) share() float64 { return float64(c.with) / float64(c.of) }

// Recordings that are made up of blocks of real ones have the
// share of the whole in 95 of 100 intervals, whether shares are
// small or large. Intervals that take goroutines as independent
// don't.
func TestIntervalsOfResampledRecordings(t *testing.T) {
	const draws = 12
	random := rand.New(rand.NewPCG(5, 6))
	bands := []float64{0.02, 0.1, 0.5, 0.9, 0.98, 1}
	byBand := make([]covered, len(bands))
	for _, path := range recordings {
		var all []function
		for _, tree := range viewsOf(t, recording(t, path), views.Span{}) {
			all = append(all, functions(tree)...)
		}
		for _, c := range []struct{ samples, block int }{{100, 1}, {300, 1}, {300, 20}, {1000, 1}, {1000, 20}} {
			var got, simple covered
			for _, f := range all {
				band := slices.IndexFunc(bands, func(b float64) bool { return f.share <= b })
				for range draws {
					list := drawn(random, f.observed, c.block, c.samples)
					e := Estimated(list, f.each)
					got.add(e, f.share)
					byBand[band].add(e, f.share)
					simple.add(goroutinesIndependent(list, f.each), f.share)
				}
			}
			what := fmt.Sprintf("%s, %d samples in blocks of %d", path, c.samples, c.block)
			t.Logf("%s: %.3f of %d intervals of %d functions; of independent goroutines %.3f", what, got.share(), got.of, len(all), simple.share())
			if got.share() < 0.93 {
				t.Errorf("%s: %.3f of the intervals have the share, want 0.95", what, got.share())
			}
			if c.block > 1 && simple.share() > 0.92 {
				t.Errorf("%s: %.3f of the intervals of independent goroutines have the share: the test can't tell", what, simple.share())
			}
		}
	}
	var all covered
	for i, b := range byBand {
		all.with, all.of = all.with+b.with, all.of+b.of
		t.Logf("shares up to %v: %.3f of %d", bands[i], b.share(), b.of)
		if b.share() < 0.93 {
			t.Errorf("shares up to %v: %.3f of the intervals have the share, want 0.95", bands[i], b.share())
		}
	}
	if all.share() < 0.95 {
		t.Errorf("%.3f of all intervals have the share, want 0.95", all.share())
	}
}

// A span of a real recording is a smaller one. What happened
// only once in the whole, such as a sleep of the runtime's own,
// is not in the intervals of most spans.
func TestIntervalsOfSpans(t *testing.T) {
	const spans = 12
	for _, path := range recordings[:3] {
		r := recording(t, path)
		last := r.Samples.Time(r.Samples.Len() - 1)
		truth := make(map[string]float64)
		for _, tree := range viewsOf(t, r, views.Span{}) {
			for _, f := range functions(tree) {
				truth[f.name] = f.share
			}
		}
		var got, simple covered
		for i := range spans {
			from := last * time.Duration(i) / spans
			for _, tree := range viewsOf(t, r, views.Span{From: from, To: from + last/spans}) {
				for _, f := range functions(tree) {
					if share, known := truth[f.name]; known {
						got.add(Estimated(f.observed, f.each), share)
						simple.add(goroutinesIndependent(f.observed, f.each), share)
					}
				}
			}
		}
		t.Logf("%s: %.3f of %d intervals; of independent goroutines %.3f", path, got.share(), got.of, simple.share())
		if got.share() < 0.92 {
			t.Errorf("%s: %.3f of the intervals have the share of the whole, want 0.95", path, got.share())
		}
	}
}

// The intervals of what Find found are those of its stacks, also
// of stacks that its path only goes through.
func TestIntervalOfAPath(t *testing.T) {
	for _, tree := range viewsOf(t, recording(t, "testdata/queue"), views.Span{}) {
		for _, b := range Find(NewSingle(tree), FindOptions{}).Bottlenecks {
			own, _ := b.Own.Float64()
			i := b.Interval
			if i == nil || math.Abs(i.Share-own) > 1e-6 || i.Low >= own && own > 0 || i.High <= own && own < 1 {
				t.Errorf("%v has %v of %s and the interval %+v", b.Summary.Path(), own, tree.Root(), i)
			}
		}
	}
}

// The same seen again in the next three samples, or by all
// goroutines, is no more evidence.
func TestAlike(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var once, again, crowd []Observation
	for range 400 {
		o := Observation{Weight: 1 + r.Float64(), Hits: float64(r.IntN(2)), Base: 1}
		once = append(once, o)
		again = append(again, o, o, o, o)
		o.Hits, o.Base = 50*o.Hits, 50
		crowd = append(crowd, o)
	}
	a, b, c := Estimated(once, 1), Estimated(again, 1), Estimated(crowd, 1)
	if b.Margin() < 0.7*a.Margin() || math.Abs(a.Margin()-c.Margin()) > 1e-9 {
		t.Errorf("%+v, each sample four times: %+v, fifty goroutines alike: %+v", a, b, c)
	}
	if simple := goroutinesIndependent(crowd, 1); simple.Margin() > 0.2*c.Margin() {
		t.Errorf("%+v for independent goroutines, %+v", simple, c)
	}
}

// A share of all or of nothing is not certain: its unit is the sample.
func TestAllOrNothing(t *testing.T) {
	for _, n := range []int{1, 3, 10, 40, 400} {
		all := make([]Observation, n)
		for i := range all {
			all[i] = Observation{Weight: 1, Hits: 100, Base: 100}
		}
		e, f := Estimated(all, 1), Assumed(1, n)
		want := 1 / (1 + normal*normal/float64(n))
		if e.High != 1 || math.Abs(e.Low-want) > 1e-9 || math.Abs(e.Low-f.Low) > 1e-9 {
			t.Errorf("%d samples of all: %+v, assumed %+v", n, e, f)
		}
		sliced := Estimated(all[:max(1, n/4)], 4)
		if n >= 40 && math.Abs(sliced.Low-e.Low) > 1e-9 || sliced.Samples != 4*max(1, n/4) {
			t.Errorf("%d samples in slices of four: %+v, one by one: %+v", n, sliced, e)
		}
	}
	if margin, known := RatioOf(make([]Observation, 9), 1).Margin(); known || margin != 0 {
		t.Errorf("nothing has the margin %v", margin)
	}
}

// A few slices of thousands of samples may be alike by chance.
func TestFewSlices(t *testing.T) {
	for _, n := range []int{1, 2, 9} {
		all := slices.Repeat([]Observation{{Weight: 1, Hits: 30, Base: 100}}, n)
		if e := Estimated(all, 10_000); e.Margin() < 0.2 || e.Low > 0.3 || e.High < 0.3 {
			t.Errorf("%d slices: %+v", n, e)
		}
	}
}

// A profile of another tool does not say in which samples its hits were.
func TestNoIntervalOfProfiles(t *testing.T) {
	tree := samples(t, "go:main.worker", "40 worker copy :RUN", "60 worker idle :WAIT :sleep")
	for _, b := range Find(NewSingle(tree), FindOptions{}).Bottlenecks {
		if b.Interval != nil {
			t.Errorf("%v has the interval %+v", b.Summary.Path(), *b.Interval)
		}
	}
}

// sampled is samples for a program with one goroutine: each
// sample has one hit, and the hits are in any order. Each stack
// has some times as many as it says.
func sampled(t *testing.T, times int, root string, stacks ...string) *calltree.Tree {
	t.Helper()
	tree := samples(t, root, stacks...)
	var nodes []int32
	for n, own := range tree.Main().Planes()[0].Own {
		for range own * int64(times) {
			nodes = append(nodes, int32(n))
		}
	}
	rand.New(rand.NewPCG(9, 10)).Shuffle(len(nodes), func(i, k int) { nodes[i], nodes[k] = nodes[k], nodes[i] })
	lengths := make([]float64, len(nodes))
	for i := range lengths {
		lengths[i] = 1
	}
	tree.Main().SetSlices(calltree.NewSlices(1, lengths, tree.Len(), func(add func(int32, calltree.Spell)) {
		for i, n := range nodes {
			add(n, calltree.Spell{First: int32(i), Last: int32(i), Hits: 1})
		}
	}))
	return tree
}
