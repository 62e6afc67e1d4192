package sampledata

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

const textMagic = "cpprof recording 1"

// WriteText writes a recording as text, in the form that
// ReadText reads. Its output depends only on the recording.
func WriteText(w io.Writer, r *Recording) error {
	if err := r.Check(); err != nil {
		return fmt.Errorf("write recording as text: %w", err)
	}
	s := &textSink{out: bufio.NewWriter(w),
		sizes: sizes{labelSets: 1, holderSets: 1}}
	s.header(&r.Header)
	err := r.replay(s)
	if err == nil {
		err = s.out.Flush()
	}
	if err != nil {
		return fmt.Errorf("write recording as text: %w", err)
	}
	return nil
}

// A textSink writes everything that it receives as lines. It
// receives each thing once, so it can count to assign codes. The
// bufio.Writer keeps errors until the end.
type textSink struct {
	out      *bufio.Writer
	sizes    sizes
	monitors []Value     // their latest values
	measured []MonitorID // for the next sample
}

// line writes a line with words. The first one may be indented.
func (s *textSink) line(words ...string) {
	s.out.WriteString(strings.Join(words, " "))
	s.out.WriteByte('\n')
}

// fields writes a line with a word and fields. Keys and flags
// are left out if readers assume their values.
func (s *textSink) fields(first string, fields []field) {
	s.out.WriteString(first)
	for _, f := range fields {
		word, usual := f.value.word()
		if usual && f.form != placed {
			continue
		}
		s.out.WriteByte(' ')
		switch f.form {
		case placed:
			s.out.WriteString(quote(word))
		case keyed:
			s.out.WriteString(f.name + "=" + quote(word))
		case flagged:
			s.out.WriteString(f.name)
		}
	}
	s.out.WriteByte('\n')
}

// eachFields writes a line for each part of a list.
func eachFields[T any](s *textSink, first string, list []T, fields func(*T) []field) {
	for i := range list {
		s.fields(first, fields(&list[i]))
	}
}

func (s *textSink) header(h *Header) {
	s.line(textMagic)
	if len(h.Command) > 0 {
		s.out.WriteString("command")
		for _, c := range h.Command {
			s.out.WriteString(" " + quote(c))
		}
		s.out.WriteByte('\n')
	}
	for _, f := range headerFields(h) {
		if word, _ := f.value.word(); word != "" {
			s.line(f.name, quote(word))
		}
	}
	s.fields("sampler", samplerFields(&h.Sampler))
}

func (s *textSink) Function(f Function) FunctionID {
	s.fields("function", functionFields(&f, &s.sizes))
	s.sizes.functions++
	return FunctionID(s.sizes.functions - 1)
}

func (s *textSink) Node(n Node) NodeID {
	s.fields("node", nodeFields(&n, &s.sizes))
	s.sizes.nodes++
	return NodeID(s.sizes.nodes - 1)
}

func (s *textSink) Goroutine(g Goroutine) GoroutineID {
	s.fields("goroutine", goroutineFields(&g, &s.sizes))
	s.sizes.goroutines++
	return GoroutineID(s.sizes.goroutines - 1)
}

func (s *textSink) LabelSet(set []Label) LabelSetID {
	words := []string{"labels", code("l", s.sizes.labelSets)}
	for _, label := range set {
		words = append(words, quote(label.Key)+"="+quote(label.Value))
	}
	s.line(words...)
	s.sizes.labelSets++
	return LabelSetID(s.sizes.labelSets - 1)
}

func (s *textSink) HolderSet(set []GoroutineID) HolderSetID {
	words := []string{"holders", code("h", s.sizes.holderSets)}
	for _, g := range set {
		words = append(words, code("g", g))
	}
	s.line(words...)
	s.sizes.holderSets++
	return HolderSetID(s.sizes.holderSets - 1)
}

func (s *textSink) LockName(n LockName) { s.fields("lock", lockNameFields(&n, &s.sizes)) }

func (s *textSink) Monitor(m Monitor) MonitorID {
	s.fields("monitor", monitorFields(&m, len(s.monitors)))
	s.monitors = append(s.monitors, Value{})
	return MonitorID(len(s.monitors) - 1)
}

// Measure keeps the value for the next sample: it stands below that.
func (s *textSink) Measure(m MonitorID, v Value) {
	s.monitors[m] = v
	s.measured = append(s.measured, m)
}

func (s *textSink) Sample(sample Sample, changes []Change) error {
	s.fields("sample", sampleFields(&sample, &s.sizes))
	for i := range changes {
		c := &changes[i]
		goroutine := "\t" + code("g", c.Goroutine)
		if c.Gone {
			s.line(goroutine, "gone")
			continue
		}
		release := c.State.Release.Stack()
		s.fields(goroutine, stateFields(&c.State, &release, &s.sizes))
	}
	for _, m := range s.measured {
		value := "unmeasured"
		if v := s.monitors[m]; v.Measured() {
			value = "value=" + quote(v.String())
		}
		s.line("\t"+code("m", m), value)
	}
	s.measured = s.measured[:0]
	return nil
}

func (s *textSink) Probe(p Probe) {
	s.fields("probe", probeFields(&p))
	eachFields(s, "\tsite", p.Sites, siteFields)
	eachFields(s, "\targument", p.Arguments, argumentFields)
}

func (s *textSink) Mark(m *Marking) {
	s.fields("marking", markingFields(m))
	for i := range m.Groups {
		g := &m.Groups[i]
		s.fields("\tgroup", groupFields(g))
		eachFields(s, "\t\tcall", g.Calls, callFields)
		if g.Creator != (Call{}) {
			s.fields("\t\tcreator", callFields(&g.Creator))
		}
		eachFields(s, "\t\tleft", g.Left, callFields)
	}
	eachFields(s, "\tedge", m.Edges, edgeFields)
}

func (s *textSink) Warn(kind, message string, count int64) {
	s.fields("warning", warningFields(&Warning{Kind: kind, Count: count, Message: message}))
}

func (s *textSink) Finish(e End) error {
	s.fields("end", endFields(&e, &s.sizes))
	return nil
}
