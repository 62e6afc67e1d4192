package session

import (
	"io"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/sampledata"
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
	return &locksReport{src.Recording, a, src.Width}, nil
}

type locksReport struct {
	recording *sampledata.Recording
	analysis  *locks.Analysis
	width     int
}

func (r *locksReport) Write(w io.Writer) error {
	return report.Locks(w, r.recording, r.analysis, 0, r.width)
}

func (r *locksReport) WriteJSON(w io.Writer) error {
	return report.LocksJSON(w, r.recording, r.analysis)
}
