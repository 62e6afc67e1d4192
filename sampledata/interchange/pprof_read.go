package interchange

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/protowire"
)

var errTooDeep = fmt.Errorf("a stack of more than %d calls", sampledata.MaxDepth)

// A pprofReader makes a recording of a profile.
type pprofReader struct {
	*weighing
	of      *profile.Profile
	exactly *exactly
	located [][]int32 // by location: its places, the innermost first
}

// readPprof reads a profile, with all its sample types or only
// the one that the options choose.
func readPprof(in *Input, o Options) (*sampledata.Recording, error) {
	budget := memory.NewBudget(o.MaxMemory)
	p, err := parsePprof(in, budget)
	if err != nil {
		return nil, fmt.Errorf("pprof profile: %w", err)
	}
	r := &pprofReader{weighing: newWeighing(budget), of: p}
	for _, step := range []func() error{r.properties, r.quantities, r.locations, r.samples} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("pprof profile: %w", err)
		}
	}
	rec, err := r.recording(p.DefaultSampleType, o.Value)
	if err != nil {
		return nil, fmt.Errorf("pprof profile: %w", err)
	}
	return rec, nil
}

// parsePprof parses a profile if there is enough memory for it.
func parsePprof(in *Input, budget *memory.Budget) (*profile.Profile, error) {
	data, err := io.ReadAll(io.LimitReader(in, budget.Max()/readMemory+1))
	if err == nil {
		err = chargeParsed(data, budget)
	}
	if err != nil {
		return nil, err
	}
	p, err := profile.ParseUncompressed(data)
	if err != nil {
		return nil, err
	}
	if len(p.SampleType) == 0 {
		return nil, errors.New("it has no samples")
	}
	return p, p.CheckValid()
}

// What a profile takes, in bytes.
const (
	readMemory   = 4   // of a byte of the file
	parsedMemory = 200 // of a message
	packedMemory = 24  // of a byte of a sample: many small numbers
)

// chargeParsed counts what a profile takes when it is parsed.
func chargeParsed(data []byte, budget *memory.Budget) error {
	if err := budget.Take(readMemory * int64(len(data))); err != nil {
		return err
	}
	size := int64(0)
	for len(data) > 0 {
		number, _, n := protowire.ConsumeField(data)
		if n < 0 {
			return protowire.ParseError(n)
		}
		data = data[n:]
		if size += parsedMemory; number == sampleField {
			size += packedMemory * int64(n)
		}
	}
	return budget.Take(size)
}

// quantities makes a quantity of each sample type, and notes
// when the profile was taken, and how often.
func (r *pprofReader) quantities() error {
	p := r.rec.Profile
	for i, t := range r.of.SampleType {
		q := r.exactly.Metrics[i]
		whole, err := q.whole()
		if err != nil {
			return err
		}
		p.Quantities = append(p.Quantities, sampledata.Quantity{
			Name: t.Type, Unit: t.Unit, Parts: q.Parts, Rest: q.Rest, Hits: q.Hits,
			Whole: whole, Part: q.Part, Rounded: q.Rounded,
		})
	}
	if r.of.TimeNanos != 0 {
		p.Start = time.Unix(0, r.of.TimeNanos)
	}
	p.Duration = time.Duration(r.of.DurationNanos)
	p.Period = sampledata.Period{Name: r.of.PeriodType.Type, Unit: r.of.PeriodType.Unit,
		Every: r.of.Period}
	p.Show(r.of.DefaultSampleType)
	return p.CheckQuantities()
}

// locations finds the places of each location. With inlining
// there are several. A location without a function has its
// address as its name. The ids of the locations become their
// numbers.
func (r *pprofReader) locations() error {
	for i, l := range r.of.Location {
		l.ID = uint64(i)
		var frames []frame
		for k, line := range l.Line {
			f := sampledata.Function{Name: line.Function.Name, File: line.Function.Filename,
				Line: clampLine(line.Function.StartLine)}
			f.Name = cmp.Or(f.Name, line.Function.SystemName)
			if f.Name == "" {
				continue
			}
			frames = append(frames, frame{r.function(f), clampLine(line.Line), k < len(l.Line)-1})
		}
		if len(frames) == 0 {
			address := sampledata.Function{Name: fmt.Sprintf("%#x", l.Address)}
			frames = []frame{{function: r.function(address)}}
		}
		if r.err != nil {
			return r.err
		}
		frames[len(frames)-1].inlined = false
		r.located = append(r.located, lists.Each(frames, r.places.Number))
	}
	return nil
}

// samples adds the samples.
func (r *pprofReader) samples() error {
	for _, s := range r.of.Sample {
		for _, l := range s.Location {
			r.push(r.located[l.ID]...)
		}
		if n := len(r.stack); n > 0 && r.isRoot(r.stack[n-1]) {
			r.stack = r.stack[:n-1]
		}
		if err := r.row(labelsOf(s), s.Value...); err != nil {
			return err
		}
	}
	return nil
}

// isRoot reports whether an outermost place is the root of the
// tree that cpprof wrote.
func (r *pprofReader) isRoot(place int32) bool {
	root := r.rec.Profile.Root
	return root != "" && r.functions.All[r.places.All[place].function].Name == root
}

// labelsOf returns the labels of a sample. Numbers become texts
// with their unit.
func labelsOf(s *profile.Sample) (labels []sampledata.Label) {
	for key, numbers := range s.NumLabel {
		text := strconv.FormatInt(numbers[len(numbers)-1], 10)
		if units := s.NumUnit[key]; len(units) > 0 && units[len(units)-1] != "" {
			text += " " + units[len(units)-1]
		}
		labels = append(labels, sampledata.Label{Key: key, Value: text})
	}
	for key, texts := range s.Label {
		labels = slices.DeleteFunc(labels, func(l sampledata.Label) bool { return l.Key == key })
		labels = append(labels, sampledata.Label{Key: key, Value: texts[len(texts)-1]})
	}
	return labels
}
