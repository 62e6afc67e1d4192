package heap

import (
	"cmp"
	"slices"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// A Goroutine is a goroutine that is not live.
type Goroutine struct {
	ID      int64
	Verdict sampledata.Verdict
	Doubt   string // why its verdict is no more than NotMoved
	Reason  goruntime.WaitReason
	Wait    sampledata.Wait
	Frames  []pclntab.Frame // innermost first
	Creator pclntab.Frame
	Awaits  []uint64      // channels, semaphores or the list of a condition
	Waited  time.Duration // at least so long; 0 if not known
	Lock    uint64        // the address of the lock that it waits for; 0 for none
	Timer   bool          // it waits for a timer's channel

	// Of a goroutine that is proved to be stuck: what its code shows.
	Holds []Hold
	Uses  []syncflow.Action // with channels, groups and conditions, if it went on
	Known bool              // the code shows no more than that

	g *goroutine
}

// A Group is goroutines that wait at the same place, with one verdict.
type Group struct {
	*Goroutine // the first one; verdict, wait and frames are those of all
	Goroutines []*Goroutine
	Name       string // of what they wait for; "" if not known
	// where functions can return with the lock that they wait
	// for, if no goroutine holds it
	Left []pclntab.Frame

	// Kept is the memory that only this group keeps: their
	// stacks, and what these alone reach. It is -1 if that is
	// not known.
	Kept int64
	// Reaches are other groups whose objects this group reaches, by index.
	Reaches []int
}

// A Result is what an examination has found.
type Result struct {
	Goroutines int // all of them
	Groups     []Group
	Passes     []Pass
	Apart      time.Duration // between the first and the last pass
	Proved     bool          // by a halt
	Limit      *LimitError   // why there was no halt, though something is suspected
	Doubts     []string      // why nothing is claimed
}

// Result returns what the passes so far have found. limit is why
// there was no proof, if so.
func (x *Examination) Result(limit *LimitError) *Result {
	now := x.Source.Now()
	r := &Result{Goroutines: len(x.w.gs), Passes: x.passes, Proved: x.proved, Limit: limit}
	if n := len(x.passes); n > 1 {
		r.Apart = x.passes[n-1].At.Sub(x.passes[0].At)
	}
	if x.proved {
		r.Doubts = x.w.doubts
	}
	var all []*Goroutine
	for i := range x.w.gs {
		g := &x.w.gs[i]
		if v, doubt := x.verdict(g); v != sampledata.Live {
			all = append(all, x.describe(g, v, doubt, now))
		}
	}
	r.Groups = grouped(all)
	if x.proved {
		x.relate(r.Groups)
		x.analyse(r.Groups)
	}
	r.Groups = append(r.Groups, grouped(x.longWaits(now))...)
	return r
}

const (
	longWait     = time.Minute // from when on the waits of live goroutines are recorded
	maxLongWaits = 1 << 10     // goroutines
)

// longWaits returns goroutines that have waited for minutes, although something
// live can wake them.
func (x *Examination) longWaits(now time.Duration) (all []*Goroutine) {
	for i := range x.w.gs {
		g := &x.w.gs[i]
		v, _ := x.verdict(g)
		if v == sampledata.Live && g.waits() && mayBeCandidate(g.reason) &&
			x.waited(g, now) >= longWait && len(all) < maxLongWaits {
			all = append(all, x.describe(g, v, "", now))
		}
	}
	return all
}

// waited returns how long a goroutine has waited, at least; 0 if
// it is not known.
func (x *Examination) waited(g *goroutine, now time.Duration) time.Duration {
	reason := int(x.bin.Layout.G.WaitReason)
	since := time.Duration(memory.Word(g.raw, reason-goruntime.WaitSinceBeforeReason))
	if since > 0 && since < now {
		return now - since
	}
	return 0
}

// verdict returns what is known of a goroutine, and the doubt
// that keeps it from being more.
func (x *Examination) verdict(g *goroutine) (sampledata.Verdict, string) {
	_, suspected := x.suspects[g.addr]
	switch {
	case !g.waits(), suspected && x.isMainForever(g):
		return sampledata.Live, ""
	case suspected && g.doubt != "":
		return sampledata.NotMoved, g.doubt
	case suspected && x.proved && len(x.w.doubts) > 0:
		return sampledata.NotMoved, x.w.doubts[0]
	case suspected && x.proved:
		return sampledata.Stuck, ""
	case suspected:
		return sampledata.Suspected, ""
	case g.doubt != "" && x.stillThere(g):
		return sampledata.NotMoved, g.doubt
	}
	return sampledata.Live, ""
}

// isMainForever reports whether a goroutine is the main one in a
// select without cases. That keeps a program running.
func (x *Examination) isMainForever(g *goroutine) bool {
	return g.id == 1 && g.reason.Text == "select (no cases)"
}

// describe returns a goroutine as a result has it.
func (x *Examination) describe(g *goroutine, v sampledata.Verdict, doubt string,
	now time.Duration) *Goroutine {
	l := &x.bin.Layout.G
	out := &Goroutine{ID: g.id, Verdict: v, Doubt: doubt, Reason: g.reason, Wait: waitOf(g),
		Awaits: slices.Clone(g.awaits), g: g}
	if len(g.awaits) == 1 {
		out.Lock = g.reason.LockAt(g.awaits[0])
		timer, known := x.bin.Release.ChannelTimer()
		out.Timer = known && memory.Word(x.w.channels[g.awaits[0]], timer) != 0
	}
	frames, whole := x.frames(g)
	for _, f := range frames {
		if f.Func != goruntime.Bottom && !sampler.IsWrapper(f.Func, f.File) {
			out.Frames = append(out.Frames, f)
		}
	}
	if !whole && v > sampledata.NotMoved {
		out.Verdict, out.Doubt = sampledata.NotMoved, "its stack can't be unwound"
	}
	if pc := memory.Word(g.raw, l.GoPC); pc > 0 {
		if fs, ok := x.bin.Table.Frames(nil, pc-1); ok {
			out.Creator = fs[0]
		}
	}
	out.Waited = x.waited(g, now)
	return out
}

// grouped puts goroutines with the same verdict and stack together, largest
// group first.
func grouped(all []*Goroutine) (groups []Group) {
	same := func(a *Group, b *Goroutine) bool {
		return a.Verdict == b.Verdict && a.Reason == b.Reason && a.Creator == b.Creator &&
			slices.Equal(a.Frames, b.Frames)
	}
	byPlace := map[string][]int{}
	slices.SortFunc(all, func(a, b *Goroutine) int { return cmp.Compare(a.ID, b.ID) })
	for _, g := range all {
		key := placeOf(g)
		i := slices.IndexFunc(byPlace[key], func(i int) bool { return same(&groups[i], g) })
		if i < 0 {
			byPlace[key] = append(byPlace[key], len(groups))
			groups = append(groups, Group{Goroutine: g, Kept: -1})
			i = len(byPlace[key]) - 1
		}
		at := &groups[byPlace[key][i]]
		at.Goroutines = append(at.Goroutines, g)
	}
	slices.SortStableFunc(groups, func(a, b Group) int {
		return cmp.Or(int(b.Verdict)-int(a.Verdict), len(b.Goroutines)-len(a.Goroutines))
	})
	return groups
}

// placeOf returns a text that goroutines at the same place share.
func placeOf(g *Goroutine) string {
	key := g.Reason.Text
	for _, f := range g.Frames[:min(len(g.Frames), 8)] {
		key += "\x00" + f.Func
	}
	return key
}
