package sampledata

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cpprof/cpprof/internal/fixture"
)

// drawProbe draws a probe that breaks no rule.
func drawProbe(t *rapid.T) Probe {
	count := rapid.Uint64()
	p := Probe{
		Function: "f" + text.Draw(t, "function"), File: text.Draw(t, "file"), Line: rapid.Int32Min(0).Draw(t, "line"),
		Instrument: Instrument(rapid.IntRange(0, int(Breakpoint)).Draw(t, "instrument")), Why: text.Draw(t, "why"), Note: text.Draw(t, "note"),
		From: duration(t), Calls: count.Draw(t, "calls"), TakenOut: rapid.Bool().Draw(t, "taken out"), Returned: count.Draw(t, "returned"),
		Unfinished: count.Draw(t, "unfinished"), Lost: count.Draw(t, "lost"), Cost: duration(t), Elapsed: drawDistribution(t),
	}
	p.ReturnsUpTo = p.From + duration(t)
	p.To = p.ReturnsUpTo + duration(t)
	for range rapid.IntRange(0, 2).Draw(t, "sites") {
		p.Sites = append(p.Sites, CallSite{
			Caller: text.Draw(t, "caller"), File: text.Draw(t, "file"), Line: rapid.Int32Min(0).Draw(t, "line"), Calls: count.Draw(t, "calls"), Elapsed: drawDistribution(t),
		})
	}
	for range rapid.IntRange(0, 2).Draw(t, "arguments") {
		p.Arguments = append(p.Arguments, Argument{
			Name: "a" + text.Draw(t, "name"), Kind: ArgumentKind(rapid.IntRange(0, int(PointerArgument)).Draw(t, "kind")), Values: drawDistribution(t),
		})
	}
	return p
}

func drawDistribution(t *rapid.T) (d Distribution) {
	for _, v := range rapid.SliceOfN(rapid.Int64(), 0, 5).Draw(t, "numbers") {
		d.Add(v)
	}
	return d
}

func TestBucketsHaveTheirNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int64().Draw(t, "number")
		index := BucketOf(v)
		low, high := BucketRange(index)
		if v < low || v > high || BucketOf(low) != index || BucketOf(high) != index || index > MaxBucket || index < ^MaxBucket {
			t.Fatalf("%d is in bucket %d, from %d to %d", v, index, low, high)
		}
		if width := float64(high) - float64(low); width > math.Abs(float64(v))/32 {
			t.Fatalf("the bucket of %d is %v wide", v, width)
		}
		if high < math.MaxInt64 && BucketOf(high+1) != index+1 {
			t.Fatalf("the bucket after %d, which ends at %d, is %d", index, high, BucketOf(high+1))
		}
	})
}

func TestQuantilesAreThoseOfTheNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(rapid.Int64Range(-1e12, 1e12), 1, 50).Draw(t, "numbers")
		var d Distribution
		sum := int64(0)
		for _, v := range numbers {
			d.Add(v)
			sum += v
		}
		slices.Sort(numbers)
		if d.Sum != sum || d.Min != numbers[0] || d.Max != numbers[len(numbers)-1] || d.Count() != uint64(len(numbers)) || d.check() != nil {
			t.Fatalf("%+v of %v: %v", d, numbers, d.check())
		}
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		want := numbers[max(int(math.Ceil(q*float64(len(numbers))))-1, 0)]
		if got := d.Quantile(q); math.Abs(float64(got-want)) > math.Abs(float64(want))/60+1 {
			t.Fatalf("quantile %v of %v is %d, want about %d", q, numbers, got, want)
		}
	})
}

func TestCheckOfProbes(t *testing.T) {
	good := func() Probe {
		p := Probe{Function: "f", From: 1, ReturnsUpTo: 2, To: time.Second, Sites: []CallSite{{}}, Arguments: []Argument{{Name: "n"}}}
		p.Elapsed.Add(100)
		p.Elapsed.Add(2000)
		return p
	}
	for want, damage := range map[string]func(*Probe){
		"without a function": func(p *Probe) { p.Function = "" },
		"unknown instrument": func(p *Probe) { p.Instrument = 3 },
		"not in order":       func(p *Probe) { p.To = 1 },
		"negative cost":      func(p *Probe) { p.Cost = -1 },
		"negative line":      func(p *Probe) { p.Sites[0].Line = -1 },
		"without a name":     func(p *Probe) { p.Arguments[0].Name = "" },
		"ascending order":    func(p *Probe) { p.Elapsed.Buckets[1].Index = 1 },
		"none or too many":   func(p *Probe) { p.Elapsed.Buckets[1].Count = 0 },
		"limits":             func(p *Probe) { p.Elapsed.Max = 100 },
		"has a sum":          func(p *Probe) { p.Elapsed.Buckets = nil },
		"more than 64":       func(p *Probe) { p.Sites = make([]CallSite, 65) },
		"more than 16":       func(p *Probe) { p.Arguments = make([]Argument, 17) },
		"is none of":         func(p *Probe) { p.Elapsed.Buckets[1].Index = MaxBucket + 1 },
	} {
		b := NewBuilder(Header{})
		p := good()
		b.Probe(p)
		fixture.Check(t, b.Sample(Sample{}, nil))
		p = good()
		damage(&p)
		b.Probe(p)
		if err := b.Sample(Sample{}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
		r := b.Recording()
		if err := r.Check(); err != nil {
			t.Error(err)
		}
		r.Probes = []Probe{p}
		if err := r.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check: %v, want an error with %q", err, want)
		}
	}
}
