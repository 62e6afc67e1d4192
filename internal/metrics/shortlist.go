package metrics

import "slices"

// shortlist returns some of the best trials, in their order.
// Most samples have few or no hits of a call path. A path's
// coefficient is then nearer to 0 than a monitor's, even if both
// go with the metric equally well. So there are three groups,
// with a third of the places each: monitors and metrics, states,
// and call paths that survive. The paths of a chain of calls
// often have nearly the same hits. One of them stands for the
// others unless there is room.
func (s *pathSeries) shortlist(best []trial, most int) []trial {
	if len(best) <= most {
		return best
	}
	kinds := map[string]int{AMonitor: 0, AMetric: 0, AState: 1, APath: 2}
	var used [3]int
	var paths []int32 // that are chosen
	chosen, places := make([]bool, len(best)), most
	choose := func(may func(tr *trial) bool) {
		for i := range best {
			if places == 0 {
				return
			}
			if tr := &best[i]; !chosen[i] && may(tr) {
				chosen[i] = true
				used[kinds[tr.what]]++
				places--
				if tr.what == APath {
					paths = append(paths, tr.node)
				}
			}
		}
	}
	isNew := func(tr *trial) bool { return tr.what != APath || !s.alike(tr.node, paths) }
	choose(func(tr *trial) bool {
		return tr.survives && used[kinds[tr.what]] < most/len(used) && isNew(tr)
	})
	choose(isNew)
	choose(func(*trial) bool { return true })
	list := make([]trial, 0, most)
	for i := range best {
		if chosen[i] {
			list = append(list, best[i])
		}
	}
	return list
}

// alike reports whether a node calls, or is called by, one of
// some others with nearly the same hits.
func (s *pathSeries) alike(n int32, others []int32) bool {
	const nearly = 0.9
	ends := s.p.Tree.Ends()
	return slices.ContainsFunc(others, func(k int32) bool {
		few, many := min(s.cum[n], s.cum[k]), max(s.cum[n], s.cum[k])
		return float64(few) >= nearly*float64(many) &&
			(n <= k && k < ends[n] || k <= n && n < ends[k])
	})
}
