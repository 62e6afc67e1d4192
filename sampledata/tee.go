package sampledata

import (
	"errors"
	"fmt"
)

// Tee returns a sink that passes everything to several sinks, in the given
// order. All sinks must be new, so that they give the same codes. If one gives
// another code than the first sink, each later call of Sample returns an error.
// If a sink refuses a sample, the sinks after it don't get the sample. The
// methods must not be called at the same time.
func Tee(first Sink, others ...Sink) Sink {
	return &tee{first: first, others: others}
}

type tee struct {
	first  Sink
	others []Sink
	differ error
}

// name passes a thing to all sinks of a tee, and returns its code.
func name[C ~int32](t *tee, what string, pass func(Sink) C) C {
	code := pass(t.first)
	for i, s := range t.others {
		if own := pass(s); own != code && t.differ == nil {
			t.differ = fmt.Errorf("%s %d is %d in sink %d of a Tee: give it new sinks", what, code,
				own, i+2)
		}
	}
	return code
}

func (t *tee) Function(f Function) FunctionID {
	return name(t, "function", func(s Sink) FunctionID { return s.Function(f) })
}

func (t *tee) Node(n Node) NodeID {
	return name(t, "node", func(s Sink) NodeID { return s.Node(n) })
}

func (t *tee) Goroutine(g Goroutine) GoroutineID {
	return name(t, "goroutine", func(s Sink) GoroutineID { return s.Goroutine(g) })
}

func (t *tee) LabelSet(set []Label) LabelSetID {
	return name(t, "label set", func(s Sink) LabelSetID { return s.LabelSet(set) })
}

func (t *tee) HolderSet(set []GoroutineID) HolderSetID {
	return name(t, "holder set", func(s Sink) HolderSetID { return s.HolderSet(set) })
}

func (t *tee) Monitor(m Monitor) MonitorID {
	return name(t, "monitor", func(s Sink) MonitorID { return s.Monitor(m) })
}

func (t *tee) Measure(m MonitorID, v Value) { t.pass(func(s Sink) { s.Measure(m, v) }) }

func (t *tee) LockName(n LockName) { t.pass(func(s Sink) { s.LockName(n) }) }

func (t *tee) Probe(p Probe) { t.pass(func(s Sink) { s.Probe(p) }) }

func (t *tee) Calls(c CallTable) { t.pass(func(s Sink) { s.Calls(c) }) }

func (t *tee) Mark(m *Marking) { t.pass(func(s Sink) { s.Mark(m) }) }

func (t *tee) Warn(kind, message string, count int64) {
	t.pass(func(s Sink) { s.Warn(kind, message, count) })
}

func (t *tee) pass(to func(Sink)) {
	to(t.first)
	for _, s := range t.others {
		to(s)
	}
}

func (t *tee) Sample(s Sample, changes []Change) error {
	if t.differ != nil {
		return t.differ
	}
	err := t.first.Sample(s, changes)
	for i := 0; err == nil && i < len(t.others); i++ {
		err = t.others[i].Sample(s, changes)
	}
	return err
}

func (t *tee) Finish(e End) (err error) {
	t.pass(func(s Sink) { err = errors.Join(err, s.Finish(e)) })
	return err
}
