package report

import (
	"io"

	"github.com/cpprof/cpprof/sampledata"
)

// stuckJSON is the output of Stuck.WriteJSON.
type stuckJSON struct {
	Program     string         `json:"program,omitempty"`
	PID         int64          `json:"pid,omitempty"`
	Goroutines  int            `json:"goroutines"`
	Stuck       int            `json:"stuck"`
	Others      int            `json:"not_proved"`
	Findings    []stuckFinding `json:"findings"`
	Proved      bool           `json:"proved"`
	Doubt       string         `json:"doubt,omitempty"`
	Passes      int            `json:"passes"`
	Seconds     float64        `json:"seconds"` // that the passes took
	LongestHalt float64        `json:"longest_halt_ms"`
	Heap        int64          `json:"heap_bytes"`
	MaxHalt     float64        `json:"needs_halt_ms,omitempty"` // what a proof would take
	MaxMemory   int64          `json:"needs_memory,omitempty"`
	Basis
}

type stuckFinding struct {
	Fault   string             `json:"fault"`
	Cause   string             `json:"cause"`
	Verdict sampledata.Verdict `json:"verdict"`
	Count   int                `json:"goroutines"`
	Sure    bool               `json:"holders_inferred"`
	Kept    *int64             `json:"kept_bytes,omitempty"`
	Waited  float64            `json:"waited_seconds,omitempty"`
	Groups  []stuckGroup       `json:"groups"`
	Behind  []stuckGroup       `json:"behind,omitempty"`
}

type stuckGroup struct {
	*sampledata.MarkedGroup
	WaitsFor  string `json:"waits_for,omitempty"`
	CreatedBy string `json:"created_by,omitempty"`
}

// WriteJSON writes the answer as JSON.
func (s *Stuck) WriteJSON(w io.Writer) error {
	m := s.Marking
	j := stuckJSON{
		Program: s.Program, PID: s.PID, Goroutines: m.Goroutines, Stuck: s.Answer.Stuck,
		Others: s.Others, Proved: m.Proved,
		Doubt: m.Doubt, Findings: []stuckFinding{}, Passes: m.Passes, Seconds: m.Took.Seconds(),
		LongestHalt: m.MaxHalt.Seconds() * 1e3, Heap: m.Heap, MaxHalt: m.NeedsHalt.Seconds() * 1e3,
		MaxMemory: m.NeedsMemory, Basis: s.Basis,
	}
	for _, f := range s.Findings {
		one := stuckFinding{
			Fault: string(f.Fault), Cause: causeOf(&f), Verdict: f.Verdict, Count: f.Count,
			Sure: f.Sure, Waited: f.Waited.Seconds(),
		}
		if f.Kept >= 0 {
			one.Kept = &f.Kept
		}
		for i, g := range f.Groups {
			one.Groups = append(one.Groups, stuckGroup{g, f.Lock[i], g.Creator.Function})
		}
		for _, g := range f.Behind {
			one.Behind = append(one.Behind, stuckGroup{g, g.Name, g.Creator.Function})
		}
		j.Findings = append(j.Findings, one)
	}
	return writeJSON(w, j)
}
