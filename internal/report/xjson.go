package report

import (
	"bufio"
	"bytes"
	"io"
	"iter"
	"slices"

	"github.com/cpprof/cpprof/views/calltree"
)

// WriteXTreeJSON writes the rows of XTree as JSON.
func WriteXTreeJSON(w io.Writer, t *calltree.Tree, o XOptions, basis Basis) error {
	return writeList(w, "rows", XTree(t, o), basis)
}

// WriteXProfJSON writes the rows of XProf as JSON.
func WriteXProfJSON(w io.Writer, t *calltree.Tree, o XOptions, basis Basis) error {
	return writeList(w, "rows", slices.Values(XProf(t, o)), basis)
}

// WriteXArcJSON writes the stanzas of XArc as JSON.
func WriteXArcJSON(w io.Writer, t *calltree.Tree, o XOptions, basis Basis) error {
	return writeList(w, "stanzas", XArc(t, o), basis)
}

// writeList writes a document with a list of this name, one element per line.
// It writes each element as soon as it has it: there can be millions.
func writeList[E any](w io.Writer, name string, list iter.Seq[E], basis Basis) error {
	head, err := marshal(basis)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	out.Write(bytes.TrimSuffix(head, []byte("}")))
	out.WriteString(`,"` + name + `":`)
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
	out.WriteString("\n]}\n")
	return out.Flush()
}
