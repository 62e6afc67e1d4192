package why

import (
	"slices"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// A Role says what a probed function has to do with a finding.
type Role string

// The roles.
const (
	PlaceRole  Role = "place"  // it is the function that the finding names
	CallerRole Role = "caller" // it calls that function, which can't be probed
	HolderRole Role = "holder" // the goroutine that holds the lock is in it
)

// A Pattern is what a function's calls are like.
type Pattern string

// The patterns.
const (
	ManyShort Pattern = "many short calls"
	FewLong   Pattern = "few long calls"
	Uneven    Pattern = "a few calls take most of the time"
)

// A Measured is what a probe has measured of a function that a
// finding is about. Times are in nanoseconds.
type Measured struct {
	Function string `json:"function"`
	Role     Role   `json:"role"`
	Calls    uint64 `json:"calls"`
	// the probe was taken out; there were more calls afterwards
	AtLeast   bool    `json:"at_least,omitempty"`
	PerSecond float64 `json:"per_second"`

	Mean   time.Duration `json:"mean_ns,omitempty"` // 0: not known
	Margin time.Duration `json:"margin_ns,omitempty"`
	// Mean is an upper bound: the probe was taken out soon
	AtMost bool `json:"at_most,omitempty"`
	// the number of calls that were timed; 0: Mean is by Little's law
	Timed uint64        `json:"timed,omitempty"`
	P50   time.Duration `json:"p50_ns,omitempty"`
	P99   time.Duration `json:"p99_ns,omitempty"`
	Max   time.Duration `json:"max_ns,omitempty"`

	Pattern Pattern `json:"pattern,omitempty"` // "" if it is none of them, or not certain
	// who calls it: shares of its time if calls were timed,
	// otherwise of the calls
	Sites []Part `json:"sites,omitempty"`

	Refused string `json:"refused,omitempty"` // why it could not be probed
}

// An Experiment is a function to probe, and what that decides
// about a finding.
type Experiment struct {
	Function string
	Role     Role
	Asks     string
}

// Experiments lists the functions whose calls would say more
// about a finding: whether they are too many or too long.
func (f *Finding) Experiments() (list []Experiment) {
	if f.LacksCPU() {
		return nil
	}
	switch f.Kind {
	case ProcessorKind, LeakKind, StandstillKind, LeftKind, DeadlockKind,
		StuckKind, SlowKind:
		return nil // how often something is called decides nothing about these
	}
	if f.Where.Function != "" && f.Where.Function != "?" {
		list = append(list, Experiment{f.Where.Function, PlaceRole,
			"is it called too often, or do its calls take long?"})
	}
	if c := f.holder(); c != nil && c.Place.Function != f.Where.Function {
		list = append(list, Experiment{c.Place.Function, HolderRole,
			"is the lock held too often, or for too long?"})
	}
	return list
}

// holder returns what the holder of a lock does most; nil if
// that is not known.
func (f *Finding) holder() *Cause {
	if f.Kind != LockKind || len(f.Causes) == 0 || f.Causes[0].Certainty != Known ||
		f.Causes[0].Class == "" {
		return nil
	}
	return &f.Causes[0]
}

// measure adds to the findings what probes have measured of their functions.
func (a *Answer) measure(r *sampledata.Recording) {
	if len(r.Probes) == 0 {
		return
	}
	for _, f := range a.Findings {
		for _, x := range f.Experiments() {
			p := r.Probe(x.Function)
			if p == nil {
				continue
			}
			m := measuredBy(r, p, x.Role)
			f.Measured = append(f.Measured, m)
			if caller := r.Probe(f.Where.Caller); m.Refused != "" && x.Role == PlaceRole &&
				caller != nil {
				f.Measured = append(f.Measured, measuredBy(r, caller, CallerRole))
			}
		}
	}
}

// measuredBy sums up what a probe has measured.
func measuredBy(r *sampledata.Recording, p *sampledata.Probe, role Role) Measured {
	m := Measured{Function: p.Function, Role: role, Calls: p.Calls, AtLeast: p.TakenOut}
	if p.Instrument == sampledata.NoInstrument {
		m.Refused = p.Note
		return m
	}
	if d := p.To - p.From; d > 0 {
		m.PerSecond = float64(p.Calls) / d.Seconds()
	}
	d := &p.Elapsed
	if n := d.Count(); n > 0 {
		at := func(q float64) time.Duration { return time.Duration(d.Quantile(q)) }
		m.Timed, m.Mean, m.P50, m.P99, m.Max = n, time.Duration(d.Mean()), at(0.5), at(0.99),
			time.Duration(d.Max)
	} else if s := SamplesOf(r, p); s.Mean > 0 {
		m.Mean, m.Margin = s.Mean, s.MeanMargin
	} else if m.AtLeast && m.PerSecond > 0 {
		m.bounded(r)
	}
	m.Pattern = m.pattern(d)
	m.Sites = callSites(p)
	return m
}

// bounded sets an upper bound of the mean time of a call, by the
// samples of the whole recording: since the probe slowed the
// function down, it is called more often without it.
func (m *Measured) bounded(r *sampledata.Recording) {
	whole := sampledata.Probe{Function: m.Function, To: 1<<63 - 1}
	if s := SamplesOf(r, &whole); s.Samples >= minProbed && s.Inside > 0 {
		second := float64(time.Second) / m.PerSecond
		m.Mean, m.Margin, m.AtMost = time.Duration(s.Inside*second),
			time.Duration(s.Margin*second), true
	}
}

// The bounds of the patterns.
const (
	shortCall = 20 * time.Microsecond
	longCall  = 10 * time.Millisecond
	oftenCall = 1000 // calls a second
	evenCalls = 100  // the least number of timed calls from which their distribution is judged

	unevenMean = 5 // how many times the median the mean is, at least, if the calls are uneven
)

// pattern decides what the calls are like. It uses the end of
// the interval that is against the pattern.
func (m *Measured) pattern(d *sampledata.Distribution) Pattern {
	switch {
	case m.Mean == 0:
		return ""
	case m.Timed >= evenCalls && m.Mean >= unevenMean*m.P50 && slowestShare(d) >= 0.5:
		return Uneven
	case m.Mean+m.Margin <= shortCall && m.PerSecond >= oftenCall:
		return ManyShort
	case m.Mean-m.Margin >= longCall && !m.AtMost && (m.Timed == 0 || m.P50 >= longCall/2):
		return FewLong
	}
	return ""
}

// slowestShare returns the share of the time that the slowest
// tenth of the calls takes.
func slowestShare(d *sampledata.Distribution) float64 {
	left := d.Count() / 10
	slow := 0.0
	for _, b := range slices.Backward(d.Buckets) {
		n := min(left, b.Count)
		low, high := sampledata.BucketRange(b.Index)
		slow += float64(n) * (float64(low) + float64(high)) / 2
		if left -= n; left == 0 {
			break
		}
	}
	if d.Sum <= 0 {
		return 0
	}
	return slow / float64(d.Sum)
}

// callSites returns who calls a probed function.
func callSites(p *sampledata.Probe) []Part {
	timed := p.Elapsed.Count() > 0
	by, total := make(map[string]float64), 0.0
	for i := range p.Sites {
		s := &p.Sites[i]
		w := float64(s.Calls)
		if timed {
			w = float64(s.Elapsed.Sum)
		}
		total += w
		if s.Caller != "" {
			by[s.Caller] += w
		}
	}
	if total <= 0 {
		return nil
	}
	return parts(by, total)
}
