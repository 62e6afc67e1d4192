package sampledata

func (r *textReader) marking(l *textLine) error {
	r.marked = &Marking{}
	l.read(markingFields(r.marked))
	return r.b.newMarking(r.marked)
}

// markingPart reads an edge or a group of the marking above it.
// All are checked at the end: a group may reach a later one.
func (r *textReader) markingPart(l *textLine) error {
	m := r.marked
	switch {
	case m == nil:
		return l.keyword.errorf("%s without a marking above it", l.keyword.word)
	case len(m.Edges) > MaxMarkedEdges, len(m.Groups) > MaxMarkedGroups:
		return l.keyword.errorf("a marking has at most %d edges and %d groups", MaxMarkedEdges,
			MaxMarkedGroups)
	case l.keyword.word == "edge":
		l.read(edgeFields(added(&m.Edges)))
	default:
		l.read(groupFields(added(&m.Groups)))
	}
	return nil
}

// markedCall reads a call of the group above it, the creator of
// its goroutines, or a place at which a function can return with
// the lock.
func (r *textReader) markedCall(l *textLine) error {
	if r.marked == nil || len(r.marked.Groups) == 0 {
		return l.keyword.errorf("a call without a group of a marking above it")
	}
	g := &r.marked.Groups[len(r.marked.Groups)-1]
	switch l.keyword.word {
	case "creator":
		g.Creator = Call{}
		l.read(callFields(&g.Creator))
	case "left":
		l.read(callFields(added(&g.Left)))
	default:
		l.read(callFields(added(&g.Calls)))
	}
	return nil
}
