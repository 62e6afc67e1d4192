package aspects

import "slices"

// A matcher finds the aspects of one function after another. It
// tries only patterns whose literal beginning also begins the
// function's name.
type matcher struct {
	entries map[string][]entry // by the pattern's head
	lengths []int              // of the heads, ascending
	marks   []mark             // by aspect, of the last function
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
	m := &matcher{entries: make(map[string][]entry), marks: make([]mark, len(aspects))}
	for i, a := range aspects {
		for j := range a.patterns {
			p := &a.patterns[j]
			kind := included
			if p.exclude {
				kind = excluded
			}
			m.entries[p.head] = append(m.entries[p.head], entry{int32(i), kind, p})
		}
	}
	for head := range m.entries {
		m.lengths = append(m.lengths, len(head))
	}
	slices.Sort(m.lengths)
	m.lengths = slices.Compact(m.lengths)
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

// markWith adds the marks of all patterns that match a name. It
// looks up only the beginnings of the name that are as long as
// some head.
func (m *matcher) markWith(name string) {
	for _, n := range m.lengths {
		if n > len(name) {
			break
		}
		for _, e := range m.entries[name[:n]] {
			if m.marks[e.aspect]&e.kind == 0 && e.pattern.matches(name) {
				m.marks[e.aspect] |= e.kind
			}
		}
	}
}
