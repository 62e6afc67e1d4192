package report

import (
	"bufio"
	"iter"
	"reflect"
	"strconv"
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
// memory.
type stream struct {
	out *bufio.Writer
	err error
}

const jsonIndent = "  "

// value writes a value. The lines after its first begin with the prefix.
func (s *stream) value(v reflect.Value, prefix string) {
	for !v.IsZero() && (v.Kind() == reflect.Interface ||
		v.Kind() == reflect.Pointer && hasElements(v.Type())) {
		v = v.Elem()
	}
	if list, ok := v.Interface().(elements); ok {
		s.list(list, prefix)
		return
	}
	if v.Kind() == reflect.Struct && hasElements(v.Type()) {
		s.text("{")
		s.fields(v, prefix+jsonIndent, true)
		s.text("\n" + prefix + "}")
		return
	}
	text, err := encode(v.Interface(), prefix, jsonIndent)
	if err != nil && s.err == nil {
		s.err = err
	}
	s.text(strings.TrimSuffix(string(text), "\n"))
}

func (s *stream) list(list elements, prefix string) {
	end := "[]"
	list(func(v any) bool {
		if end == "[]" {
			s.text("[\n")
		} else {
			s.text(",\n")
		}
		end = "\n" + prefix + "]"
		s.text(prefix + jsonIndent)
		s.value(reflect.ValueOf(v), prefix+jsonIndent)
		return s.err == nil
	})
	s.text(end)
}

// fields writes the fields of a struct and of the structs that it embeds. first
// says that none are written before them. It reports whether none are written
// still. All fields are exported and have names for JSON.
func (s *stream) fields(v reflect.Value, prefix string, first bool) (none bool) {
	for i := range v.NumField() {
		f, field := v.Type().Field(i), v.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			first = s.fields(field, prefix, first)
			continue
		case options == "omitempty" && isEmpty(field):
			continue
		}
		if !first {
			s.text(",")
		}
		first = false
		s.text("\n" + prefix + strconv.Quote(name) + ": ")
		s.value(field, prefix)
	}
	return first
}

// isEmpty reports whether a field with the option omitempty is left out.
func isEmpty(v reflect.Value) bool {
	if k := v.Kind(); k == reflect.Slice || k == reflect.Map {
		return v.Len() == 0
	}
	return v.IsZero()
}

func (s *stream) text(t string) {
	if s.err == nil {
		_, s.err = s.out.WriteString(t)
	}
}

var typeOfElements = reflect.TypeFor[elements]()

// hasElements reports whether a struct has elements, or a field that has
// some. A pointer to a struct is like the struct.
func hasElements(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return false
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.Type == typeOfElements || hasElements(f.Type) {
			return true
		}
	}
	return false
}
