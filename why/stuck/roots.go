package stuck

import "slices"

// A root is goroutines that wait for one another, or a single
// one, and for nobody else.
type root struct {
	members []int
	behind  []int
}

// rootsOf returns the roots of all waits. Each goroutine belongs
// to one of them.
func rootsOf(ahead [][]edge) (roots []root) {
	behind, of := make([][]int, len(ahead)), make([]int, len(ahead))
	for i, edges := range ahead {
		of[i] = -1
		for _, e := range edges {
			behind[e.to] = append(behind[e.to], i)
		}
	}
	part := make([]int, len(ahead))
	parts := components(ahead)
	for n, members := range parts {
		for _, i := range members {
			part[i] = n
		}
	}
	for n, members := range parts {
		leaves := slices.ContainsFunc(members, func(i int) bool {
			return slices.ContainsFunc(ahead[i], func(e edge) bool { return part[e.to] != n })
		})
		if leaves {
			continue
		}
		slices.Sort(members)
		for _, i := range members {
			of[i] = len(roots)
		}
		roots = append(roots, root{members: members})
	}
	for k := range roots {
		todo := slices.Clone(roots[k].members)
		for len(todo) > 0 {
			at := todo[0]
			todo = todo[1:]
			for _, i := range behind[at] {
				if of[i] < 0 {
					of[i] = k
					roots[k].behind = append(roots[k].behind, i)
					todo = append(todo, i)
				}
			}
		}
	}
	return roots
}

// components returns the strongly connected components of a graph (Tarjan).
// It uses no recursion: chains may be long.
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
