package why

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// DefaultThreshold is the share above which something is a bottleneck (JBolt,
// section 3.2).
const DefaultThreshold = 0.10

// minSamples is the number of samples below which no guess is
// made (the ten-samples heuristic of CPPROFJ, section 5.1).
const minSamples = 10

// minSeen is the number of samples in which goroutines of a
// class must be to say what they wait for. After a pause of the
// sampler, one sample stands for a long time.
const minSeen = 3

// minMean is the mean number of goroutines, or of processors,
// that a finding costs at least: what a program hardly ever does
// does not make it slow, even if it does nothing else.
const minMean = 0.1

// maxHypotheses limits the hypotheses that are tested, those that would cost
// most first.
const maxHypotheses = 60

// Options say what to search in, and for what.
type Options struct {
	Views     views.Options // the span, and the thread classes
	Aspects   *aspects.Set  // that name system calls, allocation and the collector; nil: none
	Threshold float64
	Course    bool // hypotheses have the course of their verdicts
}

// OptionsOf returns the options that a configuration and the
// options of views give.
func OptionsOf(c *config.Config, v views.Options) Options {
	return Options{Views: v, Aspects: c.AllAspects(), Threshold: cmp.Or(c.Slow, DefaultThreshold)}
}

// A candidate is a hypothesis with the finding that it would be.
type candidate struct {
	f     *Finding
	asks  question
	bar   float64 // the share above which it is a bottleneck
	least float64 // the severity above which it is a finding
	note  string  // why it is no finding, whatever its share is

	// rests returns such a note for other reasons than the one
	// that may be reconsidered
	rests func() string

	// refine finds out why, once the hypothesis holds. It
	// returns a note if the hypothesis turns out to be no
	// problem.
	refine func(f *Finding) (note string)

	// others makes a candidate of the other classes, for which
	// the note may not hold; nil if there are none
	others func() *candidate

	observed []hotspots.Observation
}

// A searcher tests hypotheses on the evidence of one span.
type searcher struct {
	e     *evidence
	o     Options
	kinds *functionKinds
	ran   float64 // mean number of goroutines on CPUs
	noCPU float64 // mean number of goroutines on processors whose threads have no CPU

	all []*candidate // nil until they are found

	modules modules
	wrapper func(function string) bool // nil if there is none
	streams map[int64]requestLife      // see findStreams; nil until first use
	// enough other requests end that those are probably streams
	othersEnd bool
	requests  map[int64]int // by a goroutine's number: how many it worked on
	makerOf   []int8        // by function: which of the makers it belongs to, plus 1; -1 if to none

	byClass [][]*situation // see members
	// by finding about a server: see saturates
	saturated map[*Finding]bool
	asked     []string // classes that sleep, and may have been asked: see signAsked
	meant     []string // classes with a goroutine that can never go on, which may be meant

	garbageApart bool // the cost of garbage is in no hypothesis about code
}

// members returns the situations of a class. A large recording
// has millions of situations, and is asked about many classes.
func (s *searcher) members(class int32) []*situation {
	if s.byClass == nil {
		counts := make([]int, len(s.e.classes))
		for _, at := range s.e.situations {
			counts[at.class]++
		}
		s.byClass = make([][]*situation, len(s.e.classes))
		for c, n := range counts {
			s.byClass[c] = make([]*situation, 0, n)
		}
		for _, at := range s.e.situations {
			s.byClass[at.class] = append(s.byClass[at.class], at)
		}
	}
	return s.byClass[class]
}

// Find searches a span of a recording that Recording.Check accepts.
func Find(r *sampledata.Recording, o Options) (*Answer, error) {
	whole, err := findIn(r, o)
	if err != nil {
		return nil, err
	}
	return whole.Answer, nil
}

// findIn does so, and keeps what is needed to go on.
func findIn(r *sampledata.Recording, o Options) (*searched, error) {
	o.Views = o.Views.Sharing(r)
	whole, err := search(r, o)
	if err != nil || whole.State == TooLittle {
		return whole, err
	}
	if err := whole.searchPhases(r, o); err != nil {
		return nil, err
	}
	if err := whole.findSlowCalls(r); err != nil {
		return nil, err
	}
	whole.readClock(r)
	whole.conclude()
	whole.gains()
	whole.measure(r)
	return whole, nil
}

// A searched span is an Answer with what is needed to go on.
type searched struct {
	*Answer
	*searcher
}

// newSearcher reads the evidence of one span.
func newSearcher(r *sampledata.Recording, o Options) (*searcher, error) {
	e, err := newEvidence(r, o.Views)
	if err != nil {
		return nil, err
	}
	o.Aspects = cmp.Or(o.Aspects, aspects.NewSet())
	s := &searcher{e: e, o: o, kinds: newFunctionKinds(r, o.Aspects), modules: modules{views.NewModules(r), r},
		wrapper: o.Views.WithWrappers(r).Wrapper, saturated: make(map[*Finding]bool)}
	s.ran = s.mean(question{hit: (*situation).usesCPU})
	s.noCPU = s.mean(question{hit: (*situation).lacksCPU})
	return s, nil
}

// search tests the hypotheses on one span.
func search(r *sampledata.Recording, o Options) (*searched, error) {
	s, err := newSearcher(r, o)
	if err != nil {
		return nil, err
	}
	e := s.e
	a := &Answer{
		Samples: int(e.to - e.from), From: e.time(e.from), To: e.time(e.to),
		Processors: e.processors, Threshold: o.Threshold,
		Exited: r.End != nil && r.End.Cause == sampledata.EndExited &&
			int(e.to) == r.Samples.Len(),
		Unmarked: r.Marking == nil,
		Findings: []*Finding{}, Hypotheses: []Hypothesis{},
	}
	if a.Samples < minSamples {
		a.State = TooLittle
		return &searched{a, s}, nil
	}
	a.NoCPU = s.noCPU
	if r.Picked == nil && r.Restricted == nil {
		a.Delayed, _ = s.e.monitors().MeanRate("threads.run_delay", int(s.e.from), int(s.e.to))
	}
	all := s.candidates()
	s.all = all
	a.Used = s.test(all)
	leaks, err := s.standing(r)
	if err != nil {
		return nil, err
	}
	a.judgeAll(all, s, leaks)
	found := slices.DeleteFunc(slices.Clone(s.all),
		func(c *candidate) bool { return !slices.Contains(a.Findings, c.f) })
	s.companions(r, found)
	s.who(found)
	a.Findings = append(a.Findings, leaks...)
	return &searched{a, s}, nil
}

// readClock sets the use of the processors by the kernel's clock,
// which counts the whole of the program and of the recording.
func (a *searched) readClock(r *sampledata.Recording) {
	if a.o.Views.Span == (views.Span{}) && r.Picked == nil && r.Restricted == nil {
		u, _ := metrics.New(r, metrics.Options{}).Utilisation()
		a.Clock, a.ClockDiffers = u.Clock/a.Processors, u.Differs()
	}
}

// test observes the most severe candidates, and returns the use
// of the processors.
func (s *searcher) test(all []*candidate) hotspots.Estimate {
	slices.SortStableFunc(all,
		func(a, b *candidate) int {
			return cmp.Or(cmp.Compare(b.f.Severity, a.f.Severity), cmp.Compare(a.f.key, b.f.key))
		})
	if len(all) > maxHypotheses {
		all = all[:maxHypotheses]
	}
	questions := []question{{hit: (*situation).usesCPU}}
	for _, c := range all {
		s.measureShare(c.f)
		questions = append(questions, c.asks)
	}
	observed := s.e.observe(questions)
	for i, c := range all {
		c.observed = observed[i+1]
		c.f.Share = hotspots.Estimated(c.observed, 1)
		if m := c.f.Measure; m != nil {
			m.Hits = lists.Sum(c.observed, func(o hotspots.Observation) int { return int(o.Hits) })
		}
	}
	return hotspots.Estimated(observed[0], 1)
}

// judgeAll judges those last that may be why others wait, or stand still.
func (a *Answer) judgeAll(all []*candidate, s *searcher, standing []*Finding) {
	var last []*candidate
	for _, c := range all {
		if c.writesAlone() || c.asksAlone() || c.note == sleepsOnce {
			last = append(last, c)
		} else {
			a.reconsider(c, s, nil)
			a.judge(c, s)
		}
	}
	for _, c := range last {
		a.reconsider(c, s, standing)
		a.judge(c, s)
	}
}

// reconsider takes a note back that says why a candidate is no
// finding, if others wait for it, or get through. There may be
// another reason, or it may be known that others wait.
func (a *Answer) reconsider(c *candidate, s *searcher, standing []*Finding) {
	if c.f.Share.Against(c.bar) != hotspots.Yes {
		return
	}
	switch {
	case c.writesAlone() && slices.ContainsFunc(slices.Concat(a.Findings, standing), func(f *Finding) bool { return s.mayHoldUp(c.f, f) }):
		c.note = ""
	case c.asksAlone() && (a.awaits(c.f, Selecting) || slices.ContainsFunc(a.Findings, func(f *Finding) bool { return s.mayBeFor(f, c) })):
		c.note = ""
	case c.note == sleepsBetween && s.keepsClients(c):
		c.note = sleepsAsked
	case c.note == waitedOnce && s.queues(s.classOf(c.f), c.asks.hit), c.note == sleepsOnce && a.awaits(c.f, Sleeping):
		c.note = c.rests()
	}
}

// judge adds a hypothesis to the answer and, if it holds, its finding.
func (a *Answer) judge(c *candidate, s *searcher) {
	if c.observed == nil {
		return
	}
	f := c.f
	h := Hypothesis{
		Kind: f.Kind, Class: f.Class, Where: cmp.Or(f.Lock, f.Where.Function), Share: f.Share,
		Verdict: f.Share.Against(c.bar),
		Note:    c.note, severity: f.Severity, key: f.key,
	}
	switch {
	case h.Verdict == hotspots.Yes && h.Note == "" && f.Share.Samples < minSeen:
		h.Note = "its goroutines are in too few samples"
	case h.Verdict == hotspots.Yes && h.Note == "" && f.Severity < c.least:
		h.Note = fmt.Sprintf("it concerns only %.2g goroutines on average", f.Severity)
	case h.Verdict == hotspots.Yes && h.Note == "" && c.refine != nil:
		h.Note = c.refine(f)
	}
	if h.Verdict == hotspots.Yes && h.Note == "" {
		f.Mean = f.Severity
		f.When = s.e.when(c.observed)
		f.Through = s.passages(c.asks.hit)
		a.Findings = append(a.Findings, f)
	}
	if s.o.Course {
		h.Course = s.e.course(c.observed, c.bar)
	}
	a.Hypotheses = append(a.Hypotheses, h)
	if h.Verdict == hotspots.Yes && h.Note != "" && c.others != nil {
		next := c.others()
		if next.f.Severity >= next.least {
			s.test([]*candidate{next})
			s.all = append(s.all, next)
			a.reconsider(next, s, nil)
			a.judge(next, s)
		}
	}
}

// key returns what identifies a hypothesis in all recordings of a program.
func key(k Kind, names ...string) string { return fmt.Sprint(k, names) }
