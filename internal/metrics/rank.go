package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/views"
)

// A Candidate is something that may go with a metric.
type Candidate struct {
	Expr string // a metric
	What string // one of the kinds below
	Correlation
	Survives bool // the bound on correlations by chance, of all that were tried
}

// The kinds of candidates.
const (
	AMonitor = "monitor"
	AMetric  = "metric"
	AState   = "state" // the goroutines of a thread class in one state
	APath    = "call path"
)

// A Ranking lists what goes with a metric, the closest first.
type Ranking struct {
	Metric string
	Tried  int // number of correlations that were computed
	Paths  int // number of call paths among them
	List   []Candidate
}

// RankOptions limit a ranking.
type RankOptions struct {
	// Least is the mean number of goroutines per sample that a
	// call path needs.
	Least float64

	// Most is the number of candidates in the list. A third of
	// the places is for each of monitors, states and call paths,
	// if as many survive: see shortlist.
	Most int
}

// A trial is a candidate before it is ranked.
type trial struct {
	expr, what string
	node       int32 // of a call path; else 0
	column     Column
	r, p       float64
	survives   bool
}

// overhead are the monitors that tell about the sampler or the
// clock, not about the program.
var overhead = []string{"time", "sample.weight", "sample.halt"}

// Rank ranks all monitors, metrics, states of thread classes and
// call paths by how they go with a metric in the samples of a
// list. It leaves out the parts of the metric itself.
func (t *Table) Rank(metric string, l List, o RankOptions) (*Ranking, error) {
	m, err := t.Numbers(metric)
	if err != nil {
		return nil, err
	}
	trials := t.monitorTrials(m)
	p, err := t.present()
	if err != nil {
		return nil, err
	}
	trials = append(trials, t.stateTrials(p)...)
	for i := range trials {
		pair := newPair(trials[i].column, m.Column, l)
		trials[i].r = pearson(pair.x, pair.y)
		trials[i].p = chance(trials[i].r, pair.effective())
	}
	series := newPathSeries(p)
	nodes := series.candidates(o.Least * float64(t.samples))
	for i, q := range series.correlate(nodes, newTarget(m.Column, l)) {
		trials = append(trials, trial{what: APath, node: nodes[i], r: q.pearson, p: q.p})
	}
	ranking := &Ranking{Metric: metric, Paths: len(nodes)}
	ranking.choose(trials)
	best := trials[:0]
	for i := range trials {
		if Defined(trials[i].r) {
			best = append(best, trials[i])
		}
	}
	slices.SortStableFunc(best, func(a, b trial) int {
		return cmp.Or(-cmp.Compare(truth(a.survives), truth(b.survives)),
			-cmp.Compare(math.Abs(a.r), math.Abs(b.r)))
	})
	for _, tr := range series.shortlist(best, o.Most) {
		if tr.what == APath {
			tr.column = series.column(tr.node, t.samples)
			tr.expr = "hits(" + series.path(series.shown(tr.node)).String() + ")"
		}
		ranking.List = append(ranking.List,
			Candidate{tr.expr, tr.what, Correlate(tr.column, m.Column, l), tr.survives})
	}
	return ranking, nil
}

// choose marks the trials that survive, and counts those that
// could be computed.
func (r *Ranking) choose(trials []trial) {
	var p []float64
	var of []*trial
	for i := range trials {
		if Defined(trials[i].r) {
			p, of = append(p, trials[i].p), append(of, &trials[i])
		}
	}
	for i, survives := range survivors(p) {
		of[i].survives = survives
	}
	r.Tried = len(p)
}

// maxWords is up to how many words each word of a nominal
// monitor is a candidate.
const maxWords = 20

// monitorTrials returns the monitors and metrics that m is not
// computed of. Counters are their rates.
func (t *Table) monitorTrials(m *Metric) []trial {
	var trials []trial
	try := func(expr, what string) {
		if got, err := t.Metric(expr); err == nil && got.Words == nil {
			trials = append(trials, trial{expr: expr, what: what, column: got.Column})
		}
	}
	for _, c := range t.order {
		switch {
		case slices.Contains(overhead, c.Name), m.uses[c.Name], c.Unmeasured != "":
		case c.Expr != "":
			if got, err := t.Metric(c.Expr); err == nil && c.Expr != m.Expr &&
				!subset(got.uses, m.uses) {
				if got.Counts {
					try("rate("+c.Name+")", AMetric)
				} else {
					try(c.Name, AMetric)
				}
			}
		case len(c.words) > 0 && len(c.words) <= maxWords:
			for _, w := range c.words {
				try(fmt.Sprintf("%s == %q", c.Name, w), AMonitor)
			}
		default:
			try(c.Shown(), AMonitor)
		}
	}
	return trials
}

// subset reports whether b has everything that a has; false if a
// has nothing.
func subset(a, b map[string]bool) bool {
	for name := range a {
		if !b[name] {
			return false
		}
	}
	return len(a) > 0
}

// stateTrials returns how many goroutines of each thread class
// there are, and how many are in each state.
func (t *Table) stateTrials(p *views.Presence) []trial {
	const all = views.NumTypedTimes
	byKey := make(map[views.StayKind]counts)
	of := func(k views.StayKind) counts {
		return lists.Made(byKey, k, func() counts { return newCounts(t.samples) })
	}
	for i := range p.Stays {
		s := &p.Stays[i]
		k := p.Kinds[s.Kind]
		of(k).add(s.First, s.Last)
		of(views.StayKind{Class: k.Class, State: all}).add(s.First, s.Last)
	}
	var trials []trial
	for class, name := range p.Classes {
		path := callpath.Of(callpath.Frame(name))
		for state := range all + 1 {
			c, ok := byKey[views.StayKind{Class: int32(class), State: state}]
			if !ok {
				continue
			}
			of := path
			if state < all {
				of = path.Then(callpath.Frame(state.String()), callpath.Extended)
			}
			trials = append(trials,
				trial{expr: "hits(" + of.String() + ")", what: AState, column: c.column()})
		}
	}
	return trials
}
