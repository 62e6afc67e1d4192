package calltree

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/internal/intern"
	"github.com/cpprof/cpprof/internal/lists"
)

// planeBits is how many bits of a large number one plane holds.
const planeBits = 32

// weights are the weights, or the hits, of one metric while the
// tree is built.
type weights struct {
	name, unit  string
	denominator *big.Rat
	whole       []int64            // by node: weights with denominator 1
	keys        *partKeys          // of parts; a metric's hits and weights share them
	parts       []int64            // by number of the key: weights with other denominators
	large       map[int32]*big.Rat // by node: what needs more than 64 bits

	hits *weights // nil if hits are not counted
}

// A partKey is a node with a denominator.
type partKey struct {
	node int32
	den  int64
}

// partKeys numbers the keys of a metric. There are few different
// denominators, which are numbered first: so the keys of the
// larger map have 8 bytes, for which Go's maps are fastest.
type partKeys struct {
	keys         intern.List[nodeDenominator, int32]
	denominators intern.List[int64, int32]
}

type nodeDenominator struct{ node, denominator int32 }

func (ks *partKeys) number(k partKey) int32 {
	return ks.keys.Number(nodeDenominator{k.node, ks.denominators.Number(k.den)})
}

func (ks *partKeys) at(i int) partKey {
	k := ks.keys.All[i]
	return partKey{k.node, ks.denominators.All[k.denominator]}
}

func newWeights(name, unit string) *weights {
	return &weights{name: name, unit: unit, keys: new(partKeys)}
}

// counted returns the hits of the metric.
func (w *weights) counted() *weights {
	if w.hits == nil {
		w.hits = &weights{name: hitsName, unit: hitsUnit, keys: w.keys}
	}
	return w.hits
}

func (w *weights) add(node int32, num, den int64) {
	if num%den == 0 {
		w.addWhole(node, num/den)
		return
	}
	k := partKey{node, den}
	w.addPart(k, w.keys.number(k), num)
}

// addHits adds a weight and hits with one denominator.
func (w *weights) addHits(node int32, weight, hits, den int64) {
	if den != 1 && hits%den == 0 && weight%den == 0 {
		weight, hits, den = weight/den, hits/den, 1
	}
	if den == 1 {
		w.addWhole(node, weight)
		w.counted().addWhole(node, hits)
		return
	}
	k := partKey{node, den}
	i := w.keys.number(k)
	w.addPart(k, i, weight)
	w.counted().addPart(k, i, hits)
}

func (w *weights) addWhole(node int32, num int64) {
	w.whole = longer(w.whole, node)
	w.addSmall(&w.whole[node], node, num, 1)
}

// addPart adds num/k.den; i is the number of k.
func (w *weights) addPart(k partKey, i int32, num int64) {
	w.parts = longer(w.parts, i)
	w.addSmall(&w.parts[i], k.node, num, k.den)
}

// addSmall adds num to a sum of a node, in parts of 1/den. If 64
// bits can't hold the sum, it begins anew.
func (w *weights) addSmall(sum *int64, node int32, num, den int64) {
	if s := *sum + num; (s > *sum) == (num > 0) {
		*sum = s
		return
	}
	w.addLarge(node, big.NewRat(*sum, den))
	*sum = num
}

// longer returns the list with zeros added so that it has the given index.
func longer(list []int64, index int32) []int64 {
	if short := int(index) + 1 - len(list); short > 0 {
		list = append(list, make([]int64, short)...)
	}
	return list
}

func (w *weights) addRat(node int32, r *big.Rat) {
	if r.Num().IsInt64() && r.Denom().IsInt64() {
		w.add(node, r.Num().Int64(), r.Denom().Int64())
		return
	}
	w.addLarge(node, r)
}

func (w *weights) addLarge(node int32, r *big.Rat) {
	if w.large == nil {
		w.large = make(map[int32]*big.Rat)
	}
	sum := lists.Made(w.large, node, func() *big.Rat { return new(big.Rat) })
	sum.Add(sum, r)
}

// metric converts all weights to one scale and lays them out in planes.
func (w *weights) metric(parent, at []int32) *Metric {
	m := &Metric{Name: w.name, Unit: w.unit, Denominator: w.denominator, scale: w.scale()}
	if w.hits != nil {
		m.hits = w.hits.metric(parent, at)
	}
	if !w.small(m, parent, at) {
		w.big(m, parent, at)
	}
	if m.Denominator == nil {
		m.Denominator = m.Cum(0)
		m.Denominator.Abs(m.Denominator)
	}
	return m
}

// scale returns the least common multiple of all denominators:
// with it, all weights are integers. It mostly stays small,
// because goroutines that share P processors and e rivals have
// few different denominators.
func (w *weights) scale() *big.Int {
	l := big.NewInt(1)
	seen := map[int64]bool{1: true}
	for i, num := range w.parts {
		if den := w.keys.at(i).den; num != 0 && !seen[den] {
			seen[den] = true
			l = exact.Multiple(l, big.NewInt(den))
		}
	}
	for _, r := range w.large {
		l = exact.Multiple(l, r.Denom())
	}
	return l
}

// small fills one plane if the scaled weights of all nodes
// together fit an int64. It reports whether they do; otherwise,
// big does the work. It sums absolute values: no sum over some
// of the nodes can overflow either.
func (w *weights) small(m *Metric, parent, at []int32) bool {
	if len(w.large) > 0 || !m.scale.IsInt64() {
		return false
	}
	scale := m.scale.Int64()
	own := make([]int64, len(parent))
	var total uint64 // of absolute values
	add := func(node int32, num, by int64) bool {
		hi, lo := bits.Mul64(magnitude(num), uint64(by))
		sum, carry := bits.Add64(total, lo, 0)
		if hi != 0 || carry != 0 || sum > math.MaxInt64 {
			return false
		}
		total = sum
		own[at[node]] += num * by
		return true
	}
	for i, num := range w.whole {
		if num != 0 && !add(int32(i), num, scale) {
			return false
		}
	}
	for i, num := range w.parts {
		if k := w.keys.at(i); num != 0 && !add(k.node, num, scale/k.den) {
			return false
		}
	}
	m.planes = []Plane{{Own: own, Cum: cumulate(parent, own)}}
	return true
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// big fills as many planes as the largest node needs.
func (w *weights) big(m *Metric, parent, at []int32) {
	own := make([]*big.Int, len(parent))
	product := new(big.Int)
	add := func(node int32, num, by *big.Int) {
		v := own[at[node]]
		if v == nil {
			v = new(big.Int)
			own[at[node]] = v
		}
		v.Add(v, product.Mul(num, by))
	}
	// Denominators are few, and divisions are slow.
	factors := make(map[int64]*big.Int)
	factor := func(den int64) *big.Int {
		return lists.Made(factors, den, func() *big.Int {
			return new(big.Int).Quo(m.scale, big.NewInt(den))
		})
	}
	whole := new(big.Int)
	for i, num := range w.whole {
		if num != 0 {
			add(int32(i), whole.SetInt64(num), m.scale)
		}
	}
	for i, num := range w.parts {
		if k := w.keys.at(i); num != 0 {
			add(k.node, whole.SetInt64(num), factor(k.den))
		}
	}
	for node, r := range w.large {
		add(node, r.Num(), new(big.Int).Quo(m.scale, r.Denom()))
	}
	m.planes = digits(own, parent)
}

// digits writes numbers in base 2^32, one plane for each digit.
// The digits of a negative number are negative. For example,
// 2^32 + 5 is 5 in the first plane and 1 in the second, and
// -(2^32 + 5) is -5 and -1.
func digits(own []*big.Int, parent []int32) []Plane {
	width := 1
	for _, v := range own {
		if v != nil {
			width = max(width, (v.BitLen()+planeBits-1)/planeBits)
		}
	}
	planes := make([]Plane, width)
	for k := range planes {
		digit := make([]int64, len(own))
		for i, v := range own {
			if v != nil {
				digit[i] = digitAt(v, k)
			}
		}
		planes[k] = Plane{Own: digit, Cum: cumulate(parent, digit)}
	}
	return planes
}

// digitAt returns the k-th digit of v.
func digitAt(v *big.Int, k int) int64 {
	words := v.Bits()
	at := k * planeBits
	if at/bits.UintSize >= len(words) {
		return 0
	}
	return int64(words[at/bits.UintSize]>>(at%bits.UintSize)&(1<<planeBits-1)) * int64(v.Sign())
}
