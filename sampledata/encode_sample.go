package sampledata

import (
	"time"

	"github.com/cpprof/cpprof/sampledata/internal/pb"
)

// sample adds a sample; since is the time since the previous one.
func (e *encoder) sample(s *Sample, since time.Duration, changes []Change, t *monitors,
	measured []measurement, n news) {
	for len(changes) > 0 {
		n := min(len(changes), maxRows)
		e.changes(changes[:n])
		changes = changes[n:]
	}
	e.calls(n.calls)
	m := &pb.Sample{
		Time: uint64(since), Halt: uint64(s.Halt), Threads: uint32(s.Threads),
		StoppedWorld: s.StoppedWorld, Collecting: s.Collecting,
		Missed: uint32(s.Missed), SamplerCpu: uint64(s.SamplerCPU), LostHalt: uint64(s.LostHalt),
		Reused: uint32(s.Reused), Rechecked: uint32(s.Rechecked), Wrong: uint32(s.Wrong),
		Weight: uint64(s.Weight), Suspended: uint64(s.Suspended),
	}
	for _, g := range s.Processors {
		m.Processors = append(m.Processors, uint32(g-SystemProcessor))
	}
	e.series(m, t, measured)
	m.Probes, m.Marking = e.probes(n.probes), e.marking(n.marking)
	e.putNew()
	e.put(&pb.DataRecord{Kind: &pb.DataRecord_Sample{Sample: m}})
}

func (e *encoder) changes(changes []Change) {
	m := &pb.Changes{
		Goroutine: make([]int64, len(changes)),
		Stack:     make([]uint32, len(changes)),
		Mode:      make([]uint32, len(changes)),
	}
	last, lastRow, lastRelease := GoroutineID(0), -1, -1
	for i, c := range changes {
		m.Goroutine[i] = int64(c.Goroutine) - int64(last)
		last = c.Goroutine
		if c.Gone {
			continue
		}
		m.Stack[i] = uint32(c.State.Stack + 1)
		m.Mode[i] = e.mode(&c.State)
		if c.State.Lock != 0 || c.State.Evidence != NoEvidence {
			m.LockRow = append(m.LockRow, uint32(i-lastRow))
			lastRow = i
			m.LockAddress = append(m.LockAddress, c.State.Lock)
			m.LockHolders = append(m.LockHolders, uint32(c.State.Holders))
			m.LockEvidence = append(m.LockEvidence, pb.Evidence(c.State.Evidence))
		}
		if c.State.Release != 0 {
			m.ReleaseRow = append(m.ReleaseRow, uint32(i-lastRelease))
			lastRelease = i
			m.ReleaseStack = append(m.ReleaseStack, uint32(c.State.Release.Stack()))
		}
	}
	e.putNew()
	e.put(&pb.DataRecord{Kind: &pb.DataRecord_Changes{Changes: m}})
}

// mode returns the code of a state's mode.
func (e *encoder) mode(s *State) uint32 {
	k := mode{s.Run, s.NoCPU, s.Torn, s.Priority, s.Labels, s.Reason}
	if c, ok := e.modes[k]; ok {
		return c
	}
	c := uint32(len(e.modes) + 1)
	e.modes[k] = c
	m := e.newModes
	m.Run = append(m.Run, pb.RunState(s.Run))
	m.NoCpu = append(m.NoCpu, s.NoCPU)
	m.Torn = append(m.Torn, s.Torn)
	m.Priority = append(m.Priority, s.Priority)
	m.Labels = append(m.Labels, uint32(s.Labels))
	m.Reason = append(m.Reason, e.code(s.Reason))
	return c
}

func (e *encoder) warnings(ws []Warning) {
	for _, w := range ws {
		e.put(&pb.DataRecord{Kind: &pb.DataRecord_Warning{Warning: &pb.Warning{
			Kind: e.code(w.Kind), Message: e.code(w.Message), Count: w.Count,
		}}})
	}
}

func (e *encoder) end(end *End, n news) {
	e.calls(n.calls)
	probes, marking := e.probes(n.probes), e.marking(n.marking)
	e.putNew()
	e.put(&pb.DataRecord{Kind: &pb.DataRecord_End{End: &pb.End{
		Cause: pb.EndCause(end.Cause), Time: uint64(end.Time), ExitStatus: end.ExitStatus,
		Detail: e.code(end.Detail),
		Missed: uint32(end.Missed), SamplerCpu: uint64(end.SamplerCPU),
		LostHalt: uint64(end.LostHalt), Probes: probes, Marking: marking,
	}}})
}
