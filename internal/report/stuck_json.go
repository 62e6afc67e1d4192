package report

import (
	"io"

	"github.com/cpprof/cpprof/sampler/heap"
	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
)

// stuckJSON is the output of Stuck.WriteJSON.
type stuckJSON struct {
	Program    string         `json:"program,omitempty"`
	PID        int64          `json:"pid,omitempty"`
	Goroutines int            `json:"goroutines"`
	Stuck      int            `json:"stuck"`
	Others     int            `json:"not_proved"`
	Findings   []stuckFinding `json:"findings"`
	Proved     bool           `json:"proved"`
	Doubts     []string       `json:"doubts,omitempty"`
	Passes     []stuckPass    `json:"passes"`
	MaxHalt    float64        `json:"needs_halt_ms,omitempty"` // what a proof would take
	MaxMemory  int64          `json:"needs_memory,omitempty"`
	Basis
}

type stuckFinding struct {
	Fault   string       `json:"fault"`
	Cause   string       `json:"cause"`
	Verdict heap.Verdict `json:"verdict"`
	Count   int          `json:"goroutines"`
	Sure    bool         `json:"holders_inferred"`
	Kept    *int64       `json:"kept_bytes,omitempty"`
	Waited  float64      `json:"waited_seconds,omitempty"`
	Groups  []stuckGroup `json:"groups"`
	Behind  []stuckGroup `json:"behind,omitempty"`
}

type stuckGroup struct {
	IDs       []int64         `json:"ids"`
	Reason    string          `json:"reason"`
	Verdict   heap.Verdict    `json:"verdict"`
	Doubt     string          `json:"doubt,omitempty"`
	Lock      string          `json:"lock,omitempty"`
	CreatedBy string          `json:"created_by,omitempty"`
	Frames    []stuckJSONCall `json:"frames"`
}

type stuckJSONCall struct {
	Function string `json:"function"`
	File     string `json:"file,omitempty"`
	Line     int32  `json:"line,omitempty"`
}

type stuckPass struct {
	Seconds float64 `json:"seconds"`
	Halt    float64 `json:"halt_ms"`
	Heap    int64   `json:"heap_bytes"`
	Left    int     `json:"not_reached"`
}

// WriteJSON writes the answer as JSON.
func (s *Stuck) WriteJSON(w io.Writer) error {
	h := s.Heap
	j := stuckJSON{
		Program: s.Program, PID: s.PID, Goroutines: h.Goroutines, Stuck: s.Answer.Stuck, Others: s.Others, Proved: h.Proved,
		Doubts: h.Doubts, Findings: []stuckFinding{}, Passes: []stuckPass{}, Basis: s.Basis,
	}
	if h.Limit != nil {
		j.MaxHalt, j.MaxMemory = h.Limit.Halt.Seconds()*1e3, h.Limit.Memory
	}
	for _, p := range h.Passes {
		j.Passes = append(j.Passes, stuckPass{p.Took.Seconds(), p.Halt.Seconds() * 1e3, p.Heap, p.Left})
	}
	for _, f := range s.Findings {
		one := stuckFinding{
			Fault: string(f.Fault), Cause: causeOf(&f), Verdict: f.Verdict, Count: f.Count, Sure: f.Sure, Waited: f.Waited.Seconds(),
		}
		if f.Kept >= 0 {
			one.Kept = &f.Kept
		}
		for i, g := range f.Groups {
			one.Groups = append(one.Groups, stuckGroupOf(g, f.Lock[i]))
		}
		for _, g := range f.Behind {
			one.Behind = append(one.Behind, stuckGroupOf(g, ""))
		}
		j.Findings = append(j.Findings, one)
	}
	return writeJSON(w, j)
}

func stuckGroupOf(g *heap.Group, lock string) stuckGroup {
	out := stuckGroup{
		Reason: g.Reason.Text, Verdict: g.Verdict, Lock: lock, CreatedBy: g.Creator.Func, Doubt: g.Goroutines[0].Doubt,
		Frames: callsOf(g.Frames),
	}
	for _, one := range g.Goroutines {
		out.IDs = append(out.IDs, one.ID)
	}
	return out
}

func callsOf(frames []pclntab.Frame) []stuckJSONCall {
	calls := []stuckJSONCall{}
	for _, f := range frames {
		calls = append(calls, stuckJSONCall{f.Func, f.File, f.Line})
	}
	return calls
}
