package views

import "github.com/cpprof/cpprof/internal/intern"

// maxUnflushed limits the collected hits that a builder has not
// yet added to its tree: to 32 MB.
const maxUnflushed = 2 << 20

// A term is one place below a stack for hits of one denominator,
// such as thirds of hits of :LOAD go:main.f. Goroutines that run
// or are runnable are mostly so for many samples, and their hits
// go to few terms. They are summed by term, and added to the
// tree when the goroutines change. For example, a goroutine
// waits during 100 samples for one of 4 processors, each held
// by go:main.f: it adds 4 to the term {Load, go:main.f, 4} a
// hundred times, and 400/4 to the tree once.
type term struct {
	typed TypedTime // Run, Load or Prio
	to    classID   // the class that causes a :LOAD or :PRIO
	den   int64
}

// terms numbers the terms of a builder.
type terms = intern.List[term, int32]

func (w *wait) key() term {
	return term{w.typed, w.to, w.den}
}

// collect adds the hits of a group of goroutines that run or are
// runnable, each observed in the same samples.
func (b *builder) collect(g *group[instance], sp *spread, each observed) {
	if !sp.numbered {
		sp.numbered = true
		sp.term = b.terms.Number(term{typed: Run, den: sp.of})
		if !b.server {
			for i := range sp.waits {
				sp.waits[i].term = b.terms.Number(sp.waits[i].key())
			}
		}
	}
	if short := len(b.terms.All) - len(g.hits); short > 0 {
		g.hits = append(g.hits, make([]observed, short)...)
	}
	if run := sp.typed[Run]; run > 0 {
		b.collectTerm(g, sp.term, each, run)
	}
	if b.server {
		return
	}
	for i := range sp.waits {
		w := &sp.waits[i]
		if heads := w.forClass(g.key.class); heads > 0 {
			b.collectTerm(g, w.term, each, heads*w.num)
		}
	}
}

// collectTerm adds num times what was observed of all goroutines
// of the group to a term. If the sum would be too large, it adds
// that to the tree at once.
func (b *builder) collectTerm(g *group[instance], t int32, each observed, num int64) {
	sum := &g.hits[t]
	if n, fits := product(g.n, num); fits {
		hits, hitsFit := product(each.hits, n)
		time, timeFits := product(each.time, n)
		if hitsFit && timeFits && sum.hits+hits >= 0 && sum.time+time >= 0 {
			sum.hits += hits
			sum.time += time
			return
		}
	}
	k := b.terms.All[t]
	b.add(b.termNode(g.key.node, k), each.of(g.n).times(num, k.den))
}

// flush adds the hits that a group has collected to the tree.
func (b *builder) flush(g *group[instance]) {
	for i, sum := range g.hits {
		if sum.hits != 0 {
			k := b.terms.All[i]
			node := b.termNode(g.key.node, k)
			b.tree.AddHits(0, node, sum.time, sum.hits, k.den)
			b.history.addCollected(node, sum, k.den)
		}
	}
	g.hits = nil
}

// flushAll flushes all groups, and begins new terms. It is
// called between samples.
func (b *builder) flushAll() {
	for i := range b.active.list {
		b.flush(&b.active.list[i])
	}
	b.terms = terms{}
}

// termNode returns the node of a term below a stack.
func (b *builder) termNode(node int32, k term) int32 {
	node = b.typedNode(node, k.typed)
	if k.typed == Run {
		return node
	}
	return b.tree.Child(node, b.frameOf(k.to))
}
