package session

import (
	"io"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/why"
)

// FindingsKind is the kind of the window of what is slow, and why. There is at
// most one such window.
var FindingsKind = Kind{Name: "findings", Single: true, New: func() Window { return new(Findings) }}

// Findings is the window of what is slow, and why.
type Findings struct {
	Selected string `json:"selected,omitempty"` // the key of a finding; "" for the first
}

func (*Findings) Kind() Kind { return FindingsKind }

// Check checks the length of the key.
func (f *Findings) Check() error { return checkExprs([]string{f.Selected}) }

// Find searches the samples that count.
func (*Findings) Find(src *Source) (*why.Answer, error) {
	return why.Find(src.Recording, why.OptionsOf(src.Config, src.Options))
}

// Report returns the report that 'cpprof why --top 0' writes.
func (f *Findings) Report(src *Source) (report.Report, error) {
	answer, err := f.Find(src)
	if err != nil {
		return nil, err
	}
	return &findingsReport{report.Why{Answer: answer, File: src.Path},
		report.BasisOf(src.Recording)}, nil
}

type findingsReport struct {
	report.Why
	basis report.Basis
}

func (r *findingsReport) WriteJSON(w io.Writer) error { return r.Why.WriteJSON(w, r.basis) }
