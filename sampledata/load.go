package sampledata

// These methods are for readers. What they add must be new,
// since in a recording each thing has one code.

func (b *Builder) newFunction(f Function) error {
	next := b.tables.functions
	return b.added("function", next, int(b.Function(f)))
}

func (b *Builder) newNode(n Node) error {
	next := b.tables.nodes
	return b.added("node", next, int(b.Node(n)))
}

func (b *Builder) newGoroutine(g Goroutine) error {
	next := b.tables.goroutines
	return b.added("goroutine", next, int(b.Goroutine(g)))
}

func (b *Builder) newLabelSet(set []Label) error {
	if err := checkLabels(set); err != nil {
		return err
	}
	next := b.tables.labelSets
	return b.added("label set", next, int(b.LabelSet(set)))
}

func (b *Builder) newHolderSet(set []GoroutineID) error {
	if err := b.tables.sizes.holders(set); err != nil {
		return err
	}
	next := b.tables.holderSets
	return b.added("holder set", next, int(b.HolderSet(set)))
}

func (b *Builder) newMonitor(m Monitor) error {
	next := len(b.tables.monitors.list)
	return b.added("monitor", next, int(b.Monitor(m)))
}

func (b *Builder) newLockName(n LockName) error {
	before := len(b.rec.LockNames)
	if b.LockName(n); len(b.rec.LockNames) == before {
		return b.tables.refusedLockName(n)
	}
	return b.charge()
}

func (b *Builder) newProbe(p Probe) (err error) {
	b.tables.probes, err = putProbe(b.tables.probes, p)
	return err
}

func (b *Builder) newCalls(t CallTable) (err error) {
	if b.tables.calls, err = countCalls(b.tables.calls, &t); err != nil {
		return err
	}
	b.rec.Calls, err = addCalls(b.rec.Calls, t)
	return err
}

func (b *Builder) newMarking(m *Marking) error {
	if err := m.check(); err != nil {
		return err
	}
	b.tables.marking = m
	return nil
}

// added charges for a thing with the next code. It returns an
// error if the code is another one.
func (b *Builder) added(what string, next, code int) error {
	if code != next {
		return b.tables.refused(what, next, code)
	}
	return b.charge()
}
