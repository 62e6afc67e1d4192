package interchange

import (
	"errors"
	"fmt"
	"io"

	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampledata"
	"google.golang.org/protobuf/encoding/protowire"
)

// maxProfile is the most bytes of a profile, uncompressed.
const maxProfile = 1 << 31

// A pprofReader reads a profile field by field. Samples come before the
// locations, functions and texts that they refer to: they are kept as contexts
// of locations until the end, see pprof_tables.go.
type pprofReader struct {
	fields *fieldReader
	budget *memory.Budget

	types     []valueType
	contexts  *contexts // of locations
	locations locations
	functions []pprofFunction
	texts     []string
	comments  []uint64
	byDefault uint64 // the default sample type

	start, duration, period int64 // in nanoseconds, except the period; 0 if they are not known
	periodType              valueType

	stacks []int32 // by sample: its context
	labels []int32 // by sample: an index of labelSets
	values []int64

	labelSets [][]pprofLabel
	byLabels  map[string]int32 // by the bytes of the labels

	stack   []int32 // of the sample that is being read
	label   []byte
	numbers int // values of a sample; -1 before the first
}

// A valueType is a sample type: the numbers of its name's and its unit's texts.
type valueType struct{ name, unit uint64 }

type pprofFunction struct {
	id, name, file uint64
	line           int64
}

// A pprofLabel is a label with a text, or a number and its unit, as numbers of
// texts.
type pprofLabel struct {
	key, text, unit uint64
	number          int64
}

// What the parts of a profile take, in bytes: while it is read, and then in the
// tables of a recording and in a view.
const (
	contextMemory = 24 + 130
	sampleMemory  = 16
	valueMemory   = 16
	tableMemory   = 200 // of a location, a function or a set of labels, without its texts
)

// readPprof reads a profile, with all its sample types or only the one that the
// options choose.
func readPprof(in *Input, o Options) (*sampledata.Recording, error) {
	budget := memory.NewBudget(o.MaxMemory)
	p := &pprofReader{
		fields: newFieldReader(in, min(maxProfile, budget.Max()*16), budget), budget: budget,
		contexts: newContexts(), numbers: -1,
		labelSets: [][]pprofLabel{nil}, byLabels: make(map[string]int32),
	}
	if err := p.read(); err != nil {
		return nil, fmt.Errorf("pprof profile: byte %d: %w", p.fields.at, err)
	}
	r, err := p.recording()
	if err == nil {
		err = choose(r.Profile, o.Value)
	}
	if err != nil {
		return nil, fmt.Errorf("pprof profile: %w", err)
	}
	return r, nil
}

// read reads all fields.
func (p *pprofReader) read() error {
	for {
		f, err := p.fields.next()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err == nil {
			err = p.field(&f)
		}
		if err != nil {
			return err
		}
	}
}

// Fields of profile.proto, which numbers them from 1.
const (
	sampleTypeField  = 1
	sampleField      = 2
	locationField    = 4
	functionField    = 5
	stringField      = 6
	timeField        = 9
	durationField    = 10
	periodTypeField  = 11
	periodField      = 12
	commentField     = 13
	defaultField     = 14
	lastProfileField = 15
)

func (p *pprofReader) field(f *field) error {
	switch f.number {
	case sampleTypeField:
		t, err := readValueType(f.bytes)
		p.types = append(p.types, t)
		return errors.Join(err, p.budget.Take(tableMemory))
	case sampleField:
		return p.sample(f.bytes)
	case locationField:
		return p.location(f.bytes)
	case functionField:
		return p.function(f.bytes)
	case stringField:
		p.texts = append(p.texts, string(f.bytes))
		return p.budget.Take(16 + int64(len(f.bytes)))
	case commentField:
		return eachField(packed(f), func(protowire.Number) bool { return true },
			func(_ protowire.Number, v uint64, _ []byte) error {
				p.comments = append(p.comments, v)
				return p.budget.Take(8)
			})
	case defaultField:
		p.byDefault = f.value
	case timeField:
		p.start = int64(f.value)
	case durationField:
		p.duration = int64(f.value)
	case periodTypeField:
		t, err := readValueType(f.bytes)
		p.periodType = t
		return err
	case periodField:
		p.period = int64(f.value)
	}
	return nil
}

func readValueType(message []byte) (t valueType, err error) {
	err = eachField(message, none, func(n protowire.Number, v uint64, _ []byte) error {
		switch n {
		case 1:
			t.name = v
		case 2:
			t.unit = v
		}
		return nil
	})
	return t, err
}

func none(protowire.Number) bool { return false }

// packed returns a field as a message of its own. A single number is then read
// like a packed list.
func packed(f *field) []byte {
	tag := protowire.AppendTag(nil, f.number, f.kind)
	if f.kind == protowire.VarintType {
		return protowire.AppendVarint(tag, f.value)
	}
	return protowire.AppendBytes(tag, f.bytes)
}

// sample adds a sample.
func (p *pprofReader) sample(message []byte) error {
	p.stack, p.label = p.stack[:0], p.label[:0]
	before := len(p.values)
	var labels []pprofLabel
	err := eachField(message, func(n protowire.Number) bool { return n <= 2 },
		func(n protowire.Number, v uint64, b []byte) error {
			switch n {
			case 1:
				p.stack = append(p.stack, p.locations.number(v))
				if len(p.stack) > sampledata.MaxDepth {
					return errTooDeep
				}
			case 2:
				p.values = append(p.values, int64(v))
			case 3:
				p.label = protowire.AppendBytes(p.label, b)
				return p.budget.Fits(int64(len(p.label)) * 8)
			}
			return nil
		})
	if err != nil {
		return err
	}
	n := len(p.values) - before
	if p.numbers < 0 {
		p.numbers = n
	}
	if n != p.numbers || n == 0 {
		return fmt.Errorf("a sample has %d values, the first one has %d", n, p.numbers)
	}
	set, known := p.byLabels[string(p.label)]
	if !known && len(p.label) > 0 {
		if labels, err = parseLabels(p.label); err != nil {
			return err
		}
		set = int32(len(p.labelSets))
		p.labelSets = append(p.labelSets, labels)
		p.byLabels[string(p.label)] = set
	}
	old := p.contexts.len()
	p.stacks, p.labels = append(p.stacks, p.contexts.of(p.stack)), append(p.labels, set)
	size := sampleMemory + valueMemory*n + contextMemory*(p.contexts.len()-old) +
		p.locations.grown()
	if len(labels) > 0 {
		size += tableMemory + 10*len(p.label)
	}
	return p.budget.Take(int64(size))
}

var errTooDeep = fmt.Errorf("a stack of more than %d calls", sampledata.MaxDepth)

// parseLabels reads labels. Each is a message after its length.
func parseLabels(b []byte) (labels []pprofLabel, err error) {
	for len(b) > 0 {
		message, n := protowire.ConsumeBytes(b)
		b = b[n:]
		var l pprofLabel
		err = eachField(message, none, func(n protowire.Number, v uint64, _ []byte) error {
			switch n {
			case 1:
				l.key = v
			case 2:
				l.text = v
			case 3:
				l.number = int64(v)
			case 4:
				l.unit = v
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		labels = append(labels, l)
	}
	return labels, nil
}

func (p *pprofReader) location(message []byte) error {
	var l location
	var id uint64
	err := eachField(message, none, func(n protowire.Number, v uint64, b []byte) error {
		switch n {
		case 1:
			id = v
		case 3:
			l.address = v
		case 4:
			var line locationLine
			err := eachField(b, none, func(n protowire.Number, v uint64, _ []byte) error {
				switch n {
				case 1:
					line.function = v
				case 2:
					line.line = int64(v)
				}
				return nil
			})
			l.lines = append(l.lines, line)
			if len(l.lines) > sampledata.MaxDepth {
				return errTooDeep
			}
			return err
		}
		return nil
	})
	if err == nil {
		err = p.locations.define(id, l)
	}
	if err != nil {
		return err
	}
	return p.budget.Take(int64(tableMemory + 40*len(l.lines) + p.locations.grown()))
}

func (p *pprofReader) function(message []byte) error {
	var f pprofFunction
	var system uint64
	err := eachField(message, none, func(n protowire.Number, v uint64, _ []byte) error {
		switch n {
		case 1:
			f.id = v
		case 2:
			f.name = v
		case 3:
			system = v
		case 4:
			f.file = v
		case 5:
			f.line = int64(v)
		}
		return nil
	})
	if f.name == 0 {
		f.name = system
	}
	p.functions = append(p.functions, f)
	if err != nil {
		return err
	}
	return p.budget.Take(tableMemory)
}
