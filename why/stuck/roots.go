package stuck

import (
	"slices"

	"github.com/cpprof/cpprof/sampledata"
)

// A root is groups that wait for one another, or a single one, and for nobody else.
type root struct {
	members []int
	behind  []int
}

// roots returns the roots of all waits. Each group belongs to one of them.
func (f *finder) roots() (roots []root) {
	f.root = make([]int, len(f.groups))
	for i := range f.root {
		f.root[i] = -1
	}
	for _, part := range components(f.ahead) {
		leaves := slices.ContainsFunc(part, func(i int) bool {
			return slices.ContainsFunc(f.ahead[i], func(e edge) bool { return !slices.Contains(part, e.to) })
		})
		if leaves {
			continue
		}
		slices.Sort(part)
		roots = append(roots, root{members: part})
		for _, i := range part {
			f.root[i] = len(roots) - 1
		}
	}
	for k := range roots {
		todo := slices.Clone(roots[k].members)
		for len(todo) > 0 {
			at := todo[0]
			todo = todo[1:]
			for _, i := range f.behind[at] {
				if f.root[i] < 0 {
					f.root[i] = k
					roots[k].behind = append(roots[k].behind, i)
					todo = append(todo, i)
				}
			}
		}
	}
	return roots
}

// components returns the strongly connected components of a graph (Tarjan). It uses no recursion:
// chains may be long.
func components(ahead [][]edge) (parts [][]int) {
	number, low, on := make([]int, len(ahead)), make([]int, len(ahead)), make([]bool, len(ahead))
	type frame struct{ at, next int }
	var stack []int
	count := 0
	for start := range ahead {
		if number[start] > 0 {
			continue
		}
		frames := []frame{{at: start}}
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			if f.next == 0 {
				count++
				number[f.at], low[f.at], on[f.at] = count, count, true
				stack = append(stack, f.at)
			}
			if f.next < len(ahead[f.at]) {
				to := ahead[f.at][f.next].to
				f.next++
				if number[to] == 0 {
					frames = append(frames, frame{at: to})
				} else if on[to] {
					low[f.at] = min(low[f.at], number[to])
				}
				continue
			}
			at := f.at
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				caller := frames[len(frames)-1].at
				low[caller] = min(low[caller], low[at])
			}
			if low[at] != number[at] {
				continue
			}
			k := len(stack) - 1
			for stack[k] != at {
				k--
			}
			for _, i := range stack[k:] {
				on[i] = false
			}
			parts = append(parts, slices.Clone(stack[k:]))
			stack = stack[:k]
		}
	}
	return parts
}

// finding returns what is known of a root.
func (f *finder) finding(r root) Finding {
	out := Finding{Kept: -1, Fault: f.fault(r), Verdict: sampledata.Stuck, Sure: true}
	for _, i := range r.members {
		g := &f.groups[i]
		out.Groups = append(out.Groups, g)
		out.Lock = append(out.Lock, f.nameOf(g))
		out.Verdict = min(out.Verdict, g.Verdict)
		for _, e := range f.ahead[i] {
			out.Sure = out.Sure && e.sure
		}
		f.addTo(&out, g)
	}
	for _, i := range r.behind {
		out.Behind = append(out.Behind, &f.groups[i])
		f.addTo(&out, &f.groups[i])
	}
	return out
}

// addTo adds the goroutines of a group to the sums of a finding.
func (f *finder) addTo(out *Finding, g *sampledata.MarkedGroup) {
	out.Count += g.Count
	if g.Kept >= 0 {
		out.Kept = max(out.Kept, 0) + g.Kept
	}
	out.Waited = max(out.Waited, g.Waited)
}

// nameOf returns the name of the lock that a group waits for; "" if there is none, or several.
func (f *finder) nameOf(g *sampledata.MarkedGroup) string {
	if !isLock(g) {
		return ""
	}
	name := ""
	for i, id := range g.IDs {
		n := f.names[f.known[id].lock]
		if i > 0 && n != name {
			return ""
		}
		name = n
	}
	return name
}

// fault returns why the waits of a root never end.
func (f *finder) fault(r root) Fault {
	first := &f.groups[r.members[0]]
	switch {
	case first.Wait == sampledata.ForNothing:
		return NoCases
	case first.Wait == sampledata.ForNil:
		return NilChannel
	case len(r.members) > 1 && f.oneLock(r):
		return Recursive
	case len(r.members) > 1:
		return Circle
	case f.holdsItself(r.members[0]):
		return Itself
	case len(f.ahead[r.members[0]]) > 0:
		return Circle // goroutines at the same place wait for one another
	case first.Verdict < sampledata.Stuck || first.Kept < 0:
		return Unknown // who reaches what is not known
	case isLock(first):
		return HolderGone
	}
	return NobodyLeft
}

// oneLock reports whether a circle is readers and writers of one and the same lock.
func (f *finder) oneLock(r root) bool {
	var lock uint64
	reads := false
	for _, i := range r.members {
		if !isLock(&f.groups[i]) {
			return false
		}
		reads = reads || f.groups[i].Wait == sampledata.ForReadLock
		for _, id := range f.groups[i].IDs {
			at := f.known[id].lock
			if lock != 0 && at != lock || at == 0 {
				return false
			}
			lock = at
		}
	}
	return reads
}
