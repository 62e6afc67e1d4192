package sampledata

import "strings"

func (r *textReader) beginSample(l *textLine) error {
	r.sample, r.sampleLine = &Sample{}, r.number
	if err := positional(l, "a time", toDuration(&r.sample.Time)); err != nil {
		return err
	}
	values := make(settings, len(l.rest))
	for _, t := range l.rest {
		if to, ok := sampleValues[t.key]; ok {
			values[t.key] = to(r)
		}
	}
	err := l.attributes(values, map[string]*bool{"stopped-world": &r.sample.StoppedWorld,
		"collecting": &r.sample.Collecting})
	if err != nil && len(values) < len(sampleValues) { // the error is to name all that is possible
		for name, to := range sampleValues {
			values[name] = to(r)
		}
		err = l.attributes(values, map[string]*bool{"stopped-world": new(bool),
			"collecting": new(bool)})
	}
	return err
}

// sampleValues are the keys in a sample's line. A text may have millions of
// samples, so only the functions that are needed are made.
var sampleValues = map[string]func(*textReader) func(token) error{
	"halt": func(r *textReader) func(token) error { return toDuration(&r.sample.Halt) },
	"processors": func(r *textReader) func(token) error {
		return r.toProcessors(&r.sample.Processors)
	},
	"threads":   func(r *textReader) func(token) error { return toInt32(&r.sample.Threads) },
	"missed":    func(r *textReader) func(token) error { return toInt32(&r.sample.Missed) },
	"cpu":       func(r *textReader) func(token) error { return toDuration(&r.sample.SamplerCPU) },
	"reused":    func(r *textReader) func(token) error { return toInt32(&r.sample.Reused) },
	"rechecked": func(r *textReader) func(token) error { return toInt32(&r.sample.Rechecked) },
	"wrong":     func(r *textReader) func(token) error { return toInt32(&r.sample.Wrong) },
	"lost-halt": func(r *textReader) func(token) error { return toDuration(&r.sample.LostHalt) },
	"suspended": func(r *textReader) func(token) error { return toDuration(&r.sample.Suspended) },
	"weight":    func(r *textReader) func(token) error { return toDuration(&r.sample.Weight) },
}

func (r *textReader) toProcessors(to *[]GoroutineID) func(token) error {
	return func(t token) error {
		for word := range strings.SplitSeq(t.word, ",") {
			var g GoroutineID
			switch word {
			case "idle":
				g = IdleProcessor
			case "system":
				g = SystemProcessor
			default:
				one := token{word: word, column: t.column}
				if err := toCode(&g, "g", r.b.rec.Goroutines.Len(), false)(one); err != nil {
					return err
				}
			}
			*to = append(*to, g)
		}
		return nil
	}
}

// change reads a line below a sample with a goroutine's new state.
func (r *textReader) change(l *textLine) error {
	if r.sample == nil {
		return l.keyword.errorf("a goroutine's state without a sample above it")
	}
	var c Change
	if err := toCode(&c.Goroutine, "g", r.b.rec.Goroutines.Len(), false)(l.keyword); err != nil {
		return err
	}
	t, err := l.word("a state")
	if err != nil {
		return err
	}
	if t.word == "gone" {
		c.Gone = true
		r.changes = append(r.changes, c)
		return l.end()
	}
	s := &c.State
	release := NoStack
	z := &r.b.tables.sizes
	err = firstError(
		func() error { return toName(&s.Run, "state", runStateNames)(t) },
		func() error { return positional(l, "a stack", toCode(&s.Stack, "n", z.nodes, true)) },
		func() error {
			return l.attributes(settings{
				"reason": toText(&s.Reason), "lock": toAddress(&s.Lock),
				"holders":  toCode(&s.Holders, "h", z.holderSets, false),
				"evidence": toName(&s.Evidence, "evidence", evidenceNames),
				"labels":   toCode(&s.Labels, "l", z.labelSets, false),
				"priority": toInt32(&s.Priority), "release": toCode(&release, "n", z.nodes, false),
			}, map[string]*bool{"no-cpu": &s.NoCPU, "torn": &s.Torn})
		},
	)
	if err != nil {
		return err
	}
	s.Release = ReleaseAt(release)
	if err := z.state(*s); err != nil {
		return l.keyword.errorf("%v", err)
	}
	r.changes = append(r.changes, c)
	return r.budget.Fits(int64(len(r.changes)) * changeMemory)
}

// endSample passes the current sample, if there is one, to the Builder. Its
// error is at the sample's line.
func (r *textReader) endSample() error {
	if r.sample == nil {
		return nil
	}
	err := r.b.Sample(*r.sample, r.changes)
	r.sample, r.changes = nil, r.changes[:0]
	if err != nil {
		return &textError{line: r.sampleLine, column: 1, msg: err.Error()}
	}
	return r.b.charge()
}

func (r *textReader) warning(l *textLine) error {
	var w Warning
	err := firstError(
		func() error { return positional(l, "a kind", toText(&w.Kind)) },
		func() error { return positional(l, "a count", toInt64(&w.Count)) },
		func() error { return positional(l, "a message", toText(&w.Message)) },
	)
	if err != nil {
		return err
	}
	if w.Kind == "" || w.Count < 1 {
		return l.keyword.errorf("want a kind, and a count from 1 up")
	}
	r.b.Warn(w.Kind, w.Message, w.Count)
	return nil
}

func (r *textReader) end(l *textLine) error {
	var e End
	err := firstError(
		func() error { return positional(l, "a cause", toName(&e.Cause, "cause", endCauseNames)) },
		func() error {
			return l.attributes(settings{
				"time": toDuration(&e.Time), "status": toInt32(&e.ExitStatus),
				"detail": toText(&e.Detail),
				"missed": toInt32(&e.Missed), "cpu": toDuration(&e.SamplerCPU),
				"lost-halt": toDuration(&e.LostHalt),
			}, nil)
		},
	)
	if err != nil {
		return err
	}
	return r.b.Finish(e)
}
