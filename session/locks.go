package session

import (
	"io"

	"github.com/cpprof/cpprof/locks"
	"github.com/cpprof/cpprof/report"
	"github.com/cpprof/cpprof/sampledata"
)

// LocksKind is the kind of the window of the locks. There is at most one such window.
var LocksKind = Kind{Name: "locks", Single: true, New: func() Window { return new(Locks) }}

// Locks is the window of the locks. A session only stores that it is open.
type Locks struct{}

func (*Locks) Kind() Kind { return LocksKind }

func (*Locks) Check() error { return nil }

// Report returns the report that 'cpprof locks --top 0' writes.
func (*Locks) Report(src *Source) (report.Report, error) {
	a, err := locks.Analyse(src.Recording, src.Options, locks.ByField)
	if err != nil {
		return nil, err
	}
	return &locksReport{src.Recording, a}, nil
}

type locksReport struct {
	recording *sampledata.Recording
	analysis  *locks.Analysis
}

func (r *locksReport) Write(w io.Writer) error { return report.Locks(w, r.recording, r.analysis, 0) }

func (r *locksReport) WriteJSON(w io.Writer) error {
	return report.LocksJSON(w, r.recording, r.analysis)
}
