package monitors

import "slices"

// shortlist returns some of the best trials, in their order. Most samples have few or no hits of a call path: its coefficient is
// nearer to 0 than that of a monitor, which goes with the metric no better. So a third of the places is for each of monitors
// and metrics, states, and call paths, as far as these survive. The paths of a chain of calls often have nearly the same hits: of
// these, the others come only if there is room.
func (s *pathSeries) shortlist(best []trial, most int) []trial {
	if len(best) <= most {
		return best
	}
	alike := s.alike(best)
	kinds := map[string]int{AMonitor: 0, AMetric: 0, AState: 1, APath: 2}
	var used [3]int
	chosen, places := make([]bool, len(best)), most
	choose := func(may func(i int) bool) {
		for i := range best {
			if places > 0 && !chosen[i] && may(i) {
				chosen[i] = true
				used[kinds[best[i].what]]++
				places--
			}
		}
	}
	choose(func(i int) bool { return best[i].survives && !alike[i] && used[kinds[best[i].what]] < most/len(used) })
	choose(func(i int) bool { return !alike[i] })
	choose(func(int) bool { return true })
	list := make([]trial, 0, most)
	for i := range best {
		if chosen[i] {
			list = append(list, best[i])
		}
	}
	return list
}

// alike reports for each trial whether it is a call path that calls, or is called by, a better one with nearly the same hits.
func (s *pathSeries) alike(best []trial) []bool {
	const nearly = 0.9
	ends := s.p.Tree.Ends()
	contains := func(a, b int32) bool { return a <= b && b < ends[a] }
	alike := make([]bool, len(best))
	var kept []int32
	for i := range best {
		n := best[i].node
		if best[i].what != APath {
			continue
		}
		alike[i] = slices.ContainsFunc(kept, func(k int32) bool {
			few, many := min(s.cum[n], s.cum[k]), max(s.cum[n], s.cum[k])
			return (contains(n, k) || contains(k, n)) && float64(few) >= nearly*float64(many)
		})
		if !alike[i] {
			kept = append(kept, n)
		}
	}
	return alike
}
