package sampledata

import "slices"

// AfterSample returns a sink that hands everything on to another one, and calls then behind each sample, with what the sink
// said of it.
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

// A TableKeeper is a sink that hands everything on to another one, and keeps the tables of what it was handed, by the other
// sink's codes.
type TableKeeper struct {
	Sink
	tables Recording
	names  map[uint64]string // of locks, the last of each address
}

// KeepTables returns a sink that keeps tables.
func KeepTables(sink Sink) *TableKeeper {
	return &TableKeeper{Sink: sink, names: make(map[uint64]string), tables: Recording{LabelSets: [][]Label{nil}, HolderSets: [][]GoroutineID{nil}}}
}

// Tables returns the functions, nodes, goroutines, label sets and holder sets so far. It has no samples, and grows.
func (k *TableKeeper) Tables() *Recording { return &k.tables }

// LatestLockName returns what the lock at an address was called last, "" if it has no name.
func (k *TableKeeper) LatestLockName(address uint64) string { return k.names[address] }

// entered puts what the sink has given a code into a table, if the code is new.
func entered[T any, C ~int32](table []T, code C, t T) []T {
	if int(code) == len(table) {
		return append(table, t)
	}
	return table
}

func (k *TableKeeper) Function(f Function) FunctionID {
	id := k.Sink.Function(f)
	k.tables.Functions = entered(k.tables.Functions, id, f)
	return id
}

func (k *TableKeeper) Node(n Node) NodeID {
	id := k.Sink.Node(n)
	k.tables.Nodes = entered(k.tables.Nodes, id, n)
	return id
}

func (k *TableKeeper) Goroutine(g Goroutine) GoroutineID {
	id := k.Sink.Goroutine(g)
	k.tables.Goroutines = entered(k.tables.Goroutines, id, g)
	return id
}

func (k *TableKeeper) LabelSet(set []Label) LabelSetID {
	id := k.Sink.LabelSet(set)
	k.tables.LabelSets = entered(k.tables.LabelSets, id, slices.Clone(set))
	return id
}

func (k *TableKeeper) HolderSet(set []GoroutineID) HolderSetID {
	id := k.Sink.HolderSet(set)
	k.tables.HolderSets = entered(k.tables.HolderSets, id, slices.Clone(set))
	return id
}

func (k *TableKeeper) LockName(n LockName) {
	k.Sink.LockName(n)
	k.names[n.Address] = n.Name
}
