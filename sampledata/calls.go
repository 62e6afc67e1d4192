package sampledata

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A CallTable has calls of a function that were timed one by
// one, beside the samples.
type CallTable struct {
	Function  string // of a trace also "region:NAME" or "task:NAME"; never empty
	Source    CallSource
	Note      string       // for a person: what the source can't tell
	Arguments []string     // names of those whose values the calls have; without commas
	Windows   []CallWindow // in which calls were timed, in order
	Calls     []TimedCall  // in the order in which they became known
}

// A CallSource says what has timed calls.
type CallSource uint8

const (
	CallsByUprobe CallSource = iota // instruments in the program
	CallsByTrace                    // an execution trace
)

func (s CallSource) String() string { return nameOf(callSourceNames, int(s)) }

var callSourceNames = []string{"uprobe", "trace"}

// A CallWindow is a time in which calls were timed, as Sample.Time.
type CallWindow struct{ From, To time.Duration }

// A TimedCall is one activation of a function by one goroutine.
// If the function calls itself, it is the outermost activation.
type TimedCall struct {
	Goroutine  int64         // its number in the target (goid)
	Begin, End time.Duration // as Sample.Time

	// It was under way when its window began, or when that
	// ended, or it ended without a return.
	CutBegin, CutEnd bool

	Site   Call    // that made the call; empty if not known
	Label  string  // "" if there is none
	Values []int64 // of the table's Arguments; 0 with CutBegin
}

// The limits of what a recording has of timed calls.
const (
	MaxCallTables = 256
	MaxTimedCalls = 1 << 20 // in a recording
)

func (t *CallTable) check() error {
	switch {
	case t.Function == "":
		return fmt.Errorf("calls without a function")
	case t.Source > CallsByTrace:
		return fmt.Errorf("calls of %s: unknown source %d", t.Function, t.Source)
	case len(t.Arguments) > MaxArguments:
		return fmt.Errorf("calls of %s: %d arguments, more than %d", t.Function,
			len(t.Arguments), MaxArguments)
	}
	for _, name := range t.Arguments {
		if name == "" || strings.Contains(name, ",") {
			return fmt.Errorf("calls of %s: argument named %q", t.Function, name)
		}
	}
	for _, w := range t.Windows {
		if w.From < 0 || w.To < w.From {
			return fmt.Errorf("calls of %s: a window from %v to %v", t.Function, w.From, w.To)
		}
	}
	for i := range t.Calls {
		if err := t.Calls[i].check(len(t.Arguments)); err != nil {
			return fmt.Errorf("calls of %s: call %d: %w", t.Function, i, err)
		}
	}
	return nil
}

func (c *TimedCall) check(arguments int) error {
	switch {
	case c.Begin < 0 || c.End < c.Begin:
		return fmt.Errorf("it is from %v to %v", c.Begin, c.End)
	case len(c.Values) != arguments:
		return fmt.Errorf("%d values of %d arguments", len(c.Values), arguments)
	}
	return checkLine(c.Site.Line)
}

// Until cuts what is after the end of a recording: probes go on
// timing calls when there are no more samples.
func (t *CallTable) Until(end time.Duration) {
	t.Windows = slices.DeleteFunc(t.Windows, func(w CallWindow) bool { return w.From >= end })
	for i := range t.Windows {
		t.Windows[i].To = min(t.Windows[i].To, end)
	}
	t.Calls = slices.DeleteFunc(t.Calls, func(c TimedCall) bool { return c.Begin >= end })
	for i := range t.Calls {
		if c := &t.Calls[i]; c.End > end {
			c.End, c.CutEnd = end, true
		}
	}
}

// addCalls adds what is new of a table to a list of tables.
func addCalls(list []CallTable, t CallTable) ([]CallTable, error) {
	if err := t.check(); err != nil {
		return list, err
	}
	i := slices.IndexFunc(list, func(old CallTable) bool {
		return old.Function == t.Function && old.Source == t.Source
	})
	if i < 0 {
		if len(list) == MaxCallTables {
			return list, fmt.Errorf("calls of %s: a recording has at most %d tables of calls",
				t.Function, MaxCallTables)
		}
		i, list = len(list), append(list, CallTable{Function: t.Function, Source: t.Source,
			Arguments: t.Arguments})
	}
	to := &list[i]
	if !slices.Equal(to.Arguments, t.Arguments) {
		return list, fmt.Errorf("calls of %s: arguments %v and %v", t.Function, to.Arguments,
			t.Arguments)
	}
	if t.Note != "" {
		to.Note = t.Note
	}
	to.Windows = append(to.Windows, t.Windows...)
	to.Calls = append(to.Calls, t.Calls...)
	return list, nil
}

// countCalls returns the number of all calls, or an error if
// they are too many.
func countCalls(n int, t *CallTable) (int, error) {
	if n += len(t.Calls); n > MaxTimedCalls {
		return n, fmt.Errorf("calls of %s: a recording has at most %d timed calls", t.Function,
			MaxTimedCalls)
	}
	return n, nil
}

// clipCalls returns tables that do not change when the list's tables grow.
func clipCalls(list []CallTable) []CallTable {
	list = slices.Clone(list)
	for i := range list {
		list[i].Windows, list[i].Calls = slices.Clip(list[i].Windows), slices.Clip(list[i].Calls)
	}
	return list
}

func (r *Recording) checkCalls() (err error) {
	var list []CallTable
	n := 0
	for i := range r.Calls {
		if n, err = countCalls(n, &r.Calls[i]); err != nil {
			return err
		}
		t := r.Calls[i]
		if err := t.check(); err != nil {
			return err
		}
		t.Windows, t.Calls = nil, nil
		if list, err = addCalls(list, t); err != nil {
			return err
		}
		if len(list) != i+1 {
			return fmt.Errorf("a second table of calls of %s", t.Function)
		}
	}
	return nil
}

// TimedCalls returns the calls of a function that the best
// source has timed; nil if there are none.
func (r *Recording) TimedCalls(function string) (best *CallTable) {
	for i := range r.Calls {
		t := &r.Calls[i]
		if t.Function == function && (best == nil || t.Source < best.Source) {
			best = t
		}
	}
	return best
}
