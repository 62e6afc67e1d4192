package views

import (
	"fmt"
	"math"
	"math/big"

	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
)

// A History says in which samples each stack of a view got its
// hits. With it, the view of any span can be summed up without
// the recording. For example, a goroutine runs in the samples 0
// to 9, and waits for one of two processors in sample 10. Its
// stack then has two kinds of portions. In the samples 0 to 9,
// {:RUN, 1} has a spell of 1. In sample 10, {:LOAD go:main.f, 2}
// and {:LOAD :idle, 2} have a spell of 1, which is half a hit.
type History struct {
	*View
	Portions []Portion
	Moments
	Classes []ClassSummary // of a ThreadsHistory: what Classes returns

	// Rounded counts the shares of hits that were rounded to a
	// part in 2^30. These are shares with very large numbers. If
	// there are very many portions, these are also shares that
	// would need further portions.
	Rounded int64
}

// A Portion is something that gets hits: a node of the tree, or
// one of the sums beside it.
type Portion struct {
	Kind  PortionKind
	Node  int32 // of the tree
	Parts int64 // a spell's Num counts hits of 1/Parts
}

// A PortionKind says what the hits of a portion are.
type PortionKind uint8

const (
	Ending PortionKind = iota // of stacks that end at Node
	Idle                      // waiting for work, which the tree lacks, of the class at Node
	Whole                     // what the costs of a Server View are fractions of; Node is the root
)

// ServerHistory makes the Server View with its history. The
// history has a limited number of moments, unless a single slice
// has more. A profile has none: see Server.
func ServerHistory(r *sampledata.Recording, o Options, most int) (*History, error) {
	return newHistory(r, o, most, "server view", func(b *builder) { b.server = true })
}

// ThreadsHistory makes the Thread Views of all classes with
// their history, as one tree. Its root is "*". Below the root is
// the view of each class, with the class as its outermost frame.
// Each view is the same as Thread's: waiting for work is not
// left out of a class that does nothing else. A profile has no
// history: see Threads.
func ThreadsHistory(r *sampledata.Recording, o Options, most int) (*History, error) {
	classes, err := Classes(r, o)
	if err != nil {
		return nil, err
	}
	whole := make(map[string]bool)
	for i := range classes {
		whole[classes[i].Class] = classes[i].Hits == 0
	}
	h, err := newHistory(r, o, most, "view of all classes", func(b *builder) {
		b.threads, b.maxChained, b.maxFirst, b.history.whole = true, maxHolderNodes,
			maxHolderNodes, whole
	})
	if err != nil {
		return nil, err
	}
	h.Classes = classes
	return h, nil
}

func newHistory(r *sampledata.Recording, o Options, most int, what string,
	set func(*builder)) (*History, error) {
	o.Slices = false // the history says more
	what = "history of the " + what
	if _, _, err := o.samples(r); err == nil && r.Profile != nil {
		return nil, fmt.Errorf("%s: a profile has no samples", what)
	}
	v, b, err := limitedView(r, o, what, calltree.RootName, func(b *builder) {
		b.history = newHistorian(r, most)
		set(b)
	})
	if err != nil {
		return nil, err
	}
	h := b.history
	h.finish()
	for i := range h.portions {
		h.portions[i].Node = b.at[h.portions[i].Node]
	}
	return &History{View: v, Portions: h.portions, Moments: h.moments, Rounded: h.rounded}, nil
}

// A historian writes down what a builder adds to its tree.
type historian struct {
	whole    map[string]bool // the classes whose waiting for work is not left out
	portions []Portion
	number   map[Portion]int32
	newest   []int32 // by node: 1 + the portion that was found last; mostly it is found again
	moments  Moments
	most     int // number of moments

	maxExact int     // see the constant
	open     []lasts // by portion
	now      []int64 // by portion: its hits in the current samples
	touched  []int32 // the portions with hits in the current samples
	rounded  int64

	collected      int32 // a sample in the slice for which the builder collects hits
	first, samples int32 // what is being added
	// it is the whole of a run, rather than what all goroutines
	// do in some samples
	run bool
}

// A lasts is hits of a portion in each of the samples [from,
// to), which may go on. There are none if num is 0.
type lasts struct {
	from, to int32
	num      int64
}

func newHistorian(r *sampledata.Recording, most int) *historian {
	return &historian{number: make(map[Portion]int32), moments: newMoments(r), most: most,
		maxExact: maxExact}
}

// begin says that what follows is of some samples.
func (h *historian) begin(first, samples int32, run bool) {
	if h == nil {
		return
	}
	h.first, h.samples, h.run = first, samples, run
}

// end writes down what was added in the current samples. A
// portion that got the same in the samples before goes on.
func (h *historian) end() {
	if h == nil {
		return
	}
	for _, p := range h.touched {
		num, at := h.now[p], &h.open[p]
		h.now[p] = 0
		if at.num != num || at.to != h.first {
			h.close(p)
			*at = lasts{from: h.first, num: num}
		}
		at.to = h.first + h.samples
	}
	h.touched = h.touched[:0]
	if h.moments.Len() > beforeLimit(h.most) {
		h.moments.limit(h.most)
		h.most = max(h.most, h.moments.Len())
	}
}

// beforeLimit is how many moments there may be until they are
// limited. That takes long, but at least doubles the length of
// slices.
func beforeLimit(most int) int {
	if most > math.MaxInt/4 {
		return math.MaxInt / 4
	}
	return most + most/8
}

// close writes down what a portion got, which does not go on.
func (h *historian) close(portion int32) {
	if at := h.open[portion]; at.num != 0 {
		h.moments.add(portion, at.from, at.to, at.num)
	}
}

// finish writes down what goes on until the end.
func (h *historian) finish() {
	for p := range h.open {
		h.close(int32(p))
	}
	h.moments.mergeAll()
	h.moments.limit(h.most)
}

// add adds a share of a hit to a portion in each of the current samples.
func (h *historian) add(kind PortionKind, node int32, num, den int64, large *big.Rat) {
	if h == nil {
		return
	}
	if large != nil || num > math.MaxInt32 || den > math.MaxInt32 {
		if large == nil {
			large = big.NewRat(num, den)
		}
		num, den = h.round(large)
	}
	p, ok := h.find(Portion{kind, node, den})
	if !ok {
		if den > 1 && den != roundedParts && len(h.portions) >= h.maxExact {
			num, den = h.round(big.NewRat(num, den))
		}
		p = h.portion(Portion{kind, node, den})
	}
	if h.run {
		h.moments.add(p, h.first, h.first+h.samples, num)
		return
	}
	if h.now[p] == 0 {
		h.touched = append(h.touched, p)
	}
	h.now[p] += num
}

// together reports whether what a view gets in some samples may
// be collected and added by addCollected: with slices of many
// samples that saves most of the work. It calls flush first if
// hits were collected for another slice.
func (h *historian) together(first, samples int32, flush func()) bool {
	if h == nil {
		return true
	}
	m := &h.moments
	if m.Each == 1 {
		return false
	}
	if first/m.Each != h.collected/m.Each {
		flush()
		h.collected = first
	}
	return first/m.Each == (first+samples-1)/m.Each
}

// addCollected adds what was collected for a node in a slice:
// parts of 1/den of what was observed.
func (h *historian) addCollected(node int32, o observed, den int64) {
	if h == nil {
		return
	}
	slice := h.collected / h.moments.Each
	k := Portion{Ending, node, den}
	var w LongSum
	if _, ok := h.find(k); ok || den == 1 || den <= math.MaxInt32 && len(h.portions) < h.maxExact {
		w.Add(1, o.time)
		h.moments.addToSum(Sum{h.portion(k), slice, o.hits, w})
		return
	}
	h.rounded++
	w.AddBig(rounded(big.NewRat(o.time, den)))
	h.moments.addToSum(Sum{h.portion(Portion{Ending, node, roundedParts}), slice,
		rounded(big.NewRat(o.hits, den)).Int64(), w})
}

// find returns the number of a portion, if it has one.
func (h *historian) find(k Portion) (p int32, ok bool) {
	for int(k.Node) >= len(h.newest) {
		h.newest = append(h.newest, 0)
	}
	newest := &h.newest[k.Node]
	if *newest > 0 && h.portions[*newest-1] == k {
		return *newest - 1, true
	}
	if p, ok = h.number[k]; ok {
		*newest = p + 1
	}
	return p, ok
}

// portion returns the number of a portion, which is a new one if
// it has none.
func (h *historian) portion(k Portion) int32 {
	p, ok := h.find(k)
	if !ok {
		p = int32(len(h.portions))
		h.number[k] = p
		h.portions, h.open, h.now = append(h.portions, k), append(h.open, lasts{}), append(h.now, 0)
	}
	return p
}

// maxExact is up to how many portions there is one for every
// number of parts. If hundreds of goroutines are ready to run,
// each node gets hits in as many kinds of parts.
const maxExact = 200_000

// round rounds a share.
func (h *historian) round(share *big.Rat) (num, den int64) {
	h.rounded++
	return roundedShare(share), roundedParts
}

// roundedParts is the number of parts of a rounded share: the
// exact share has too large numbers.
const roundedParts = 1 << 30

func roundedShare(x *big.Rat) int64 { return rounded(x).Int64() }

// rounded returns the nearest number of roundedParts.
func rounded(x *big.Rat) *big.Int {
	return exact.Nearest(new(big.Rat).Mul(x, big.NewRat(roundedParts, 1)))
}
