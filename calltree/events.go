package calltree

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
)

// CallsName is the name of the metric that counts how often a context was entered, where that is known.
const CallsName = "calls"

// A Stamp is a reading of a meter that never falls, such as CPU time, in whole units and billionths of one.
type Stamp struct {
	Units  int64
	Billis int64 // 0 to 999,999,999
}

// ParseStamp reads a number of at most 18 digits before the point and 9 after it.
func ParseStamp(s string) (Stamp, error) {
	whole, part, point := strings.Cut(s, ".")
	digits := func(d string, most int) bool {
		return len(d) > 0 && len(d) <= most && strings.Trim(d, "0123456789") == ""
	}
	if !digits(whole, 18) || point && !digits(part, 9) {
		return Stamp{}, fmt.Errorf("%.40q is not a number of up to 18 digits, and 9 after the point", s)
	}
	var at Stamp
	var err error
	if at.Units, err = strconv.ParseInt(whole, 10, 64); err == nil && point {
		at.Billis, err = strconv.ParseInt((part + "000000000")[:9], 10, 64)
	}
	return at, err
}

// Events builds a tree from start and end events (Alexander, Berry, Levine and Urquhart: A unifying approach to
// performance analysis in the Java environment; "Building the arcflow model"). What the meter advances between two
// events belongs to the context in which the first one left its thread. The tree's first metric is that, its second
// the number of entries, CallsName.
type Events struct {
	b       *Builder
	threads map[string]*eventThread
	current *eventThread
	last    Stamp
	begun   bool
}

type eventThread struct {
	base  int32
	stack []int32
}

func (t *eventThread) node() int32 {
	if n := len(t.stack); n > 0 {
		return t.stack[n-1]
	}
	return t.base
}

// NewEvents starts a tree whose first metric has the given name and unit.
func NewEvents(metric, unit string) *Events {
	e := &Events{b: NewBuilder(new(Symbols), RootName, metric, unit), threads: make(map[string]*eventThread)}
	e.b.AddMetric(CallsName, CallsName)
	e.current = new(eventThread)
	return e
}

// Switch says that the following events are of the given process or thread.
func (e *Events) Switch(at Stamp, thread string) error {
	if err := e.advance(at); err != nil {
		return err
	}
	t := e.threads[thread]
	if t == nil {
		t = &eventThread{base: e.b.Child(0, e.b.syms.Intern(thread))}
		e.b.Add(1, t.base, 1, 1)
		e.threads[thread] = t
	}
	e.current = t
	return nil
}

// Enter says that the current thread calls a function.
func (e *Events) Enter(at Stamp, function string) error {
	if err := e.advance(at); err != nil {
		return err
	}
	n := e.b.Child(e.current.node(), e.b.syms.Intern(function))
	e.b.Add(1, n, 1, 1)
	e.current.stack = append(e.current.stack, n)
	return nil
}

// Exit says that the current thread's innermost function returns.
func (e *Events) Exit(at Stamp, function string) error {
	top := len(e.current.stack) - 1
	if top < 0 {
		return fmt.Errorf("%.200q ends, but no function is open", function)
	}
	if open := e.b.syms.Name(e.b.fn[e.current.stack[top]]); open != function {
		return fmt.Errorf("%.200q ends inside %.200q", function, open)
	}
	if err := e.advance(at); err != nil {
		return err
	}
	e.current.stack = e.current.stack[:top]
	return nil
}

// advance gives what the meter has counted since the last event to the current context.
func (e *Events) advance(at Stamp) error {
	if !e.begun {
		e.last, e.begun = at, true
	}
	units, billis := at.Units-e.last.Units, at.Billis-e.last.Billis
	if units < 0 || units == 0 && billis < 0 {
		return errors.New("the number is lower than the one before it; it must count up")
	}
	n := e.current.node()
	if units != 0 {
		e.b.Add(0, n, units, 1)
	}
	if billis != 0 {
		e.b.AddRat(0, n, big.NewRat(billis, 1_000_000_000))
	}
	e.last = at
	return nil
}

// Tree gives the tree. Its root is the process or thread, where all events are of one; otherwise the processes and
// threads stand below RootName. Functions that have not returned are counted as far as they came.
func (e *Events) Tree() (*Tree, error) {
	if len(e.threads) != 1 || e.besideThreads() {
		e.b.Add(1, 0, 1, 1)
		return e.b.Tree()
	}
	t, err := e.b.Tree()
	if err != nil {
		return nil, err
	}
	return t.belowRoot(), nil
}

// besideThreads tells whether something happened before the first switch.
func (e *Events) besideThreads() bool {
	for n, p := range e.b.parent {
		if p == 0 && n > 1 {
			return true
		}
	}
	w := e.b.metrics[0]
	if len(w.whole) > 0 && w.whole[0] != 0 {
		return true
	}
	for k := range w.parts {
		if k.node == 0 {
			return true
		}
	}
	return false
}

// belowRoot gives the tree of the root's only child. The root has no hits of its own.
func (t *Tree) belowRoot() *Tree {
	below := &Tree{syms: t.syms, fn: t.fn[1:], parent: t.parent[1:], end: t.end[1:]}
	for i := range below.parent {
		below.parent[i]--
		below.end[i]--
	}
	for _, m := range t.metrics {
		for i, p := range m.planes {
			m.planes[i] = Plane{Own: p.Own[1:], Cum: p.Cum[1:]}
		}
	}
	below.metrics = t.metrics
	return below
}

const longestEvent = 1 << 20

// ReadEvents reads arcflow's text trace (figure 2 of the paper): a record a line, the meter's reading before each.
//
//	0 pidtid AC_test    the following records are of the process or thread AC_test
//	0 > Main            Main is called
//	10 < Main           Main returns
//
// As in the paper's reports, the frame of the process above is AC_test_pidtid. Empty lines, and those that begin with
// "#", say nothing. An error names its line.
func ReadEvents(r io.Reader, metric, unit string) (*Tree, error) {
	e := NewEvents(metric, unit)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestEvent)
	number := 0
	for lines.Scan() {
		number++
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if err := e.record(line); err != nil {
			return nil, fmt.Errorf("arcflow trace: line %d: %w", number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("arcflow trace: line %d: %w", number+1, err)
	}
	if !e.begun {
		return nil, errors.New("arcflow trace: no records; expected lines such as \"0 > main\"")
	}
	return e.Tree()
}

// record takes one line of a text trace in.
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

// A Record is a node of a complete call tree, arcflow's third form of input.
type Record struct {
	Parent int // index of the record of the caller, which comes before; -1 for the first, the root
	Name   string
	Calls  int64
	Own    *big.Rat // consumption of this context itself; nil is none
}

// FromRecords builds the tree of records, with the two metrics of Events. Records of the same call in the same
// context are one node.
func FromRecords(records []Record, metric, unit string) (*Tree, error) {
	if len(records) == 0 {
		return nil, errors.New("call tree: no records, not even of a root")
	}
	b := NewBuilder(new(Symbols), records[0].Name, metric, unit)
	b.AddMetric(CallsName, CallsName)
	at := make([]int32, len(records))
	for i, r := range records {
		switch {
		case i > 0 && r.Parent >= 0 && r.Parent < i:
			at[i] = b.Child(at[r.Parent], b.syms.Intern(r.Name))
		case i > 0 || r.Parent != -1:
			return nil, fmt.Errorf("call tree: record %d: parent %d is not a record before it", i, r.Parent)
		}
		b.Add(1, at[i], r.Calls, 1)
		if r.Own != nil {
			b.AddRat(0, at[i], r.Own)
		}
	}
	return b.Tree()
}
