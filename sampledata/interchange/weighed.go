package interchange

import (
	"cmp"
	"math"
	"strings"

	"github.com/cpprof/cpprof/internal/intern"
	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
)

// A weighing makes the recording of a profile, stack by stack.
type weighing struct {
	rec       *sampledata.Recording
	budget    *memory.Budget
	functions intern.List[sampledata.Function, sampledata.FunctionID]
	places    intern.List[frame, int32]
	// the contexts of stacks, each a call at a place from another
	// context; the root stands for no context
	calls  *calltree.Calls
	labels *sampledata.Builder
	stack  []int32 // of the row that is being added, the innermost place first
	path   []int32 // the contexts of the last stack, the outermost first
	err    error   // the first, of the budget or of the depth of a stack
}

// A frame is a call as a node of a recording has it.
type frame struct {
	function sampledata.FunctionID
	line     int32
	inlined  bool
}

func newWeighing(budget *memory.Budget, quantities ...sampledata.Quantity) *weighing {
	return &weighing{
		rec: &sampledata.Recording{
			LabelSets: [][]sampledata.Label{nil}, HolderSets: [][]sampledata.GoroutineID{nil},
			Profile: &sampledata.Profile{Quantities: quantities}, End: &sampledata.End{},
		},
		budget: budget, calls: calltree.NewCalls(calltree.None),
		labels: sampledata.NewBuilder(sampledata.Header{}),
	}
}

// What the parts of a profile take in the tables of a recording
// and in a view, in bytes.
const (
	contextMemory = 24 + 130
	sampleMemory  = 16
	valueMemory   = 16
	tableMemory   = 200 // of a location, a function or a set of labels, without its texts
)

// take takes memory from the budget.
func (w *weighing) take(n int) { w.err = cmp.Or(w.err, w.budget.Take(int64(n))) }

// function returns the code of a function.
func (w *weighing) function(f sampledata.Function) sampledata.FunctionID {
	if code, known := w.functions.Lookup(f); known {
		return code
	}
	f.Name = strings.Clone(f.Name) // it may be a part of a long line
	w.take(tableMemory + len(f.Name))
	return w.functions.Number(f)
}

// clampLine returns a line that a recording can have; 0, which
// is not known, for others.
func clampLine(line int64) int32 {
	if line < 0 || line > math.MaxInt32 {
		return 0
	}
	return int32(line)
}

// call adds a call of a function to the stack; the innermost comes first.
func (w *weighing) call(name string) error {
	w.push(w.places.Number(frame{function: w.function(sampledata.Function{Name: name})}))
	return w.err
}

// push adds calls to the stack; the innermost comes first.
func (w *weighing) push(places ...int32) {
	if len(w.stack)+len(places) > sampledata.MaxDepth {
		w.err = cmp.Or(w.err, errTooDeep)
		return
	}
	w.stack = append(w.stack, places...)
}

// row ends a stack, and adds it with its values.
func (w *weighing) row(labels []sampledata.Label, values ...int64) error {
	before := len(w.calls.List)
	context := w.context()
	w.stack = w.stack[:0]
	w.add(context, w.labels.LabelSet(labels), values...)
	w.take(sampleMemory + valueMemory*len(values) + contextMemory*(len(w.calls.List)-before))
	return w.err
}

// context returns the context of the stack; 0 for an empty one.
// Stacks that follow each other often have the same outer
// frames. context does not look them up again.
func (w *weighing) context() int32 {
	same, n := 0, len(w.stack)
	for ; same < len(w.path) && same < n; same++ {
		if int32(w.calls.List[w.path[same]].Func) != w.stack[n-1-same] {
			break
		}
	}
	w.path = w.path[:same]
	at := int32(0)
	if same > 0 {
		at = w.path[same-1]
	}
	for i := n - 1 - same; i >= 0; i-- {
		at = w.under(at, w.stack[i])
		w.path = append(w.path, at)
	}
	return at
}

// under returns the context of a call at a place.
func (w *weighing) under(above, place int32) int32 {
	return w.calls.Number(calltree.Call{Parent: above, Func: calltree.Func(place)})
}

// add adds a row of the profile.
func (w *weighing) add(context int32, labels sampledata.LabelSetID, values ...int64) {
	p := w.rec.Profile
	p.Stacks, p.Labels, p.Values = append(p.Stacks, sampledata.NodeID(context-1)),
		append(p.Labels, labels), append(p.Values, values...)
}

// recording returns the recording; first is the quantity to show
// first, and value the only one to show, unless it is "".
func (w *weighing) recording(first, value string) (*sampledata.Recording, error) {
	calls, places := w.calls.List[1:], w.places.All
	w.rec.Functions = w.functions.All
	w.functions = intern.List[sampledata.Function, sampledata.FunctionID]{}
	w.places, w.calls = intern.List[frame, int32]{}, nil
	w.rec.Nodes = make([]sampledata.Node, 0, len(calls))
	for _, c := range calls {
		f := places[c.Func]
		w.rec.Nodes = append(w.rec.Nodes, sampledata.Node{Parent: sampledata.NodeID(c.Parent - 1),
			Function: f.function, Line: f.line, Inlined: f.inlined})
	}
	w.rec.LabelSets = w.labels.Recording().LabelSets
	w.rec.Profile.Show(first)
	return w.rec, choose(w.rec.Profile, value)
}
