package sampledata

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampledata/internal/pb"
)

// A decoder makes a recording from the records of SampleData. It
// trusts none of their numbers: it checks indexes itself, or the
// Builder's tables do. If an unsigned number does not fit an
// int32, its conversion is negative, and the checks refuse it.
type decoder struct {
	dictionary
	b       *Builder
	modes   []mode // by code - 1
	budget  *memory.Budget
	changes []Change // for the next sample

	series *besideDecoder
	bad    *seriesError // the sample whose values can't be read; nil until that is known

	// what was taken from the budget for probes, by the string
	// code of the function, and for the marking
	replaced map[uint32]int64
}

// markingKey is the code of "", which no probe has.
const markingKey = 0

// replace takes the memory of a probe or marking from the budget,
// as far as the one that it replaces did not.
func (d *decoder) replace(key uint32, size int64) error {
	more := max(0, size-d.replaced[key])
	d.replaced[key] += more
	return d.budget.Take(more)
}

// A dictionary has the strings of a recording, by their codes.
// It keeps the first error: of a code that it does not have, or
// of a value that is not known.
type dictionary struct {
	texts []string
	err   error
}

func (d *dictionary) text(code uint32) string {
	if int64(code) < int64(len(d.texts)) {
		return d.texts[code]
	}
	d.fail("string %d is none of the %d strings", code, len(d.texts))
	return ""
}

// fail keeps an error if it is the first.
func (d *dictionary) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

// known returns a value of an enumeration, and fails if the
// enumeration, which ends with last, does not have it.
func known[E ~uint8, P ~int32](d *dictionary, what string, value P, last E) E {
	if value < 0 || value > P(last) {
		d.fail("unknown %s %d: a newer cpprof may know it", what, value)
	}
	return E(value)
}

// add adds a row that was read with a dictionary, unless that has failed.
func add[T any](d *dictionary, row T, to func(T) error) error {
	if d.err != nil {
		return d.err
	}
	return to(row)
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
		Executable: d.text(m.Executable), PID: m.Pid, GoVersion: d.text(m.GoVersion),
		OS: d.text(m.Os), Arch: d.text(m.Arch), GOMAXPROCS: m.Gomaxprocs,
		Start: time.Unix(m.StartSeconds, int64(m.StartNanos)).UTC(), Clock: d.text(m.Clock),
		Sampler: Settings{Version: d.text(m.SamplerVersion), Backend: d.text(m.Backend),
			RateHz: m.RateHz, Jitter: m.Jitter, MaxOverhead: m.MaxOverhead, MaxCPU: m.MaxCpu,
			Wakes: d.text(m.Wakes)},
		Container: d.text(m.Container),
	}
	if m.StartNanos < 0 || m.StartNanos >= 1e9 {
		return h, fmt.Errorf("start with %d nanoseconds", m.StartNanos)
	}
	for _, c := range m.Command {
		h.Command = append(h.Command, d.text(c))
	}
	return h, cmp.Or(d.err, h.check())
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
		f := Function{Name: d.text(m.Name[i]), File: d.text(m.File[i]), Line: int32(m.Line[i])}
		if err := add(&d.dictionary, f, d.b.newFunction); err != nil {
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
			ID: id, Start: FunctionID(m.Start[i]) - 1, Parent: m.Parent[i],
			Site:   Site{d.text(m.SiteFunction[i]), d.text(m.SiteFile[i]), int32(m.SiteLine[i])},
			System: m.Kind[i]&kindSystem != 0, GC: m.Kind[i]&kindGC != 0,
		}
		if err := add(&d.dictionary, g, d.b.newGoroutine); err != nil {
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
		set[i] = Label{d.text(m.Key[i]), d.text(m.Value[i])}
	}
	return add(&d.dictionary, set, d.b.newLabelSet)
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
		n := LockName{Address: m.Address[i], First: int32(m.First[i]), Name: d.text(m.Name[i]),
			Capacity: int64(m.Capacity[i])}
		if err := add(&d.dictionary, n, d.b.newLockName); err != nil {
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
		run := known(&d.dictionary, "run state", m.Run[i], Blocked)
		d.modes = append(d.modes, mode{run, len(m.NoCpu) > 0 && m.NoCpu[i],
			m.Torn[i], m.Priority[i], LabelSetID(m.Labels[i]), d.text(m.Reason[i])})
		if err := add(&d.dictionary, modeMemory, d.budget.Take); err != nil {
			return err
		}
	}
	return nil
}
