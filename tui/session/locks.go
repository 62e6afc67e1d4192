package session

import (
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/views/locks"
)

// LocksKind is the kind of the window of the locks. There is at most one such
// window.
var LocksKind = Kind{Name: "locks", Single: true, New: func() Window { return new(Locks) }}

// Locks is the window of the locks.
type Locks struct {
	// each lock by itself, not all locks of a field together
	Instances bool `json:"instances,omitempty"`
}

func (*Locks) Kind() Kind { return LocksKind }

func (*Locks) Check() error { return nil }

// By returns what a line of the window is.
func (l *Locks) By() locks.By {
	if l.Instances {
		return locks.ByInstance
	}
	return locks.ByField
}

// Report returns the report that 'cpprof locks --top 0' writes.
func (l *Locks) Report(src *Source) (report.Report, error) {
	a, err := locks.Analyse(src.Recording, src.Options, l.By())
	if err != nil {
		return nil, err
	}
	return &report.Locks{Recording: src.Recording, Analysis: a, Width: src.Width}, nil
}
