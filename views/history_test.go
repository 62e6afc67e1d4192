package views

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
	"pgregory.net/rapid"
)

// A summed has the sums of a history over some samples.
type summed struct {
	stacks map[string]calltree.Total // by stack
	beside map[PortionKind]calltree.Total
}

// sum adds up the moments of a history in the slices of the
// samples [from, to).
func (h *History) sum(r *sampledata.Recording, from, to int32) summed {
	s := summed{map[string]calltree.Total{}, map[PortionKind]calltree.Total{}}
	w := r.Weights()
	add := func(portion int32, weight *big.Int, hits int64) {
		p := h.Portions[portion]
		parts := new(big.Rat).SetFrac64(1, p.Parts)
		t := calltree.Total{Weight: new(big.Rat).Mul(new(big.Rat).SetInt(weight), parts), Hits: new(big.Rat).Mul(big.NewRat(hits, 1), parts)}
		if p.Kind != Ending {
			s.beside[p.Kind] = added(s.beside[p.Kind], t)
			return
		}
		k := strings.Join(h.Tree.Frames(p.Node), "\n")
		s.stacks[k] = added(s.stacks[k], t)
	}
	spells, sums := h.all()
	for _, sp := range spells {
		first, end := h.Span(sp.First, sp.Last+1)
		if first, end = max(from, first), min(to, end); first < end {
			weight := big.NewInt(w.Of(int(first), int(end)))
			add(sp.Portion, weight.Mul(weight, big.NewInt(sp.Num)), sp.Num*int64(end-first))
		}
	}
	for _, m := range sums {
		if first, end := h.Span(m.Slice, m.Slice+1); first < to && end > from {
			weight := new(big.Int).Lsh(big.NewInt(m.Weight.Hi), wideBits)
			add(m.Portion, weight.Add(weight, big.NewInt(m.Weight.Lo)), m.Hits)
		}
	}
	return s
}

func added(a, b calltree.Total) calltree.Total {
	if a.Weight == nil {
		return b
	}
	return a.Plus(b)
}

// compareStacks compares the stacks of a history below a prefix
// with those of a view.
func compareStacks(t *rapid.T, what string, got map[string]calltree.Total, prefix string, v *calltree.Tree) {
	stacks := 0
	for n := range int32(v.Len()) {
		own := v.Main().Ending(n)
		if own.Weight.Sign() == 0 && own.Hits.Sign() == 0 {
			continue
		}
		stacks++
		k := prefix + strings.Join(v.Frames(n), "\n")
		if g, ok := got[k]; !ok || g.Weight.Cmp(own.Weight) != 0 || g.Hits.Cmp(own.Hits) != 0 {
			t.Fatalf("%s: %q has %v, the view %v", what, k, g, own)
		}
	}
	under := 0
	for k, g := range got {
		if (k+"\n") == prefix+v.Root()+"\n" || strings.HasPrefix(k, prefix+v.Root()+"\n") {
			if g.Weight.Sign() > 0 || g.Hits.Sign() > 0 {
				under++
			}
		}
	}
	if under != stacks {
		t.Fatalf("%s: the history has %d stacks, the view %d", what, under, stacks)
	}
}

// TestHistoryOfSpans compares the sums of a history over any
// span with the views of that span.
func TestHistoryOfSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, o := drawRecording(t), drawOptions(t)
		o.Span = Span{}
		if o.LeaveOutIdle = rapid.Bool().Draw(t, "without idle"); o.LeaveOutIdle {
			o.Role = func(f string) Role { return Role(len(f) % 4) }
		}
		server := fixture.Must(ServerHistory(r, o, math.MaxInt))(t)
		threads := fixture.Must(ThreadsHistory(r, o, math.MaxInt))(t)
		part := o
		part.Span.From = time.Duration(rapid.IntRange(0, 16).Draw(t, "from"))
		part.Span.To = part.Span.From + time.Duration(rapid.IntRange(1, 24).Draw(t, "length"))
		from, to, err := part.Span.Samples(r)
		fixture.Check(t, err)
		v := fixture.Must(Server(r, part))(t)
		got := server.sum(r, from, to)
		compareStacks(t, "server", got.stacks, "", v.Tree)
		if whole, ok := got.beside[Whole]; ok != (v.Tree.Main().Denominator.Sign() > 0) || ok && whole.Weight.Cmp(v.Tree.Main().Denominator) != 0 {
			t.Fatalf("the costs are fractions of %v, those of the view of %v", whole, v.Tree.Main().Denominator)
		}
		all := threads.sum(r, from, to)
		classes := fixture.Must(Classes(r, part))(t)
		for _, c := range classes {
			v := fixture.Must(Thread(r, c.Class, part))(t)
			if c.Hits == 0 && o.LeaveOutIdle {
				continue // the view of the span has waiting for work, and that of the whole recording may have none
			}
			compareStacks(t, c.Class, all.stacks, "*\n", v.Tree)
		}
		if threads.Rounded+server.Rounded != 0 {
			t.Errorf("rounded %d and %d shares", threads.Rounded, server.Rounded)
		}
	})
}

// Shares with large numbers are rounded, and still sum to what
// they are shares of.
func TestHistoryRounds(t *testing.T) {
	h := &historian{number: make(map[Portion]int32), moments: Moments{Each: 1, samples: 9}, most: math.MaxInt}
	h.begin(3, 2, false)
	third := new(big.Rat).SetFrac(new(big.Int).Lsh(big.NewInt(1), 80), new(big.Int).Mul(big.NewInt(3), new(big.Int).Lsh(big.NewInt(1), 80)))
	h.add(Ending, 7, 0, 0, third)
	h.add(Ending, 7, 1<<40, 3<<39, nil)
	h.end()
	h.finish()
	if spells, _ := h.moments.all(); len(spells) != 1 || spells[0] != (Spell{0, 3, 4, roundedParts}) || h.portions[0] != (Portion{Ending, 7, roundedParts}) || h.rounded != 2 {
		t.Errorf("%+v of %+v, %d rounded", spells, h.portions, h.rounded)
	}
}

// What was collected for a slice is rounded, too, once there are
// many portions.
func TestHistoryRoundsWhatIsCollected(t *testing.T) {
	h := &historian{number: make(map[Portion]int32), moments: Moments{Each: 4, samples: 9}, collected: 5}
	h.addCollected(7, observed{hits: 2, time: 1 << 58}, 3)
	h.addCollected(8, observed{hits: 6, time: 9}, 1)
	_, sums := h.moments.all()
	if h.rounded != 1 || len(sums) != 2 || h.portions[0] != (Portion{Ending, 7, roundedParts}) || sums[1] != (Sum{1, 1, 6, LongSum{Lo: 9}}) {
		t.Fatalf("%+v of %+v, %d rounded", sums, h.portions, h.rounded)
	}
	got := sums[0]
	weight := new(big.Int).Lsh(big.NewInt(got.Weight.Hi), wideBits)
	weight.Add(weight, big.NewInt(got.Weight.Lo))
	if want := new(big.Int).Div(new(big.Int).Lsh(big.NewInt(1), 88), big.NewInt(3)); got.Hits != 2*roundedParts/3+1 || got.Slice != 1 || weight.Cmp(want) != 0 {
		t.Errorf("%+v, want a weight of %v", got, want)
	}
}

// A history that may have few moments has longer slices. Nothing
// is lost: what its slices have together is what the samples
// have.
func TestHistoryOfFewMoments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, o := drawRecording(t), drawOptions(t)
		o.Span = Span{}
		whole := fixture.Must(ThreadsHistory(r, o, math.MaxInt))(t)
		most := rapid.IntRange(1, max(1, 2*whole.Len())).Draw(t, "most")
		few := fixture.Must(ThreadsHistory(r, o, most))(t)
		if few.Len() > most && few.Slices() > 1 {
			t.Fatalf("%d moments with %d slices, want at most %d", few.Len(), few.Slices(), most)
		}
		for slice := range few.Slices() {
			from, to := few.Span(slice, slice+1)
			got, want := few.sum(r, from, to), whole.sum(r, from, to)
			if d := different(got.stacks, want.stacks); d != "" {
				t.Fatalf("slice %d of %d samples: %s", slice, few.Each, d)
			}
			if got, want := got.beside[Idle], want.beside[Idle]; got.Weight != want.Weight && got.Weight.Cmp(want.Weight) != 0 {
				t.Fatalf("slice %d of %d samples: waiting for work %v, want %v", slice, few.Each, got, want)
			}
		}
	})
}

// different returns a stack whose sums differ; "" if there is none.
func different(got, want map[string]calltree.Total) string {
	for k, g := range got {
		if w := want[k]; w.Weight == nil || g.Weight.Cmp(w.Weight) != 0 || g.Hits.Cmp(w.Hits) != 0 {
			return fmt.Sprintf("%q has %v, want %v", k, g, w)
		}
	}
	for k, w := range want {
		if got[k].Weight == nil {
			return fmt.Sprintf("%q has nothing, want %v", k, w)
		}
	}
	return ""
}
