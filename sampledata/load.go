package sampledata

// These methods are for readers. What they add must be new,
// since in a recording each thing has one code.

func (b *Builder) newFunction(f Function) error {
	return addNew(b, "function", b.tables.functions, b.Function, f)
}

func (b *Builder) newNode(n Node) error {
	return addNew(b, "node", b.tables.nodes, b.Node, n)
}

func (b *Builder) newGoroutine(g Goroutine) error {
	return addNew(b, "goroutine", b.tables.goroutines, b.Goroutine, g)
}

func (b *Builder) newLabelSet(set []Label) error {
	if err := checkLabels(set); err != nil {
		return err
	}
	return addNew(b, "label set", b.tables.labelSets, b.LabelSet, set)
}

func (b *Builder) newHolderSet(set []GoroutineID) error {
	if err := b.tables.sizes.holders(set); err != nil {
		return err
	}
	return addNew(b, "holder set", b.tables.holderSets, b.HolderSet, set)
}

func (b *Builder) newMonitor(m Monitor) error {
	return addNew(b, "monitor", len(b.tables.monitors.list), b.Monitor, m)
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

// addNew adds a thing, and charges for it. It returns an error if
// the thing does not get the next code.
func addNew[T any, C ~int32](b *Builder, what string, next int, add func(T) C, thing T) error {
	if code := int(add(thing)); code != next {
		return b.tables.refused(what, next, code)
	}
	return b.charge()
}
