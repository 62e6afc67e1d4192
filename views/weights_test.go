package views

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"pgregory.net/rapid"
)

// TestSamplingRateFollowsLoad has a goroutine that runs in
// phases, and a sampler that gets a CPU only a quarter as often
// while it runs. Counted, the samples are wrong by half;
// weighted, they are right.
func TestSamplingRateFollowsLoad(t *testing.T) {
	s := newSketch(t)
	g := s.goroutine("a")
	random := rand.New(rand.NewPCG(1, 2))
	const length, busy = 100 * time.Second, 30 * time.Millisecond // of each 100 ms
	running := func(at time.Duration) bool { return at%(100*time.Millisecond) < busy }
	for at := time.Duration(0); at < length; {
		state := sampledata.State{Run: sampledata.Waiting, Reason: "IO wait", Stack: sampledata.NoStack}
		gap := 2 * time.Millisecond
		if running(at) {
			state, gap = sampledata.State{Run: sampledata.Running, Stack: sampledata.NoStack}, 4*gap
		}
		fixture.Check(t, s.Sample(sampledata.Sample{Time: at}, []sampledata.Change{{Goroutine: g, State: state}}))
		at += gap/2 + time.Duration(random.Int64N(int64(gap)))
	}
	fixture.Check(t, s.Finish(sampledata.End{Time: length}))
	r := s.Recording()
	classes := fixture.Must(Classes(r, Options{}))(t)
	c := classes[0]
	weighted, _ := c.Shares()[Run].Float64()
	counted, _ := c.HitParts.Shares(big.NewRat(c.Hits, 1))[Run].Float64()
	if math.Abs(weighted-0.3) > 0.03 {
		t.Errorf("the goroutine runs in %.3f of the time, want 0.3", weighted)
	}
	if math.Abs(counted-0.3) < 0.1 {
		t.Errorf("the samples count right, %.3f: they don't test anything", counted)
	}
	v := thread(t, r, "go:a", Options{})
	if got, want := weightedCosts(v)["go:a\n:RUN"], c.Shares()[Run].RatString(); got != want {
		t.Errorf("the Thread View has %v of :RUN, the class %v", got, want)
	}
}

// replayed makes the same recording with other samples: each
// sample becomes the ones that the function returns, in the same
// states.
func replayed(t *rapid.T, r *sampledata.Recording, samples func(i int, s sampledata.Sample) []sampledata.Sample) *sampledata.Recording {
	b := sampledata.NewBuilder(r.Header)
	for _, f := range r.Functions {
		b.Function(f)
	}
	for _, n := range r.Nodes {
		b.Node(n)
	}
	for _, g := range r.Goroutines.All() {
		b.Goroutine(g)
	}
	for _, l := range r.LabelSets[1:] {
		b.LabelSet(l)
	}
	for _, h := range r.HolderSets[1:] {
		b.HolderSet(h)
	}
	for i, s := range r.Samples.All() {
		var changes []sampledata.Change
		for g := range r.Goroutines.All() {
			st, alive := oracle{r: r}.state(i, sampledata.GoroutineID(g))
			changes = append(changes, sampledata.Change{Goroutine: sampledata.GoroutineID(g), Gone: !alive, State: st})
		}
		for _, one := range samples(i, s) {
			fixture.Check(t, b.Sample(one, changes))
		}
	}
	return b.Recording()
}

// costsOf returns the costs of all stacks of all views of a recording.
func costsOf(t *rapid.T, r *sampledata.Recording, o Options, of func(*View) map[string]string) map[string]string {
	classes := fixture.Must(Classes(r, o))(t)
	all := make(map[string]string)
	add := func(v *View, err error) {
		fixture.Check(t, err)
		for stack, cost := range of(v) {
			all[stack] = cost
		}
	}
	add(Server(r, o))
	for _, c := range classes {
		add(Thread(r, c.Class, o))
	}
	return all
}

func weightedCosts(v *View) map[string]string {
	return fractions(weightsOf(v.Tree), v.Tree.Main().Denominator)
}

func countedCosts(v *View) map[string]string {
	return fractions(hitsOf(v.Tree), v.Tree.Main().Hits().Denominator)
}

func fractions(of map[string]string, whole *big.Rat) map[string]string {
	for k, text := range of {
		r, _ := new(big.Rat).SetString(text)
		of[k] = r.Quo(r, whole).RatString()
	}
	return of
}

// TestEqualWeights: if all samples stand for the same time,
// costs are those of counted samples, exactly.
func TestEqualWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawOptions(t)
		o.Span = Span{}
		gap := time.Duration(rapid.IntRange(1, 1000).Draw(t, "gap"))
		r := replayed(t, drawRecording(t), func(i int, s sampledata.Sample) []sampledata.Sample {
			s.Time, s.Weight = 2*gap*time.Duration(i)+gap, 0
			return []sampledata.Sample{s}
		})
		r.End = &sampledata.End{Time: 2 * gap * time.Duration(r.Samples.Len())}
		compareHits(t, "costs", costsOf(t, r, o, weightedCosts), costsOf(t, r, o, countedCosts))
	})
}

// TestHalvedSamples: two samples that each stand for half of the
// time of one, in the same state, change no cost.
func TestHalvedSamples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawOptions(t)
		o.Span = Span{}
		r := drawRecording(t)
		weights := r.Weights()
		split := func(n int) *sampledata.Recording {
			return replayed(t, r, func(i int, s sampledata.Sample) []sampledata.Sample {
				s.Weight = 2 * time.Duration(weights.Of(i, i+1)) / time.Duration(n)
				return []sampledata.Sample{s, s}[:n]
			})
		}
		whole, halves := split(1), split(2)
		compareHits(t, "costs", costsOf(t, halves, o, weightedCosts), costsOf(t, whole, o, weightedCosts))
		compareHits(t, "costs of the recording", costsOf(t, r, o, weightedCosts), costsOf(t, whole, o, weightedCosts))
	})
}
