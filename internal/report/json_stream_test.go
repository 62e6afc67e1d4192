package report

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

type smallJSON struct {
	Name string   `json:"name"`
	List []string `json:"list"`
}

// Documents with elements are written as those with slices.
func TestStream(t *testing.T) {
	type inner struct {
		Name   string      `json:"name"`
		Empty  []smallJSON `json:"empty,omitempty"`
		Number float64     `json:"number"`
		Many   []smallJSON `json:"many"`
	}
	type document struct {
		One  *inner  `json:"one"`
		Nil  *inner  `json:"nil"`
		List []inner `json:"list"`
		None []inner `json:"none"`
		Basis
	}
	type innerStream struct {
		Name   string      `json:"name"`
		Empty  []smallJSON `json:"empty,omitempty"`
		Number float64     `json:"number"`
		Many   elements    `json:"many"`
	}
	type stream struct {
		One  *innerStream `json:"one"`
		Nil  *innerStream `json:"nil"`
		List elements     `json:"list"`
		None elements     `json:"none"`
		Basis
	}
	basis := BasisOf()
	small := []smallJSON{{"a<b>\x7f", nil}, {"\"\n", []string{"x", "y"}}}
	list := []inner{{"first", nil, 0.5, small}, {"second", small[1:], 1e30, []smallJSON{}}}
	asIs := func(s smallJSON) any { return s }
	streamOf := func(i inner) innerStream { return innerStream{i.Name, i.Empty, i.Number, elementsOf(i.Many, asIs)} }
	one := streamOf(list[0])
	streamed := stream{&one, nil, elementsOf(list, func(i inner) any { return streamOf(i) }), elementsOf(small[:0], asIs), basis}
	var got, want strings.Builder
	fixture.Check(t,
		errors.Join(writeJSON(&got, streamed), writeJSON(&want, document{&list[0], nil, list, []inner{}, basis})))
	if got.String() != want.String() {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want.String())
	}
}

// After an error in writing, no more elements are made.
func TestStreamEndsWithItsOutput(t *testing.T) {
	made := 0
	list := elementsOf(slices.Repeat([]string{strings.Repeat("x", 1000)}, 1000), func(s string) any { made++; return s })
	full := errors.New("disk full")
	err := writeJSON(writerFunc(func([]byte) (int, error) { return 0, full }), struct {
		List elements `json:"list"`
		Basis
	}{list, BasisOf()})
	if !errors.Is(err, full) || made > 10 {
		t.Errorf("got %v after %d elements", err, made)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
