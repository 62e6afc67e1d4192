package sampledata

import (
	"strconv"
	"strings"
)

// The lines of a marking:
//
//	marking 1s goroutines=12 proved passes=3 took=30ms apart=1s halted=2ms max-halt=1ms heap=4096
//	    group stuck sender count=2 ids=7,9 reason="chan receive" waited=3s kept=8192
//	        call main.leak file=main.go line=7
//	        creator main.main file=main.go line=3
//	    edge 7 to=9 at=0xc000012080 sure taken=main.lock

// Mark writes the lines of a marking.
func (s *textSink) Mark(m *Marking) {
	l := newLine("marking", ascii(m.Time))
	l.number("goroutines", int64(m.Goroutines))
	l.flag("proved", m.Proved)
	l.flag("whole", m.Whole)
	l.number("passes", int64(m.Passes))
	l.set("took", ascii(m.Took))
	l.set("apart", ascii(m.Apart))
	l.set("halted", ascii(m.Halted))
	l.set("max-halt", ascii(m.MaxHalt))
	l.number("heap", m.Heap)
	l.set("needs-halt", ascii(m.NeedsHalt))
	l.number("needs-memory", m.NeedsMemory)
	l.text("doubt", m.Doubt)
	s.line(l)
	for i := range m.Groups {
		s.markedGroup(&m.Groups[i])
	}
	for i := range m.Edges {
		s.markedEdge(&m.Edges[i])
	}
}

func (s *textSink) markedGroup(g *MarkedGroup) {
	l := newLine("\tgroup", quote(g.Verdict.String()), g.Wait.String())
	l.number("count", int64(g.Count))
	l.text("ids", numbers(g.IDs))
	l.text("reason", g.Reason)
	l.text("doubt", g.Doubt)
	l.set("waited", ascii(g.Waited))
	l.number("kept", g.Kept)
	s.line(l)
	for _, c := range g.Calls {
		s.call("\t\tcall", c)
	}
	if g.Creator != (Call{}) {
		s.call("\t\tcreator", g.Creator)
	}
}

func (s *textSink) markedEdge(e *MarkedEdge) {
	l := newLine("\tedge", strconv.FormatInt(e.From, 10))
	l.number("to", e.To)
	l.set("at", address(e.At))
	l.flag("sure", e.Sure)
	l.text("taken", e.Taken)
	s.line(l)
}

func (s *textSink) call(name string, c Call) {
	l := newLine(name, quote(c.Function))
	l.text("file", c.File)
	l.number("line", int64(c.Line))
	s.line(l)
}

func numbers[N int64 | int32](list []N) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.FormatInt(int64(n), 10)
	}
	return strings.Join(words, ",")
}

func (r *textReader) marking(l *textLine) error {
	m := &Marking{}
	r.marked = m
	return firstError(
		func() error { return positional(l, "a time", toDuration(&m.Time)) },
		func() error {
			return l.attributes(settings{
				"goroutines": toInt(&m.Goroutines), "passes": toInt(&m.Passes),
				"took": toDuration(&m.Took), "apart": toDuration(&m.Apart),
				"halted": toDuration(&m.Halted), "max-halt": toDuration(&m.MaxHalt),
				"heap": toInt64(&m.Heap), "needs-halt": toDuration(&m.NeedsHalt),
				"needs-memory": toInt64(&m.NeedsMemory), "doubt": toText(&m.Doubt),
			}, map[string]*bool{"proved": &m.Proved, "whole": &m.Whole})
		},
		func() error { return r.b.newMarking(m) },
	)
}

// markedEdge reads an edge of the marking above it.
func (r *textReader) markedEdge(l *textLine) error {
	if r.marked == nil {
		return l.keyword.errorf("an edge without a marking above it")
	}
	if len(r.marked.Edges) == MaxMarkedEdges {
		return l.keyword.errorf("a marking has at most %d edges", MaxMarkedEdges)
	}
	var e MarkedEdge
	defer func() { r.marked.Edges = append(r.marked.Edges, e) }()
	return firstError(
		func() error { return positional(l, "a goroutine", toInt64(&e.From)) },
		func() error {
			return l.attributes(settings{"to": toInt64(&e.To), "at": toAddress(&e.At),
				"taken": toText(&e.Taken)},
				map[string]*bool{"sure": &e.Sure})
		},
	)
}

// markedGroup reads a group of the marking above it. All groups are checked at
// the end: one may reach a later one.
func (r *textReader) markedGroup(l *textLine) error {
	if r.marked == nil {
		return l.keyword.errorf("a group without a marking above it")
	}
	if len(r.marked.Groups) == MaxMarkedGroups {
		return l.keyword.errorf("a marking has at most %d groups", MaxMarkedGroups)
	}
	var g MarkedGroup
	defer func() { r.marked.Groups = append(r.marked.Groups, g) }()
	return firstError(
		func() error {
			return positional(l, "a verdict", toName(&g.Verdict, "verdict", verdictNames))
		},
		func() error {
			return positional(l, "what they wait for", toName(&g.Wait, "wait", waitNames))
		},
		func() error {
			return l.attributes(settings{
				"count": toInt(&g.Count), "ids": toNumbers(&g.IDs), "reason": toText(&g.Reason),
				"doubt": toText(&g.Doubt), "waited": toDuration(&g.Waited),
				"kept": toInt64(&g.Kept),
			}, nil)
		},
	)
}

// markedCall reads a call of the group above it, or who has created its
// goroutines.
func (r *textReader) markedCall(l *textLine) error {
	if r.marked == nil || len(r.marked.Groups) == 0 {
		return l.keyword.errorf("a call without a group of a marking above it")
	}
	g := &r.marked.Groups[len(r.marked.Groups)-1]
	var c Call
	return firstError(
		func() error { return positional(l, "a function", toText(&c.Function)) },
		func() error {
			return l.attributes(settings{"file": toText(&c.File), "line": toInt32(&c.Line)}, nil)
		},
		func() error {
			if l.keyword.word == "creator" {
				g.Creator = c
				return nil
			}
			g.Calls = append(g.Calls, c)
			return nil
		},
	)
}

// checkMarking checks the marking, whose lines have all been read.
func (r *textReader) checkMarking() error {
	if r.marked == nil {
		return nil
	}
	return r.marked.check()
}

func toInt(to *int) func(token) error {
	return func(t token) error {
		var n int64
		err := toInt64(&n)(t)
		*to = int(n)
		return err
	}
}

func toNumbers[N int64 | int32](to *[]N) func(token) error {
	return func(t token) error {
		for _, word := range strings.Split(t.word, ",") {
			n, err := strconv.ParseInt(word, 10, 64)
			if err != nil || int64(N(n)) != n {
				return t.errorf("%q is not a number", word)
			}
			*to = append(*to, N(n))
		}
		return nil
	}
}
