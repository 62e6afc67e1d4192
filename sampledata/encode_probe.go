package sampledata

import "github.com/cpprof/cpprof/sampledata/internal/pb"

func (e *encoder) probes(list []Probe) (encoded []*pb.Probe) {
	for i := range list {
		p := &list[i]
		m := &pb.Probe{
			Function: e.code(p.Function), File: e.code(p.File), Line: uint32(p.Line),
			Instrument: pb.Instrument(p.Instrument),
			Why:        e.code(p.Why), Note: e.code(p.Note),
			From: uint64(p.From), ReturnsUpTo: uint64(p.ReturnsUpTo - p.From),
			To:    uint64(p.To - p.ReturnsUpTo),
			Calls: p.Calls, TakenOut: p.TakenOut, Returned: p.Returned, Unfinished: p.Unfinished,
			Lost: p.Lost, Cost: uint64(p.Cost),
			Elapsed: encodeDistribution(&p.Elapsed),
		}
		for i := range p.Sites {
			s := &p.Sites[i]
			m.Sites = append(m.Sites, &pb.CallSite{
				Caller: e.code(s.Caller), File: e.code(s.File), Line: uint32(s.Line),
				Calls: s.Calls, Elapsed: encodeDistribution(&s.Elapsed),
			})
		}
		for i := range p.Arguments {
			a := &p.Arguments[i]
			m.Arguments = append(m.Arguments, &pb.Argument{Name: e.code(a.Name),
				Kind: pb.ArgumentKind(a.Kind), Values: encodeDistribution(&a.Values)})
		}
		encoded = append(encoded, m)
	}
	return encoded
}

// encodeDistribution returns nil for an empty distribution.
func encodeDistribution(d *Distribution) *pb.Distribution {
	if len(d.Buckets) == 0 {
		return nil
	}
	m := &pb.Distribution{Sum: d.Sum, Min: d.Min, Max: d.Max}
	last := int32(0)
	for _, b := range d.Buckets {
		m.Bucket = append(m.Bucket, b.Index-last)
		m.Count = append(m.Count, b.Count)
		last = b.Index
	}
	return m
}
