package heap

import (
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// maxEdges is the number of goroutines that one is said to wait for.
const maxEdges = 64

// waits are the goroutines that are stuck, by what they hold,
// use and wait for.
type waits struct {
	groups []Group
	all    []*Goroutine
	group  []int                // of each
	held   map[uint64][]holding // by lock
	used   map[uint64][]int     // goroutines by what they use
	behind map[uint64][]int     // writers that wait for readers, by lock
	ahead  [][]waitEdge
}

// A holding says that a goroutine holds a lock.
type holding struct {
	by   int
	hold Hold
}

// A waitEdge leads from a goroutine to one that it waits for.
type waitEdge struct {
	to    int
	sure  bool
	taken Hold
}

// edges returns who ends the waits of goroutines that are stuck
// for good, and whether that is all that there is.
func (r *Result) edges() (edges []sampledata.MarkedEdge, whole bool) {
	w := newWaits(r.Groups)
	for i := range w.all {
		w.ahead = append(w.ahead, w.of(i))
	}
	w.closeCircles()
	whole = true
	for i, g := range w.all {
		whole = whole && g.Known
		e := sampledata.MarkedEdge{From: g.ID, At: g.thing()}
		for _, to := range w.ahead[i] {
			e.To, e.Sure, e.Taken = w.all[to.to].ID, to.sure, to.taken.In.Func
			edges = append(edges, e)
		}
		if len(w.ahead[i]) == 0 && e.At != 0 {
			edges = append(edges, e)
		}
	}
	if len(edges) > sampledata.MaxMarkedEdges {
		return edges[:sampledata.MaxMarkedEdges], false
	}
	return edges, whole
}

// thing returns the address of what a goroutine waits for; 0 if
// there are several.
func (g *Goroutine) thing() uint64 {
	switch {
	case g.Lock != 0:
		return g.Lock
	case len(g.Awaits) == 1:
		return g.Awaits[0]
	}
	return 0
}

// newWaits indexes what goroutines hold and use.
func newWaits(groups []Group) *waits {
	w := &waits{groups: groups, held: map[uint64][]holding{}, used: map[uint64][]int{},
		behind: map[uint64][]int{}}
	for k := range groups {
		if groups[k].Verdict == sampledata.Stuck {
			for _, g := range groups[k].Goroutines {
				w.add(g, k)
			}
		}
	}
	w.addUnnamed()
	return w
}

// add adds a goroutine.
func (w *waits) add(g *Goroutine, group int) {
	i := len(w.all)
	w.all, w.group = append(w.all, g), append(w.group, group)
	for _, hold := range g.Holds {
		if hold.Lock != 0 && !goruntime.IsSync(hold.In.Func) {
			w.held[hold.Lock] = append(w.held[hold.Lock], holding{i, hold})
		}
	}
	for _, use := range g.Uses {
		if at := w.used[use.Object]; !use.Awaited && (len(at) == 0 || at[len(at)-1] != i) {
			w.used[use.Object] = append(at, i)
		}
	}
	if g.Lock != 0 && g.Reason.Readers {
		w.behind[g.Lock] = append(w.behind[g.Lock], i)
	}
}

// addUnnamed adds locks that goroutines hold, if nothing in
// their frames leads to them any more. If nobody else holds the
// lock that such a goroutine waits for, it may be that one.
func (w *waits) addUnnamed() {
	for i, g := range w.all {
		if g.Lock == 0 || len(w.held[g.Lock]) > 0 {
			continue
		}
		for _, hold := range g.Holds {
			if hold.Lock == 0 && !goruntime.IsSync(hold.In.Func) {
				hold.Lock = g.Lock
				w.held[g.Lock] = append(w.held[g.Lock], holding{i, hold})
			}
		}
	}
}

// of returns the goroutines that one waits for, by their code.
func (w *waits) of(i int) []waitEdge {
	edges := w.enders
	if w.all[i].Lock != 0 {
		edges = w.holders
	}
	list := edges(i, w.all[i])
	return list[:min(len(list), maxEdges)]
}

// holders returns the surest holders of the lock that a
// goroutine waits for.
func (w *waits) holders(i int, g *Goroutine) (edges []waitEdge) {
	mode := syncflow.Write
	if g.Reason.Readers {
		mode = syncflow.Read
	}
	var best []holding
	for _, h := range w.held[g.Lock] {
		if h.hold.Mode != mode {
			continue
		}
		if len(best) > 0 && h.hold.Certainty != best[0].hold.Certainty {
			if h.hold.Certainty > best[0].hold.Certainty {
				continue
			}
			best = best[:0]
		}
		best = append(best, h)
	}
	for _, h := range best {
		sure := h.hold.Certainty == syncflow.Sure ||
			h.by != i && h.hold.Certainty == syncflow.Doubtful && len(best) == 1
		edges = append(edges, waitEdge{h.by, sure, h.hold})
	}
	if mode == syncflow.Write { // a writer that waits for readers keeps others waiting
		for _, k := range w.behind[g.Lock] {
			edges = append(edges, waitEdge{to: k, sure: true})
		}
	}
	return edges
}

// enders returns who would end the wait of a goroutine for a
// channel, a group or a condition. Others that wait for the same
// would have to be woken first: one of them counts only if
// nobody else is left.
func (w *waits) enders(i int, g *Goroutine) (edges []waitEdge) {
	var same []waitEdge
	for _, at := range g.Awaits {
		for _, object := range objectsAt(g.Wait, at) {
			for n, k := range w.used[object] {
				o := w.all[k]
				switch {
				case o.Wait == g.Wait && slices.Equal(o.Awaits, g.Awaits):
					isFirst := k == i || len(same) == 0 && n < maxBehind
					if len(g.Awaits) == 1 && isFirst && ends(o, g, object) {
						same = append(same, waitEdge{to: k, sure: true})
					}
				case ends(o, g, object) &&
					!slices.ContainsFunc(edges, func(e waitEdge) bool { return e.to == k }):
					edges = append(edges, waitEdge{to: k, sure: true})
				}
				if len(edges) == maxEdges {
					return edges
				}
			}
		}
	}
	if n := len(same); len(edges) == 0 && n > 0 {
		if same[n-1].to == i { // it would do so itself
			return same[n-1:]
		}
		return same[:1]
	}
	return edges
}

// objectsAt returns the objects that a goroutine may wait for,
// given the address that the runtime has.
func objectsAt(wait sampledata.Wait, at uint64) []uint64 {
	switch wait {
	case sampledata.ForCondition:
		return []uint64{at - goruntime.CondList}
	case sampledata.ForGroup:
		return []uint64{at - goruntime.WaitGroupSema}
	}
	return []uint64{at}
}

// ends reports whether a goroutine would do with an object what
// ends the wait of another one.
func ends(o, of *Goroutine, object uint64) bool {
	return slices.ContainsFunc(o.Uses, func(u syncflow.Action) bool {
		if u.Object != object || u.Awaited {
			return false
		}
		switch of.Wait {
		case sampledata.ForReceiver:
			return u.Kind == syncflow.Receive
		case sampledata.ForSender:
			return u.Kind == syncflow.Send || u.Kind == syncflow.Close
		case sampledata.ForChannels:
			return of.meets(u)
		case sampledata.ForCondition:
			return u.Kind == syncflow.Signal
		}
		return u.Kind == syncflow.Done
	})
}

// meets reports whether what another goroutine would do with a
// channel ends a goroutine's select. If it is not known in which
// direction the select has the channel, both do.
func (g *Goroutine) meets(u syncflow.Action) bool {
	sends, receives := false, false
	for _, own := range g.Uses {
		if own.Object == u.Object {
			sends = sends || own.Kind == syncflow.Send
			receives = receives || own.Kind == syncflow.Receive
		}
	}
	switch u.Kind {
	case syncflow.Send:
		return receives || !sends
	case syncflow.Receive:
		return sends || !receives
	}
	return u.Kind == syncflow.Close
}

// closeCircles finds who may end the waits that nobody's code
// ends: a goroutine that itself waits for the one that waits. It
// holds a lock to which nothing in its frames leads any more, or
// it is among those that reach what is waited for.
func (w *waits) closeCircles() {
	behind := make([][]int, len(w.ahead))
	for i, edges := range w.ahead {
		for _, e := range edges {
			if e.to != i {
				behind[e.to] = append(behind[e.to], i)
			}
		}
	}
	for i, g := range w.all {
		isChannel := g.Wait == sampledata.ForReceiver || g.Wait == sampledata.ForSender
		if len(w.ahead[i]) > 0 || g.Lock == 0 && !isChannel || g.Timer {
			continue
		}
		if k := w.mayEnd(i, behind); k >= 0 {
			w.ahead[i] = []waitEdge{{to: k}}
		}
	}
}

// onlyOtherwise reports whether a goroutine's code is known to
// use the channel that another one waits for, but not to end
// that wait.
func (w *waits) onlyOtherwise(o, g *Goroutine) bool {
	return g.Lock == 0 && len(g.Awaits) == 1 && o.Known && !ends(o, g, g.Awaits[0]) &&
		slices.ContainsFunc(o.Uses, func(u syncflow.Action) bool { return u.Object == g.Awaits[0] })
}

// maxBehind bounds how many goroutines behind one are asked
// whether they can end its wait.
const maxBehind = 1 << 10

// mayEnd returns a goroutine that waits for another one, and may
// end the wait of that; -1 if there is none.
func (w *waits) mayEnd(i int, behind [][]int) int {
	g, reaching := w.all[i], -1
	todo := slices.Clone(behind[i])
	for n := 0; n < len(todo) && n < maxBehind; n++ {
		k := todo[n]
		o := w.all[k]
		for _, next := range behind[k] {
			if !slices.Contains(todo, next) && next != i {
				todo = append(todo, next)
			}
		}
		if slices.Equal(o.Awaits, g.Awaits) || w.onlyOtherwise(o, g) {
			continue
		}
		if g.Lock != 0 && slices.ContainsFunc(o.Holds,
			func(h Hold) bool { return h.Lock == 0 && !goruntime.IsSync(h.In.Func) }) {
			return k
		}
		if reaching < 0 && slices.Contains(w.groups[w.group[k]].Reaches, w.group[i]) {
			reaching = k
		}
	}
	return reaching
}
