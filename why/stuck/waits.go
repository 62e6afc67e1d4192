package stuck

import (
	"cmp"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
)

// An edge leads from a goroutine to one that it waits for.
type edge struct {
	to    int
	sure  bool
	taken string // the function in which it has taken the lock
}

// A finder makes findings of a marking. Goroutines have indices,
// each group's in a row.
type finder struct {
	groups []sampledata.MarkedGroup
	ids    []int64
	group  []int    // of each goroutine
	at     []uint64 // what each waits for: an address; 0 if that is not known
	ahead  [][]edge
	names  map[uint64]string // of locks
	whole  bool              // the edges are all that there are
	kept   map[int]bool      // groups whose memory is counted
	rest   map[int]bool      // groups whose goroutines that are not listed are counted
}

func newFinder(r *sampledata.Recording) *finder {
	f := &finder{
		groups: slices.DeleteFunc(slices.Clone(r.Marking.Groups),
			func(g sampledata.MarkedGroup) bool { return g.Verdict == sampledata.Live }), names: map[uint64]string{}, whole: r.Marking.Whole,
		kept: map[int]bool{}, rest: map[int]bool{},
	}
	index := map[int64]int{}
	for k, g := range f.groups {
		if len(g.IDs) == 0 { // one stands for all
			f.ids, f.group = append(f.ids, 0), append(f.group, k)
		}
		for _, id := range g.IDs {
			index[id] = len(f.ids)
			f.ids, f.group = append(f.ids, id), append(f.group, k)
		}
	}
	f.at, f.ahead = make([]uint64, len(f.ids)), make([][]edge, len(f.ids))
	for _, e := range r.Marking.Edges {
		from, known := index[e.From]
		if !known {
			continue
		}
		f.at[from] = e.At
		if to, known := index[e.To]; known {
			f.ahead[from] = append(f.ahead[from], edge{to, e.Sure, e.Taken})
		}
	}
	for _, n := range r.LockNames {
		f.names[n.Address] = n.Name
	}
	f.addRecorded(r, index)
	return f
}

// addRecorded adds the holders of locks that the recording
// names, where the marking has none. The last ones count.
func (f *finder) addRecorded(r *sampledata.Recording, index map[int64]int) {
	type wait struct {
		lock    uint64
		holders sampledata.HolderSetID
	}
	last := map[int]wait{}
	for _, run := range r.Runs.All() {
		i, ours := index[r.Goroutines.At(run.Goroutine).ID]
		if !ours || f.at[i] != 0 || run.Lock == 0 {
			continue
		}
		w := wait{lock: run.Lock}
		if run.Evidence.Blames() && run.Evidence != sampledata.Likely {
			w.holders = run.Holders
		}
		if w.holders != 0 || last[i].holders == 0 {
			last[i] = w
		}
	}
	for i, w := range last {
		f.at[i] = w.lock
		for _, h := range r.HolderSets[w.holders] {
			if to, stuck := index[r.Goroutines.At(h).ID]; stuck {
				f.ahead[i] = append(f.ahead[i], edge{to: to, sure: true})
			}
		}
	}
}

// nameOf returns the name of what goroutines wait for; "" if it
// has none, or several.
func (f *finder) nameOf(of []int) (name string) {
	for n, i := range of {
		is := cmp.Or(f.names[f.at[i]], f.groups[f.group[i]].Name)
		if n > 0 && is != name {
			return ""
		}
		name = is
	}
	return name
}

// isLock reports whether a goroutine waits for a lock.
func (f *finder) isLock(i int) bool {
	w := f.groups[f.group[i]].Wait
	return w == sampledata.ForLock || w == sampledata.ForReadLock
}
