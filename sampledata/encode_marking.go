package sampledata

import "github.com/cpprof/cpprof/sampledata/internal/pb"

func (e *encoder) marking(m *Marking) *pb.Marking {
	if m == nil {
		return nil
	}
	out := &pb.Marking{
		Time: uint64(m.Time), Goroutines: uint64(m.Goroutines), Proved: m.Proved,
		Passes: uint32(m.Passes), Took: uint64(m.Took), Apart: uint64(m.Apart),
		Halted: uint64(m.Halted), MaxHalt: uint64(m.MaxHalt), Heap: uint64(m.Heap),
		NeedsHalt: uint64(m.NeedsHalt), NeedsMemory: uint64(m.NeedsMemory), Doubt: e.code(m.Doubt),
	}
	for i := range m.Groups {
		out.Groups = append(out.Groups, e.markedGroup(&m.Groups[i]))
	}
	out.Whole = m.Whole
	for _, one := range m.Edges {
		out.Edges = append(out.Edges, &pb.MarkedEdge{
			From: one.From, To: one.To, At: one.At, Sure: one.Sure, Taken: e.code(one.Taken),
		})
	}
	return out
}

func (e *encoder) markedGroup(g *MarkedGroup) *pb.MarkedGroup {
	out := &pb.MarkedGroup{
		Verdict: pb.Verdict(g.Verdict), Wait: pb.MarkedWait(g.Wait),
		Reason: e.code(g.Reason), Doubt: e.code(g.Doubt), Name: e.code(g.Name), Count: uint32(g.Count),
		Waited: uint64(g.Waited), Kept: uint64(g.Kept + 1),
		CreatorFunction: e.code(g.Creator.Function), CreatorFile: e.code(g.Creator.File),
		CreatorLine: uint32(g.Creator.Line),
	}
	last := int64(0)
	for _, id := range g.IDs {
		out.Goroutine = append(out.Goroutine, id-last)
		last = id
	}
	out.CallFunction, out.CallFile, out.CallLine = e.markedCalls(g.Calls)
	out.LeftFunction, out.LeftFile, out.LeftLine = e.markedCalls(g.Left)
	return out
}

func (e *encoder) markedCalls(of []Call) (functions, files, lines []uint32) {
	for _, c := range of {
		functions = append(functions, e.code(c.Function))
		files = append(files, e.code(c.File))
		lines = append(lines, uint32(c.Line))
	}
	return functions, files, lines
}
