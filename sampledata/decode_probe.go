package sampledata

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/cpprof/cpprof/sampledata/internal/pb"
)

// probeMemory is at most how many times the memory of a probe is
// larger than its message.
const probeMemory = 100

func (d *decoder) probes(list []*pb.Probe) error {
	for _, m := range list {
		if err := d.probe(m); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) probe(m *pb.Probe) error {
	if err := d.replace(m.Function, int64(proto.Size(m)+10)*probeMemory); err != nil {
		return err
	}
	p := Probe{
		Function: d.text(m.Function), File: d.text(m.File), Line: int32(m.Line),
		Instrument: known(&d.dictionary, "instrument", m.Instrument, Breakpoint),
		Why:        d.text(m.Why), Note: d.text(m.Note),
		From:  time.Duration(m.From),
		Calls: m.Calls, TakenOut: m.TakenOut, Returned: m.Returned, Unfinished: m.Unfinished,
		Lost: m.Lost, Cost: time.Duration(m.Cost),
	}
	// If a sum overflows, it is before the previous time, and so
	// the check refuses it.
	p.ReturnsUpTo = p.From + time.Duration(m.ReturnsUpTo)
	p.To = p.ReturnsUpTo + time.Duration(m.To)
	if err := d.probeParts(m, &p); err != nil {
		return fmt.Errorf("probe of %s: %w", p.Function, err)
	}
	return d.b.newProbe(p)
}

func (d *decoder) probeParts(m *pb.Probe, p *Probe) (err error) {
	if p.Elapsed, err = decodeDistribution(m.Elapsed); err != nil {
		return err
	}
	for _, from := range m.Sites {
		s := CallSite{Caller: d.text(from.Caller), File: d.text(from.File),
			Line: int32(from.Line), Calls: from.Calls}
		if s.Elapsed, err = decodeDistribution(from.Elapsed); err != nil {
			return err
		}
		p.Sites = append(p.Sites, s)
	}
	for _, from := range m.Arguments {
		a := Argument{Name: d.text(from.Name),
			Kind: known(&d.dictionary, "argument kind", from.Kind, PointerArgument)}
		if a.Values, err = decodeDistribution(from.Values); err != nil {
			return err
		}
		p.Arguments = append(p.Arguments, a)
	}
	return d.err
}

func decodeDistribution(m *pb.Distribution) (d Distribution, err error) {
	if m == nil {
		return d, nil
	}
	if err := columns(len(m.Bucket), len(m.Count)); err != nil {
		return d, err
	}
	d = Distribution{Sum: m.Sum, Min: m.Min, Max: m.Max}
	index := int64(0)
	for i, step := range m.Bucket {
		if index += int64(step); index != int64(int32(index)) {
			return d, fmt.Errorf("bucket %d is none of a distribution", index)
		}
		d.Buckets = append(d.Buckets, Bucket{int32(index), m.Count[i]})
	}
	return d, nil
}
