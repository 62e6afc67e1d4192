package tui

import (
	"math/big"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/refine"
)

// entries are the list of a profile window: the entries that are shown, each below the one that it refines. If the selected
// entry is not shown, the nearest one above it that is shown stands for it.
type entries struct {
	list
	rows []row

	names int // the column where names begin
	shift int // columns that names are moved to the left
	pan   int // columns that the person has moved the names to the left
}

// A row is an entry that is shown.
type row struct {
	entry *refine.Entry
	depth int
	cost  *big.Rat
}

func (l *entries) lines() int           { return len(l.rows) }
func (l *entries) key(line int) string  { return l.rows[line].entry.Key() }
func (l *entries) name(line int) string { return l.rows[line].entry.Label() }

func (l *entries) lineOf(key string) int {
	p, err := callpath.Parse(key)
	if err != nil {
		return 0
	}
	for n := len(p.Elements); n > 0; n-- {
		above := p.Prefix(n).String()
		for i, r := range l.rows {
			if r.depth == n-1 && r.entry.Key() == above {
				return i
			}
		}
	}
	return 0
}

// entry is the one that is selected, or nil if there is no view.
func (l *entries) entry() *refine.Entry {
	if line := l.current(); line >= 0 {
		return l.rows[line].entry
	}
	return nil
}

// revealBelow brings the entries below one into sight, as many as there is room for.
func (l *entries) revealBelow(p callpath.Path) {
	i := l.lineOf(p.String())
	if i >= len(l.rows) || l.key(i) != p.String() {
		return
	}
	n := 0
	for n+i+1 < len(l.rows) && l.rows[i+1+n].depth > l.rows[i].depth {
		n++
	}
	l.reveal, l.follow = n, true
}

// marker is the column of the markers of a depth.
func (l *entries) marker(depth int) int { return l.names + 2*depth - l.shift }

// place sets the column at which names begin, and moves names to the left until the selected one can be read, however deep
// it is.
func (l *entries) place(names, room int) {
	l.names, l.shift = names, 0
	if e := l.entry(); e != nil {
		need := 2*l.rows[l.at].depth + 2 + min(textWidth(e.Label()), max(room/2, 12))
		l.shift = max(0, need-room+l.pan)
	}
}

// panColumns is how far names are moved at once.
const panColumns = 8

// panBindings are the keys that move names.
func (l *entries) panBindings() []binding {
	return []binding{
		{keys: []string{"<"}, description: "move the names to the right", do: func(string) { l.pan -= panColumns }},
		{keys: []string{">"}, description: "move the names to the left", do: func(string) { l.pan += panColumns }},
	}
}
