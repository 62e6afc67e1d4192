package sampledata

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/cpprof/cpprof/sampledata/internal/pb"
)

// markingMemory is at most how many times the memory of a
// marking is larger than its message.
const markingMemory = 50

// marking reads a marking.
func (d *decoder) marking(m *pb.Marking) error {
	if m == nil {
		return nil
	}
	if err := d.replace(markingKey, int64(proto.Size(m)+100)*markingMemory); err != nil {
		return err
	}
	out := &Marking{
		Time: time.Duration(m.Time), Goroutines: int(m.Goroutines), Proved: m.Proved,
		Passes: int(m.Passes), Took: time.Duration(m.Took), Apart: time.Duration(m.Apart),
		Halted: time.Duration(m.Halted), MaxHalt: time.Duration(m.MaxHalt), Heap: int64(m.Heap),
		NeedsHalt: time.Duration(m.NeedsHalt), NeedsMemory: int64(m.NeedsMemory),
		Doubt: d.text(m.Doubt), Whole: m.Whole,
	}
	for i, from := range m.Groups {
		g, err := d.markedGroup(from)
		if err != nil {
			return fmt.Errorf("group %d of the marking: %w", i, err)
		}
		out.Groups = append(out.Groups, g)
	}
	for _, e := range m.Edges {
		out.Edges = append(out.Edges, MarkedEdge{e.From, e.To, e.At, e.Sure, d.text(e.Taken)})
	}
	return add(&d.dictionary, out, d.b.newMarking)
}

func (d *decoder) markedGroup(m *pb.MarkedGroup) (g MarkedGroup, err error) {
	g = MarkedGroup{
		Verdict: known(&d.dictionary, "verdict", m.Verdict, Stuck),
		Wait:    known(&d.dictionary, "wait", m.Wait, ForNothing), Count: int(m.Count),
		Waited: time.Duration(m.Waited), Kept: int64(m.Kept) - 1,
		Reason: d.text(m.Reason), Doubt: d.text(m.Doubt), Name: d.text(m.Name),
		Creator: Call{d.text(m.CreatorFunction), d.text(m.CreatorFile), int32(m.CreatorLine)},
	}
	last := int64(0)
	for _, step := range m.Goroutine {
		last += step
		g.IDs = append(g.IDs, last)
	}
	if g.Calls, err = d.markedCalls(m.CallFunction, m.CallFile, m.CallLine); err != nil {
		return g, err
	}
	g.Left, err = d.markedCalls(m.LeftFunction, m.LeftFile, m.LeftLine)
	return g, err
}

func (d *decoder) markedCalls(functions, files, lines []uint32) (all []Call, err error) {
	if err := columns(len(functions), len(files), len(lines)); err != nil {
		return nil, err
	}
	for i, line := range lines {
		all = append(all, Call{d.text(functions[i]), d.text(files[i]), int32(line)})
	}
	return all, d.err
}
