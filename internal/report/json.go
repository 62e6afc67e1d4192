package report

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
)

// A document is a value that a command writes as JSON. It embeds a Basis.
type document interface{ basis() Basis }

// writeJSON writes a document as indented JSON, and does not
// escape names for HTML.
func writeJSON(w io.Writer, v document) error {
	s := stream{out: bufio.NewWriter(w), fields: map[reflect.Type][]reflect.StructField{}}
	s.value(reflect.ValueOf(v), "")
	s.text("\n")
	if s.err != nil {
		return s.err
	}
	return s.out.Flush()
}

// float returns the approximate value, for readers that don't
// need the exact number.
func float(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

// orNil returns what a function makes of a value; nil for nil.
func orNil[T, U any](value *T, of func(*T) U) *U {
	if value == nil {
		return nil
	}
	return new(of(value))
}

// marshal returns a value as JSON in one line.
func marshal(v any) ([]byte, error) {
	text, err := encode(v, "", "")
	return bytes.TrimSuffix(text, []byte("\n")), err
}

// encode is how all commands write JSON: names stay as they are,
// but for what a terminal would interpret.
func encode(v any, prefix, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(prefix, indent)
	err := e.Encode(v)
	return termtext.JSON(b.Bytes()), err
}

// elements are a list in a document that can be very long: its
// elements are made and written one by one.
type elements iter.Seq[any]

// elementsOf returns elements with one for each element of a slice.
func elementsOf[T any](list []T, element func(T) any) elements {
	return func(yield func(any) bool) {
		for _, v := range list {
			if !yield(element(v)) {
				return
			}
		}
	}
}

// A stream writes a document as json.Encoder does, but never has
// all of it in memory. Besides, a list that is nil is empty, and
// a number that is undefined or infinite is null.
type stream struct {
	out    *bufio.Writer
	fields map[reflect.Type][]reflect.StructField // that structs have in a document
	err    error
}

const jsonIndent = "  "

// value writes a value. The lines after its first begin with the prefix.
func (s *stream) value(v reflect.Value, prefix string) {
	for (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) && !v.IsNil() &&
		!writesItself(v.Type()) {
		v = v.Elem()
	}
	if !v.IsValid() || writesItself(v.Type()) {
		s.leaf(v, prefix)
		return
	}
	if list, ok := v.Interface().(elements); ok {
		s.block("[", "]", prefix, list.all())
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		s.block("{", "}", prefix, s.members(v))
	case reflect.Map:
		s.block("{", "}", prefix, entries(v))
	case reflect.Slice, reflect.Array:
		s.block("[", "]", prefix, func(yield func(string, reflect.Value) bool) {
			for i := 0; i < v.Len() && yield("", v.Index(i)); i++ {
			}
		})
	default:
		if v.CanFloat() && (math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)) {
			v = reflect.Value{} // null
		}
		s.leaf(v, prefix)
	}
}

// writesItself reports whether a type says how it is written.
func writesItself(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[json.Marshaler]()) ||
		t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) ||
		t == reflect.TypeFor[[]byte]()
}

// leaf writes a value that json.Encoder writes.
func (s *stream) leaf(v reflect.Value, prefix string) {
	var of any
	if v.IsValid() {
		of = v.Interface()
	}
	text, err := encode(of, prefix, jsonIndent)
	if err != nil && s.err == nil {
		s.err = err
	}
	s.text(strings.TrimSuffix(string(text), "\n"))
}

// block writes values between brackets. An object's have names.
func (s *stream) block(begin, end, prefix string, values iter.Seq2[string, reflect.Value]) {
	before, after := begin, end
	for name, v := range values {
		s.text(before + "\n" + prefix + jsonIndent)
		if before, after = ",", "\n"+prefix+end; begin == "{" {
			s.leaf(reflect.ValueOf(name), "")
			s.text(": ")
		}
		if s.value(v, prefix+jsonIndent); s.err != nil {
			return
		}
	}
	if before == begin {
		s.text(begin)
	}
	s.text(after)
}

func (list elements) all() iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		if list != nil {
			list(func(v any) bool { return yield("", reflect.ValueOf(v)) })
		}
	}
}

// entries returns the entries of a map, in the order of their names.
func entries(v reflect.Value) iter.Seq2[string, reflect.Value] {
	of := map[string]reflect.Value{}
	for key, value := range v.Seq2() {
		of[key.String()] = value
	}
	return func(yield func(string, reflect.Value) bool) {
		for _, key := range slices.Sorted(maps.Keys(of)) {
			if !yield(key, of[key]) {
				return
			}
		}
	}
}

// members returns the fields of a struct, and of the structs
// that it embeds, with their names in a document.
func (s *stream) members(v reflect.Value) iter.Seq2[string, reflect.Value] {
	t := v.Type()
	if s.fields[t] == nil {
		s.fields[t] = reflect.VisibleFields(t)
	}
	return func(yield func(string, reflect.Value) bool) {
		for _, f := range s.fields[t] {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" || !f.IsExported() || f.Anonymous && name == "" {
				continue
			}
			name = cmp.Or(name, f.Name)
			field, err := v.FieldByIndexErr(f.Index)
			omit := options == "omitempty" && isEmpty(field) ||
				options == "omitzero" && field.IsZero()
			if err == nil && !omit && !yield(name, field) {
				return
			}
		}
	}
}

// isEmpty reports whether a field with the option omitempty is left out.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

func (s *stream) text(t string) {
	if s.err == nil {
		_, s.err = s.out.WriteString(t)
	}
}

// A Basis says how far the recordings behind an output can be
// trusted. All JSON has it.
type Basis struct {
	Schema   schema               `json:"schema"`
	Warnings []sampledata.Warning `json:"warnings"` // not nil
	Complete bool                 `json:"complete"` // no recording is damaged or incomplete
	Picked   []pickedJSON         `json:"picked,omitempty"`
	Calls    []restrictedJSON     `json:"calls_only,omitempty"`
}

// A schema is the version of the form of all documents. A field
// that goes, or means another thing, makes a new one.
type schema int

const schemaVersion = "1"

// MarshalJSON writes the version.
func (schema) MarshalJSON() ([]byte, error) { return []byte(schemaVersion), nil }

// pickedJSON says that only some samples of a recording count.
type pickedJSON struct {
	List    string `json:"list"`
	Samples int    `json:"samples"`
	Of      int    `json:"of"`
}

// restrictedJSON says that only the time inside some calls counts.
type restrictedJSON struct {
	List  string `json:"list"`
	Calls int    `json:"calls"`
}

// basis makes every type that embeds a Basis implement document.
func (b Basis) basis() Basis { return b }

// BasisOf returns the common basis of recordings. An output that
// needs no recording is complete.
func BasisOf(recordings ...*sampledata.Recording) Basis {
	b := Basis{Warnings: []sampledata.Warning{}, Complete: true}
	for _, r := range recordings {
		b.Warnings = append(b.Warnings, r.Warnings...)
		b.Complete = b.Complete && r.Complete()
		if p := r.Picked; p != nil {
			b.Picked = append(b.Picked, pickedJSON{p.List, r.Samples.Len(), p.Of})
		}
		if in := r.Restricted; in != nil {
			b.Calls = append(b.Calls, restrictedJSON{in.List, in.Stretches})
		}
	}
	return b
}

// With returns a basis with more warnings.
func (b Basis) With(warnings []sampledata.Warning) Basis {
	b.Warnings = append(append([]sampledata.Warning{}, b.Warnings...), warnings...)
	return b
}

// Missing returns a text that says why a recording is not
// complete, and how much of it is used: "it is damaged, and 63
// samples in 1.3 s are used: ...". It returns "" if the recording
// is complete.
func Missing(r *sampledata.Recording) string {
	if r.Complete() {
		return ""
	}
	s := r.Stats()
	counts := fmt.Sprintf("%s in %s are used", Counted(s.Samples, "sample"), span(s.Duration))
	if r.Profile != nil {
		counts = Counted(len(r.Profile.Stacks), "stack") + " are used"
	}
	for _, of := range []struct{ kind, text string }{{sampledata.DamagedFile, "it is damaged"},
		{sampledata.CutFile, "it seems to be cut"}} {
		var found []string
		for _, w := range r.Warnings {
			if w.Kind == of.kind {
				found = append(found, w.Message)
			}
		}
		if len(found) > 0 {
			return of.text + ", and " + counts + ": " + strings.Join(found, "; ")
		}
	}
	return "it is incomplete, because it is still being recorded or the sampler was killed: " +
		counts
}
