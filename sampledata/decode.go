package sampledata

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampledata/internal/pb"
)

// A decoder makes a recording from the records of SampleData. It trusts none of
// their numbers: it checks indexes itself, or the Builder's tables do. If an
// unsigned number does not fit an int32, its conversion is negative, and the
// checks refuse it.
type decoder struct {
	b       *Builder
	texts   []string
	modes   []mode // by code - 1
	budget  *memory.Budget
	changes []Change // for the next sample

	series *seriesDecoder
	beside *besideDecoder // of the series; nil if each sample's values are decoded with it

	// what was taken from the budget for probes, by the string code of the
	// function
	probeSizes  map[uint32]int64
	markingSize int64 // likewise for the marking
}

func (d *decoder) text(code uint32) (string, error) { return textOf(d.texts, code) }

func textOf(texts []string, code uint32) (string, error) {
	if int64(code) >= int64(len(texts)) {
		return "", fmt.Errorf("string %d is none of the %d strings", code, len(texts))
	}
	return texts[code], nil
}

// textsOf sets strings, given their codes.
func (d *decoder) textsOf(to []*string, codes ...uint32) error {
	return textsOf(d.texts, to, codes...)
}

func textsOf(texts []string, to []*string, codes ...uint32) error {
	for i, c := range codes {
		s, err := textOf(texts, c)
		if err != nil {
			return err
		}
		*to[i] = s
	}
	return nil
}

// columns checks that all columns of a table have the same length.
func columns(lengths ...int) error {
	for _, n := range lengths[1:] {
		if n != lengths[0] {
			return fmt.Errorf("columns of %d and %d rows", lengths[0], n)
		}
	}
	return nil
}

func (d *decoder) header(m *pb.Header) (Header, error) {
	h := Header{
		PID: m.Pid, GOMAXPROCS: m.Gomaxprocs,
		Start: time.Unix(m.StartSeconds, int64(m.StartNanos)).UTC(),
		Sampler: Settings{RateHz: m.RateHz, Jitter: m.Jitter, MaxOverhead: m.MaxOverhead,
			MaxCPU: m.MaxCpu},
	}
	if m.StartNanos < 0 || m.StartNanos >= 1e9 {
		return h, fmt.Errorf("start with %d nanoseconds", m.StartNanos)
	}
	sampler := &h.Sampler
	err := d.textsOf([]*string{&h.Executable, &h.GoVersion, &h.OS, &h.Arch, &h.Clock,
		&sampler.Version, &sampler.Backend, &sampler.Wakes, &h.Container},
		m.Executable, m.GoVersion, m.Os, m.Arch, m.Clock, m.SamplerVersion, m.Backend, m.Wakes,
		m.Container)
	if err != nil {
		return h, err
	}
	for _, c := range m.Command {
		s, err := d.text(c)
		if err != nil {
			return h, err
		}
		h.Command = append(h.Command, s)
	}
	return h, h.check()
}

func (d *decoder) record(r *pb.DataRecord) error {
	if d.b.tables.ended {
		return errors.New("record after the end")
	}
	switch k := r.Kind.(type) {
	case *pb.DataRecord_Functions:
		return d.functions(k.Functions)
	case *pb.DataRecord_Nodes:
		return d.nodes(k.Nodes)
	case *pb.DataRecord_Goroutines:
		return d.goroutines(k.Goroutines)
	case *pb.DataRecord_LabelSet:
		return d.labelSet(k.LabelSet)
	case *pb.DataRecord_HolderSet:
		return d.holderSet(k.HolderSet)
	case *pb.DataRecord_LockNames:
		return d.lockNames(k.LockNames)
	case *pb.DataRecord_Modes:
		return d.addModes(k.Modes)
	case *pb.DataRecord_Changes:
		return d.addChanges(k.Changes)
	case *pb.DataRecord_Sample:
		return d.sample(k.Sample)
	case *pb.DataRecord_Warning:
		return d.warning(k.Warning)
	case *pb.DataRecord_End:
		return d.end(k.End)
	case *pb.DataRecord_Header:
		return errors.New("a second header")
	}
	return errUnknownRecord
}

func (d *decoder) functions(m *pb.Functions) error {
	if err := columns(len(m.Name), len(m.File), len(m.Line)); err != nil {
		return err
	}
	for i := range m.Name {
		f := Function{Line: int32(m.Line[i])}
		if err := d.textsOf([]*string{&f.Name, &f.File}, m.Name[i], m.File[i]); err != nil {
			return err
		}
		if err := d.b.newFunction(f); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) nodes(m *pb.Nodes) error {
	if err := columns(len(m.Parent), len(m.Function), len(m.Line), len(m.Inlined)); err != nil {
		return err
	}
	for i, back := range m.Parent {
		own := uint32(len(d.b.rec.Nodes))
		if back > own {
			return fmt.Errorf("node %d: its parent lies %d nodes back", own, back)
		}
		n := Node{Parent: NoStack, Function: FunctionID(m.Function[i]), Line: int32(m.Line[i]),
			Inlined: m.Inlined[i]}
		if back > 0 {
			n.Parent = NodeID(own - back)
		}
		if err := d.b.newNode(n); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) goroutines(m *pb.Goroutines) error {
	if err := columns(len(m.Id), len(m.Start), len(m.SiteFunction), len(m.SiteFile),
		len(m.SiteLine), len(m.Parent), len(m.Kind)); err != nil {
		return err
	}
	id := int64(0)
	for i := range m.Id {
		id += m.Id[i]
		if m.Kind[i] > kindSystem|kindGC {
			return fmt.Errorf("goroutine of unknown kind %d", m.Kind[i])
		}
		g := Goroutine{
			ID: id, Start: FunctionID(m.Start[i]) - 1, Site: Site{Line: int32(m.SiteLine[i])},
			Parent: m.Parent[i],
			System: m.Kind[i]&kindSystem != 0, GC: m.Kind[i]&kindGC != 0,
		}
		if err := d.textsOf([]*string{&g.Site.Function, &g.Site.File}, m.SiteFunction[i],
			m.SiteFile[i]); err != nil {
			return err
		}
		if err := d.b.newGoroutine(g); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) labelSet(m *pb.LabelSet) error {
	if err := columns(len(m.Key), len(m.Value)); err != nil {
		return err
	}
	set := make([]Label, len(m.Key))
	for i := range set {
		if err := d.textsOf([]*string{&set[i].Key, &set[i].Value}, m.Key[i],
			m.Value[i]); err != nil {
			return err
		}
	}
	return d.b.newLabelSet(set)
}

func (d *decoder) holderSet(m *pb.HolderSet) error {
	set := make([]GoroutineID, len(m.Goroutine))
	last := int64(-1)
	for i, step := range m.Goroutine {
		last += int64(step)
		if last < 0 || last > math.MaxInt32 {
			return fmt.Errorf("holder %d is no goroutine", last)
		}
		set[i] = GoroutineID(last)
	}
	return d.b.newHolderSet(set)
}

func (d *decoder) lockNames(m *pb.LockNames) error {
	if len(m.Capacity) == 0 {
		m.Capacity = make([]uint64, len(m.Address))
	}
	if err := columns(len(m.Address), len(m.First), len(m.Name), len(m.Capacity)); err != nil {
		return err
	}
	for i := range m.Address {
		n := LockName{Address: m.Address[i], First: int32(m.First[i]), Capacity: int64(m.Capacity[i])}
		if err := d.textsOf([]*string{&n.Name}, m.Name[i]); err != nil {
			return err
		}
		if err := d.b.newLockName(n); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) addModes(m *pb.Modes) error {
	if err := columns(len(m.Run), len(m.Torn), len(m.Priority), len(m.Labels),
		len(m.Reason)); err != nil {
		return err
	}
	if len(m.NoCpu) > 0 {
		if err := columns(len(m.Run), len(m.NoCpu)); err != nil {
			return err
		}
	}
	for i := range m.Run {
		if m.Run[i] < 0 || m.Run[i] > pb.RunState(Blocked) {
			return fmt.Errorf("unknown run state %d", m.Run[i])
		}
		reason, err := d.text(m.Reason[i])
		if err != nil {
			return err
		}
		if err := d.budget.Take(modeMemory); err != nil {
			return err
		}
		d.modes = append(d.modes, mode{RunState(m.Run[i]), len(m.NoCpu) > 0 && m.NoCpu[i],
			m.Torn[i], m.Priority[i], LabelSetID(m.Labels[i]), reason})
	}
	return nil
}
