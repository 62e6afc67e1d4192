package sampledata

import "strings"

// names are joined with commas.
type names []string

func (v *names) word() (string, bool) { return strings.Join(*v, ","), len(*v) == 0 }
func (v *names) set(t token) error    { *v = strings.Split(t.word, ","); return nil }

func callTableFields(t *CallTable) []field {
	return []field{
		arg("a function", (*plain)(&t.Function)),
		key("by", oneOf(&t.Source, "source", callSourceNames)),
		key("note", (*plain)(&t.Note)), key("arguments", (*names)(&t.Arguments)),
	}
}

func windowFields(w *CallWindow) []field {
	return []field{arg("a time", (*period)(&w.From)), arg("a time", (*period)(&w.To))}
}

func timedCallFields(c *TimedCall) []field {
	return []field{
		arg("the target's number of the goroutine", whole(&c.Goroutine)),
		arg("a time", (*period)(&c.Begin)), arg("a time", (*period)(&c.End)),
		flag("cut-begin", &c.CutBegin), flag("cut-end", &c.CutEnd),
		key("caller", (*plain)(&c.Site.Function)), key("file", (*plain)(&c.Site.File)),
		key("line", whole(&c.Site.Line)), key("label", (*plain)(&c.Label)),
		key("values", (*numbers)(&c.Values)),
	}
}

func (s *textSink) Calls(t CallTable) {
	s.fields("calls", callTableFields(&t))
	eachFields(s, "\twindow", t.Windows, windowFields)
	eachFields(s, "\ttimed", t.Calls, timedCallFields)
}

func (r *textReader) calls(l *textLine) error {
	r.timed = &CallTable{}
	l.read(callTableFields(r.timed))
	return r.b.newCalls(*r.timed)
}

// callPart reads a window or a call of the calls above it.
func (r *textReader) callPart(l *textLine) error {
	if r.timed == nil {
		return l.keyword.errorf("%s without calls above it", l.keyword.word)
	}
	t := *r.timed
	if l.keyword.word == "window" {
		l.read(windowFields(added(&t.Windows)))
	} else {
		l.read(timedCallFields(added(&t.Calls)))
	}
	if err := r.budget.Take(callMemory); err != nil {
		return err
	}
	return r.b.newCalls(t)
}
