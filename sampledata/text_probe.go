package sampledata

import (
	"strconv"
	"strings"
)

// The lines of probes:
//
//	probe main.work line=7 by=uprobe from=10ms to=1s calls=2 returned=2 elapsed=300,100,200,100:1,132:1
//	    site main.main line=30 calls=2
//	    argument n value values=3,1,2,1:1,2:1

// Probe writes the lines of a probe.
func (s *textSink) Probe(p Probe) {
	l := newLine("probe", quote(p.Function))
	l.text("file", p.File)
	l.number("line", int64(p.Line))
	l.text("by", p.Instrument.String())
	l.text("why", p.Why)
	l.text("note", p.Note)
	l.set("from", ascii(p.From))
	l.set("returns-up-to", ascii(p.ReturnsUpTo))
	l.set("to", ascii(p.To))
	l.count("calls", p.Calls)
	l.flag("taken-out", p.TakenOut)
	l.count("returned", p.Returned)
	l.count("unfinished", p.Unfinished)
	l.count("lost", p.Lost)
	l.set("cost", ascii(p.Cost))
	l.distribution("elapsed", &p.Elapsed)
	s.line(l)
	for i := range p.Sites {
		site := &p.Sites[i]
		l := newLine("\tsite", quote(site.Caller))
		l.text("file", site.File)
		l.number("line", int64(site.Line))
		l.count("calls", site.Calls)
		l.distribution("elapsed", &site.Elapsed)
		s.line(l)
	}
	for i := range p.Arguments {
		a := &p.Arguments[i]
		l := newLine("\targument", quote(a.Name), a.Kind.String())
		l.distribution("values", &a.Values)
		s.line(l)
	}
}

func (l *line) count(key string, n uint64) { l.set(key, strconv.FormatUint(n, 10)) }

func (l *line) distribution(key string, d *Distribution) {
	if len(d.Buckets) == 0 {
		return
	}
	words := []string{strconv.FormatInt(d.Sum, 10), strconv.FormatInt(d.Min, 10),
		strconv.FormatInt(d.Max, 10)}
	for _, b := range d.Buckets {
		words = append(words, strconv.Itoa(int(b.Index))+":"+strconv.FormatUint(b.Count, 10))
	}
	l.text(key, strings.Join(words, ","))
}

func (r *textReader) probe(l *textLine) error {
	r.probed = &Probe{}
	p := r.probed
	return firstError(
		func() error { return positional(l, "a function", toText(&p.Function)) },
		func() error {
			return l.attributes(settings{
				"file": toText(&p.File), "line": toInt32(&p.Line),
				"by":  toName(&p.Instrument, "instrument", instrumentNames),
				"why": toText(&p.Why), "note": toText(&p.Note), "from": toDuration(&p.From),
				"returns-up-to": toDuration(&p.ReturnsUpTo),
				"to":            toDuration(&p.To), "calls": toCount(&p.Calls),
				"returned": toCount(&p.Returned), "unfinished": toCount(&p.Unfinished),
				"lost": toCount(&p.Lost), "cost": toDuration(&p.Cost),
				"elapsed": toDistribution(&p.Elapsed),
			}, map[string]*bool{"taken-out": &p.TakenOut})
		},
		func() error { return r.b.newProbe(*p) },
	)
}

// site reads a call site of the probe above it.
func (r *textReader) site(l *textLine) error {
	if r.probed == nil {
		return l.keyword.errorf("a call site without a probe above it")
	}
	var s CallSite
	return firstError(
		func() error { return positional(l, "a caller", toText(&s.Caller)) },
		func() error {
			return l.attributes(settings{
				"file": toText(&s.File), "line": toInt32(&s.Line), "calls": toCount(&s.Calls),
				"elapsed": toDistribution(&s.Elapsed),
			}, nil)
		},
		func() error {
			r.probed.Sites = append(r.probed.Sites, s)
			return r.b.newProbe(*r.probed)
		},
	)
}

// argument reads an argument of the probe above it.
func (r *textReader) argument(l *textLine) error {
	if r.probed == nil {
		return l.keyword.errorf("an argument without a probe above it")
	}
	var a Argument
	return firstError(
		func() error { return positional(l, "a name", toText(&a.Name)) },
		func() error { return positional(l, "a kind", toName(&a.Kind, "kind", argumentNames)) },
		func() error { return l.attributes(settings{"values": toDistribution(&a.Values)}, nil) },
		func() error {
			r.probed.Arguments = append(r.probed.Arguments, a)
			return r.b.newProbe(*r.probed)
		},
	)
}

func toCount(to *uint64) func(token) error {
	return func(t token) error {
		n, err := strconv.ParseUint(t.word, 10, 64)
		if err != nil {
			return t.errorf("%q is not a count", t.word)
		}
		*to = n
		return nil
	}
}

func toDistribution(to *Distribution) func(token) error {
	return func(t token) error {
		words := strings.Split(t.word, ",")
		if len(words) < 4 {
			return t.errorf("%q is not a distribution: want SUM,MIN,MAX,BUCKET:COUNT,...", t.word)
		}
		for i, n := range []*int64{&to.Sum, &to.Min, &to.Max} {
			if err := toInt64(n)(token{word: words[i], column: t.column}); err != nil {
				return err
			}
		}
		for _, word := range words[3:] {
			index, count, _ := strings.Cut(word, ":")
			var b Bucket
			if err := toInt32(&b.Index)(token{word: index, column: t.column}); err != nil {
				return err
			}
			if err := toCount(&b.Count)(token{word: count, column: t.column}); err != nil {
				return err
			}
			to.Buckets = append(to.Buckets, b)
		}
		return nil
	}
}
