package sampledata

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/internal/intern"
)

// maxMonitors bounds the monitors of a recording. Each has a
// column of values.
const maxMonitors = 4096

// monitors is the part of tables that has each monitor's latest value.
type monitors struct {
	list   []Monitor
	byName map[string]MonitorID
	forms  []form      // by monitor: the form of its values; unmeasured if there can't be any
	words  []wordTable // by monitor
	last   []reading   // by monitor: in the last sample
	next   []Value     // by monitor: in the next sample
	fresh  []MonitorID // those with a value for the next sample
	isSet  []bool      // by monitor: whether it is in fresh
}

// A wordTable assigns codes to the values of a nominal monitor,
// in the order in which they come.
type wordTable struct{ intern.List[string, int] }

// fewWords is up to how many words are compared one by one,
// which is faster than to look one up.
const fewWords = 8

func (t *wordTable) code(w string) uint64 {
	if len(t.All) <= fewWords {
		if i := slices.Index(t.All, w); i >= 0 {
			return uint64(i)
		}
	}
	return uint64(t.Number(w))
}

// A measurement is a reading that differs from the one in the
// previous sample, as the step from that one.
type measurement struct {
	id       MonitorID
	measured bool
	step     uint64 // as form.step returns it; 0 if nothing was measured
	varint   []byte // the step as a column has it, if it is known
}

func (m *Monitor) check() error {
	switch {
	case m.Name == "":
		return errors.New("no name")
	case m.Layer > Hardware:
		return fmt.Errorf("unknown layer %d", m.Layer)
	case m.Kind > Nominal:
		return fmt.Errorf("unknown kind %d", m.Kind)
	case m.Kind == Nominal && m.Real:
		return errors.New("nominal values are words, not floating-point numbers")
	}
	return nil
}

// monitor returns the code of m, and whether it is new; -1 if m
// breaks a rule.
func (t *tables) monitor(m Monitor) (id MonitorID, isNew bool) {
	s := &t.monitors
	if id, ok := s.byName[m.Name]; ok {
		if s.list[id] != m {
			return -1, t.misused("monitor %q: %w", m.Name,
				fmt.Errorf("it has another definition already, as monitor %d", id))
		}
		return id, false
	}
	if err := m.check(); err != nil {
		return -1, t.misused("monitor %q: %w", m.Name, err)
	}
	if len(s.list) == maxMonitors {
		return -1, t.misused("monitor %q: %w", m.Name,
			fmt.Errorf("more than %d monitors", maxMonitors))
	}
	if s.byName == nil {
		s.byName = make(map[string]MonitorID)
	}
	id = MonitorID(len(s.list))
	s.byName[m.Name] = id
	s.list = append(s.list, m)
	s.words = append(s.words, wordTable{})
	if f := m.form(); m.Unmeasured == "" {
		s.forms = append(s.forms, f)
	} else {
		s.forms = append(s.forms, unmeasured)
	}
	s.last, s.next, s.isSet = append(s.last, reading{}), append(s.next, Value{}),
		append(s.isSet, false)
	return id, true
}

// measure sets a monitor's value from the next sample on.
func (t *tables) measure(id MonitorID, v Value) {
	s := &t.monitors
	if id < 0 || int(id) >= len(s.list) {
		t.misused("value of monitor %d, which is none of the %d monitors", id, len(s.list))
		return
	}
	if v.form != s.forms[id] {
		if err := s.list[id].checkValue(v); err != nil {
			t.misused("monitor %q: %w", s.list[id].Name, err)
			return
		}
	}
	s.next[id] = v
	if !s.isSet[id] {
		s.isSet[id] = true
		s.fresh = append(s.fresh, id)
	}
}

// checkValue checks that the monitor can have this value.
func (m *Monitor) checkValue(v Value) error {
	switch {
	case !v.Measured():
		return nil
	case m.Unmeasured != "":
		return m.notMeasured()
	case v.form != m.form():
		return fmt.Errorf("%v is not a value of a monitor of its kind", v)
	}
	return nil
}

func (m *Monitor) notMeasured() error {
	return fmt.Errorf("it has values, but is not measured: %s", m.Unmeasured)
}

// measured appends the changes of the latest sample to list, by
// ascending monitor.
func (s *monitors) measured(list []measurement) []measurement {
	slices.Sort(s.fresh)
	for _, id := range s.fresh {
		s.isSet[id] = false
		v := s.next[id]
		now := reading{v.Measured(), v.bits}
		if v.form == word {
			now.bits = s.words[id].code(v.word)
		}
		if before := s.last[id]; now != before {
			m := measurement{id: id, measured: now.measured}
			if now.measured {
				m.step = s.forms[id].step(before.bits, now.bits)
			}
			list = append(list, m)
			s.last[id] = now
		}
	}
	s.fresh = s.fresh[:0]
	return list
}

func (r *Recording) checkSeries() error {
	if len(r.Series) > 0 && r.Samples.Len() == 0 {
		return errors.New("series without samples")
	}
	t := newTables()
	for i := range r.Series {
		s := &r.Series[i]
		if id, isNew := t.monitor(s.Monitor); !isNew {
			return t.refused("series", i, int(id))
		}
		if err := s.check(r.Samples.Len()); err != nil {
			return fmt.Errorf("series %d: %w", i, err)
		}
	}
	return nil
}

func (s *Series) check(samples int) error {
	if s.Unmeasured != "" && s.column.points > 0 {
		return s.notMeasured()
	}
	points, used := 0, 0 // used words
	before := reading{}
	for c := s.column.cursor(s.form()); ; points++ {
		ok, err := c.advance()
		if err == nil && ok {
			err = s.checkPoint(&c, before, samples, used)
		}
		if err != nil {
			return fmt.Errorf("point %d: %w", points, err)
		}
		if !ok {
			break
		}
		if s.Kind == Nominal && c.reading.measured && c.reading.bits == uint64(used) {
			used++
		}
		before = c.reading
	}
	if points != s.column.points {
		return fmt.Errorf("%d points, but the count says %d", points, s.column.points)
	}
	return s.checkWords(used)
}

// checkPoint checks a point, given the previous reading, the
// number of samples, and the number of words used before it.
func (s *Series) checkPoint(c *cursor, before reading, samples, used int) error {
	r := c.reading
	switch {
	case int(c.sample) >= samples:
		return fmt.Errorf("sample %d is none of the %d samples", c.sample, samples)
	case r == before:
		return errors.New("the value did not change")
	case s.Kind == Nominal && r.measured &&
		(r.bits > uint64(used) || r.bits >= uint64(len(s.Words))):
		return fmt.Errorf("word %d of %d, but only %d are used before it", r.bits,
			len(s.Words), used)
	case r.measured && Value{form: s.form(), bits: r.bits}.isNaN():
		return errNaN
	}
	return nil
}

// checkWords checks that all words are used and differ.
func (s *Series) checkWords(used int) error {
	if used < len(s.Words) {
		return fmt.Errorf("word %d is not used", used)
	}
	seen := make(map[string]bool, used)
	for i, w := range s.Words {
		if seen[w] {
			return fmt.Errorf("word %d is %q, like an earlier one", i, w)
		}
		seen[w] = true
	}
	return nil
}
