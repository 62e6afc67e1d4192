package sampledata

func (r *textReader) probe(l *textLine) error {
	r.probed = &Probe{}
	return r.readProbe(l, probeFields(r.probed))
}

// site reads a call site of the probe above it.
func (r *textReader) site(l *textLine) error {
	if r.probed == nil {
		return l.keyword.errorf("a call site without a probe above it")
	}
	r.probed.Sites = append(r.probed.Sites, CallSite{})
	return r.readProbe(l, siteFields(&r.probed.Sites[len(r.probed.Sites)-1]))
}

// argument reads an argument of the probe above it.
func (r *textReader) argument(l *textLine) error {
	if r.probed == nil {
		return l.keyword.errorf("an argument without a probe above it")
	}
	r.probed.Arguments = append(r.probed.Arguments, Argument{})
	return r.readProbe(l, argumentFields(&r.probed.Arguments[len(r.probed.Arguments)-1]))
}

// readProbe reads fields of the last probe, and takes it as it is now.
func (r *textReader) readProbe(l *textLine, fields []field) error {
	if err := l.read(fields); err != nil {
		return err
	}
	return r.b.newProbe(*r.probed)
}
