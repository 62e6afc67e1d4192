package interchange

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"google.golang.org/protobuf/encoding/protowire"
)

// pprof is the format of go tool pprof and runtime/pprof (profile.proto).
var pprof = Format{
	Name:  "pprof",
	Title: "a profile",
	Sniff: isPprof,
	Read:  readPprof,
}

// maxDigits is the most digits of a denominator.
const maxDigits = 1 << 10

// An exactly has the properties of a tree that pprof's format
// can't hold. WritePprof stores it as a comment of the profile.
// The tree is then the same when it is read again.
type exactly struct {
	Root     string // of the tree
	FromView bool   `json:",omitempty"` // frames may be typed time and classes
	Metrics  []exactMetric
}

// An exactMetric has the properties of a sample type, as a
// sampledata.Quantity has.
type exactMetric struct {
	Parts int64
	Whole string // an integer or a fraction; "" is the sum of all values

	Rest    int  `json:",omitempty"`
	Hits    int  `json:",omitempty"`
	Part    bool `json:",omitempty"`
	Rounded bool `json:",omitempty"`
}

const exactlyPrefix = "cpprof: "

// Fields of profile.proto, which numbers them from 1.
const (
	sampleTypeField  = 1
	sampleField      = 2
	stringField      = 6
	lastProfileField = 15
)

// isPprof reports whether a file may be a profile: it begins
// with well-formed fields of profile.proto, including a field
// that describes a sample type.
func isPprof(s Start) bool {
	rest, typed := s.Bytes, false
	for len(rest) > 0 {
		number, kind, n := protowire.ConsumeTag(rest)
		if n < 0 {
			return typed && s.cut()
		}
		if number > lastProfileField || kind != protowire.VarintType &&
			kind != protowire.BytesType {
			return false
		}
		field := rest[n:]
		if n = protowire.ConsumeFieldValue(number, kind, field); n < 0 {
			return typed && s.cut()
		}
		if number == sampleTypeField {
			if typed = isValueType(kind, field); !typed {
				return false
			}
		}
		rest = field[n:]
	}
	return typed
}

// isValueType reports whether a field is a message of the two
// fields, both varints, that a sample type has.
func isValueType(kind protowire.Type, field []byte) bool {
	message, n := protowire.ConsumeBytes(field)
	if kind != protowire.BytesType || n < 0 {
		return false
	}
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeField(message)
		if n < 0 || number > 2 || kind != protowire.VarintType {
			return false
		}
		message = message[n:]
	}
	return true
}

// choose shows only the quantity of a name, unless the name is "".
func choose(p *sampledata.Profile, name string) error {
	if name == "" {
		return nil
	}
	names := lists.Each(p.Shown, func(i int) string { return p.Quantities[i].Name })
	if !p.Only(name) {
		return &ValueError{name, "it counts only " + strings.Join(names, ", ")}
	}
	return nil
}

// properties finds the properties that WritePprof stored, or the defaults for
// the profile of another tool.
func (r *pprofReader) properties() error {
	types := len(r.of.SampleType)
	r.exactly = &exactly{Metrics: slices.Repeat([]exactMetric{{Parts: 1}}, types)}
	for _, c := range r.of.Comments {
		text, ok := strings.CutPrefix(c, exactlyPrefix)
		if !ok {
			continue
		}
		if err := json.Unmarshal([]byte(text), r.exactly); err != nil {
			return fmt.Errorf("comment %.200q: %w", c, err)
		}
		if n := len(r.exactly.Metrics); n != types {
			return fmt.Errorf("comment %.200q: %d metrics for %d sample types", c, n, types)
		}
	}
	r.rec.Profile.Root, r.rec.Profile.FromView = r.exactly.Root, r.exactly.FromView
	return nil
}

// whole returns the denominator; nil if it is the sum of all
// values. It refuses numbers that would take big.Rat much
// memory.
func (m *exactMetric) whole() (*big.Rat, error) {
	if m.Whole == "" {
		return nil, nil
	}
	if strings.Trim(m.Whole, "0123456789/") == "" && len(m.Whole) <= maxDigits {
		if whole, ok := new(big.Rat).SetString(m.Whole); ok {
			return whole, nil
		}
	}
	return nil, fmt.Errorf("%.200q is not a denominator", m.Whole)
}
