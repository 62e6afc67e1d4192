package sampledata

import "slices"

// AfterSample returns a sink that passes everything to another
// one. After each sample, it calls the function with the error
// that the other sink returned.
func AfterSample(sink Sink, then func(s Sample, changes []Change, err error)) Sink {
	return &afterSample{sink, then}
}

type afterSample struct {
	Sink
	then func(Sample, []Change, error)
}

func (a *afterSample) Sample(s Sample, changes []Change) error {
	err := a.Sink.Sample(s, changes)
	a.then(s, changes, err)
	return err
}

// A TableKeeper is a sink that passes everything to another one.
// It keeps tables of what it received, by the other sink's
// codes.
type TableKeeper struct {
	Sink
	tables Recording
	names  map[uint64]string // of locks, by address: the latest name
}

// KeepTables returns a TableKeeper in front of a sink.
func KeepTables(sink Sink) *TableKeeper {
	return &TableKeeper{Sink: sink, names: make(map[uint64]string),
		tables: Recording{LabelSets: [][]Label{nil}, HolderSets: [][]GoroutineID{nil}}}
}

// Tables returns the functions, nodes, goroutines, label sets
// and holder sets so far. The result has no samples. It grows
// with each call of the sink's methods.
func (k *TableKeeper) Tables() *Recording { return &k.tables }

// LatestLockName returns the latest name of the lock at an
// address, "" if it has none.
func (k *TableKeeper) LatestLockName(address uint64) string { return k.names[address] }

// appendNew adds t, which has the given code, to a table if the
// code is new.
func appendNew[T any, C ~int32](table []T, code C, t T) []T {
	if int(code) == len(table) {
		return append(table, t)
	}
	return table
}

func (k *TableKeeper) Function(f Function) FunctionID {
	id := k.Sink.Function(f)
	k.tables.Functions = appendNew(k.tables.Functions, id, f)
	return id
}

func (k *TableKeeper) Node(n Node) NodeID {
	id := k.Sink.Node(n)
	k.tables.Nodes = appendNew(k.tables.Nodes, id, n)
	return id
}

func (k *TableKeeper) Goroutine(g Goroutine) GoroutineID {
	id := k.Sink.Goroutine(g)
	if int(id) == k.tables.Goroutines.Len() {
		k.tables.Goroutines.add(g)
	}
	return id
}

func (k *TableKeeper) LabelSet(set []Label) LabelSetID {
	id := k.Sink.LabelSet(set)
	k.tables.LabelSets = appendNew(k.tables.LabelSets, id, slices.Clone(set))
	return id
}

func (k *TableKeeper) HolderSet(set []GoroutineID) HolderSetID {
	id := k.Sink.HolderSet(set)
	k.tables.HolderSets = appendNew(k.tables.HolderSets, id, slices.Clone(set))
	return id
}

func (k *TableKeeper) LockName(n LockName) {
	k.Sink.LockName(n)
	k.names[n.Address] = n.Name
}
