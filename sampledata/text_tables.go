package sampledata

import (
	"slices"
	"strings"
)

// define reads the code that a line defines, which must be the next one.
func define(l *textLine, prefix string, next int) error {
	t, err := l.word("a code")
	if err != nil {
		return err
	}
	n, err := parseCode(t, prefix)
	if err != nil {
		return err
	}
	if n != next {
		return t.errorf("%s, but %s%d comes next", t.word, prefix, next)
	}
	return nil
}

// positional reads the next word and passes it to set.
func positional(l *textLine, what string, set func(token) error) error {
	t, err := l.word(what)
	if err != nil {
		return err
	}
	return set(t)
}

func (r *textReader) function(l *textLine) error {
	var f Function
	return firstError(
		func() error { return define(l, "f", len(r.b.rec.Functions)) },
		func() error { return positional(l, "a name", toText(&f.Name)) },
		func() error {
			return l.attributes(settings{"file": toText(&f.File), "line": toInt32(&f.Line)}, nil)
		},
		func() error { return r.b.newFunction(f) },
	)
}

func (r *textReader) node(l *textLine) error {
	n := Node{Parent: NoStack}
	return firstError(
		func() error { return define(l, "n", len(r.b.rec.Nodes)) },
		func() error {
			return positional(l, "a function",
				toCode(&n.Function, "f", len(r.b.rec.Functions), false))
		},
		func() error {
			return l.attributes(settings{"under": toCode(&n.Parent, "n", len(r.b.rec.Nodes),
				false), "line": toInt32(&n.Line)},
				map[string]*bool{"inlined": &n.Inlined})
		},
		func() error { return r.b.newNode(n) },
	)
}

func (r *textReader) goroutine(l *textLine) error {
	g := Goroutine{Start: -1}
	return firstError(
		func() error { return define(l, "g", r.b.rec.Goroutines.Len()) },
		func() error {
			return positional(l, "the target's number of the goroutine", toInt64(&g.ID))
		},
		func() error {
			return l.attributes(settings{
				"start":     toCode(&g.Start, "f", len(r.b.rec.Functions), false),
				"site":      toText(&g.Site.Function),
				"site-file": toText(&g.Site.File), "site-line": toInt32(&g.Site.Line),
				"parent": toInt64(&g.Parent),
			}, map[string]*bool{"system": &g.System, "gc": &g.GC})
		},
		func() error { return r.b.newGoroutine(g) },
	)
}

func (r *textReader) labels(l *textLine) error {
	if err := define(l, "l", len(r.b.rec.LabelSets)); err != nil {
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
	if err := define(l, "h", len(r.b.rec.HolderSets)); err != nil {
		return err
	}
	var set []GoroutineID
	for len(l.rest) > 0 {
		var g GoroutineID
		if err := positional(l, "a goroutine",
			toCode(&g, "g", r.b.rec.Goroutines.Len(), false)); err != nil {
			return err
		}
		set = append(set, g)
	}
	slices.Sort(set)
	return r.b.newHolderSet(set)
}

func (r *textReader) lockName(l *textLine) error {
	var n LockName
	return firstError(
		func() error { return positional(l, "an address", toAddress(&n.Address)) },
		func() error { return positional(l, "a name", toText(&n.Name)) },
		func() error {
			return l.attributes(settings{"from": toInt32(&n.First)}, nil)
		},
		func() error { return r.b.newLockName(n) },
	)
}
