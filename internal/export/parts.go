package export

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/views/calltree"
)

// A part is a subtree that a format shows by itself: a thread class. In a
// comparison, each recording has its own.
type part struct {
	name     string
	from, to int32 // its nodes are [from, to)
	metric   *calltree.Metric
}

// parts returns the classes of a tree of all classes. Any other tree is one
// part. The heaviest comes first, since tools begin with the first.
func (p *placed) parts(s *Subject) []part {
	t := p.tree
	var list []part
	for _, class := range p.classes(s.Title) {
		if !s.Compared() {
			class.metric = t.Main()
			list = append(list, class)
			continue
		}
		for i, name := range []string{s.Path, s.Against.Name} {
			if m := t.Metrics()[1+i]; m.Cum(class.from).Sign() != 0 {
				list = append(list, part{class.name + " in " + name, class.from, class.to, m})
			}
		}
	}
	slices.SortStableFunc(list,
		func(a, b part) int { return t.Main().Cum(b.from).Cmp(t.Main().Cum(a.from)) })
	return list
}

func (p *placed) classes(title string) []part {
	t := p.tree
	whole := []part{{name: title, to: int32(t.Len())}}
	if t.Root() != calltree.RootName {
		whole[0].name = t.Root()
		return whole
	}
	var classes []part
	for n := int32(1); n < int32(t.Len()); n = t.Ends()[n] {
		name := p.names[t.Funcs()[n]]
		if calltree.KindOf(name) != calltree.Class {
			return whole
		}
		classes = append(classes, part{name: name, from: n, to: t.Ends()[n]})
	}
	if len(classes) == 0 {
		return whole
	}
	return classes
}

// writeParts writes a file of JSON that ends with a list of parts: what comes
// before the list, and each part.
func (s *Subject) writeParts(w io.Writer, begin func(*jsonWriter, *placed),
	write func(j *jsonWriter, p *placed, of part, i int)) error {
	p, err := s.placed()
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	j := &jsonWriter{w: out}
	begin(j, p)
	for i, part := range p.parts(s) {
		if i > 0 {
			j.raw(",\n")
		}
		write(j, p, part, i)
	}
	j.raw("]}\n")
	if j.err != nil {
		return j.err
	}
	return out.Flush()
}

// A jsonWriter writes a JSON document piece by piece. The document need not be
// in memory.
type jsonWriter struct {
	w   io.Writer
	err error
}

// raw writes text that is JSON already.
func (j *jsonWriter) raw(text string) {
	if j.err == nil {
		_, j.err = io.WriteString(j.w, text)
	}
}

// value writes a value, with everything escaped that a terminal would
// interpret.
func (j *jsonWriter) value(v any) {
	if j.err != nil {
		return
	}
	text, err := json.Marshal(v)
	if err != nil {
		j.err = err
		return
	}
	_, j.err = j.w.Write(termtext.JSON(text))
}

// list writes values with commas between them.
func (j *jsonWriter) list(n int, value func(i int) any) {
	j.raw("[")
	for i := range n {
		if i > 0 {
			j.raw(",\n")
		}
		j.value(value(i))
	}
	j.raw("]")
}
