package views

// A momentPool has the memory of moments. There are millions of
// moments in lists, and each list may grow and shrink at any
// time. In slices, they would need room for twice as many, and
// sorting.
type momentPool struct {
	chunks [][]moment
	used   int32 // of all chunks
	free   int32 // a list of those that are not used any more
}

// A moment is a spell or a sum in a list, without its portion.
type moment struct {
	next        int32 // the number of the one that was added before it; 0 if there is none
	first, last int32 // of a spell; of a sum, first is its slice
	lo          int32 // of a sum's weight
	num         int64 // or a sum's hits
	hi          int64 // of a sum's weight
}

// momentLists are the moments of a portion: the numbers of those
// that were added last; 0 if there are none.
type momentLists struct{ spells, sums int32 }

const (
	poolBits = 12
	poolLen  = 1 << poolBits
)

// at returns a moment by its number, from 1 up. The pointer remains valid.
func (p *momentPool) at(i int32) *moment { return &p.chunks[(i-1)>>poolBits][(i-1)&(poolLen-1)] }

// add returns the number of a new moment.
func (p *momentPool) add(m moment) int32 {
	i := p.free
	if i != 0 {
		p.free = p.at(i).next
	} else {
		if int(p.used)>>poolBits == len(p.chunks) {
			p.chunks = append(p.chunks, make([]moment, poolLen))
		}
		p.used++
		i = p.used
	}
	*p.at(i) = m
	return i
}

// release frees the moments of a list.
func (p *momentPool) release(list int32) {
	for list != 0 {
		at := p.at(list)
		list, at.next, p.free = at.next, p.free, list
	}
}

func (a *moment) spell(portion int32) Spell { return Spell{portion, a.first, a.last, a.num} }

func (a *moment) sum(portion int32) Sum {
	return Sum{portion, a.first, a.num, LongSum{a.hi, int64(a.lo)}}
}

// of returns the lists of a portion. The pointer is valid until
// the next call.
func (m *Moments) of(portion int32) *momentLists {
	for int(portion) >= len(m.lists) {
		m.lists = append(m.lists, momentLists{})
	}
	return &m.lists[portion]
}

func (m *Moments) addSpell(sp Spell) {
	l := m.of(sp.Portion)
	l.spells = m.pool.add(moment{next: l.spells, first: sp.First, last: sp.Last, num: sp.Num})
	m.Spells++
}

// addToSum adds a sum to the portion's newest one, if that is of
// the same slice. Mostly it is. Otherwise, there is a further
// sum.
func (m *Moments) addToSum(s Sum) {
	l := m.of(s.Portion)
	if l.sums != 0 {
		if at := m.pool.at(l.sums); at.first == s.Slice {
			s.Hits += at.num
			s.Weight.AddWide(LongSum{at.hi, int64(at.lo)})
			at.num, at.hi, at.lo = s.Hits, s.Weight.Hi, int32(s.Weight.Lo)
			return
		}
	}
	l.sums = m.pool.add(moment{next: l.sums, first: s.Slice, num: s.Hits, lo: int32(s.Weight.Lo),
		hi: s.Weight.Hi})
	m.Sums++
}
