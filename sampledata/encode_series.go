package sampledata

import (
	"encoding/binary"

	"github.com/cpprof/cpprof/sampledata/internal/pb"
)

func (e *encoder) monitor(m Monitor) {
	e.newMonitors = append(e.newMonitors, &pb.Monitor{
		Name: e.code(m.Name), Layer: pb.Layer(m.Layer), Kind: pb.MonitorKind(m.Kind),
		Real: m.Real, Unit: e.code(m.Unit),
		Source: e.code(m.Source), Resolution: e.code(m.Resolution),
		Unmeasured: e.code(m.Unmeasured),
	})
}

// series adds to a sample the monitors that are new in it, and
// the readings that changed.
func (e *encoder) series(to *pb.Sample, t *monitors, measured []measurement) {
	to.Monitors, e.newMonitors = e.newMonitors, nil
	if len(measured) == 0 {
		return
	}
	to.Values = e.values[:0]
	last := MonitorID(-1)
	for _, m := range measured {
		head := 2 * uint64(m.id-last)
		last = m.id
		if !m.measured {
			to.Values = binary.AppendUvarint(to.Values, head+1)
			continue
		}
		value := m.step
		if t.forms[m.id] == word {
			value = uint64(e.code(t.words[m.id].All[m.step]))
		}
		to.Values = binary.AppendUvarint(binary.AppendUvarint(to.Values, head), value)
	}
	e.values = to.Values
}
