package sampledata

import (
	"iter"
	"slices"

	"github.com/cpprof/cpprof/internal/intern"
)

// Goroutines are the goroutines of a recording, by GoroutineID.
// A server can have hundreds of thousands of goroutines, created
// at few places: each takes 32 bytes.
type Goroutines struct {
	list  chunked[storedGoroutine]
	sites intern.List[Site, int32]
}

// A storedGoroutine is a Goroutine with an index into
// Goroutines.sites for its site.
type storedGoroutine struct {
	id, parent   int64
	start        FunctionID
	site         int32
	system, isGC bool
}

// Len returns the number of goroutines.
func (l *Goroutines) Len() int { return l.list.len() }

// At returns a goroutine.
func (l *Goroutines) At(id GoroutineID) Goroutine {
	g := l.list.at(int(id))
	return Goroutine{ID: g.id, Start: g.start, Site: l.sites.All[g.site], Parent: g.parent,
		System: g.system, GC: g.isGC}
}

// IsGC reports whether a goroutine is a garbage collector's worker.
func (l *Goroutines) IsGC(id GoroutineID) bool { return l.list.at(int(id)).isGC }

// All returns the goroutines with their codes, in order.
func (l *Goroutines) All() iter.Seq2[GoroutineID, Goroutine] {
	return func(yield func(GoroutineID, Goroutine) bool) {
		for id := range GoroutineID(l.Len()) {
			if !yield(id, l.At(id)) {
				return
			}
		}
	}
}

func (l *Goroutines) add(g Goroutine) { l.list.add(l.stored(g)) }

// replace replaces a goroutine.
func (l *Goroutines) replace(id GoroutineID, g Goroutine) { *l.list.at(int(id)) = l.stored(g) }

func (l *Goroutines) stored(g Goroutine) storedGoroutine {
	return storedGoroutine{g.ID, g.Parent, g.Start, l.sites.Number(g.Site), g.System, g.GC}
}

// clip returns the goroutines so far. Those that are added to l
// later do not change the result.
func (l *Goroutines) clip() Goroutines {
	return Goroutines{list: l.list.clip(), sites: intern.List[Site, int32]{All: slices.Clip(l.sites.All)}}
}

func (l *Goroutines) memory() int64 {
	return int64(l.Len())*goroutineMemory + int64(len(l.sites.All))*siteMemory
}
