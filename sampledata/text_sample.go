package sampledata

func (r *textReader) beginSample(l *textLine) error {
	r.sample, r.sampleLine = &Sample{}, r.number
	l.read(sampleFields(r.sample, &r.b.tables.sizes))
	return nil
}

func (r *textReader) change(l *textLine) error {
	if r.sample == nil {
		return l.keyword.errorf("a goroutine's state without a sample above it")
	}
	c := Change{Again: true}
	l.keep(r.goroutineCode(&c.Goroutine).set(l.keyword))
	if len(l.rest) > 0 && !l.rest[0].hasKey && l.rest[0].word == "gone" {
		c.Gone, l.rest = true, l.rest[1:]
		r.changes = append(r.changes, c)
		return l.end()
	}
	z, release := &r.b.tables.sizes, NoStack
	c.State.Stack = NoStack
	l.read(stateFields(&c.State, &release, z))
	c.State.Release = ReleaseAt(release)
	if err := z.state(c.State); err != nil {
		return l.keyword.errorf("%v", err)
	}
	r.changes = append(r.changes, c)
	return r.budget.Fits(int64(len(r.changes)) * changeMemory)
}

// value reads what a monitor has in the sample above.
func (r *textReader) value(l *textLine) error {
	if r.sample == nil {
		return l.keyword.errorf("a monitor's value without a sample above it")
	}
	var id MonitorID
	t := &r.b.tables
	of := reference[MonitorID]{&id, "m", len(t.monitors.list), -1}
	if err := of.set(l.keyword); err != nil {
		return err
	}
	m := &t.monitors.list[id]
	v := monitorValue{of: m}
	var none bool
	l.read([]field{key("value", &v), flag("unmeasured", &none)})
	switch {
	case l.err != nil:
		return l.err
	case none == v.Measured():
		return l.keyword.errorf("want either value= or unmeasured")
	case t.monitors.isSet[id]:
		return l.keyword.errorf("a second value of %s in one sample", m.Name)
	}
	if err := m.checkValue(v.Value); err != nil {
		return l.keyword.errorf("%v", err)
	}
	t.measure(id, v.Value)
	return nil
}

// A monitorValue is a value of a monitor.
type monitorValue struct {
	Value
	of *Monitor
}

func (v *monitorValue) word() (string, bool) { return v.String(), !v.Measured() }

func (v *monitorValue) set(t token) (err error) {
	if v.Value, err = v.of.parse(t.word); err != nil {
		return t.errorf("%q is not a value of %s: %v", t.word, v.of.Name, err)
	}
	return nil
}

func (r *textReader) endSample() error {
	if r.sample == nil {
		return nil
	}
	err := r.b.Sample(*r.sample, r.changes)
	r.sample, r.changes = nil, r.changes[:0]
	if err != nil {
		return &textError{line: r.sampleLine, column: 1, msg: err.Error()}
	}
	return r.b.charge()
}

func (r *textReader) warning(l *textLine) error {
	var w Warning
	l.read(warningFields(&w))
	if w.Kind == "" || w.Count < 1 {
		return l.keyword.errorf("want a kind, and a count from 1 up")
	}
	r.b.Warn(w.Kind, w.Message, w.Count)
	return nil
}
