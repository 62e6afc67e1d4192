package views

import (
	"fmt"
	"math/big"
	"path"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/sampledata"
)

// An oracle computes views from the definitions (design "Typed
// time"), one goroutine in one sample after the other. It shares
// nothing between them: it is slow and simple on purpose.
type oracle struct {
	r *sampledata.Recording
	o Options
}

// state returns the state of a goroutine in a sample.
func (c oracle) state(s int, g sampledata.GoroutineID) (sampledata.State, bool) {
	for _, run := range c.r.Runs.All() {
		if run.Goroutine == g && int(run.First) <= s && s <= int(run.Last) {
			return run.State(), true
		}
	}
	return sampledata.State{}, false
}

func (c oracle) alive(s int) (gs []sampledata.GoroutineID) {
	for g := range sampledata.GoroutineID(c.r.Goroutines.Len()) {
		if _, ok := c.state(s, g); ok {
			gs = append(gs, g)
		}
	}
	return gs
}

func (c oracle) class(g sampledata.GoroutineID, st sampledata.State) string {
	gr := c.r.Goroutines.At(g)
	if gr.GC {
		return "go:runtime.gcBgMarkWorker"
	}
	for _, l := range c.r.LabelSets[st.Labels] {
		if c.o.Classes.Label != "" && l.Key == c.o.Classes.Label {
			return "label:" + l.Key + "=" + l.Value
		}
	}
	name := "go:unknown"
	if gr.Start >= 0 {
		name = "go:" + c.r.Functions[gr.Start].Name
	}
	if c.o.Classes.Site && gr.Site.File != "" {
		name += fmt.Sprintf("@%s:%d", path.Base(gr.Site.File), gr.Site.Line)
	}
	return name
}

func (c oracle) priority(g sampledata.GoroutineID, st sampledata.State) int64 {
	if c.r.Goroutines.At(g).GC {
		return 1 << 40
	}
	if c.o.Priority != nil {
		if p, ok := c.o.Priority(c.class(g, st)); ok {
			return int64(p)
		}
	}
	return int64(st.Priority)
}

func (c oracle) stack(n sampledata.NodeID) (frames []string) {
	for ; n != sampledata.NoStack; n = c.r.Nodes[n].Parent {
		node := c.r.Nodes[n]
		f := c.r.Functions[node.Function]
		switch c.o.Granularity {
		case ByFunction:
			frames = append(frames, f.Name)
		case ByLine:
			if node.Line > 0 {
				f.Name += fmt.Sprint(":", node.Line)
			}
			frames = append(frames, f.Name)
		case ByFile:
			frames = append(frames, f.File)
		case ByPackage:
			frames = append(frames, f.Name[:strings.LastIndex(f.Name, ".")])
		}
	}
	slices.Reverse(frames)
	if c.o.Granularity == ByFile || c.o.Granularity == ByPackage {
		frames = slices.Compact(frames)
	}
	return frames
}

// A portion is a share of one hit, below the goroutine's class.
type portion struct {
	frames []string
	hits   *big.Rat
}

func portions(hits *big.Rat, frames ...string) portion { return portion{frames, hits} }

// portions divides one goroutine's hit of one sample; chain has
// the goroutines that wait for it, each for the next.
func (c oracle) portions(s int, g sampledata.GoroutineID, chain []sampledata.GoroutineID) (all []portion) {
	st, _ := c.state(s, g)
	var typed []portion
	one := big.NewRat(1, 1)
	switch st.Run {
	case sampledata.Waiting:
		typed = append(typed, portions(one, ":WAIT", ":"+strings.ReplaceAll(st.Reason, " ", "-")))
	case sampledata.Unknown:
		typed = append(typed, portions(one, ":WAIT", ":unknown"))
	case sampledata.Blocked:
		typed = c.blocked(s, g, st, chain)
	default:
		typed = c.competing(s, g, st)
	}
	stack := c.stack(st.Stack)
	for _, p := range typed {
		all = append(all, portion{append(slices.Clone(stack), p.frames...), p.hits})
	}
	return all
}

func (c oracle) blocked(s int, g sampledata.GoroutineID, st sampledata.State, chain []sampledata.GoroutineID) (typed []portion) {
	holders := c.r.HolderSets[st.Holders]
	if st.Evidence == sampledata.Free {
		return []portion{portions(big.NewRat(1, 1), ":MONITOR", ":free-lock")}
	}
	if st.Evidence == sampledata.Ambiguous || len(holders) == 0 {
		return []portion{portions(big.NewRat(1, 1), ":MONITOR", ":unknown-holder")}
	}
	chain = append(slices.Clone(chain), g)
	each := big.NewRat(1, int64(len(holders)))
	for _, h := range holders {
		hst, ok := c.state(s, h)
		switch {
		case !ok:
			typed = append(typed, portions(each, ":MONITOR", ":unknown-holder"))
		case slices.Contains(chain, h):
			end := ":deadlock"
			for _, member := range chain[slices.Index(chain, h):] {
				if mst, _ := c.state(s, member); mst.Evidence == sampledata.Likely {
					end = ":circle"
				}
			}
			typed = append(typed, portions(each, ":MONITOR", c.class(h, hst), end))
		default:
			for _, p := range c.portions(s, h, chain) {
				frames := append([]string{":MONITOR", c.class(h, hst)}, p.frames...)
				typed = append(typed, portion{frames, new(big.Rat).Mul(each, p.hits)})
			}
		}
	}
	return typed
}

func (c oracle) competing(s int, g sampledata.GoroutineID, st sampledata.State) []portion {
	stopped := c.r.Samples.At(s).StoppedWorld
	one := big.NewRat(1, 1)
	switch {
	case c.o.Accounting == Observed && st.NoCPU:
		return []portion{portions(one, ":LOAD", ":no-CPU")}
	case c.o.Accounting == Observed && st.Run != sampledata.Runnable:
		return []portion{portions(one, ":RUN")}
	case stopped && st.Run == sampledata.Runnable:
		return []portion{portions(one, ":PRIO", ":stopped-world")}
	case c.o.Accounting == Observed:
		return c.observed(s, c.priority(g, st))
	}
	var higher, others []string // classes, one for each goroutine
	for _, o := range c.alive(s) {
		ost, _ := c.state(s, o)
		competes := ost.Run == sampledata.Running || ost.Run == sampledata.Detached || ost.Run == sampledata.Runnable && !stopped
		switch p, own := c.priority(o, ost), c.priority(g, st); {
		case !competes:
		case p > own:
			higher = append(higher, c.class(o, ost))
		case p == own && o != g:
			others = append(others, c.class(o, ost))
		}
	}
	processors := 1
	if c.o.Accounting == Processors {
		processors = len(c.r.Samples.At(s).Processors)
	}
	var typed []portion
	a := processors - len(higher)
	if a <= 0 {
		for _, class := range higher {
			typed = append(typed, portions(big.NewRat(1, int64(len(higher))), ":PRIO", class))
		}
		return typed
	}
	run := big.NewRat(int64(a), int64(len(others)+1))
	if run.Cmp(one) >= 0 {
		return []portion{portions(one, ":RUN")}
	}
	typed = append(typed, portions(run, ":RUN"))
	rest := new(big.Rat).Sub(one, run)
	for _, class := range others {
		typed = append(typed, portions(new(big.Rat).Quo(rest, big.NewRat(int64(len(others)), 1)), ":LOAD", class))
	}
	return typed
}

func (c oracle) observed(s int, own int64) (typed []portion) {
	held := slices.Clone(c.r.Samples.At(s).Processors)
	for _, g := range c.alive(s) {
		if st, _ := c.state(s, g); st.Run == sampledata.Running && !slices.Contains(held, g) {
			if i := slices.Index(held, sampledata.IdleProcessor); i >= 0 {
				held[i] = g
			}
		}
	}
	each := big.NewRat(1, int64(len(held)))
	for _, g := range held {
		switch st, _ := c.state(s, max(g, 0)); {
		case g == sampledata.SystemProcessor:
			typed = append(typed, portions(each, ":PRIO", ":runtime"))
		case g == sampledata.IdleProcessor:
			typed = append(typed, portions(each, ":LOAD", ":idle-processor"))
		case c.priority(g, st) > own:
			typed = append(typed, portions(each, ":PRIO", c.class(g, st)))
		default:
			typed = append(typed, portions(each, ":LOAD", c.class(g, st)))
		}
	}
	return typed
}

// weight returns how much time a sample stands for
// (sampledata.Weights), from the times of its neighbours.
func (c oracle) weight(s int) int64 {
	this, n := c.r.Samples.At(s), c.r.Samples.Len()
	if this.Weight != 0 {
		return int64(this.Weight)
	}
	at := func(i int) int64 { return int64(c.r.Samples.At(i).Time) }
	length := int64(c.r.Stats().Duration)
	from, to := int64(0), length
	if n > 1 && s == 0 {
		to = (at(0) + at(1)) / 2
		from = max(0, at(0)-(to-at(0)))
	} else if n > 1 && s == n-1 {
		from = (at(s-1) + at(s)) / 2
		to = min(length, at(s)+(at(s)-from))
	} else if n > 1 {
		from, to = (at(s-1)+at(s))/2, (at(s)+at(s+1))/2
	}
	return max(1, to-from)
}

// A truth is a view, by stack.
type truth struct {
	hits, time  map[string]*big.Rat
	denominator int64 // in hits
	whole       int64 // in nanoseconds
	goroutines  map[sampledata.GoroutineID]bool
}

func newTruth() *truth {
	return &truth{hits: make(map[string]*big.Rat), time: make(map[string]*big.Rat), goroutines: make(map[sampledata.GoroutineID]bool)}
}

func (v *truth) add(frames []string, hits *big.Rat, weight int64) {
	k := strings.Join(frames, "\n")
	if v.hits[k] == nil {
		v.hits[k], v.time[k] = new(big.Rat), new(big.Rat)
	}
	v.hits[k].Add(v.hits[k], hits)
	v.time[k].Add(v.time[k], new(big.Rat).Mul(hits, big.NewRat(weight, 1)))
}

func texts(of map[string]*big.Rat) map[string]string {
	m := make(map[string]string)
	for k, h := range of {
		m[k] = h.RatString()
	}
	return m
}

// views returns the Thread View of every class of the span, and
// the Server View as "*".
func (c oracle) views() map[string]*truth {
	server := newTruth()
	all := map[string]*truth{"*": server}
	for s, sample := range c.r.Samples.All() {
		if sample.Time < c.o.Span.From || c.o.Span.To != 0 && sample.Time >= c.o.Span.To {
			continue
		}
		running, weight := 0, c.weight(s)
		for _, g := range c.alive(s) {
			st, _ := c.state(s, g)
			if onCPU := !st.NoCPU || c.o.Accounting != Observed; onCPU && (st.Run == sampledata.Running || st.Run == sampledata.Detached) {
				running++
			}
			class := c.class(g, st)
			if all[class] == nil {
				all[class] = newTruth()
			}
			all[class].denominator++
			all[class].whole += weight
			all[class].goroutines[g] = true
			for _, p := range c.portions(s, g, nil) {
				all[class].add(append([]string{class}, p.frames...), p.hits, weight)
				if p.frames[len(p.frames)-1] == ":RUN" && !slices.Contains(p.frames, ":MONITOR") {
					server.add(append([]string{"*"}, p.frames...), p.hits, weight)
				}
			}
		}
		capacity := int64(1)
		if c.o.Accounting != Single {
			capacity = int64(max(running, len(sample.Processors)))
		}
		server.denominator += capacity
		server.whole += capacity * weight
	}
	return all
}
