package views

import (
	"fmt"
	"math"
	"math/big"

	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/sampledata"
)

// maxSpells limits the length of a History: to about half a gigabyte.
const maxSpells = 20_000_000

// A History says in which samples each stack of a view got its hits, so that the view of any span can be summed up without the
// recording. For example, if a goroutine runs in the samples 0 to 9, and waits for one of two processors in sample 10, its
// stack has the portions {:RUN, 1} with a spell of 1 in the samples 0 to 9, and {:LOAD go:main.f, 2} and {:LOAD :idle, 2} with
// a spell of 1, which is half a hit, in sample 10.
type History struct {
	*View
	Portions []Portion
	Spells   []Spell

	// Rounded counts the shares of hits whose numbers are so large that they were rounded to a part in 2^30.
	Rounded int64
}

// A Portion is something that gets hits: a node of the tree, or one of the sums beside it.
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

// A Spell is Num/Parts hits of a portion in each of the samples First to Last, both included. Spells of one portion may overlap,
// and then add up.
type Spell struct {
	Portion     int32
	First, Last int32
	Num         int64
}

// ServerHistory makes the Server View with its history. A profile has none: see Server.
func ServerHistory(r *sampledata.Recording, o Options) (*History, error) {
	return newHistory(r, o, "server view", func(b *builder) { b.server = true })
}

// ThreadsHistory makes the Thread Views of all classes with their history, as one tree: its root is "*", and below that is the
// view of each class, which has the class as its outermost frame. Each has what Thread makes of it: of a class that only waits
// for work, that is not left out. A profile has no history: see Threads.
func ThreadsHistory(r *sampledata.Recording, o Options) (*History, error) {
	classes, err := Classes(r, o)
	if err != nil {
		return nil, err
	}
	whole := make(map[string]bool)
	for i := range classes {
		whole[classes[i].Class] = classes[i].Hits == 0
	}
	return newHistory(r, o, "view of all classes", func(b *builder) { b.threads, b.maxChained, b.history.whole = true, maxHolderNodes, whole })
}

func newHistory(r *sampledata.Recording, o Options, what string, set func(*builder)) (*History, error) {
	from, to, err := o.samples(r)
	if err == nil && r.Profile != nil {
		err = fmt.Errorf("a profile has no samples")
	}
	if err != nil {
		return nil, fmt.Errorf("history of the %s: %w", what, err)
	}
	v, b, err := limitedView(from, to, func() *builder {
		b := newBuilder(newScene(r, o), calltree.RootName)
		b.history = &historian{number: make(map[Portion]int32)}
		set(b)
		return b
	})
	if err != nil {
		return nil, fmt.Errorf("history of the %s: %w", what, err)
	}
	h := b.history
	for i := range h.portions {
		h.portions[i].Node = b.at[h.portions[i].Node]
	}
	return &History{View: v, Portions: h.portions, Spells: h.spells, Rounded: h.rounded}, nil
}

// A historian writes down what a builder adds to its tree.
type historian struct {
	whole    map[string]bool // the classes whose waiting for work is not left out
	portions []Portion
	number   map[Portion]int32
	spells   []Spell
	open     []int32 // by portion: the spell that may go on in the next sample; -1 if there is none
	now      []int64 // by portion: its hits in the current samples
	touched  []int32 // the portions with hits in the current samples
	rounded  int64

	first, samples int32 // what is being added
	run            bool  // it is the whole of a run, rather than what all goroutines do in some samples
}

// begin says that what follows is of some samples.
func (h *historian) begin(first, samples int32, run bool) {
	if h == nil {
		return
	}
	h.first, h.samples, h.run = first, samples, run
}

// end writes down what was added in the current samples. A portion that got the same in the samples before goes on.
func (h *historian) end() {
	if h == nil {
		return
	}
	for _, p := range h.touched {
		num := h.now[p]
		h.now[p] = 0
		if i := h.open[p]; i >= 0 && h.spells[i].Last == h.first-1 && h.spells[i].Num == num {
			h.spells[i].Last += h.samples
			continue
		}
		h.open[p] = int32(len(h.spells))
		h.spells = append(h.spells, Spell{p, h.first, h.first + h.samples - 1, num})
	}
	h.touched = h.touched[:0]
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
		num, den = roundedShare(large), roundedParts
		h.rounded++
	}
	k := Portion{kind, node, den}
	p, ok := h.number[k]
	if !ok {
		p = int32(len(h.portions))
		h.number[k] = p
		h.portions, h.open, h.now = append(h.portions, k), append(h.open, -1), append(h.now, 0)
	}
	if h.run {
		h.spells = append(h.spells, Spell{p, h.first, h.first + h.samples - 1, num})
		return
	}
	if h.now[p] == 0 {
		h.touched = append(h.touched, p)
	}
	h.now[p] += num
}

// roundedParts are the parts in which a share is counted whose own numbers are too large.
const roundedParts = 1 << 30

func roundedShare(x *big.Rat) int64 {
	twice := new(big.Rat).Mul(x, big.NewRat(2*roundedParts, 1))
	q := new(big.Int).Quo(twice.Num(), twice.Denom())
	return q.Add(q, big.NewInt(1)).Rsh(q, 1).Int64()
}

// checkLength returns an error if the history is too long.
func (h *historian) checkLength() error {
	if h != nil && len(h.spells) > maxSpells {
		return fmt.Errorf("the goroutines change their states more than %d times: choose a shorter time span with --from and --to", maxSpells)
	}
	return nil
}
