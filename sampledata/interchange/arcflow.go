package interchange

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
)

// arcflow is the format of text traces of calls.
var arcflow = Format{
	Name:  "arcflow",
	Title: "a trace",
	Lines: true,
	Sniff: isArcflow,
	Read:  readArcflow,
}

// isArcflow reports whether the first line that is not empty or
// a comment is a record.
func isArcflow(s Start) bool {
	reading, rest, _ := strings.Cut(s.firstLine(), " ")
	kind, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	_, err := ParseStamp(reading)
	return err == nil && (kind == ">" || kind == "<" || kind == "pidtid")
}

// readArcflow reads arcflow's text trace (figure 2 of the
// paper). Each line is a record, and begins with the meter's
// reading.
//
//	0 pidtid AC_test    the following records are of the process or thread AC_test
//	0 > Main            Main is called
//	10 < Main           Main returns
//
// As in the paper's reports, the frame of this process is
// AC_test_pidtid. Empty lines and lines that begin with "#" are
// skipped. An error names its line.
func readArcflow(in *Input, o Options) (*sampledata.Recording, error) {
	meter := cmp.Or(o.Value, "CPU time")
	tree, open, err := arcflowTree(in, meter, memory.NewBudget(o.MaxMemory))
	if err != nil {
		return nil, err
	}
	r, err := Profile(tree)
	if err == nil && open > 0 {
		warnCut(r, fmt.Sprintf("calls that have not returned at its end: %d", open))
	}
	return r, err
}

// arcflowTree returns the tree of a trace, and the number of
// calls that have not returned.
func arcflowTree(r io.Reader, meter string,
	budget *memory.Budget) (tree *calltree.Tree, open int, err error) {
	e := NewEvents(meter, meter)
	nodes := 0
	err = eachLine(r, "arcflow trace", func(line string) error {
		if err := e.record(line); err != nil {
			return err
		}
		if more := e.b.Len() - nodes; more > 0 {
			nodes += more
			if err := budget.Take(int64(more*nodeMemory + len(line))); err != nil {
				return err
			}
		}
		return budget.Fits(int64(len(e.current.stack)) * callMemory)
	})
	if err != nil {
		return nil, 0, err
	}
	if !e.begun {
		return nil, 0, errors.New("arcflow trace: no records; expected lines such as \"0 > main\"")
	}
	tree, err = e.Tree()
	return tree, e.open, err
}

// What a tree takes while it is built, in bytes.
const (
	nodeMemory = 150 // of a node, with one metric, without its name
	callMemory = 48  // of a call that is open
)

// record adds one line of a text trace to the events.
func (e *Events) record(line string) error {
	reading, rest, _ := strings.Cut(line, " ")
	kind, name, _ := strings.Cut(strings.TrimSpace(rest), " ")
	name = strings.TrimSpace(name)
	at, err := ParseStamp(reading)
	if err != nil {
		return err
	}
	if name == "" {
		return fmt.Errorf("no name in %.200q; expected a number, a kind of record and a name", line)
	}
	switch kind {
	case ">":
		return e.Enter(at, name)
	case "<":
		return e.Exit(at, name)
	case "pidtid":
		return e.Switch(at, name+"_pidtid")
	}
	return fmt.Errorf("unknown kind of record %.40q; expected >, < or pidtid", kind)
}
