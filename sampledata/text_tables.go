package sampledata

import (
	"slices"
	"strings"
)

func (r *textReader) function(l *textLine) error {
	var f Function
	if err := l.read(functionFields(&f, &r.b.tables.sizes)); err != nil {
		return err
	}
	return r.b.newFunction(f)
}

func (r *textReader) node(l *textLine) error {
	n := Node{Parent: NoStack}
	if err := l.read(nodeFields(&n, &r.b.tables.sizes)); err != nil {
		return err
	}
	return r.b.newNode(n)
}

func (r *textReader) goroutine(l *textLine) error {
	g := Goroutine{Start: -1}
	if err := l.read(goroutineFields(&g, &r.b.tables.sizes)); err != nil {
		return err
	}
	return r.b.newGoroutine(g)
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

func (r *textReader) lockName(l *textLine) error {
	var n LockName
	if err := l.read(lockNameFields(&n)); err != nil {
		return err
	}
	return r.b.newLockName(n)
}

func (r *textReader) monitor(l *textLine) error {
	var m Monitor
	if err := l.read(monitorFields(&m, len(r.b.tables.monitors.list))); err != nil {
		return err
	}
	return r.b.newMonitor(m)
}
