package monitor

import (
	"errors"

	"github.com/cpprof/cpprof/sampledata"
)

// A column is a monitor with a part of a record as its value,
// such as one number of a file.
type column[T any] struct {
	sampledata.Monitor
	value func(*T) sampledata.Value
	// why there may be no value; it holds for a recording if
	// there is none at its beginning
	absent string
}

// source returns a source of columns of one record. open returns
// a function that reads the record, and one that ends the
// reading, which may be nil.
func source[T any](s Source, columns []column[T],
	open func(Target) (read func(*T) error, end func() error, err error)) Source {
	for _, c := range columns {
		s.Monitors = append(s.Monitors, c.Monitor)
	}
	s.Open = func(t Target) (Reader, error) {
		read, end, err := open(t)
		if err != nil {
			return nil, err
		}
		r := &recordReader[T]{columns: columns, read: read, end: end}
		if err := r.begin(s.Monitors); err != nil {
			return nil, errors.Join(err, r.Close())
		}
		return r, nil
	}
	return s
}

type recordReader[T any] struct {
	columns  []column[T]
	monitors []sampledata.Monitor
	read     func(*T) error
	end      func() error
	record   T
}

// begin finds out which columns have no values.
func (r *recordReader[T]) begin(monitors []sampledata.Monitor) error {
	if err := r.read(&r.record); err != nil {
		return err
	}
	for i, m := range monitors {
		if c := &r.columns[i]; c.absent != "" && !c.value(&r.record).Measured() {
			m.Unmeasured = c.absent
		}
		r.monitors = append(r.monitors, m)
	}
	return nil
}

func (r *recordReader[T]) Monitors() []sampledata.Monitor { return r.monitors }

func (r *recordReader[T]) Read(values []sampledata.Value) ([]sampledata.Value, error) {
	if err := r.read(&r.record); err != nil {
		return values, err
	}
	for i := range r.columns {
		values = append(values, r.columns[i].value(&r.record))
	}
	return values, nil
}

func (r *recordReader[T]) Close() error {
	if r.end == nil {
		return nil
	}
	return r.end()
}

// kernel returns a monitor of the kernel's.
func kernel(name string, kind sampledata.Kind, unit, source, resolution string) sampledata.Monitor {
	return sampledata.Monitor{Name: name, Layer: sampledata.Kernel, Kind: kind,
		Unit: unit, Source: source, Resolution: resolution}
}
