package hotspots

import (
	"cmp"
	"container/heap"
)

// A ranking has the starts of a residual in the order of their
// scores, and the sum of their bases. Both are kept up to date
// start by start. Profiles can have a hundred thousand functions
// of one cost, and each covers little.
type ranking struct {
	queue   ranks
	scores  []float64   // by start
	left    [][]int64   // by side and plane: the sum of the bases that count
	counted [][][]int64 // by side, plane and start: the part of a start in left
	dirty   []int32     // starts whose costs have changed
	isDirty []bool      // by start
}

// newRanking returns the ranking of a residual, in which all
// starts have changed.
func newRanking(r *residual) *ranking {
	q := &ranking{scores: make([]float64, len(r.starts.All)), isDirty: make([]bool, len(r.starts.All))}
	for _, s := range r.sides {
		q.left = append(q.left, make([]int64, len(s.planes)))
		q.counted = append(q.counted, digitsOf(len(s.planes), len(r.starts.All)))
	}
	for id := range int32(len(r.starts.All)) {
		q.change(id)
	}
	return q
}

// change notes that the costs of a start change.
func (q *ranking) change(id int32) {
	if !q.isDirty[id] {
		q.isDirty[id] = true
		q.dirty = append(q.dirty, id)
	}
}

// update ranks the starts anew whose costs have changed.
func (q *ranking) update(r *residual) {
	for _, id := range q.dirty {
		q.isDirty[id] = false
		counts := len(r.sides) == 1 || r.rises(id)
		for i, s := range r.sides {
			for k, was := range q.counted[i] {
				now := int64(0)
				if counts {
					now = s.base[k][id]
				}
				q.left[i][k] += now - was[id]
				was[id] = now
			}
		}
		if score := r.score(id); score != q.scores[id] {
			q.scores[id] = score
			if score > 0 {
				heap.Push(&q.queue, rank{id, score})
			}
		}
	}
	q.dirty = q.dirty[:0]
}

// best returns the start with the highest score, the first one
// of several, or
// -1 if nothing has a cost.
func (q *ranking) best() int32 {
	for len(q.queue) > 0 {
		if top := q.queue[0]; top.score == q.scores[top.start] {
			return top.start
		}
		heap.Pop(&q.queue) // its score has changed since
	}
	return -1
}

// A rank is a start with the score that it had when it was put
// into the queue.
type rank struct {
	start int32
	score float64
}

// ranks are a heap.
type ranks []rank

func (h ranks) Len() int      { return len(h) }
func (h ranks) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h ranks) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[j].score, h[i].score), cmp.Compare(h[i].start, h[j].start)) < 0
}

func (h *ranks) Push(x any) { *h = append(*h, x.(rank)) }

func (h *ranks) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
