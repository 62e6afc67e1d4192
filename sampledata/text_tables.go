package sampledata

import (
	"slices"
	"strings"
)

// A lineReader reads the rest of a line.
type lineReader func(*textReader, *textLine) error

// thing reads a line that says all of a thing, and adds the thing. Parts that
// are left out are as in usual.
func thing[T any](usual T, fields func(*T, *sizes) []field, add func(*Builder, T) error) lineReader {
	return func(r *textReader, l *textLine) error {
		t := usual
		if err := l.read(fields(&t, &r.b.tables.sizes)); err != nil {
			return err
		}
		return add(r.b, t)
	}
}

// definition reads the code that a line defines.
func (l *textLine) definition(prefix string, next int) error {
	t, err := l.word("a code")
	if err != nil {
		return err
	}
	return definition{prefix, next}.set(t)
}

func (r *textReader) labels(l *textLine) error {
	if err := l.definition("l", r.b.tables.labelSets); err != nil {
		return err
	}
	var set []Label
	for _, t := range l.rest {
		if !t.hasKey {
			return t.errorf("want KEY=VALUE")
		}
		set = append(set, Label{t.key, t.word})
	}
	l.rest = nil
	slices.SortStableFunc(set, func(a, b Label) int { return strings.Compare(a.Key, b.Key) })
	return r.b.newLabelSet(set)
}

func (r *textReader) holders(l *textLine) error {
	if err := l.definition("h", r.b.tables.holderSets); err != nil {
		return err
	}
	var set []GoroutineID
	for len(l.rest) > 0 {
		t, err := l.word("a goroutine")
		if err != nil {
			return err
		}
		set = append(set, 0)
		if err := r.goroutineCode(&set[len(set)-1]).set(t); err != nil {
			return err
		}
	}
	slices.Sort(set)
	return r.b.newHolderSet(set)
}

// goroutineCode refers to a goroutine that has been defined.
func (r *textReader) goroutineCode(to *GoroutineID) textValue {
	return reference[GoroutineID]{to, "g", r.b.tables.goroutines, -1}
}

func (r *textReader) monitor(l *textLine) error {
	var m Monitor
	if err := l.read(monitorFields(&m, len(r.b.tables.monitors.list))); err != nil {
		return err
	}
	return r.b.newMonitor(m)
}
