package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math/big"
	"reflect"

	"github.com/cpprof/cpprof/internal/termtext"
)

// A document is a value that a command writes as JSON. It embeds a Basis.
type document interface{ basis() Basis }

// writeJSON writes a document as indented JSON, and does not escape names for HTML.
func writeJSON(w io.Writer, v document) error {
	s := stream{out: bufio.NewWriter(w), fields: map[reflect.Type][]reflect.StructField{}}
	s.value(reflect.ValueOf(v), "")
	s.text("\n")
	if s.err != nil {
		return s.err
	}
	return s.out.Flush()
}

// float returns the approximate value, for readers that don't need the exact
// number.
func float(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

// marshal returns a value as JSON in one line.
func marshal(v any) ([]byte, error) {
	text, err := encode(v, "", "")
	return bytes.TrimSuffix(text, []byte("\n")), err
}

// encode is how all commands write JSON: names stay as they are, but for what
// a terminal would interpret.
func encode(v any, prefix, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(prefix, indent)
	err := e.Encode(v)
	return termtext.JSON(b.Bytes()), err
}
