package export

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"slices"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampledata/interchange"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/cpprof/cpprof/views/locks"
)

// A placed is a call tree with the places of its frames in the source.
type placed struct {
	tree  *calltree.Tree
	names []string      // by frame
	at    []views.Place // by frame
	r     *sampledata.Recording
}

// placed returns the tree to write, with the places of its
// frames as far as they are known: not of comparisons and
// refinements, and not if a frame is something else than a
// function.
func (s *Subject) placed() (*placed, error) {
	t, err := s.Tree()
	if err != nil {
		return nil, err
	}
	if !s.Refined && !s.Compared() && s.View != nil && s.Options.Granularity == views.ByFunction {
		if fine, err := s.fineTree(t); err != nil || fine != nil {
			return fine, err
		}
	}
	return unplaced(t), nil
}

// unplaced returns a tree that knows only the names of frames.
func unplaced(t *calltree.Tree) *placed {
	p := &placed{tree: t}
	for i := range t.Symbols().Len() {
		p.names, p.at = append(p.names, t.Symbols().Name(calltree.Func(i))),
			append(p.at, views.Place{Function: -1})
	}
	return p
}

// fineTree makes the view with places, and leaves those stacks
// in it that the tree to write has. It returns nil if the view
// with places is not the same: it is larger, and so may show
// less of the chains of holders.
func (s *Subject) fineTree(t *calltree.Tree) (*placed, error) {
	o := s.Options
	o.Places = true
	if s.Recording.Profile == nil {
		o.Lock = locks.Namer(s.Recording, locks.ByField)
	}
	v, err := s.View(s.Recording, o)
	if err != nil {
		return nil, err
	}
	p := &placed{tree: v.Tree, r: s.Recording}
	coarse := make([]calltree.Func, v.Tree.Symbols().Len()) // by frame: the frame of t
	for i := range coarse {
		name, at := views.SplitPlace(v.Tree.Symbols().Name(calltree.Func(i)))
		p.names, p.at = append(p.names, name), append(p.at, at)
		coarse[i] = t.Symbols().Lookup(name)
	}
	p.tree = v.Tree.Filter(keptIn(t, v.Tree, coarse))
	if p.tree.Main().Cum(0).Cmp(t.Main().Cum(0)) != 0 {
		return nil, nil
	}
	return p, nil
}

// keptIn marks the nodes of a fine tree with stacks that are in
// a coarse one. coarse has the frames of the coarse tree.
func keptIn(t, fine *calltree.Tree, coarse []calltree.Func) []bool {
	children := make(map[[2]int32]int32, t.Len()) // by parent and frame
	for n := int32(1); n < int32(t.Len()); n++ {
		children[[2]int32{t.Parents()[n], int32(t.Funcs()[n])}] = n
	}
	at := make([]int32, fine.Len()) // by node: the node of t, or -1
	kept := make([]bool, fine.Len())
	for n := range int32(fine.Len()) {
		if n > 0 {
			at[n] = -1
			if above := at[fine.Parents()[n]]; above >= 0 {
				if same, ok := children[[2]int32{above, int32(coarse[fine.Funcs()[n]])}]; ok {
					at[n] = same
				}
			}
		}
		kept[n] = at[n] >= 0 && t.Main().Own(at[n]).Sign() != 0
	}
	return kept
}

// call returns what a frame stands for.
func (p *placed) call(f calltree.Func) interchange.Call {
	c := interchange.Call{Function: sampledata.Function{Name: p.names[f]}}
	if at := p.at[f]; at.Function >= 0 {
		of := p.r.Functions[at.Function]
		c.Function.File, c.Function.Line, c.Line, c.Inlined = of.File, of.Line, at.Line, at.Inlined
	}
	return c
}

// Labels of stacks. Their names are such as every tool takes.
const (
	stateLabel  = "state"  // "MONITOR", or another typed time
	reasonLabel = "reason" // why a goroutine waits: "chan-receive"
	classLabel  = "class"  // the thread class
	lockLabel   = "lock"   // the name of the lock that is waited for
)

const (
	maxLabelValues = 1000 // of a label; further ones become otherValues
	maxLabelLength = 200  // of a value, in bytes; longer ones are cut
	otherValues    = "(other)"
)

// A labeller finds the labels of stacks.
type labeller struct {
	*placed
	seen map[string]map[string]bool // values by label
}

func newLabeller(p *placed) *labeller { return &labeller{p, make(map[string]map[string]bool)} }

// labels returns the labels of the stack that ends at a node.
// State, reason and lock belong to the goroutine itself, not to
// the holder of its lock.
func (l *labeller) labels(n int32) []sampledata.Label {
	t := l.tree
	var way []int32 // from the node up
	for ; n > 0; n = t.Parents()[n] {
		way = append(way, n)
	}
	class, state, reason, lock := "", "", "", ""
	if calltree.KindOf(t.Root()) == calltree.Class {
		class = t.Root()
	}
	for i := len(way) - 1; i >= 0 && state == ""; i-- {
		f := t.Funcs()[way[i]]
		name := l.names[f]
		if class == "" && calltree.KindOf(name) == calltree.Class {
			class = name
		}
		typed, ok := views.ParseTypedTime(name)
		if !ok {
			continue
		}
		state, lock = typed.Name(), l.at[f].Lock
		if i > 0 {
			if below := l.names[t.Funcs()[way[i-1]]]; calltree.KindOf(below) == calltree.Typed {
				reason = below[1:]
			}
		}
	}
	var list []sampledata.Label
	for _, one := range []sampledata.Label{{Key: classLabel, Value: class},
		{Key: lockLabel, Value: lock}, {Key: reasonLabel, Value: reason},
		{Key: stateLabel, Value: state}} {
		if one.Value != "" {
			one.Value = l.bounded(one)
			list = append(list, one)
		}
	}
	return list
}

// bounded returns the value of a label, or another one if it is
// too long, or one too many.
func (l *labeller) bounded(of sampledata.Label) string {
	value := of.Value[:min(len(of.Value), maxLabelLength)]
	values := lists.Made(l.seen, of.Key, func() map[string]bool { return map[string]bool{} })
	if !values[value] && len(values) == maxLabelValues {
		return otherValues
	}
	values[value] = true
	return cmp.Or(value, otherValues)
}

// A part is a subtree that a format shows by itself: a thread
// class. In a comparison, each recording has its own.
type part struct {
	name     string
	from, to int32 // its nodes are [from, to)
	metric   *calltree.Metric
}

// parts returns the classes of a tree of all classes. Any other
// tree is one part. The heaviest comes first, since tools begin
// with the first.
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

// writeParts writes a file of JSON that ends with a list of
// parts: what comes before the list, and each part.
func (s *Subject) writeParts(w io.Writer, begin func(*jsonWriter, *placed),
	write func(j *jsonWriter, p *placed, of part, i int)) error {
	p, err := s.placed()
	if err != nil {
		return err
	}
	j := &jsonWriter{w: bufio.NewWriter(w)}
	begin(j, p)
	for i, part := range p.parts(s) {
		if i > 0 {
			j.raw(",\n")
		}
		write(j, p, part, i)
	}
	return j.end()
}

// A jsonWriter writes a JSON document piece by piece. The
// document need not be in memory.
type jsonWriter struct {
	w   *bufio.Writer
	err error
}

// end ends a document whose last value is a list.
func (j *jsonWriter) end() error {
	j.raw("]}\n")
	if j.err != nil {
		return j.err
	}
	return j.w.Flush()
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
