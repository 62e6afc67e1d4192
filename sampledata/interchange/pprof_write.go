package interchange

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/google/pprof/profile"
)

// WritePprof writes what PprofOf returns.
func WritePprof(w io.Writer, r *sampledata.Recording) error {
	p, err := PprofOf(r)
	if err != nil {
		return err
	}
	if err := p.Write(w); err != nil {
		return fmt.Errorf("writing a pprof profile: %w", err)
	}
	return nil
}

// PprofOf returns a recording of a profile as pprof has it, with
// its lines, inlined calls and labels.
func PprofOf(r *sampledata.Recording) (*profile.Profile, error) {
	if r.Profile == nil {
		return nil, errors.New("writing a pprof profile: the recording has samples over time, which are no profile")
	}
	e := encoder{r: r, profile: &profile.Profile{}, places: map[string]*profile.Location{},
		root: r.Profile.Root}
	if err := e.quantities(); err != nil {
		return nil, fmt.Errorf("writing a pprof profile: %w", err)
	}
	e.samples()
	return e.profile, nil
}

type encoder struct {
	r         *sampledata.Recording
	profile   *profile.Profile
	functions []*profile.Function // by code; nil before the first use
	places    map[string]*profile.Location
	root      string // the outermost frame of all stacks; "" for none
	key       []byte
	kept      []int // the numbers of the quantities to write
}

func (e *encoder) quantities() error {
	p := e.r.Profile
	x := exactly{Root: p.Root, FromView: p.FromView}
	e.kept = p.ShownParts()
	number := func(k int) int {
		if k == 0 {
			return 0
		}
		return slices.Index(e.kept, k)
	}
	var remarks []string // for people: pprof -comments
	for _, k := range e.kept {
		q := p.Quantities[k]
		if q.Rounded {
			remarks = append(remarks,
				fmt.Sprintf("%s is rounded to 1/%d %s in each stack: the common denominator of its exact values does not fit 64 bits", q.Name, q.Parts, q.Unit))
		}
		e.profile.SampleType = append(e.profile.SampleType,
			&profile.ValueType{Type: q.Name, Unit: q.Unit})
		m := exactMetric{Parts: q.Parts, Rest: number(q.Rest), Hits: number(q.Hits),
			Part: q.Part, Rounded: q.Rounded}
		if q.Whole != nil {
			m.Whole = q.Whole.RatString()
		}
		x.Metrics = append(x.Metrics, m)
	}
	e.profile.DefaultSampleType = p.Main().Name
	text, err := json.Marshal(x)
	e.profile.Comments = append(remarks, exactlyPrefix+string(text))
	if !p.Start.IsZero() {
		e.profile.TimeNanos = p.Start.UnixNano()
	}
	e.profile.DurationNanos, e.profile.Period = int64(p.Duration), p.Period.Every
	if p.Period != (sampledata.Period{}) {
		e.profile.PeriodType = &profile.ValueType{Type: p.Period.Name, Unit: p.Period.Unit}
	}
	return err
}

func (e *encoder) samples() {
	p := e.r.Profile
	e.functions = make([]*profile.Function, len(e.r.Functions))
	for i, stack := range p.Stacks {
		s := &profile.Sample{Location: e.stack(stack)}
		for _, k := range e.kept {
			s.Value = append(s.Value, p.Row(i)[k])
		}
		for _, l := range e.r.LabelSets[p.Labels[i]] {
			if s.Label == nil {
				s.Label = make(map[string][]string)
			}
			s.Label[l.Key] = []string{l.Value}
		}
		e.profile.Sample = append(e.profile.Sample, s)
	}
}

// stack returns the locations of a stack, the innermost first.
// Inlined calls are in the location of their caller.
func (e *encoder) stack(n sampledata.NodeID) (list []*profile.Location) {
	for n != sampledata.NoStack {
		var frames []frame // the innermost first
		for inlined := true; inlined && n != sampledata.NoStack; n = e.r.Nodes[n].Parent {
			node := &e.r.Nodes[n]
			frames = append(frames, frame{node.Function, node.Line, node.Inlined})
			inlined = node.Inlined
		}
		list = append(list, e.place(frames))
	}
	if e.root != "" {
		list = append(list, e.place([]frame{{function: noFunction}}))
	}
	return list
}

// noFunction stands for the root.
const noFunction sampledata.FunctionID = -1

// place returns the location of some frames.
func (e *encoder) place(frames []frame) *profile.Location {
	e.key = e.key[:0]
	for _, f := range frames {
		e.key = binary.AppendVarint(binary.AppendVarint(e.key, int64(f.function)), int64(f.line))
	}
	if l, ok := e.places[string(e.key)]; ok {
		return l
	}
	l := &profile.Location{ID: uint64(len(e.profile.Location)) + 1}
	for _, f := range frames {
		l.Line = append(l.Line, profile.Line{Function: e.functionOf(f.function),
			Line: int64(f.line)})
	}
	e.places[string(e.key)] = l
	e.profile.Location = append(e.profile.Location, l)
	return l
}

func (e *encoder) functionOf(code sampledata.FunctionID) *profile.Function {
	if code == noFunction {
		return e.function(e.root)
	}
	if e.functions[code] == nil {
		of := &e.r.Functions[code]
		fn := e.function(of.Name)
		fn.Filename, fn.StartLine = of.File, int64(of.Line)
		e.functions[code] = fn
	}
	return e.functions[code]
}

func (e *encoder) function(name string) *profile.Function {
	fn := &profile.Function{ID: uint64(len(e.profile.Function)) + 1, Name: name, SystemName: name}
	e.profile.Function = append(e.profile.Function, fn)
	return fn
}
