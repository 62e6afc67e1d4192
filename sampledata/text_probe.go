package sampledata

func (r *textReader) probe(l *textLine) error {
	r.probed = &Probe{}
	return r.readProbe(l, probeFields(r.probed))
}

// probePart reads a call site or an argument of the probe above it.
func (r *textReader) probePart(l *textLine) error {
	if r.probed == nil {
		return l.keyword.errorf("%s without a probe above it", l.keyword.word)
	}
	if l.keyword.word == "site" {
		return r.readProbe(l, siteFields(added(&r.probed.Sites)))
	}
	return r.readProbe(l, argumentFields(added(&r.probed.Arguments)))
}

// added adds an element to a list, and returns it.
func added[T any](list *[]T) *T {
	*list = append(*list, *new(T))
	return &(*list)[len(*list)-1]
}

// readProbe reads fields of the last probe, and takes it as it is now.
func (r *textReader) readProbe(l *textLine, fields []field) error {
	l.read(fields)
	return r.b.newProbe(*r.probed)
}
