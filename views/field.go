package views

import (
	"cmp"
	"slices"
)

// A field counts the goroutines that compete for processors in a
// sample, by priority and class.
type field struct {
	levels []*level // highest priority first; some may be empty
}

// A level has the competitors at one priority.
type level struct {
	priority int64
	n        int64
	rivals   []rival // by ascending class; some may be empty
	empty    int     // number of empty rivals
}

type rival struct {
	class classID
	n     int64
}

func (f *field) find(priority int64) (int, bool) {
	return slices.BinarySearchFunc(f.levels, priority,
		func(l *level, p int64) int { return cmp.Compare(p, l.priority) })
}

func (f *field) enter(class classID, priority int64) {
	i, ok := f.find(priority)
	if !ok {
		f.levels = slices.Insert(f.levels, i, &level{priority: priority})
	}
	l := f.levels[i]
	l.n++
	j, ok := l.find(class)
	switch {
	case !ok:
		l.rivals = slices.Insert(l.rivals, j, rival{class: class})
	case l.rivals[j].n == 0:
		l.empty--
	}
	l.rivals[j].n++
}

// leave reverts enter. It keeps empty rivals, because most
// rivals come back. It removes empty rivals if they are the
// majority.
func (f *field) leave(class classID, priority int64) {
	i, _ := f.find(priority)
	l := f.levels[i]
	l.n--
	j, _ := l.find(class)
	if l.rivals[j].n--; l.rivals[j].n > 0 {
		return
	}
	if l.empty++; l.empty > 16+len(l.rivals)/2 {
		l.rivals = slices.DeleteFunc(l.rivals, func(r rival) bool { return r.n == 0 })
		l.empty = 0
	}
}

func (l *level) find(class classID) (int, bool) {
	return slices.BinarySearchFunc(l.rivals, class,
		func(r rival, c classID) int { return cmp.Compare(r.class, c) })
}

// groups counts equal keys.
type groups[K comparable] struct {
	at   map[K]int
	list []group[K]
}

type group[K comparable] struct {
	key  K
	n    int64
	hits []observed // by term: hits, and their time, that a builder has not yet added to its tree
}

func (g *groups[K]) add(k K) {
	if g.at == nil {
		g.at = make(map[K]int)
	}
	i, ok := g.at[k]
	if !ok {
		i = len(g.list)
		g.at[k] = i
		g.list = append(g.list, group[K]{key: k})
	}
	g.list[i].n++
}

// remove reverts one add. If it was the last one, it removes the
// group and returns it.
func (g *groups[K]) remove(k K) (gone group[K], is bool) {
	i := g.at[k]
	if g.list[i].n--; g.list[i].n > 0 {
		return gone, false
	}
	gone = g.list[i]
	delete(g.at, k)
	last := len(g.list) - 1
	if i != last {
		g.list[i] = g.list[last]
		g.at[g.list[i].key] = i
	}
	g.list[last] = group[K]{}
	g.list = g.list[:last]
	return gone, true
}
