package sampledata

import "strings"

func (r *textReader) beginSample(l *textLine) error {
	s := &Sample{}
	if err := positional(l, "a time", toDuration(&s.Time)); err != nil {
		return err
	}
	err := l.attributes(settings{
		"halt": toDuration(&s.Halt), "processors": r.toProcessors(&s.Processors), "threads": toInt32(&s.Threads),
		"missed": toInt32(&s.Missed), "cpu": toDuration(&s.SamplerCPU), "reused": toInt32(&s.Reused),
		"rechecked": toInt32(&s.Rechecked), "wrong": toInt32(&s.Wrong), "lost-halt": toDuration(&s.LostHalt),
		"suspended": toDuration(&s.Suspended), "weight": toDuration(&s.Weight),
	}, map[string]*bool{"stopped-world": &s.StoppedWorld, "collecting": &s.Collecting})
	if err != nil {
		return err
	}
	r.sample, r.sampleLine = s, r.number
	return nil
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
				if err := toCode(&g, "g", len(r.b.rec.Goroutines), false)(one); err != nil {
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
	if err := toCode(&c.Goroutine, "g", len(r.b.rec.Goroutines), false)(l.keyword); err != nil {
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
				"reason": toText(&s.Reason), "lock": toAddress(&s.Lock), "holders": toCode(&s.Holders, "h", z.holderSets, false),
				"evidence": toName(&s.Evidence, "evidence", evidenceNames), "labels": toCode(&s.Labels, "l", z.labelSets, false),
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

// endSample passes the current sample, if there is one, to the Builder. Its error is at the sample's line.
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
				"time": toDuration(&e.Time), "status": toInt32(&e.ExitStatus), "detail": toText(&e.Detail),
				"missed": toInt32(&e.Missed), "cpu": toDuration(&e.SamplerCPU), "lost-halt": toDuration(&e.LostHalt),
			}, nil)
		},
	)
	if err != nil {
		return err
	}
	return r.b.Finish(e)
}
