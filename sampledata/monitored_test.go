package sampledata_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/cpprof/cpprof/sampledata"
)

// withMonitors returns a sink that passes everything to another
// one, and adds the values of n monitors to each sample. The
// monitors are counters, levels, floating-point levels and
// words, in turn. In each sample, half of them change. This is
// realistic: the queues and times of a program nearly always
// change, the state of the garbage collector sometimes, and most
// limits and fault counts hardly ever.
func withMonitors(sink sampledata.Sink, n int) sampledata.Sink {
	m := &monitored{Sink: sink, rand: rand.New(rand.NewPCG(3, 4)), counts: make([]uint64, n)}
	for i := range n {
		def := sampledata.Monitor{Name: fmt.Sprintf("monitor%d", i), Layer: sampledata.Layer(i % 5),
			Source: "/proc/4711/stat"}
		switch i % 4 {
		case 1:
			def.Kind, def.Unit = sampledata.Level, "bytes"
		case 2:
			def.Kind, def.Real = sampledata.Level, true
		case 3:
			def.Kind = sampledata.Nominal
		}
		m.ids = append(m.ids, sink.Monitor(def))
	}
	return m
}

type monitored struct {
	sampledata.Sink
	ids    []sampledata.MonitorID
	rand   *rand.Rand
	counts []uint64
}

func (m *monitored) Sample(s sampledata.Sample, changes []sampledata.Change) error {
	for i, id := range m.ids {
		if m.rand.IntN(2) == 0 {
			continue
		}
		m.counts[i] += m.rand.Uint64N(1 << (4 + i%20))
		v := sampledata.Count(m.counts[i])
		switch i % 4 {
		case 1:
			v = sampledata.Number(m.rand.Int64N(1<<40) - 1<<20)
		case 2:
			v = sampledata.Real(m.rand.Float64())
		case 3:
			v = sampledata.Word([]string{"off", "mark", "mark termination", "sweep"}[m.counts[i]%4])
		}
		m.Measure(id, v)
	}
	return m.Sink.Sample(s, changes)
}
