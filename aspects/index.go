package aspects

import (
	"slices"
	"strings"
)

// A matcher finds the aspects of one function after another. It
// tries only patterns whose literal beginning also begins the
// function's name.
type matcher struct {
	heads   []string // sorted; the first is ""
	parent  []int32  // by head: the longest other head that it begins with
	entries [][]entry
	marks   []mark // by aspect, of the last function
	last    string
	known   bool // marks are valid for last
}

type entry struct {
	aspect  int32
	kind    mark // the mark that a match sets
	pattern *Pattern
}

// A mark says how the patterns of one aspect match a function.
type mark uint8

const (
	included mark = 1 << iota
	excluded
)

func newMatcher(aspects []Aspect) *matcher {
	byHead := map[string][]entry{"": nil}
	for i, a := range aspects {
		for j := range a.patterns {
			p := &a.patterns[j]
			kind := included
			if p.exclude {
				kind = excluded
			}
			byHead[p.head] = append(byHead[p.head], entry{int32(i), kind, p})
		}
	}
	m := &matcher{marks: make([]mark, len(aspects))}
	for h := range byHead {
		m.heads = append(m.heads, h)
	}
	slices.Sort(m.heads)
	m.parent = make([]int32, len(m.heads))
	m.entries = make([][]entry, len(m.heads))
	for i, h := range m.heads {
		m.entries[i] = byHead[h]
		m.parent[i] = int32(i) - 1
		for p := &m.parent[i]; *p > 0 && !strings.HasPrefix(h, m.heads[*p]); {
			*p = m.parent[*p]
		}
	}
	return m
}

// belongs is the callback for calltree.NewMembership, which asks
// for one function after another, and for each of all aspects.
// It inspects each function once.
func (m *matcher) belongs(aspect int, function string) bool {
	if !m.known || function != m.last {
		m.inspect(function)
		m.last, m.known = function, true
	}
	return m.marks[aspect] == included
}

// inspect sets the marks for a function in each form of its name.
func (m *matcher) inspect(function string) {
	clear(m.marks)
	name := plain(function)
	m.markWith(name)
	if short := withoutLine(name); short != name {
		m.markWith(short)
	}
}

// markWith adds the marks of all patterns that match a name.
// Among the heads that begin the name, each one begins the next
// longer one. The longest begins the last head that does not
// sort after the name.
func (m *matcher) markWith(name string) {
	i, found := slices.BinarySearch(m.heads, name)
	if !found {
		i--
	}
	for ; i >= 0; i = int(m.parent[i]) {
		if !strings.HasPrefix(name, m.heads[i]) {
			continue
		}
		for _, e := range m.entries[i] {
			if m.marks[e.aspect]&e.kind == 0 && e.pattern.matches(name) {
				m.marks[e.aspect] |= e.kind
			}
		}
	}
}
