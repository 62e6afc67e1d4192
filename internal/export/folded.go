package export

import (
	"bufio"
	"io"
	"math/big"
	"strings"

	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/views/calltree"
)

// folded is the format of flamegraph.pl and its kin: a line for
// each stack, its frames from the outermost on, and its weight.
// A comparison has two weights, as difffolded.pl writes them:
// the other recording's, then this one's.
var folded = Format{
	Name:  "folded",
	Help:  "folded stacks, for flamegraph.pl, inferno and others",
	File:  "stacks.folded",
	write: writeFolded,
}

func writeFolded(w io.Writer, s *Subject) error {
	t, err := s.Tree()
	if err != nil {
		return err
	}
	metrics := []*calltree.Metric{t.Main()}
	if s.Compared() {
		metrics = []*calltree.Metric{t.Metrics()[2], t.Metrics()[1]}
	}
	out := bufio.NewWriter(w)
	names := foldedNames(t.Symbols())
	var line []byte
	ends := make([]int, t.Len()) // by node: the length of the line up to its frame
	for n := range int32(t.Len()) {
		switch parent := t.Parents()[n]; {
		// it says nothing, and a flame graph has a frame for all
		// of its own
		case n == 0 && t.Root() == calltree.RootName:
			line = line[:0]
		case n == 0:
			line = append(line[:0], foldedName(t.Root())...)
		case ends[parent] == 0:
			line = append(line[:0], names[t.Funcs()[n]]...)
		default:
			line = append(line[:ends[parent]], ';')
			line = append(line, names[t.Funcs()[n]]...)
		}
		ends[n] = len(line)
		weights, any := rounded(metrics, n)
		if !any {
			continue
		}
		if len(line) == 0 {
			out.WriteString(calltree.RootName)
		}
		out.Write(line)
		for _, weight := range weights {
			out.WriteByte(' ')
			out.WriteString(weight.String())
		}
		out.WriteByte('\n')
	}
	return out.Flush()
}

// rounded returns what a node weighs in each metric, rounded to
// whole units, and reports whether any is not 0.
func rounded(metrics []*calltree.Metric, n int32) (weights []*big.Int, any bool) {
	for _, m := range metrics {
		own := exact.Nearest(m.Own(n))
		weights, any = append(weights, own), any || own.Sign() != 0
	}
	return weights, any
}

// foldedNames returns the names of all frames as foldedName writes them.
func foldedNames(syms *calltree.Symbols) []string {
	names := make([]string, syms.Len())
	for i := range names {
		names[i] = foldedName(syms.Name(calltree.Func(i)))
	}
	return names
}

// foldedName makes a name safe on a terminal and in a line of
// folded stacks, in which ";" ends a frame.
func foldedName(name string) string {
	return termtext.Printable(strings.ReplaceAll(name, ";", ":"))
}
