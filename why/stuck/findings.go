package stuck

import (
	"encoding/binary"
	"slices"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
)

// A cause is the roots that have the same fault at the same places.
type cause struct {
	fault Fault
	sure  bool
	// those at fault, and those behind them: groups, and the goroutines of each
	groups [2][]int
	of     [2][][]int
	taken  map[int]string
}

// findings returns one finding for each cause.
func (f *finder) findings() (found []Finding) {
	var causes []*cause
	byKey := map[string]*cause{}
	for _, r := range f.merged(rootsOf(f.ahead)) {
		fault, sure := f.fault(r)
		key := f.keyOf(fault, r)
		c := byKey[key]
		if c == nil {
			c = &cause{fault: fault, sure: true, taken: map[int]string{}}
			byKey[key], causes = c, append(causes, c)
		}
		c.sure = c.sure && sure
		f.add(c, r)
	}
	for _, c := range causes {
		found = append(found, f.finding(c))
	}
	return found
}

// keyOf returns a text that roots with the same fault at the
// same places share.
func (f *finder) keyOf(fault Fault, r root) string {
	groups := lists.Each(r.members, func(i int) int { return f.group[i] })
	slices.Sort(groups)
	key := []byte(fault)
	for _, g := range slices.Compact(groups) {
		key = binary.AppendUvarint(append(key, 0), uint64(g))
	}
	return string(key)
}

// merged puts roots together that wait for one thing, which nobody ends.
func (f *finder) merged(roots []root) (out []root) {
	at := map[uint64]int{}
	for _, r := range roots {
		thing := f.at[r.members[0]]
		if len(f.ahead[r.members[0]]) > 0 || thing == 0 {
			out = append(out, r)
			continue
		}
		k, known := at[thing]
		if !known {
			at[thing] = len(out)
			out = append(out, r)
			continue
		}
		out[k].members = append(out[k].members, r.members...)
		out[k].behind = append(out[k].behind, r.behind...)
	}
	return out
}

// add adds a root to a cause.
func (f *finder) add(c *cause, r root) {
	for n, list := range [][]int{r.members, r.behind} {
		for _, i := range list {
			k := slices.Index(c.groups[n], f.group[i])
			if k < 0 {
				k = len(c.groups[n])
				c.groups[n], c.of[n] = append(c.groups[n], f.group[i]), append(c.of[n], nil)
			}
			c.of[n][k] = append(c.of[n][k], i)
			for _, e := range f.ahead[i] {
				if g := f.group[e.to]; e.taken != "" && c.taken[g] == "" {
					c.taken[g] = e.taken
				}
			}
		}
	}
}

// finding returns what is known of a cause.
func (f *finder) finding(c *cause) Finding {
	out := Finding{Kept: -1, Fault: c.fault, Verdict: sampledata.Stuck, Sure: c.sure}
	for k, members := range c.of[0] {
		g := f.part(&out, c.groups[0][k], members)
		out.Groups = append(out.Groups, g)
		out.Lock = append(out.Lock, f.nameOf(members))
		out.Taken = append(out.Taken, c.taken[c.groups[0][k]])
		out.Verdict = min(out.Verdict, g.Verdict)
	}
	for k, behind := range c.of[1] {
		out.Behind = append(out.Behind, f.part(&out, c.groups[1][k], behind))
	}
	return out
}

// part returns those goroutines of a group that belong to a
// finding, and adds them to its sums.
func (f *finder) part(out *Finding, group int, of []int) *sampledata.MarkedGroup {
	g := f.groups[group]
	listed := len(g.IDs)
	g.IDs = nil
	for _, i := range of {
		if f.ids[i] != 0 {
			g.IDs = append(g.IDs, f.ids[i])
		}
	}
	g.Count -= listed - len(g.IDs)
	if f.rest[group] {
		g.Count = len(g.IDs)
	}
	f.rest[group] = true
	out.Count += g.Count
	out.Waited = max(out.Waited, g.Waited)
	if g.Kept >= 0 && !f.kept[group] {
		f.kept[group] = true
		out.Kept = max(out.Kept, 0) + g.Kept
	}
	slices.Sort(g.IDs)
	return &g
}

// fault returns why the waits of a root never end, and whether
// it is sure who holds the locks.
func (f *finder) fault(r root) (fault Fault, sure bool) {
	sure = true
	for _, i := range r.members {
		for _, e := range f.ahead[i] {
			sure = sure && e.sure
		}
	}
	i := r.members[0]
	first := &f.groups[f.group[i]]
	switch {
	case first.Wait == sampledata.ForNothing:
		return NoCases, true
	case first.Wait == sampledata.ForNil:
		return NilChannel, true
	case len(r.members) > 1 && f.isRecursive(r):
		return Recursive, sure
	case len(r.members) > 1 && len(f.ahead[i]) > 0:
		return Circle, sure
	case len(f.ahead[i]) > 0:
		return Itself, sure
	case first.Verdict < sampledata.Stuck || !f.whole:
		return Unknown, true // who could end the wait is not known
	case f.isLock(i):
		return HolderGone, true
	}
	return NobodyLeft, true
}

// isRecursive reports whether a circle is one lock's. Writers
// wait for readers there, and readers for a writer. So a reader
// has read the lock already.
func (f *finder) isRecursive(r root) bool {
	reads := false
	for _, i := range r.members {
		if !f.isLock(i) || f.at[i] == 0 || f.at[i] != f.at[r.members[0]] {
			return false
		}
		reads = reads || f.groups[f.group[i]].Wait == sampledata.ForReadLock
	}
	return reads
}
