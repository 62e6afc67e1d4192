package report

import (
	"bytes"
	"encoding/json"
	"io"
	"math/big"
)

// A document is a value that a command writes as JSON. It embeds a Basis.
type document interface{ basis() Basis }

// writeJSON writes a document as indented JSON, and does not escape names for HTML.
func writeJSON(w io.Writer, v document) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// float returns the approximate value, for readers that don't need the exact number.
func float(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

// marshal is json.Marshal, except that it does not escape names for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
