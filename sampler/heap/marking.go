package heap

import (
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
)

// Marking returns a result as a recording has it. at is the time
// in the recording.
func (r *Result) Marking(at time.Duration) *sampledata.Marking {
	m := &sampledata.Marking{Time: at, Goroutines: r.Goroutines, Proved: r.Proved,
		Passes: len(r.Passes), Apart: r.Apart}
	for _, p := range r.Passes {
		m.Took, m.Halted, m.MaxHalt, m.Heap = m.Took+p.Took, m.Halted+p.Halt,
			max(m.MaxHalt, p.Halt), p.Heap
	}
	if r.Limit != nil {
		m.NeedsHalt, m.NeedsMemory = r.Limit.Halt, r.Limit.Memory
		m.Halted, m.MaxHalt = m.Halted+r.Limit.Took, max(m.MaxHalt, r.Limit.Took)
	}
	if len(r.Doubts) > 0 {
		m.Doubt = r.Doubts[0]
	}
	m.Edges, m.Whole = r.edges()
	room := sampledata.MaxMarked
	for i := range r.Groups[:min(len(r.Groups), sampledata.MaxMarkedGroups)] {
		g := r.Groups[i].marked(room)
		room -= len(g.IDs)
		m.Groups = append(m.Groups, g)
	}
	return m
}

// marked returns a group with at most a number of goroutines.
func (g *Group) marked(room int) sampledata.MarkedGroup {
	out := sampledata.MarkedGroup{
		Verdict: g.Verdict, Wait: g.Wait, Reason: g.Reason.Text, Doubt: g.Doubt,
		Name: g.Name, Count: len(g.Goroutines),
		Kept: g.Kept, Creator: callOf(g.Creator),
	}
	for _, one := range g.Goroutines {
		out.Waited = max(out.Waited, one.Waited)
		if len(out.IDs) < room {
			out.IDs = append(out.IDs, one.ID)
		}
	}
	for _, f := range g.Frames[:min(len(g.Frames), sampledata.MaxMarkedCalls)] {
		out.Calls = append(out.Calls, callOf(f))
	}
	for _, f := range g.Left {
		out.Left = append(out.Left, callOf(f))
	}
	return out
}

func callOf(f pclntab.Frame) sampledata.Call {
	return sampledata.Call{Function: f.Func, File: f.File, Line: max(0, int32(f.Line))}
}
