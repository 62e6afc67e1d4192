package sampledata

import "errors"

// Tee returns a sink that passes everything to several sinks, in the given
// order. It returns and takes the codes of the first sink, and translates them
// for the others. If a sink refuses a sample, the sinks after it don't get the
// sample. The methods must not be called at the same time.
func Tee(first Sink, others ...Sink) Sink {
	t := &tee{first: first}
	for _, s := range others {
		t.others = append(t.others, &branch{sink: s})
	}
	return t
}

type tee struct {
	first  Sink
	others []*branch
}

// A branch is a sink of a tee that is not the first one.
type branch struct {
	sink       Sink
	functions  codeMap[FunctionID]
	nodes      codeMap[NodeID]
	goroutines codeMap[GoroutineID]
	labelSets  codeMap[LabelSetID]
	holderSets codeMap[HolderSetID]
	monitors   codeMap[MonitorID]

	processors []GoroutineID
	changes    []Change
}

// A codeMap translates the first sink's codes into another sink's. For example,
// if that one has three functions already, the first sink's function 0 is its
// function 3.
type codeMap[C ~int32] struct {
	to      []C
	differs bool // whether at least one code differs
}

// put records that the first sink's code from is the other one's code to. It
// ignores negative codes: the sink refused the thing, so nothing can refer to
// it.
func (m *codeMap[C]) put(from, to C) {
	if from < 0 {
		return
	}
	for len(m.to) <= int(from) {
		m.to = append(m.to, C(len(m.to)))
	}
	m.to[from] = to
	m.differs = m.differs || from != to
}

// of returns the other sink's code. It returns two kinds of codes unchanged:
// unknown ones, and codes that all sinks share (-1 for no stack, 0 for an empty
// set).
func (m *codeMap[C]) of(code C) C {
	if code < 0 || int(code) >= len(m.to) {
		return code
	}
	return m.to[code]
}

func (t *tee) Function(f Function) FunctionID {
	id := t.first.Function(f)
	for _, b := range t.others {
		b.functions.put(id, b.sink.Function(f))
	}
	return id
}

func (t *tee) Node(n Node) NodeID {
	id := t.first.Node(n)
	for _, b := range t.others {
		own := n
		own.Parent, own.Function = b.nodes.of(n.Parent), b.functions.of(n.Function)
		b.nodes.put(id, b.sink.Node(own))
	}
	return id
}

func (t *tee) Goroutine(g Goroutine) GoroutineID {
	id := t.first.Goroutine(g)
	for _, b := range t.others {
		own := g
		own.Start = b.functions.of(g.Start)
		b.goroutines.put(id, b.sink.Goroutine(own))
	}
	return id
}

func (t *tee) LabelSet(set []Label) LabelSetID {
	id := t.first.LabelSet(set)
	for _, b := range t.others {
		b.labelSets.put(id, b.sink.LabelSet(set))
	}
	return id
}

func (t *tee) HolderSet(set []GoroutineID) HolderSetID {
	id := t.first.HolderSet(set)
	for _, b := range t.others {
		own := make([]GoroutineID, len(set))
		for i, g := range set {
			own[i] = b.goroutines.of(g)
		}
		b.holderSets.put(id, b.sink.HolderSet(own))
	}
	return id
}

func (t *tee) LockName(n LockName) {
	t.first.LockName(n)
	for _, b := range t.others {
		b.sink.LockName(n)
	}
}

func (t *tee) Monitor(m Monitor) MonitorID {
	id := t.first.Monitor(m)
	for _, b := range t.others {
		b.monitors.put(id, b.sink.Monitor(m))
	}
	return id
}

func (t *tee) Measure(m MonitorID, v Value) {
	t.first.Measure(m, v)
	for _, b := range t.others {
		b.sink.Measure(b.monitors.of(m), v)
	}
}

func (t *tee) Probe(p Probe) {
	t.first.Probe(p)
	for _, b := range t.others {
		b.sink.Probe(p)
	}
}

func (t *tee) Sample(s Sample, changes []Change) error {
	if err := t.first.Sample(s, changes); err != nil {
		return err
	}
	for _, b := range t.others {
		if err := b.sink.Sample(b.translate(s, changes)); err != nil {
			return err
		}
	}
	return nil
}

// translate returns a sample with the branch's codes, in slices that the next
// call overwrites.
func (b *branch) translate(s Sample, changes []Change) (Sample, []Change) {
	if b.goroutines.differs {
		b.processors = b.processors[:0]
		for _, g := range s.Processors {
			b.processors = append(b.processors, b.goroutines.of(g))
		}
		s.Processors = b.processors
	}
	if !b.goroutines.differs && !b.nodes.differs && !b.labelSets.differs && !b.holderSets.differs {
		return s, changes
	}
	b.changes = b.changes[:0]
	for _, c := range changes {
		c.Goroutine = b.goroutines.of(c.Goroutine)
		c.State.Stack, c.State.Labels = b.nodes.of(c.State.Stack), b.labelSets.of(c.State.Labels)
		c.State.Holders = b.holderSets.of(c.State.Holders)
		c.State.Release = ReleaseAt(b.nodes.of(c.State.Release.Stack()))
		b.changes = append(b.changes, c)
	}
	return s, b.changes
}

func (t *tee) Warn(kind, message string, count int64) {
	t.first.Warn(kind, message, count)
	for _, b := range t.others {
		b.sink.Warn(kind, message, count)
	}
}

func (t *tee) Finish(e End) error {
	err := t.first.Finish(e)
	for _, b := range t.others {
		err = errors.Join(err, b.sink.Finish(e))
	}
	return err
}
