package interchange

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/views/calltree"
)

// A Stamp is a reading of a meter that never falls, such as CPU
// time, in whole units and billionths of a unit.
type Stamp struct {
	Units  int64
	Billis int64 // 0 to 999,999,999
}

// ParseStamp reads a number of at most 18 digits before the
// point and 9 after it.
func ParseStamp(s string) (Stamp, error) {
	whole, part, point := strings.Cut(s, ".")
	digits := func(d string, most int) bool {
		return len(d) > 0 && len(d) <= most && strings.Trim(d, "0123456789") == ""
	}
	if !digits(whole, 18) || point && !digits(part, 9) {
		return Stamp{}, fmt.Errorf(
			"%.40q is not a number of up to 18 digits, and 9 after the point", s)
	}
	var at Stamp
	var err error
	if at.Units, err = strconv.ParseInt(whole, 10, 64); err == nil && point {
		at.Billis, err = strconv.ParseInt((part + "000000000")[:9], 10, 64)
	}
	return at, err
}

// Events builds a tree from start and end events (Alexander,
// Berry, Levine and Urquhart: A unifying approach to performance
// analysis in the Java environment; "Building the arcflow
// model"). If the meter advances between two events, the
// difference is added to the context in which the first event
// left its thread. The sum of these differences is the tree's
// first metric. Its second metric is the number of entries,
// calltree.CallsName.
type Events struct {
	b       *calltree.Builder
	threads map[string]*eventThread
	current *eventThread
	last    Stamp
	begun   bool
	open    int  // number of calls that have not returned
	atRoot  bool // some calls, or some of the meter's increase, are of no process or thread
}

// An eventThread is a process or thread, with the calls that are
// open in it.
type eventThread struct {
	base  int32
	stack []openCall
}

type openCall struct {
	node     int32
	function string
}

// node returns the present context of the thread.
func (t *eventThread) node() int32 {
	if n := len(t.stack); n > 0 {
		return t.stack[n-1].node
	}
	return t.base
}

// NewEvents starts a tree. Its first metric has the given name and unit.
func NewEvents(metric, unit string) *Events {
	e := &Events{b: calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, metric, unit),
		threads: make(map[string]*eventThread)}
	e.b.AddMetric(calltree.CallsName, calltree.CallsName)
	e.current = new(eventThread)
	return e
}

// Switch records that the following events are of the given
// process or thread.
func (e *Events) Switch(at Stamp, thread string) error {
	if err := e.advance(at); err != nil {
		return err
	}
	e.current = lists.Made(e.threads, thread, func() *eventThread {
		base := e.b.Child(0, e.b.Symbols().Intern(thread))
		e.b.Add(1, base, 1, 1)
		return &eventThread{base: base}
	})
	return nil
}

// Enter records that the current thread calls a function.
func (e *Events) Enter(at Stamp, function string) error {
	if err := e.advance(at); err != nil {
		return err
	}
	e.atRoot = e.atRoot || e.current.node() == 0
	n := e.b.Child(e.current.node(), e.b.Symbols().Intern(function))
	e.b.Add(1, n, 1, 1)
	e.current.stack = append(e.current.stack, openCall{n, function})
	e.open++
	return nil
}

// Exit records that the current thread's innermost function returns.
func (e *Events) Exit(at Stamp, function string) error {
	top := len(e.current.stack) - 1
	if top < 0 {
		return fmt.Errorf("%.200q ends, but no function is open", function)
	}
	if open := e.current.stack[top].function; open != function {
		return fmt.Errorf("%.200q ends inside %.200q", function, open)
	}
	if err := e.advance(at); err != nil {
		return err
	}
	e.current.stack = e.current.stack[:top]
	e.open--
	return nil
}

// advance adds the meter's increase since the last event to the
// current context.
func (e *Events) advance(at Stamp) error {
	if !e.begun {
		e.last, e.begun = at, true
	}
	units, billis := at.Units-e.last.Units, at.Billis-e.last.Billis
	if units < 0 || units == 0 && billis < 0 {
		return errors.New("the number is lower than the one before it; it must count up")
	}
	n := e.current.node()
	e.atRoot = e.atRoot || n == 0 && (units != 0 || billis != 0)
	if units != 0 {
		e.b.Add(0, n, units, 1)
	}
	if billis != 0 {
		e.b.AddRat(0, n, big.NewRat(billis, 1_000_000_000))
	}
	e.last = at
	return nil
}

// Tree returns the tree. If all events are of one process or
// thread, that is its root; otherwise the processes and threads
// are below calltree.RootName. Functions that have not returned
// count up to the last event.
func (e *Events) Tree() (*calltree.Tree, error) {
	single := len(e.threads) == 1 && !e.atRoot
	if !single {
		e.b.Add(1, 0, 1, 1)
	}
	t, err := e.b.Tree()
	if err == nil && single {
		t, _ = t.BelowRoot()
	}
	return t, err
}
