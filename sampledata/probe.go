package sampledata

import (
	"fmt"
	"time"
)

// A Probe is what an instrument in the running program measured
// of one function, in addition to the samples: how often it was
// called, from where, with what, and how long the calls took.
type Probe struct {
	Function   string     `json:"function"` // never empty; a recording has one probe of it
	File       string     `json:"file,omitempty"`
	Line       int32      `json:"line,omitempty"` // of the declaration
	Instrument Instrument `json:"instrument"`
	Why        string     `json:"why,omitempty"` // what it is to find out, or who asked for it
	// for a person: why it was refused or taken out, and what it
	// can't tell
	Note string `json:"note,omitempty"`

	// When the instrument was in the program, as Sample.Time,
	// and how long it measured returns; both may be shorter than
	// the recording, since an instrument that costs too much is
	// taken out.
	From        time.Duration `json:"from_ns"`
	To          time.Duration `json:"to_ns"`
	ReturnsUpTo time.Duration `json:"-"` // From if it did not measure returns

	// Calls is the number of calls from From to To, exactly.
	// TakenOut says that there were more afterwards.
	Calls    uint64 `json:"calls"`
	TakenOut bool   `json:"at_least,omitempty"`

	// Of the calls up to ReturnsUpTo: those that returned, and
	// those that panics or runtime.Goexit ended. The rest was
	// still under way, or its record was lost.
	Returned   uint64 `json:"returned"`
	Unfinished uint64 `json:"unfinished,omitempty"`
	// number of records of calls and returns that were lost
	// since there were too many at once
	Lost uint64 `json:"lost,omitempty"`

	// processor time that the instrument took, estimated from the measured cost
	// of a hit
	Cost time.Duration `json:"cost_ns"`

	// Elapsed has the nanoseconds that calls took, from the
	// first instruction behind the prologue up to the return. If
	// the function calls itself, only the outermost calls count.
	Elapsed   Distribution `json:"elapsed_ns,omitzero"`
	Sites     []CallSite   `json:"sites,omitempty"`     // most calls first
	Arguments []Argument   `json:"arguments,omitempty"` // in the order of the declaration
}

// An Instrument is a way to find out that a function is called.
type Instrument uint8

const (
	NoInstrument Instrument = iota // the function can't be probed; Note says why
	// the kernel replaces an instruction in the memory of the process
	Uprobe
	Breakpoint // of the processor: nothing is written
)

func (i Instrument) String() string { return nameOf(instrumentNames, int(i)) }

// MarshalText implements encoding.TextMarshaler.
func (i Instrument) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

var instrumentNames = []string{"none", "uprobe", "breakpoint"}

// A CallSite is a place that a function is called from. An empty
// one stands for all further places.
type CallSite struct {
	Caller  string       `json:"caller"`
	File    string       `json:"file,omitempty"`
	Line    int32        `json:"line,omitempty"`
	Calls   uint64       `json:"calls"`
	Elapsed Distribution `json:"elapsed_ns,omitzero"` // as Probe.Elapsed
}

// An Argument has the values of a function's argument.
type Argument struct {
	Name   string       `json:"name"`
	Kind   ArgumentKind `json:"kind"`
	Values Distribution `json:"values,omitzero"` // of a pointer: 0 if it is nil, otherwise 1
}

// An ArgumentKind says what the numbers of an argument are.
type ArgumentKind uint8

const (
	ValueArgument   ArgumentKind = iota // the number itself
	LengthArgument                      // the length of a string or slice
	PointerArgument                     // whether it points to something
)

func (k ArgumentKind) String() string { return nameOf(argumentNames, int(k)) }

// MarshalText implements encoding.TextMarshaler.
func (k ArgumentKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

var argumentNames = []string{"value", "length", "pointer"}

// The limits of what a recording has of probes.
const (
	MaxProbes    = 256 // in a recording
	MaxSites     = 64  // of a probe, one for all others included
	MaxArguments = 16  // of a probe
)

func (p *Probe) check() error {
	if p.Function == "" {
		return fmt.Errorf("probe without a function")
	}
	if err := p.checkNumbers(); err != nil {
		return fmt.Errorf("probe of %s: %w", p.Function, err)
	}
	if err := p.Elapsed.check(); err != nil {
		return fmt.Errorf("probe of %s: %w", p.Function, err)
	}
	for i := range p.Sites {
		s := &p.Sites[i]
		if err := checkLine(s.Line); err != nil {
			return fmt.Errorf("probe of %s: call site %d: %w", p.Function, i, err)
		}
		if err := s.Elapsed.check(); err != nil {
			return fmt.Errorf("probe of %s: call site %d: %w", p.Function, i, err)
		}
	}
	for i := range p.Arguments {
		a := &p.Arguments[i]
		if a.Name == "" || a.Kind > PointerArgument {
			return fmt.Errorf("probe of %s: argument %d without a name or of unknown kind %d",
				p.Function, i, a.Kind)
		}
		if err := a.Values.check(); err != nil {
			return fmt.Errorf("probe of %s: argument %s: %w", p.Function, a.Name, err)
		}
	}
	return nil
}

func (p *Probe) checkNumbers() error {
	switch {
	case p.Instrument > Breakpoint:
		return fmt.Errorf("unknown instrument %d", p.Instrument)
	case p.From < 0 || p.ReturnsUpTo < p.From || p.To < p.ReturnsUpTo:
		return fmt.Errorf("times %v, %v and %v are not in order", p.From, p.ReturnsUpTo, p.To)
	case p.Cost < 0:
		return fmt.Errorf("negative cost %v", p.Cost)
	case len(p.Sites) > MaxSites:
		return fmt.Errorf("%d call sites, more than %d", len(p.Sites), MaxSites)
	case len(p.Arguments) > MaxArguments:
		return fmt.Errorf("%d arguments, more than %d", len(p.Arguments), MaxArguments)
	}
	return checkLine(p.Line)
}

// Probe returns what was measured of a function; nil if it was not probed.
func (r *Recording) Probe(function string) *Probe {
	for i := range r.Probes {
		if r.Probes[i].Function == function {
			return &r.Probes[i]
		}
	}
	return nil
}

// putProbe replaces the probe of a function, or adds it. It
// copies the list, which others may read.
func putProbe(list []Probe, p Probe) ([]Probe, error) {
	if err := p.check(); err != nil {
		return list, err
	}
	for i := range list {
		if list[i].Function == p.Function {
			list = append([]Probe(nil), list...)
			list[i] = p
			return list, nil
		}
	}
	if len(list) == MaxProbes {
		return list, fmt.Errorf("probe of %s: a recording has at most %d probes",
			p.Function, MaxProbes)
	}
	return append(list[:len(list):len(list)], p), nil
}

func (r *Recording) checkProbes() (err error) {
	var list []Probe
	for i, p := range r.Probes {
		if list, err = putProbe(list, p); err != nil {
			return err
		}
		if len(list) != i+1 {
			return fmt.Errorf("a second probe of %s", p.Function)
		}
	}
	return nil
}
