package sampledata

func (r *textReader) marking(l *textLine) error {
	r.marked = &Marking{}
	if err := l.read(markingFields(r.marked)); err != nil {
		return err
	}
	return r.b.newMarking(r.marked)
}

// markedEdge reads an edge of the marking above it.
func (r *textReader) markedEdge(l *textLine) error {
	if r.marked == nil {
		return l.keyword.errorf("an edge without a marking above it")
	}
	if len(r.marked.Edges) == MaxMarkedEdges {
		return l.keyword.errorf("a marking has at most %d edges", MaxMarkedEdges)
	}
	r.marked.Edges = append(r.marked.Edges, MarkedEdge{})
	return l.read(edgeFields(&r.marked.Edges[len(r.marked.Edges)-1]))
}

// markedGroup reads a group of the marking above it. All groups are checked at
// the end: one may reach a later one.
func (r *textReader) markedGroup(l *textLine) error {
	if r.marked == nil {
		return l.keyword.errorf("a group without a marking above it")
	}
	if len(r.marked.Groups) == MaxMarkedGroups {
		return l.keyword.errorf("a marking has at most %d groups", MaxMarkedGroups)
	}
	r.marked.Groups = append(r.marked.Groups, MarkedGroup{})
	return l.read(groupFields(&r.marked.Groups[len(r.marked.Groups)-1]))
}

// markedCall reads a call of the group above it, the creator of its
// goroutines, or a place at which a function can return with the lock.
func (r *textReader) markedCall(l *textLine) error {
	if r.marked == nil || len(r.marked.Groups) == 0 {
		return l.keyword.errorf("a call without a group of a marking above it")
	}
	g := &r.marked.Groups[len(r.marked.Groups)-1]
	to := &g.Calls
	switch l.keyword.word {
	case "creator":
		g.Creator = Call{}
		return l.read(callFields(&g.Creator))
	case "left":
		to = &g.Left
	}
	*to = append(*to, Call{})
	return l.read(callFields(&(*to)[len(*to)-1]))
}

// checkMarking checks the marking, whose lines have all been read.
func (r *textReader) checkMarking() error {
	if r.marked == nil {
		return nil
	}
	return r.marked.check()
}
