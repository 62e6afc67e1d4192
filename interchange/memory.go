package interchange

import (
	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/internal/memory"
	"google.golang.org/protobuf/encoding/protowire"
)

const (
	nodeMemory   = 150 // of a node while its tree is built, with one metric, in bytes
	metricMemory = 40  // for each metric
	callMemory   = 48  // of a call that is open
)

// A treeMemory counts what a tree takes while it is built.
type treeMemory struct {
	budget *memory.Budget
	b      *calltree.Builder
	nodes  int
}

// charge counts the nodes that have been added since it was called last, and names of so many bytes. What is needed besides
// while the tree is built, such as the calls that are open, must fit.
func (t *treeMemory) charge(names, calls int) error {
	more := t.b.Len() - t.nodes
	if more == 0 {
		return t.budget.Fits(int64(calls) * callMemory)
	}
	t.nodes += more
	if err := t.budget.Take(int64(more)*nodeMemory + int64(names)); err != nil {
		return err
	}
	return t.budget.Fits(int64(calls) * callMemory)
}

// What the parts of a profile take when they are parsed, in bytes, at most: each field of the profile is a value with a
// pointer to it, and each byte of a sample or location may be an index that becomes a number and a pointer.
const (
	fieldMemory = 200
	byteMemory  = 32
)

// profileMemory returns about how many bytes a profile takes when it is parsed.
func profileMemory(data []byte) (sum int64) {
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return sum // the parser says what is wrong
		}
		length := protowire.ConsumeFieldValue(number, kind, data[n:])
		if length < 0 {
			return sum
		}
		if number == stringField {
			sum += 16 + int64(length)
		} else {
			sum += fieldMemory + byteMemory*int64(length)
		}
		data = data[n+length:]
	}
	return sum
}
