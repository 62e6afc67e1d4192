package sampledata

import (
	"fmt"
	"time"

	"github.com/cpprof/cpprof/sampledata/internal/pb"
)

// The bits of pb.Calls.Cut.
const (
	cutBegin = 1
	cutEnd   = 2
)

// calls adds tables of calls, in records of their own.
func (e *encoder) calls(list []CallTable) {
	for _, t := range list {
		for first := true; first || len(t.Calls) > 0; first = false {
			n := min(len(t.Calls), maxRows)
			m := e.callTable(&t)
			for j := range t.Calls[:n] {
				e.call(m, &t.Calls[j])
			}
			t.Calls, t.Windows = t.Calls[n:], nil
			e.put(&pb.DataRecord{Kind: &pb.DataRecord_Changes{Changes: &pb.Changes{Calls: m}}})
		}
	}
}

func (e *encoder) callTable(t *CallTable) *pb.Calls {
	m := &pb.Calls{Function: e.code(t.Function), Source: pb.CallSource(t.Source),
		Note: e.code(t.Note)}
	for _, name := range t.Arguments {
		m.Argument = append(m.Argument, e.code(name))
	}
	for _, w := range t.Windows {
		m.WindowFrom = append(m.WindowFrom, uint64(w.From))
		m.WindowLength = append(m.WindowLength, uint64(w.To-w.From))
	}
	return m
}

// call adds a row.
func (e *encoder) call(m *pb.Calls, c *TimedCall) {
	cut := uint32(0)
	if c.CutBegin {
		cut |= cutBegin
	}
	if c.CutEnd {
		cut |= cutEnd
	}
	m.Goroutine = append(m.Goroutine, c.Goroutine)
	m.Begin = append(m.Begin, uint64(c.Begin))
	m.Length = append(m.Length, uint64(c.End-c.Begin))
	m.Cut = append(m.Cut, cut)
	m.Caller = append(m.Caller, e.code(c.Site.Function))
	m.CallerFile = append(m.CallerFile, e.code(c.Site.File))
	m.CallerLine = append(m.CallerLine, uint32(c.Site.Line))
	m.Label = append(m.Label, e.code(c.Label))
	m.Value = append(m.Value, c.Values...)
}

// callMemory is what a call takes, without its values.
const callMemory = 160

func (d *decoder) calls(m *pb.Calls) error {
	rows := len(m.Goroutine)
	if err := d.budget.Take(int64(rows*callMemory + (len(m.Value)+2*len(m.WindowFrom))*8)); err != nil {
		return err
	}
	if err := columns(rows, len(m.Begin), len(m.Length), len(m.Cut), len(m.Caller),
		len(m.CallerFile), len(m.CallerLine), len(m.Label)); err != nil {
		return err
	}
	if err := columns(len(m.WindowFrom), len(m.WindowLength)); err != nil {
		return err
	}
	if err := columns(rows*len(m.Argument), len(m.Value)); err != nil {
		return err
	}
	t := CallTable{Function: d.text(m.Function), Note: d.text(m.Note),
		Source: known(&d.dictionary, "source of calls", m.Source, CallsByTrace)}
	for _, c := range m.Argument {
		t.Arguments = append(t.Arguments, d.text(c))
	}
	for i, from := range m.WindowFrom {
		w := CallWindow{From: time.Duration(from)}
		w.To = w.From + time.Duration(m.WindowLength[i])
		t.Windows = append(t.Windows, w)
	}
	for i := range rows {
		c, err := d.call(m, i, len(t.Arguments))
		if err != nil {
			return err
		}
		t.Calls = append(t.Calls, c)
	}
	return add(&d.dictionary, t, d.b.newCalls)
}

// call reads a row. If its end overflows, it is before the
// begin, and so the check refuses it.
func (d *decoder) call(m *pb.Calls, i, arguments int) (c TimedCall, err error) {
	if m.Cut[i] > cutBegin|cutEnd {
		return c, fmt.Errorf("call that is cut in unknown ways, %d", m.Cut[i])
	}
	c = TimedCall{Goroutine: m.Goroutine[i], Begin: time.Duration(m.Begin[i]),
		CutBegin: m.Cut[i]&cutBegin != 0, CutEnd: m.Cut[i]&cutEnd != 0,
		Site:  Call{d.text(m.Caller[i]), d.text(m.CallerFile[i]), int32(m.CallerLine[i])},
		Label: d.text(m.Label[i])}
	c.End = c.Begin + time.Duration(m.Length[i])
	if arguments > 0 {
		c.Values = m.Value[i*arguments:][:arguments:arguments]
	}
	return c, nil
}
