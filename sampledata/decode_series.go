package sampledata

import (
	"errors"
	"fmt"
	"math"

	"github.com/cpprof/cpprof/sampledata/internal/pb"
)

// series decodes a sample's new monitors, and the readings that have changed. It does not call Measure for each value, as a
// sampler does, because that would be slow.
func (d *decoder) series(m *pb.Sample) ([]measurement, error) {
	for _, def := range m.Monitors {
		if err := d.monitor(def); err != nil {
			return nil, err
		}
	}
	t := &d.b.tables.monitors
	list := d.measured[:0]
	id := uint64(math.MaxUint64) // -1
	for rest := m.Values; len(rest) > 0; {
		head, n := uvarint(rest)
		if n <= 0 {
			return nil, errValues
		}
		rest = rest[n:]
		if head < 2 {
			return nil, fmt.Errorf("a second value of monitor %d, or a monitor before it", int64(id))
		}
		if id += head >> 1; id >= uint64(len(t.list)) {
			return nil, fmt.Errorf("value of monitor %d, which is none of the %d monitors", id, len(t.list))
		}
		now := reading{measured: head&1 == 0}
		if now.measured {
			step, n := uvarint(rest)
			if n <= 0 {
				return nil, errValues
			}
			rest = rest[n:]
			var err error
			if now.bits, err = d.value(t, MonitorID(id), step); err != nil {
				return nil, fmt.Errorf("value of monitor %d: %w", id, err)
			}
		}
		if now == t.last[id] {
			return nil, fmt.Errorf("value of monitor %d: it did not change", id)
		}
		list = append(list, measurement{MonitorID(id), t.last[id], now})
		t.last[id] = now
	}
	d.measured = list
	return list, nil
}

var errValues = errors.New("values that end within a number, or with one beyond 64 bits")

func (d *decoder) monitor(def *pb.Monitor) error {
	if def.Layer < 0 || def.Layer > pb.Layer(Hardware) || def.Kind < 0 || def.Kind > pb.MonitorKind(Nominal) {
		return fmt.Errorf("monitor of unknown layer %d or kind %d: a newer cpprof may know it", def.Layer, def.Kind)
	}
	m := Monitor{Layer: Layer(def.Layer), Kind: Kind(def.Kind), Real: def.Real}
	err := d.textsOf([]*string{&m.Name, &m.Unit, &m.Source, &m.Resolution, &m.Unmeasured},
		def.Name, def.Unit, def.Source, def.Resolution, def.Unmeasured)
	if err != nil {
		return err
	}
	return d.b.newMonitor(m)
}

// value decodes the bits of a reading.
func (d *decoder) value(t *monitors, id MonitorID, step uint64) (uint64, error) {
	f := t.forms[id]
	switch f {
	case unmeasured:
		return 0, t.list[id].notMeasured()
	case word:
		if step >= uint64(len(d.texts)) {
			return 0, fmt.Errorf("word %d is none of the %d strings", step, len(d.texts))
		}
		words := &t.words[id]
		before := len(words.list)
		code := words.code(d.texts[step])
		return code, d.budget.Take(int64(len(words.list)-before) * wordMemory)
	}
	bits := f.apply(t.last[id].bits, step)
	if (Value{form: f, bits: bits}).isNaN() {
		return 0, errNaN
	}
	return bits, nil
}
