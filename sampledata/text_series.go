package sampledata

// The lines of series:
//
//	monitor m0 process.cpu counter layer=kernel unit=ns
//	sample 10ms
//	    m0 value=35
//	sample 20ms
//	    m0 unmeasured

// Monitor writes a monitor's line.
func (s *textSink) Monitor(m Monitor) MonitorID {
	l := newLine("monitor", code("m", len(s.monitors)), quote(m.Name), m.Kind.String(),
		"layer="+m.Layer.String())
	l.flag("real", m.Real)
	l.text("unit", m.Unit)
	l.text("source", m.Source)
	l.text("resolution", m.Resolution)
	l.text("unmeasured", m.Unmeasured)
	s.line(l)
	s.monitors = append(s.monitors, Value{})
	return MonitorID(len(s.monitors) - 1)
}

// Measure keeps a value, which is written below the next sample.
func (s *textSink) Measure(m MonitorID, v Value) {
	s.monitors[m] = v
	s.measured = append(s.measured, m)
}

// values writes the values that were measured since the previous sample.
func (s *textSink) values() {
	for _, m := range s.measured {
		l := newLine("\t" + code("m", m))
		if v := s.monitors[m]; v.Measured() {
			l = append(l, "value="+quote(v.String()))
		} else {
			l = append(l, "unmeasured")
		}
		s.line(l)
	}
	s.measured = s.measured[:0]
}

func (r *textReader) monitor(l *textLine) error {
	var m Monitor
	return firstError(
		func() error { return define(l, "m", len(r.b.tables.monitors.list)) },
		func() error { return positional(l, "a name", toText(&m.Name)) },
		func() error { return positional(l, "a kind", toName(&m.Kind, "kind", kindNames)) },
		func() error {
			return l.attributes(settings{
				"layer": toName(&m.Layer, "layer", layerNames), "unit": toText(&m.Unit),
				"source":     toText(&m.Source),
				"resolution": toText(&m.Resolution), "unmeasured": toText(&m.Unmeasured),
			}, map[string]*bool{"real": &m.Real})
		},
		func() error { return r.b.newMonitor(m) },
	)
}

// value reads a line below a sample with a monitor's value.
func (r *textReader) value(l *textLine) error {
	if r.sample == nil {
		return l.keyword.errorf("a monitor's value without a sample above it")
	}
	var id MonitorID
	t := &r.b.tables
	if err := toCode(&id, "m", len(t.monitors.list), false)(l.keyword); err != nil {
		return err
	}
	var v Value
	var none bool
	m := &t.monitors.list[id]
	err := l.attributes(settings{"value": func(t token) (err error) {
		if v, err = m.parse(t.word); err != nil {
			return t.errorf("%q is not a value of %s: %v", t.word, m.Name, err)
		}
		return nil
	}}, map[string]*bool{"unmeasured": &none})
	switch {
	case err != nil:
		return err
	case none == v.Measured():
		return l.keyword.errorf("want either value= or unmeasured")
	case t.monitors.isSet[id]:
		return l.keyword.errorf("a second value of %s in one sample", m.Name)
	}
	if err := m.checkValue(v); err != nil {
		return l.keyword.errorf("%v", err)
	}
	t.measure(id, v)
	return nil
}
