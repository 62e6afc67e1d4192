package sampledata

import (
	"slices"
	"strings"
)

// A lineReader reads the rest of a line.
type lineReader func(*textReader, *textLine) error

// thing reads a line that says all of a thing, and adds the
// thing. Parts that are left out are as in usual.
func thing[T any](usual T, fields func(*T, *sizes) []field, add func(*Builder, T) error) lineReader {
	return func(r *textReader, l *textLine) error {
		t := usual
		l.read(fields(&t, &r.b.tables.sizes))
		return add(r.b, t)
	}
}

func (r *textReader) labels(l *textLine) error {
	l.read([]field{define("l", r.b.tables.labelSets)})
	var set []Label
	for _, t := range l.rest {
		if !t.hasKey {
			l.keep(t.errorf("want KEY=VALUE"))
		}
		set = append(set, Label{t.key, t.word})
	}
	l.rest = nil
	slices.SortStableFunc(set, func(a, b Label) int { return strings.Compare(a.Key, b.Key) })
	return r.b.newLabelSet(set)
}

func (r *textReader) holders(l *textLine) error {
	l.read([]field{define("h", r.b.tables.holderSets)})
	var set []GoroutineID
	for len(l.rest) > 0 {
		l.word("a goroutine", r.goroutineCode(added(&set)))
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
	l.read(monitorFields(&m, len(r.b.tables.monitors.list)))
	return r.b.newMonitor(m)
}
