package sampledata

import (
	"fmt"
	"math"
	"time"

	"github.com/cpprof/cpprof/sampledata/internal/pb"
)

func (d *decoder) addChanges(m *pb.Changes) error {
	if m.Calls != nil {
		if err := d.calls(m.Calls); err != nil {
			return err
		}
	}
	if err := columns(len(m.Goroutine), len(m.Stack), len(m.Mode)); err != nil {
		return err
	}
	first := len(d.changes)
	g := int64(0)
	for i := range m.Goroutine {
		g += m.Goroutine[i]
		if g < 0 || g > math.MaxInt32 {
			return fmt.Errorf("change of %d, which is no goroutine", g)
		}
		c := Change{Goroutine: GoroutineID(g), Gone: m.Mode[i] == 0, Again: true}
		if !c.Gone {
			if int64(m.Mode[i]) > int64(len(d.modes)) {
				return fmt.Errorf("mode %d is none of the %d modes", m.Mode[i], len(d.modes))
			}
			k := &d.modes[m.Mode[i]-1]
			c.State = State{Stack: NodeID(m.Stack[i]) - 1, Run: k.run, NoCPU: k.noCPU,
				Torn: k.torn, Priority: k.priority, Labels: k.labels, Reason: k.reason}
		}
		if err := d.budget.Fits(int64(len(d.changes)) * changeMemory); err != nil {
			return err
		}
		d.changes = append(d.changes, c)
	}
	if err := setReleases(m, d.changes[first:]); err != nil {
		return err
	}
	return d.setLocks(m, d.changes[first:])
}

// setReleases records who ended each wait. Some are unknown.
func setReleases(m *pb.Changes, changes []Change) error {
	if err := columns(len(m.ReleaseRow), len(m.ReleaseStack)); err != nil {
		return err
	}
	row := int64(-1)
	for i, step := range m.ReleaseRow {
		row += int64(step)
		if row < 0 || row >= int64(len(changes)) || changes[row].Gone {
			return fmt.Errorf("release of row %d, which has no goroutine with a state", row)
		}
		if m.ReleaseStack[i] >= math.MaxInt32 {
			return fmt.Errorf("release with stack %d, which is no stack", m.ReleaseStack[i])
		}
		changes[row].State.Release = ReleaseAt(NodeID(m.ReleaseStack[i]))
	}
	return nil
}

// setLocks sets the locks and holders of the changes that have some.
func (d *decoder) setLocks(m *pb.Changes, changes []Change) error {
	if err := columns(len(m.LockRow), len(m.LockAddress), len(m.LockHolders),
		len(m.LockEvidence)); err != nil {
		return err
	}
	row := int64(-1)
	for i, step := range m.LockRow {
		row += int64(step)
		if row < 0 || row >= int64(len(changes)) || changes[row].Gone {
			return fmt.Errorf("lock of row %d, which has no goroutine with a state", row)
		}
		s := &changes[row].State
		s.Lock, s.Holders = m.LockAddress[i], HolderSetID(m.LockHolders[i])
		s.Evidence = known(&d.dictionary, "evidence", m.LockEvidence[i], Free)
	}
	return d.err
}

func (d *decoder) sample(m *pb.Sample) error {
	s := Sample{
		// If the sum overflows, it is before the previous
		// sample, and so Sample refuses it.
		Time: d.b.tables.time + time.Duration(m.Time), Halt: time.Duration(m.Halt),
		Threads:      int32(m.Threads),
		StoppedWorld: m.StoppedWorld, Collecting: m.Collecting,
		Missed: int32(m.Missed), SamplerCPU: time.Duration(m.SamplerCpu),
		LostHalt: time.Duration(m.LostHalt),
		Reused:   int32(m.Reused), Rechecked: int32(m.Rechecked), Wrong: int32(m.Wrong),
		Weight: time.Duration(m.Weight), Suspended: time.Duration(m.Suspended),
	}
	for _, p := range m.Processors {
		s.Processors = append(s.Processors, GoroutineID(p)+SystemProcessor)
	}
	values := seriesRecord{int32(d.b.tables.samples), m.Monitors, m.Values}
	if d.bad != nil && d.bad.sample == values.sample {
		return d.bad.error
	}
	if err := d.probes(m.Probes); err != nil {
		return err
	}
	if err := d.marking(m.Marking); err != nil {
		return err
	}
	if err := d.b.Sample(s, d.changes); err != nil {
		return err
	}
	d.changes = d.changes[:0]
	if len(values.monitors)+len(values.values) > 0 {
		d.series.put(values)
	}
	if err := d.budget.Take(int64(len(m.Values))); err != nil { // which is what the columns take
		return err
	}
	return d.b.charge()
}

func (d *decoder) warning(m *pb.Warning) error {
	kind, message := d.text(m.Kind), d.text(m.Message)
	switch {
	case d.err != nil:
		return d.err
	case kind == "" || m.Count < 1:
		return fmt.Errorf("warning of kind %q, counted %d times", kind, m.Count)
	}
	d.b.Warn(kind, message, m.Count)
	return nil
}

func (d *decoder) end(m *pb.End) error {
	if err := d.probes(m.Probes); err != nil {
		return err
	}
	if err := d.marking(m.Marking); err != nil {
		return err
	}
	return add(&d.dictionary, End{
		Cause: known(&d.dictionary, "end cause", m.Cause, EndFailed),
		Time:  time.Duration(m.Time), ExitStatus: m.ExitStatus, Detail: d.text(m.Detail),
		Missed: int32(m.Missed), SamplerCPU: time.Duration(m.SamplerCpu),
		LostHalt: time.Duration(m.LostHalt),
	}, d.b.Finish)
}
