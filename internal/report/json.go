package report

import (
	"bufio"
	encoding "encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// A document is a value that a command writes as JSON. It embeds a Basis.
type document interface{ basis() Basis }

// form is how all commands write JSON: names stay as they are, a list that is
// nil is empty, and a number that is undefined or infinite is null.
var form = json.JoinOptions(json.Deterministic(true), jsontext.AllowInvalidUTF8(true),
	jsonv1.OmitEmptyWithLegacySemantics(true), jsonv1.FormatDurationAsNano(true),
	json.WithMarshalers(json.JoinMarshalers(
		json.MarshalToFunc(func(e *jsontext.Encoder, x float64) error {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return e.WriteToken(jsontext.Null)
			}
			return json.SkipFunc
		}),
		json.MarshalToFunc(func(e *jsontext.Encoder, n encoding.Number) error {
			return e.WriteValue(jsontext.Value(n))
		}))))

// writeJSON writes a document as indented JSON. It never has all of it in
// memory.
func writeJSON(w io.Writer, v document) error {
	out := bufio.NewWriter(w)
	if err := json.MarshalWrite(safeJSON{out}, v, form, jsontext.WithIndent("  ")); err != nil {
		return err
	}
	out.WriteByte('\n')
	return out.Flush()
}

// A safeJSON escapes what a terminal would interpret. It gets whole tokens.
type safeJSON struct{ io.Writer }

func (w safeJSON) Write(tokens []byte) (int, error) {
	_, err := w.Writer.Write(termtext.JSON(tokens))
	return len(tokens), err
}

// float returns the approximate value, for readers that don't need the exact
// number.
func float(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

// marshal returns a value as JSON in one line.
func marshal(v any) ([]byte, error) {
	text, err := json.Marshal(v, form)
	return termtext.JSON(text), err
}

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

// MarshalJSONTo writes the list.
func (list elements) MarshalJSONTo(e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.BeginArray); err != nil {
		return err
	}
	for v := range list {
		if err := json.MarshalEncode(e, v); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndArray)
}

// A Basis says how far the recordings behind an output can be trusted. All
// JSON has it.
type Basis struct {
	Schema   schema               `json:"schema"`
	Warnings []sampledata.Warning `json:"warnings"` // not nil
	Complete bool                 `json:"complete"` // no recording is damaged or incomplete
	Picked   []pickedJSON         `json:"picked,omitempty"`
	Calls    []restrictedJSON     `json:"calls_only,omitempty"`
}

// A schema is the version of the form of all documents. A field that goes, or
// means another thing, makes a new one.
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

// BasisOf returns the common basis of recordings. An output that needs no
// recording is complete.
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
	b.Warnings = append(slices.Clone(b.Warnings), warnings...)
	if b.Warnings == nil {
		b.Warnings = []sampledata.Warning{}
	}
	return b
}

// Missing returns a text that says why a recording is not complete, and how
// much of it is used: "it is damaged, and 63 samples in 1.3 s count: ...". It
// returns "" if the recording is complete.
func Missing(r *sampledata.Recording) string {
	if r.Complete() {
		return ""
	}
	s := r.Stats()
	counts := fmt.Sprintf("%s in %s count", Counted(s.Samples, "sample"), span(s.Duration))
	if r.Profile != nil {
		counts = Counted(len(r.Profile.Stacks), "stack") + " count"
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
