package sampledata

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampledata/internal/pb"
)

// A seriesDecoder makes the series of a recording. It has its
// own Builder, and can work beside the decoder of everything
// else.
type seriesDecoder struct {
	dictionary
	b      *Builder
	budget *memory.Budget
	codes  [][]uint64 // by monitor: the string codes of its first words
}

func newSeriesDecoder(texts []string, budget *memory.Budget) seriesDecoder {
	b := NewBuilder(Header{})
	b.meter.budget = budget
	return seriesDecoder{dictionary: dictionary{texts: texts}, b: b, budget: budget}
}

// add decodes a sample's new monitors and the readings that have
// changed, and adds them to the series. It does not call Measure
// for each value, as a sampler does, because that would be slow.
func (d *seriesDecoder) add(m *seriesRecord) error {
	for _, def := range m.monitors {
		if err := d.monitor(def); err != nil {
			return err
		}
	}
	d.b.addSeries()
	return d.values(m)
}

// values decodes a sample's values up to one that is not good.
func (d *seriesDecoder) values(m *seriesRecord) error {
	t := &d.b.tables.monitors
	var change measurement
	id := uint64(math.MaxUint64) // -1
	for rest := m.values; len(rest) > 0; {
		head, n := uvarint(rest)
		if n <= 0 {
			return errValues
		}
		rest = rest[n:]
		if head < 2 {
			return fmt.Errorf("a second value of monitor %d, or a monitor before it", int64(id))
		}
		if id += head >> 1; id >= uint64(len(t.last)) {
			return fmt.Errorf("value of monitor %d, which is none of the %d monitors",
				id, len(t.list))
		}
		change = measurement{id: MonitorID(id), measured: head&1 == 0}
		if change.measured {
			if change.step, n = uvarint(rest); n <= 0 {
				return errValues
			}
			if n == 1 || rest[n-1] != 0 { // it is not longer than need be
				change.varint = rest[:n]
			}
			rest = rest[n:]
		}
		if err := d.change(t, &change); err != nil {
			return fmt.Errorf("value of monitor %d: %w", id, err)
		}
		d.b.addPoint(m.sample, &change)
	}
	return nil
}

var (
	errValues   = errors.New("values that end within a number, or with one beyond 64 bits")
	errNoChange = errors.New("it did not change")
)

func (d *seriesDecoder) monitor(def *pb.Monitor) error {
	d.codes = append(d.codes, nil)
	return add(&d.dictionary, Monitor{
		Layer: known(&d.dictionary, "monitor layer", def.Layer, Hardware),
		Kind:  known(&d.dictionary, "monitor kind", def.Kind, Nominal), Real: def.Real,
		Name: d.text(def.Name), Unit: d.text(def.Unit), Source: d.text(def.Source),
		Resolution: d.text(def.Resolution), Unmeasured: d.text(def.Unmeasured),
	}, d.b.newMonitor)
}

// change applies a change to the monitor's latest reading. It
// replaces the string code of a word by the word's index.
func (d *seriesDecoder) change(t *monitors, c *measurement) error {
	last := &t.last[c.id]
	f := t.forms[c.id]
	switch {
	case !c.measured:
		if !last.measured {
			return errNoChange
		}
		*last = reading{}
		return nil
	case f == unmeasured:
		return t.list[c.id].notMeasured()
	case f == word:
		index, err := d.word(c.id, c.step)
		if err != nil {
			return err
		}
		c.step, c.varint = index, nil
	}
	now := reading{true, f.apply(last.bits, c.step)}
	if now == *last {
		return errNoChange
	}
	if f == real && math.IsNaN(math.Float64frombits(now.bits)) {
		return errNaN
	}
	*last = now
	return nil
}

// word returns the index of a word among its monitor's words,
// given its string code.
func (d *seriesDecoder) word(id MonitorID, code uint64) (uint64, error) {
	if i := slices.Index(d.codes[id], code); i >= 0 { // faster than to compare texts
		return uint64(i), nil
	}
	if code >= uint64(len(d.texts)) {
		return 0, fmt.Errorf("word %d is none of the %d strings", code, len(d.texts))
	}
	words := &d.b.tables.monitors.words[id]
	before := len(words.All)
	index := words.code(d.texts[code])
	if index == uint64(before) && before < fewWords {
		d.codes[id] = append(d.codes[id], code)
	}
	return index, d.budget.Take(int64(len(words.All)-before) * wordMemory)
}
