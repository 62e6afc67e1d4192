package interchange

import (
	"strings"

	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampledata"
)

// A weighing makes the recording of a profile from stacks of names.
type weighing struct {
	rec      *sampledata.Recording
	budget   *memory.Budget
	contexts *contexts // of functions
	codes    map[string]int32
	labels   *sampledata.Builder
	stack    []int32 // of the row that is being added, the innermost function first
}

func newWeighing(budget *memory.Budget, quantities ...sampledata.Quantity) *weighing {
	w := &weighing{
		rec: newProfile(), budget: budget, contexts: newContexts(), codes: make(map[string]int32),
		labels: sampledata.NewBuilder(sampledata.Header{}),
	}
	w.rec.Profile.Quantities = quantities
	return w
}

// call adds a call to the stack; the innermost comes first.
func (w *weighing) call(name string) error {
	if len(w.stack) == sampledata.MaxDepth {
		return errTooDeep
	}
	code, ok := w.codes[name]
	if !ok {
		code, name = int32(len(w.rec.Functions)), strings.Clone(name) // of a line that may be long
		w.codes[name] = code
		w.rec.Functions = append(w.rec.Functions, sampledata.Function{Name: name})
		if err := w.budget.Take(int64(tableMemory + len(name))); err != nil {
			return err
		}
	}
	w.stack = append(w.stack, code)
	return nil
}

// row ends a stack, and adds it with its values.
func (w *weighing) row(labels []sampledata.Label, values ...int64) error {
	before := w.contexts.len()
	node := sampledata.NodeID(w.contexts.of(w.stack))
	w.stack = w.stack[:0]
	p := w.rec.Profile
	p.Stacks, p.Labels, p.Values = append(p.Stacks, node),
		append(p.Labels, w.labels.LabelSet(labels)), append(p.Values, values...)
	return w.budget.Take(int64(sampleMemory + valueMemory*len(values) +
		contextMemory*(w.contexts.len()-before)))
}

// recording returns the recording; first is the quantity to show first.
func (w *weighing) recording(first, value string) (*sampledata.Recording, error) {
	w.codes, w.contexts.slots = nil, nil
	w.rec.Nodes = make([]sampledata.Node, 0, w.contexts.len())
	for i, above := range w.contexts.above {
		w.rec.Nodes = append(w.rec.Nodes, sampledata.Node{Parent: sampledata.NodeID(above),
			Function: sampledata.FunctionID(w.contexts.place[i])})
	}
	w.rec.LabelSets = w.labels.Recording().LabelSets
	w.rec.Profile.Show(first)
	return w.rec, choose(w.rec.Profile, value)
}
