package views

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cpprof/cpprof/sampledata"
)

// measure makes a recording of one monitor, with a value at each sample.
func measure(t rapid.TB, m sampledata.Monitor, at []time.Duration, values []sampledata.Value) *sampledata.Recording {
	b := sampledata.NewBuilder(sampledata.Header{})
	m.Name = "m"
	id := b.Monitor(m)
	for i, v := range values {
		b.Measure(id, v)
		if err := b.Sample(sampledata.Sample{Time: at[i]}, nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Recording()
}

// seconds are buckets of a second each.
func seconds(n int) []Bucket {
	buckets := make([]Bucket, n)
	for i := range buckets {
		buckets[i].From, buckets[i].To = time.Duration(i)*time.Second, time.Duration(i+1)*time.Second
	}
	return buckets
}

// A level has its mean in each bucket; a counter has its rate. If there is no measurement, there is a gap.
func TestLanes(t *testing.T) {
	const s = time.Second
	none := math.NaN()
	count, number, real := sampledata.Count, sampledata.Number, sampledata.Real
	for name, c := range map[string]struct {
		m      sampledata.Monitor
		at     []time.Duration
		values []sampledata.Value
		want   []float64
	}{
		"level": {sampledata.Monitor{Kind: sampledata.Level}, []time.Duration{s / 2, 3 * s / 2, 3 * s},
			[]sampledata.Value{number(4), number(8), {}}, []float64{4, 6, 8, none}},
		"gap": {sampledata.Monitor{Kind: sampledata.Level, Real: true}, []time.Duration{0, s, 2 * s, 3 * s},
			[]sampledata.Value{real(0.5), {}, real(-1), real(math.Inf(1))}, []float64{0.5, none, -1, none}},
		"counter": {sampledata.Monitor{}, []time.Duration{0, 2 * s, 3 * s, 4 * s},
			[]sampledata.Value{count(1 << 63), count(1<<63 + 10), count(1<<63 + 10), count(1<<63 + 13)}, []float64{5, 5, 0, 3}},
		"counter that does not grow": {sampledata.Monitor{}, []time.Duration{0, s, 4 * s}, []sampledata.Value{count(7), count(7), count(7)}, []float64{0, 0, 0, 0}},
		"counter that is reset": {sampledata.Monitor{}, []time.Duration{0, s, 2 * s, 4 * s},
			[]sampledata.Value{count(7), count(9), count(2), count(4)}, []float64{2, none, 1, 1}},
	} {
		lanes := Lanes(measure(t, c.m, c.at, c.values), seconds(4))
		if len(lanes) != 1 {
			t.Fatalf("%s: %d lanes", name, len(lanes))
		}
		for i, want := range c.want {
			got, ok := lanes[0].Cells[i].Value()
			if ok == math.IsNaN(want) || ok && math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: second %d has %v, %v, want %v", name, i, got, ok, want)
			}
		}
	}
}

// The word that lasts longest is shown; a series without values has no lane.
func TestLanesOfWords(t *testing.T) {
	word := sampledata.Word
	at := []time.Duration{0, 700 * time.Millisecond, 1100 * time.Millisecond, 2 * time.Second}
	r := measure(t, sampledata.Monitor{Kind: sampledata.Nominal}, at, []sampledata.Value{word("off"), word("mark"), word("sweep"), {}})
	lanes := Lanes(r, seconds(3))
	for i, want := range []string{"off", "sweep", ""} {
		if c := lanes[0].Cells[i]; c.Time == 0 && want != "" || c.Time > 0 && lanes[0].Words[c.Word] != want {
			t.Errorf("second %d: %+v, want %q", i, c, want)
		}
	}
	whole := lanes[0].Cells[0].Add(lanes[0].Cells[1]).Add(lanes[0].Cells[2])
	if whole.Time != 2*time.Second {
		t.Errorf("together %+v", whole)
	}
	r = measure(t, sampledata.Monitor{Unmeasured: "no"}, at[:1], []sampledata.Value{{}})
	if lanes := Lanes(r, seconds(1)); len(lanes) != 0 {
		t.Errorf("lanes without a measurement: %+v", lanes)
	}
}

// For all buckets, a counter's cells together have all of its growth, and a level's all of its measured time.
func TestLanesLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 20).Draw(t, "samples")
		var at []time.Duration
		var counts, levels []sampledata.Value
		now, total := time.Duration(0), uint64(0)
		for range n {
			at = append(at, now)
			counts, levels = append(counts, sampledata.Count(total)), append(levels, sampledata.Number(int64(total)))
			now += time.Duration(rapid.Int64Range(1, int64(time.Second)).Draw(t, "step"))
			total += rapid.Uint64Range(0, 100).Draw(t, "growth")
		}
		r := measure(t, sampledata.Monitor{}, at, counts)
		buckets, err := Timeline(r, Options{}, "", rapid.IntRange(1, 50).Draw(t, "buckets"))
		if err != nil {
			t.Fatal(err)
		}
		sum := func(r *sampledata.Recording) (all LaneCell) {
			for _, c := range Lanes(r, buckets)[0].Cells {
				all = all.Add(c)
			}
			return all
		}
		grown, _ := counts[n-1].Float()
		if got := sum(r); math.Abs(got.Sum-grown) > 1e-6 {
			t.Errorf("the cells have a growth of %v, want %v", got.Sum, grown)
		}
		if got, want := sum(measure(t, sampledata.Monitor{Kind: sampledata.Level}, at, levels)), buckets[len(buckets)-1].To; got.Time != want {
			t.Errorf("the cells have %v, want %v", got.Time, want)
		}
	})
}
