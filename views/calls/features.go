package calls

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/cpprof/cpprof/internal/intern"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
)

// A FeatureKind says what calls may have in common.
type FeatureKind string

// The kinds, the most telling last: of two features that say the
// same, the later kind is shown.
const (
	OneMoment    FeatureKind = "moment"
	OneGoroutine FeatureKind = "goroutine"
	CallerOf     FeatureKind = "caller"
	Below        FeatureKind = "path" // a function that the call leads to
	WithLabel    FeatureKind = "label"
	WithArgument FeatureKind = "argument"  // it is a number of some size
	Collecting   FeatureKind = "collector" // the garbage collector is at work
	NoCPU        FeatureKind = "no-cpu"    // ready, or on a processor whose thread has no CPU
	Does         FeatureKind = "does"
	HeldBy       FeatureKind = "holder"
)

var telling = []FeatureKind{OneMoment, OneGoroutine, CallerOf, Below, WithLabel, WithArgument, Collecting, NoCPU, Does, HeldBy}

// A Feature is what a part of the time of calls may have in common.
type Feature struct {
	Kind      FeatureKind   `json:"kind"`
	Doing     views.Doing   `json:"-"`                   // of Does, and of HeldBy if it is no lock
	Function  string        `json:"function,omitempty"`  // of Does, Below, CallerOf, and of HeldBy if it is no lock
	Line      int32         `json:"line,omitempty"`      // of CallerOf
	Lock      string        `json:"lock,omitempty"`      // of Does and HeldBy
	Class     string        `json:"class,omitempty"`     // of HeldBy
	Goroutine int64         `json:"goroutine,omitempty"` // of OneGoroutine
	Label     string        `json:"label,omitempty"`     // "route=/api"; the name of an argument
	Least     int64         `json:"least,omitempty"`     // of WithArgument
	Most      int64         `json:"most,omitempty"`
	From      time.Duration `json:"from_ns,omitempty"` // of OneMoment
	To        time.Duration `json:"to_ns,omitempty"`
}

// A Common is a feature with the shares that it has of the time
// of the slow calls and of the rest.
type Common struct {
	Feature
	Slow       hotspots.Estimate `json:"slow"`
	Rest       hotspots.Estimate `json:"rest"`
	Difference hotspots.Estimate `json:"difference"`
	// Meanwhile is what the holder of a lock does most of the time.
	Meanwhile *Activity `json:"-"`
}

// An Activity is what goroutines do in a function.
type Activity struct {
	Doing    views.Doing
	Function string
	Share    float64
}

const (
	mostTested = 60 // features whose intervals are computed
	mostMore   = 8  // features that are shown
	sameTime   = 0.001
	leastCalls = 3    // slow calls that have a feature
	leastMore  = 0.05 // difference of the shares
	mostOf     = 0.5  // of the slow calls that one goroutine or one moment has
	moments    = 20   // of the recording
)

// A ranking finds out what slow calls have more of.
type ranking struct {
	t        *Table
	r        *sampledata.Recording
	weights  sampledata.Weights
	classOf  func(sampledata.Run) string
	lockName func(sampledata.Run) string
	runs     lists.Groups[sampledata.GoroutineID]
	each     int // number of samples of a slice
	slices   int

	features intern.List[Feature, int32]
	below    map[sampledata.NodeID][]int32 // by stack: the features of what the call leads to
	sums     [2][]float64                  // by feature: the time of the slow calls, and of the rest
	observed [2][][]hotspots.Observation   // the same by slice; nil for features that are not tested
	base     [2][]float64                  // by slice
	holding  map[holding]float64

	call *Call     // that is visited
	in   []inCalls // by feature: the slow calls that have it
}

// inCalls counts the calls that have a feature.
type inCalls struct {
	last *Call
	n    int
}

// A holding is what the holders of a feature do.
type holding struct {
	feature  int32
	doing    views.Doing
	function string
}

func newRanking(t *Table, o views.Options) *ranking {
	r := t.recording
	k := &ranking{t: t, r: r, weights: r.Weights(), classOf: views.ClassOf(r, o),
		lockName: locks.Namer(r, locks.ByField), runs: r.RunsByGoroutine(),
		below:   make(map[sampledata.NodeID][]int32),
		holding: make(map[holding]float64)}
	k.slices, k.each = t.slices()
	for side := range k.base {
		k.base[side] = make([]float64, k.slices)
	}
	return k
}

// rank returns what slow calls have more of.
func (k *ranking) rank(slow, rest []*Call) []Common {
	k.visit(slow, 0)
	k.visit(rest, 1)
	whole := [2]float64{sum(k.base[0]), sum(k.base[1])}
	if whole[0] == 0 || whole[1] == 0 {
		return nil
	}
	tested := k.choose(slow, whole)
	for side := range k.observed {
		k.observed[side] = make([][]hotspots.Observation, len(k.features.All))
		for _, f := range tested {
			k.observed[side][f] = make([]hotspots.Observation, k.slices)
		}
	}
	k.visit(slow, 0)
	k.visit(rest, 1)
	var all []Common
	for _, f := range tested {
		c := Common{Feature: k.features.All[f], Slow: k.estimate(0, f), Rest: k.estimate(1, f)}
		c.Difference = c.Slow.Minus(c.Rest)
		if c.Difference.Low > 0 && c.Difference.Share >= leastMore {
			c.Meanwhile = k.meanwhile(f)
			all = append(all, c)
		}
	}
	return distinct(all)
}

// isPlace reports whether a feature says where the time is
// spent. Two of them with the same share of the slow calls are
// one inside the other.
func (f *Feature) isPlace() bool {
	return f.Kind == Below || f.Kind == Does || f.Kind == HeldBy
}

func sum(list []float64) (all float64) {
	for _, v := range list {
		all += v
	}
	return all
}

// choose returns the features with the largest differences.
func (k *ranking) choose(slow []*Call, whole [2]float64) (tested []int32) {
	more := func(f int32) float64 { return k.sums[0][f]/whole[0] - k.sums[1][f]/whole[1] }
	for f := range k.features.All {
		if more(int32(f)) >= leastMore && !k.isFew(int32(f), slow, whole[0]) {
			tested = append(tested, int32(f))
		}
	}
	slices.SortFunc(tested, func(a, b int32) int {
		return cmp.Or(cmp.Compare(more(b), more(a)), cmp.Compare(a, b))
	})
	return tested[:min(len(tested), mostTested)]
}

// isFew reports whether hardly a slow call has a feature, or
// whether it says that they are of one goroutine or of one
// moment, but only few of them are.
func (k *ranking) isFew(f int32, slow []*Call, whole float64) bool {
	at := &k.features.All[f]
	if k.in[f].n < leastCalls {
		return true
	}
	if at.Kind != OneGoroutine && at.Kind != OneMoment {
		return false
	}
	n := 0
	for _, c := range slow {
		if at.Kind == OneGoroutine && c.ID == at.Goroutine ||
			at.Kind == OneMoment && at.From <= c.Begin && c.Begin < at.To {
			n++
		}
	}
	return n < LeastSlow/2 || float64(n) < mostOf*float64(len(slow)) || k.sums[0][f] < mostOf*whole
}

func (k *ranking) estimate(side int, f int32) hotspots.Estimate {
	list := k.observed[side][f]
	for i := range list {
		o := &list[i]
		first := i * k.each
		last := min(first+k.each, k.r.Samples.Len())
		o.Weight = float64(k.weights.Of(first, last))
		// each side was visited twice
		o.Hits, o.Base = o.Hits/o.Weight, k.base[side][i]/2/o.Weight
	}
	return hotspots.Estimated(list, k.each)
}

// distinct returns the features, the surest first. Of those that
// say the same it has the most telling one.
func distinct(all []Common) (list []Common) {
	slices.SortStableFunc(all, func(a, b Common) int { return cmp.Compare(b.Difference.Low, a.Difference.Low) })
	for _, c := range all {
		same := slices.IndexFunc(list, func(d Common) bool {
			return near(c.Slow.Share, d.Slow.Share) && near(c.Rest.Share, d.Rest.Share) ||
				c.isPlace() && d.isPlace() && math.Abs(c.Slow.Share-d.Slow.Share) < sameTime
		})
		switch {
		case same < 0:
			list = append(list, c)
		case slices.Index(telling, c.Kind) > slices.Index(telling, list[same].Kind):
			list[same] = c
		}
	}
	return list[:min(len(list), mostMore)]
}

// meanwhile returns what the holder of a lock does most.
func (k *ranking) meanwhile(f int32) (most *Activity) {
	all := 0.0
	for h, weight := range k.holding {
		if h.feature == f {
			all += weight
			if most == nil || weight > most.Share || weight == most.Share && h.function < most.Function {
				most = &Activity{h.doing, h.function, weight}
			}
		}
	}
	if most != nil {
		most.Share /= all
	}
	return most
}

// visit adds the time of calls to a side: to the sums, or to the
// observations of the features that are tested.
func (k *ranking) visit(calls []*Call, side int) {
	for _, c := range calls {
		if !c.Sampled() {
			continue
		}
		k.call = c
		for _, i := range k.overlapping(c.Goroutine, c.First, c.Last) {
			run := k.r.Runs.At(int(i))
			run.First, run.Last = max(run.First, c.First), min(run.Last, c.Last)
			k.visitRun(c, run, side)
		}
	}
}

// overlapping returns the runs of a goroutine in some samples.
func (k *ranking) overlapping(g sampledata.GoroutineID, first, last int32) []int32 {
	runs := k.runs.Of(g)
	from, _ := slices.BinarySearchFunc(runs, first, func(i, first int32) int {
		return cmp.Compare(k.r.Runs.At(int(i)).Last, first)
	})
	to := from
	for to < len(runs) && k.r.Runs.At(int(runs[to])).First <= last {
		to++
	}
	return runs[from:to]
}

// visitRun adds a part of a call.
func (k *ranking) visitRun(c *Call, run sampledata.Run, side int) {
	have := k.common(c, run)
	held := k.holders(run, side)
	for slice := int(run.First) / k.each; slice <= int(run.Last)/k.each; slice++ {
		first, last := max(int(run.First), slice*k.each), min(int(run.Last), slice*k.each+k.each-1)
		weight := float64(k.weights.Of(first, last+1))
		k.base[side][slice] += weight
		for _, f := range have {
			k.add(side, f, slice, weight)
		}
		for f, part := range held {
			k.add(side, f, slice, part*weight)
		}
		k.add(side, k.moment(slice), slice, weight)
		for s := first; s <= last; s++ {
			if k.r.Samples.At(s).Collecting {
				k.add(side, k.number(Feature{Kind: Collecting}), slice, float64(k.weights.Of(s, s+1)))
			}
		}
	}
}

func (k *ranking) add(side int, f int32, slice int, weight float64) {
	if k.observed[side] == nil {
		k.sums[side][f] += weight
		if in := &k.in[f]; side == 0 && in.last != k.call {
			in.last = k.call
			in.n++
		}
	} else if list := k.observed[side][f]; list != nil {
		list[slice].Hits += weight
	}
}

func (k *ranking) number(f Feature) int32 {
	i := k.features.Number(f)
	if int(i) == len(k.in) {
		k.in = append(k.in, inCalls{})
		for side := range k.sums {
			k.sums[side] = append(k.sums[side], 0)
		}
	}
	return i
}

// moment returns the feature of a part of the recording.
func (k *ranking) moment(slice int) int32 {
	width := (k.slices + moments - 1) / moments
	first := slice / width * width
	from := k.r.Begins(first * k.each)
	to := k.t.Duration
	if end := (first + width) * k.each; end < k.r.Samples.Len() {
		to = k.r.Begins(end)
	}
	return k.number(Feature{Kind: OneMoment, From: from, To: to})
}

// common returns the features of a part of a call that need no
// other goroutine.
func (k *ranking) common(c *Call, run sampledata.Run) []int32 {
	does := views.DoingOf(run)
	all := []int32{k.number(Feature{Kind: OneGoroutine, Goroutine: k.r.Goroutines.At(run.Goroutine).ID})}
	if does == views.Ready || does == views.WithoutCPU {
		all = append(all, k.number(Feature{Kind: NoCPU}))
	} else {
		f := Feature{Kind: Does, Doing: does, Function: k.r.NameAt(place(k.r, run.Stack))}
		if does == views.AwaitingLock {
			f.Lock = k.lockName(run)
		}
		all = append(all, k.number(f))
	}
	if c.Site.Function != "" {
		all = append(all, k.number(Feature{Kind: CallerOf, Function: c.Site.Function, Line: c.Site.Line}))
	}
	for i, value := range c.Values {
		f := Feature{Kind: WithArgument, Label: k.t.Arguments[i]}
		f.Least, f.Most = magnitude(value)
		all = append(all, k.number(f))
	}
	if c.Label != "" {
		all = append(all, k.number(Feature{Kind: WithLabel, Label: c.Label}))
	}
	for _, l := range k.r.LabelSets[run.Labels] {
		all = append(all, k.number(Feature{Kind: WithLabel, Label: l.Key + "=" + l.Value}))
	}
	if run.Stack == sampledata.NoStack || run.Torn {
		return all
	}
	below := lists.Made(k.below, run.Stack, func() []int32 { return k.leadsTo(run.Stack) })
	return append(all, below...)
}

// magnitude returns the limits of the numbers that are about as
// large: from a power of two up to the next one.
func magnitude(n int64) (least, most int64) {
	if n < 0 {
		return math.MinInt64, -1
	}
	bits := bits.Len64(uint64(n))
	return int64(1) << bits >> 1, int64(uint64(1)<<bits - 1)
}

// leadsTo returns the features of the functions of a stack below the call.
func (k *ranking) leadsTo(stack sampledata.NodeID) (all []int32) {
	all = []int32{}
	for n := stack; n != sampledata.NoStack && n != k.t.outermost[stack]; n = k.r.Nodes[n].Parent {
		if name := k.r.NameAt(n); !views.Machinery(name) && name != k.t.Function {
			all = append(all, k.number(Feature{Kind: Below, Function: name}))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// place returns the innermost frame of a stack that is of the
// program's own code or a library or, if there is none, the most
// informative one.
func place(r *sampledata.Recording, stack sampledata.NodeID) sampledata.NodeID {
	if n := r.Innermost(stack, views.IsOwn); n != sampledata.NoStack {
		return n
	}
	return views.InformativeFrame(r, stack)
}

// holders returns the features of who holds the lock that a run
// waits for, or the channel that is used as one, with their
// parts of its time.
func (k *ranking) holders(run sampledata.Run, side int) map[int32]float64 {
	of := Feature{Kind: HeldBy, Doing: views.DoingOf(run)}
	if !run.Evidence.Blames() || of.Doing == views.AwaitingGroup {
		return nil // of a group, a goroutine does its part
	}
	if of.Doing == views.AwaitingLock {
		of.Lock, of.Doing = k.lockName(run), 0
	} else {
		of.Function = k.r.NameAt(place(k.r, run.Stack))
	}
	parts := make(map[int32]float64)
	set := k.r.HolderSets[run.Holders]
	all := float64(k.weights.Of(int(run.First), int(run.Last)+1))
	for _, g := range set {
		for _, i := range k.overlapping(g, run.First, run.Last) {
			holder := k.r.Runs.At(int(i))
			weight := float64(k.weights.Of(int(max(holder.First, run.First)), int(min(holder.Last, run.Last))+1)) /
				float64(len(set))
			of.Class = k.classOf(holder)
			f := k.number(of)
			parts[f] += weight / all
			if side == 0 {
				k.holding[holding{f, views.DoingOf(holder),
					k.r.NameAt(place(k.r, holder.Stack))}] += weight
			}
		}
	}
	return parts
}
