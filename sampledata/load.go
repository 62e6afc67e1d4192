package sampledata

// These methods are for readers. What they add must be new, since in a
// recording each thing has one code. They don't lock the Builder: only the
// reader has it.

func (b *Builder) newFunction(f Function) error {
	id, isNew := b.tables.function(f)
	if !isNew {
		return b.tables.refused("function", len(b.rec.Functions), int(id))
	}
	b.rec.Functions = append(b.rec.Functions, f)
	return b.charge()
}

func (b *Builder) newNode(n Node) error {
	id, isNew := b.tables.node(n)
	if !isNew {
		return b.tables.refused("node", len(b.rec.Nodes), int(id))
	}
	b.rec.Nodes = append(b.rec.Nodes, n)
	return b.charge()
}

func (b *Builder) newGoroutine(g Goroutine) error {
	id, isNew := b.tables.goroutine(g)
	if !isNew {
		return b.tables.refused("goroutine", b.rec.Goroutines.Len(), int(id))
	}
	b.rec.Goroutines.add(g)
	b.runs.open = append(b.runs.open, 0)
	return b.charge()
}

func (b *Builder) newLabelSet(set []Label) error {
	if err := checkLabels(set); err != nil {
		return err
	}
	id, isNew := b.tables.labelSet(set)
	if isNew == nil {
		return b.tables.refused("label set", len(b.rec.LabelSets), int(id))
	}
	b.rec.LabelSets = append(b.rec.LabelSets, isNew)
	b.meter.sets += setMemory + int64(len(isNew))*labelMemory
	return b.charge()
}

func (b *Builder) newMonitor(m Monitor) error {
	if id, isNew := b.tables.monitor(m); !isNew {
		return b.tables.refused("monitor", len(b.tables.monitors.list), int(id))
	}
	return b.charge()
}

func (b *Builder) newLockName(n LockName) error {
	if !b.tables.lockName(n) {
		return b.tables.refusedLockName(n)
	}
	b.rec.LockNames = append(b.rec.LockNames, n)
	return b.charge()
}

func (b *Builder) newProbe(p Probe) (err error) {
	b.rec.Probes, err = putProbe(b.rec.Probes, p)
	b.tables.probes = b.rec.Probes
	return err
}

func (b *Builder) newHolderSet(set []GoroutineID) error {
	if err := b.tables.sizes.holders(set); err != nil {
		return err
	}
	id, isNew := b.tables.holderSet(set)
	if isNew == nil {
		return b.tables.refused("holder set", len(b.rec.HolderSets), int(id))
	}
	b.rec.HolderSets = append(b.rec.HolderSets, isNew)
	b.meter.sets += setMemory + int64(len(isNew))*holderMemory
	return b.charge()
}
