package export

import (
	"io"
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/views/calltree"
)

// speedscope is the file format of speedscope.app, with a
// profile for each thread class; of a comparison, with two.
// Inlined calls are frames like others: the reader of speedscope
// for pprof's format drops them.
var speedscope = Format{
	Name:  "speedscope",
	Help:  "JSON for speedscope.app, a profile for each class",
	File:  "run.speedscope.json",
	write: writeSpeedscope,
}

const speedscopeSchema = "https://www.speedscope.app/file-format-schema.json"

// A speedscopeFrame is a frame that all profiles of the file share.
type speedscopeFrame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int32  `json:"line,omitempty"`
}

func writeSpeedscope(w io.Writer, s *Subject) error {
	begin := func(j *jsonWriter, p *placed) {
		j.raw(`{"$schema":`)
		j.value(speedscopeSchema)
		j.raw(`,"name":`)
		j.value(s.Name())
		j.raw(`,"exporter":"cpprof","activeProfileIndex":0,"shared":{"frames":`)
		j.list(len(p.names)+1, func(i int) any {
			if i == len(p.names) {
				return speedscopeFrame{Name: p.tree.Root()}
			}
			c := p.call(calltree.Func(i))
			return speedscopeFrame{c.Function.Name, c.Function.File, c.Line}
		})
		j.raw(`},"profiles":[`)
	}
	return s.writeParts(w, begin,
		func(j *jsonWriter, p *placed, of part, _ int) { writeSpeedscopeProfile(j, p, of) })
}

// speedscopeUnit returns the unit of the format for one of pprof's.
func speedscopeUnit(unit string) string {
	switch unit {
	case "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes":
		return unit
	}
	return "none"
}

func writeSpeedscopeProfile(j *jsonWriter, p *placed, of part) {
	total := new(big.Int)
	var nodes []int32
	var weights []*big.Int
	for n := of.from; n < of.to; n++ {
		if weight := exact.Nearest(of.metric.Own(n)); weight.Sign() != 0 {
			nodes, weights = append(nodes, n), append(weights, weight)
			total.Add(total, weight)
		}
	}
	j.raw(`{"type":"sampled","name":`)
	j.value(of.name)
	j.raw(`,"unit":`)
	j.value(speedscopeUnit(of.metric.Unit))
	j.raw(`,"startValue":0,"endValue":` + total.String() + `,"samples":`)
	j.list(len(nodes), func(i int) any { return p.stack(nodes[i]) })
	j.raw(`,"weights":`)
	j.list(len(weights), func(i int) any { return weights[i] })
	j.raw("}")
}

// stack returns the frames of a node, the outermost first. The
// root of a class is the frame after the last one; "*" is left
// out.
func (p *placed) stack(n int32) []int32 {
	t := p.tree
	var up []int32
	for ; n > 0; n = t.Parents()[n] {
		up = append(up, int32(t.Funcs()[n]))
	}
	if t.Root() != calltree.RootName || len(up) == 0 {
		up = append(up, int32(len(p.names)))
	}
	slices.Reverse(up)
	return up
}
