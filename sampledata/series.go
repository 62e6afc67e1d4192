package sampledata

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"math"
	"strconv"
)

// MonitorID is the code of a monitor: an index into Recording.Series.
type MonitorID int32

// A Monitor says what the values of a series are. Monitors are
// the same if they are ==; their names differ.
type Monitor struct {
	Name   string `json:"name"` // never empty
	Layer  Layer  `json:"layer"`
	Kind   Kind   `json:"kind"`
	Real   bool   `json:"-"`      // its values are floating-point numbers; not of a Nominal monitor
	Unit   string `json:"unit"`   // "ns", "bytes"; "" for a number of things
	Source string `json:"source"` // what it is read from, such as "/proc/PID/stat"
	// how often a value can change at most: "10ms", "once a
	// collection"; "" if there is no such bound
	Resolution string `json:"resolution"`
	Unmeasured string `json:"unmeasured"` // why there are no values; "" if there may be some
}

// Layer is the layer of the system that a monitor observes. The
// values may be read in another layer.
type Layer uint8

const (
	Application Layer = iota // the program's own variables
	Sampled                  // computed from the samples themselves
	Runtime                  // Go's runtime
	Kernel                   // the operating system
	Hardware                 // the processors' own counters
)

// Kind says how to compute with a monitor's values.
type Kind uint8

const (
	// a sum that only grows, unless it begins again: only its
	// differences have a meaning
	Counter Kind = iota
	Level        // rises and falls
	Nominal      // one of a set of words: no arithmetic
)

// A Value is what a monitor measured. Count, Number, Real and
// Word make one. The zero Value means that nothing was measured;
// it is not the number 0. Values are the same if they are ==.
type Value struct {
	form form
	bits uint64
	word string
}

// form is the type of a Value, and so the meaning of its bits.
type form uint8

const (
	unmeasured form = iota
	count           // uint64: of a Counter
	number          // int64: of a Level
	real            // float64: of a Counter or Level with Monitor.Real
	word            // of a Nominal monitor
)

// Count returns the reading of a Counter. The whole range of
// uint64 is exact.
func Count(n uint64) Value { return Value{form: count, bits: n} }

// Number returns the value of a Level.
func Number(n int64) Value { return Value{form: number, bits: uint64(n)} }

// Real returns the value of a monitor with floating-point
// values. Infinities are values. NaN means "not measured":
// exporters report it if they have no number.
func Real(x float64) Value {
	v := Value{form: real, bits: math.Float64bits(x)}
	if v.isNaN() {
		return Value{}
	}
	return v
}

func (v Value) isNaN() bool { return v.form == real && math.IsNaN(math.Float64frombits(v.bits)) }

var errNaN = errors.New("NaN is no value: leave out what was not measured")

// Word returns the value of a Nominal monitor.
func Word(w string) Value { return Value{form: word, word: w} }

// Measured reports whether there is a value.
func (v Value) Measured() bool { return v.form != unmeasured }

// Float returns a number as a float64, which rounds numbers
// beyond 2^53; false if the value is not a number.
func (v Value) Float() (float64, bool) {
	switch v.form {
	case count:
		return float64(v.bits), true
	case number:
		return float64(int64(v.bits)), true
	case real:
		return math.Float64frombits(v.bits), true
	}
	return 0, false
}

// String returns the value with all its digits, or "not measured".
func (v Value) String() string {
	switch v.form {
	case count:
		return strconv.FormatUint(v.bits, 10)
	case number:
		return strconv.FormatInt(int64(v.bits), 10)
	case real:
		return float(math.Float64frombits(v.bits))
	case word:
		return v.word
	}
	return "not measured"
}

// MarshalJSON writes an exact number or a word. Infinities, for
// which JSON has no numbers, become words. What was not measured
// is null.
func (v Value) MarshalJSON() ([]byte, error) {
	x, isNumber := v.Float()
	switch {
	case !v.Measured():
		return []byte("null"), nil
	case isNumber && !math.IsInf(x, 0):
		return []byte(v.String()), nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // words stay as they are
	err := e.Encode(v.String())
	return b.Bytes(), err
}

// form returns the form of the monitor's values.
func (m *Monitor) form() form {
	switch {
	case m.Kind == Nominal:
		return word
	case m.Real:
		return real
	case m.Kind == Counter:
		return count
	}
	return number
}

// parse reads what Value.String writes.
func (m *Monitor) parse(s string) (v Value, err error) {
	v.form = m.form()
	switch v.form {
	case word:
		v.word = s
	case count:
		v.bits, err = strconv.ParseUint(s, 10, 64)
	case number:
		var n int64
		n, err = strconv.ParseInt(s, 10, 64)
		v.bits = uint64(n)
	case real:
		var x float64
		x, err = strconv.ParseFloat(s, 64)
		v.bits = math.Float64bits(x)
	}
	if err == nil && v.isNaN() {
		err = errNaN
	}
	return v, err
}

// A Series is what one monitor measured over the samples of a recording.
type Series struct {
	Monitor
	Words []string // of a Nominal monitor: its values, in the order in which they first occur

	column column
}

// All returns the changes: the samples at which the value
// changed, with the new value, which is valid up to the next
// change. Before the first change, nothing was measured.
func (s *Series) All() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		c := s.column.cursor(s.form())
		for {
			if ok, err := c.advance(); !ok || err != nil ||
				!yield(int(c.sample), s.value(c.reading)) {
				return
			}
		}
	}
}

// Changes returns the number of changes that All returns.
func (s *Series) Changes() int { return s.column.points }

func (s *Series) value(r reading) Value {
	switch f := s.form(); {
	case !r.measured:
		return Value{}
	case f == word:
		return Word(s.Words[r.bits])
	default:
		return Value{form: f, bits: r.bits}
	}
}
