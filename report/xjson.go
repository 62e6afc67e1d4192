package report

import (
	"bufio"
	"io"
	"iter"
	"slices"

	"github.com/cpprof/cpprof/calltree"
)

// WriteXTreeJSON writes the rows of XTree as a JSON array.
func WriteXTreeJSON(w io.Writer, t *calltree.Tree, o XOptions) error {
	return writeList(w, XTree(t, o))
}

// WriteXProfJSON writes the rows of XProf as a JSON array.
func WriteXProfJSON(w io.Writer, t *calltree.Tree, o XOptions) error {
	return writeList(w, slices.Values(XProf(t, o)))
}

// WriteXArcJSON writes the stanzas of XArc as a JSON array.
func WriteXArcJSON(w io.Writer, t *calltree.Tree, o XOptions) error { return writeList(w, XArc(t, o)) }

// writeList writes an array, an element a line, as the elements come: there can be millions.
func writeList[E any](w io.Writer, list iter.Seq[E]) error {
	out := bufio.NewWriter(w)
	separator := "[\n"
	for element := range list {
		text, err := marshal(element)
		if err != nil {
			return err
		}
		out.WriteString(separator)
		out.Write(text)
		separator = ",\n"
	}
	if separator == "[\n" {
		out.WriteString("[")
	}
	out.WriteString("\n]\n")
	return out.Flush()
}
