package report

import (
	"bufio"
	"encoding"
	"encoding/json"
	"iter"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
)

// elements are a list in a document that can be very long: its elements are
// made and written one by one.
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

// A stream writes a document as json.Encoder does, but never has all of it in
// memory. Besides, a list that is nil is empty, and a number that is undefined
// or infinite is null.
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
	case reflect.Float64:
		if x := v.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
			s.text("null")
			return
		}
		s.leaf(v, prefix)
	default:
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

// block writes values between brackets. Those of an object have names.
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

// members returns the fields of a struct, and of the structs that it embeds,
// with their names in a document.
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
			if name == "" {
				name = f.Name
			}
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
