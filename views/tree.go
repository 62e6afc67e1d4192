package views

import (
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
)

// maxHolders limits the holders visited for one goroutine in one
// sample: if locks have many holders that wait for locks with
// many holders, the number of ways multiplies.
const maxHolders = 20_000

// A builder makes the call tree of one view. It is a Visitor.
type builder struct {
	scene         *scene
	stacks        *stacks
	created       map[linkID]int32 // the node of a link; -1 if the view lacks it
	startedFrames map[classID]calltree.Func
	tree          *calltree.Builder
	server        bool                        // a Server View: only :RUN, of every class
	threads       bool                        // the Thread Views of all classes
	class         classID                     // of a Thread View
	lock          func(sampledata.Run) string // of a view of the holders of locks
	history       *historian                  // nil unless it is asked for
	// once the view is made: the tree's node for each node of the builder
	at       []int32
	active   groups[instance]
	total    exact.Sum // the denominator
	idle     exact.Sum // waiting for work, which the tree lacks
	warnings warnings
	terms    terms
	flushAt  int // limit on the number of hits collected by term

	maxNodes   int
	maxChained int // if there are more nodes, chains of locks are shortened; 0: none are
	// the greatest number of holders in a chain of locks; of a
	// further one, there is only the class
	maxChain int
	maxFirst int // maxChained if a chain has only one holder

	typed    [NumTypedTimes]calltree.Func
	children []calltree.Func
	frames   []calltree.Func          // by class; newFrame until first use
	reasons  map[string]calltree.Func // by the recording's text
	named    map[calltree.Func]bool   // the frames of waiting for locks that have names
	chain    []sampledata.GoroutineID // of the current instance: each waits for the next
	holders  int                      // number of holders in the chain
	visited  int                      // number of holders visited for the current instance
}

// An instance is an actor with the node of its stack.
type instance struct {
	actor
	node int32
}

func newBuilder(sc *scene, root string) *builder {
	syms := new(calltree.Symbols)
	b := &builder{scene: sc, class: noClass, flushAt: maxUnflushed,
		reasons: make(map[string]calltree.Func)}
	b.named = make(map[calltree.Func]bool)
	b.maxNodes, b.maxChain = sc.o.maxNodes(), maxChain
	b.tree = calltree.NewBuilder(syms, root, "time", Nanoseconds)
	b.stacks = newStacks(sc.r, sc.o, b.tree)
	b.created, b.startedFrames = make(map[linkID]int32), make(map[classID]calltree.Func)
	for t := range NumTypedTimes {
		b.typed[t] = syms.Intern(t.String())
	}
	for _, c := range children {
		b.children = append(b.children, syms.Intern(c.name))
	}
	return b
}

func (b *builder) Begin(i int32, run sampledata.Run, first, samples int32) bool {
	wantEnd := b.scene.begin(i, run)
	a := b.scene.actor(run)
	if !b.takes(a) || !b.scene.counts(run) {
		return wantEnd
	}
	seen := b.scene.observed(first, samples)
	b.history.begin(first, samples, true)
	if b.leavesOut(run, a) {
		b.idle.Add(seen.hits, seen.time, 1, 1)
		b.history.add(Idle, b.topNode(a), 1, 1, nil)
		return wantEnd
	}
	b.note(run, a, seen.hits)
	if !b.server {
		b.count(seen, 1)
	}
	in := b.instance(run, a)
	if b.scene.constant(a) {
		b.placeWhole(in, seen.of(1))
		return wantEnd
	}
	b.active.add(in)
	return true
}

// leavesOut reports whether the view lacks a run because its
// goroutine waits for work.
func (b *builder) leavesOut(run sampledata.Run, a actor) bool {
	if b.lock != nil || b.server || !b.scene.o.LeaveOutIdle || !b.scene.idleness.has(run) {
		return false
	}
	return b.history == nil || !b.history.whole[b.scene.classes.names.All[b.scene.top(a)]]
}

// takes reports whether the view contains a goroutine.
func (b *builder) takes(a actor) bool {
	switch {
	case b.lock != nil:
		return a.kind == locked
	case b.threads:
		return true
	case !b.server:
		return b.scene.isOf(a, b.class)
	}
	switch a.kind {
	case executing:
		return !a.noCPU
	case ready:
		return b.scene.o.Accounting != Observed
	}
	return false
}

func (b *builder) instance(run sampledata.Run, a actor) instance {
	node := int32(0)
	if b.lock != nil {
		node = b.lockNode(run)
	} else {
		node = b.stacks.node(b.base(a), run.Stack)
	}
	if a.by = noLink; b.server || b.lock != nil {
		a.class = noClass // :RUN, and the holders of a lock, are the same for all
	}
	return instance{a, node}
}

// topNode returns the node below which everything is that is
// charged to the same class as an actor.
func (b *builder) topNode(a actor) int32 {
	if !b.threads {
		return 0
	}
	return b.tree.Child(0, b.frameOf(b.scene.top(a)))
}

// count adds hits to the denominator, the same number in each sample seen.
func (b *builder) count(seen observed, hits int64) {
	b.total.Add(seen.hits, seen.time, hits, 1)
}

// note adds warnings about a run of n hits.
func (b *builder) note(run sampledata.Run, a actor, n int64) {
	if b.lock == nil && b.stacks.deep(run.Stack) {
		b.warnings.add("deep-stack", n, func() string {
			return fmt.Sprintf("a stack of %d frames is cut to the %d nearest its leaf",
				b.stacks.depth[run.Stack], maxDepth)
		})
	}
	if isUnknown(run) {
		b.warnings.add("unknown-state", n, func() string {
			return fmt.Sprintf("the run state of a goroutine of %s is not known; it is counted as waiting",
				b.scene.classes.names.All[a.class])
		})
	}
}

func (b *builder) End(run sampledata.Run) {
	b.scene.end(run)
	if a := b.scene.actor(run); b.takes(a) && b.scene.counts(run) && !b.scene.constant(a) {
		if g, gone := b.active.remove(b.instance(run, a)); gone {
			b.flush(&g)
		}
	}
}

func (b *builder) Sample(s, alike int32) error {
	b.scene.moveTo(s)
	seen := b.scene.observed(s, alike)
	b.history.begin(s, alike, false)
	if b.server {
		b.count(seen, b.scene.capacity())
		b.history.add(Whole, 0, b.scene.capacity(), 1, nil)
	}
	if len(b.terms.All)*len(b.active.list) > b.flushAt {
		b.flushAll()
	}
	together := b.history.together(s, alike, b.flushAll)
	for i := range b.active.list {
		g := &b.active.list[i]
		if g.key.kind != locked && together {
			b.collect(g, b.scene.spread(g.key.actor), seen)
			continue
		}
		b.chain, b.visited = b.chain[:0], 0
		if g.key.who != nobody {
			b.chain = append(b.chain, g.key.who)
		}
		b.placeWhole(g.key, seen.of(g.n))
	}
	b.history.end()
	return b.checkSize()
}

// placeWhole adds the hits of a goroutine of the view.
func (b *builder) placeWhole(in instance, w share) {
	if b.lock != nil {
		b.placeBlocked(in.node, in.actor, w)
		return
	}
	b.place(in, w)
}

// place adds hits below an instance's stack, by the actor's
// state in this sample.
func (b *builder) place(in instance, w share) {
	switch in.kind {
	case waiting:
		b.add(b.releaseNode(b.tree.Child(b.typedNode(in.node, Wait), b.reason(in.reason)),
			in.release), w)
	case locked:
		b.placeBlocked(b.monitorNode(in.node, in.lock), in.actor, w)
	default:
		b.placeSpread(in, b.scene.spread(in.actor), w)
	}
}

// placeSpread divides the hits of a goroutine that runs or is runnable.
func (b *builder) placeSpread(in instance, sp *spread, w share) {
	if run := sp.typed[Run]; run > 0 {
		b.add(b.typedNode(in.node, Run), w.times(run, sp.of))
	}
	if b.server {
		return
	}
	for i := range sp.waits {
		wt := &sp.waits[i]
		heads := wt.forClass(in.class)
		if heads == 0 {
			continue
		}
		b.add(b.termNode(in.node, wt.key()), w.times(heads*wt.num, wt.den))
	}
}

// placeBlocked divides the hits of a goroutine that waits for a
// lock over the lock's holders, and continues with the holders'
// states. Holders that don't exist in this sample are not known.
func (b *builder) placeBlocked(node int32, a actor, w share) {
	var set []sampledata.GoroutineID
	if a.holders != 0 {
		set = b.scene.r.HolderSets[a.holders]
	}
	n, unknown := int64(len(set)), int64(0)
	if n == 0 {
		in := unknownHolder
		if a.free {
			in = freeLock
		}
		b.add(b.releaseNode(b.childNode(node, in), a.release), w)
		return
	}
	each := w.times(1, n)
	for _, g := range set {
		run, exists := b.scene.at(g)
		if !exists {
			unknown++
			continue
		}
		b.placeHolder(node, run, each)
	}
	if unknown > 0 {
		b.add(b.childNode(node, unknownHolder), w.times(unknown, n))
	}
}

// releaseNode returns the node for who ended a wait, below the
// node of the wait: ":released-by", and there the class and the
// stack of that goroutine as it did so. If that is not known, it
// returns the wait's own node. The class is the function at the
// stack's outermost frame. It is no holder: after a lock was
// handed over, the one who releases it had it only lately.
func (b *builder) releaseNode(node int32, r sampledata.Release) int32 {
	stack := r.Stack()
	if stack == sampledata.NoStack {
		return node
	}
	class := b.scene.classes.ofStack(stack)
	return b.stacks.node(b.tree.Child(b.childNode(node, releasedBy), b.frameOf(class)), stack)
}

// placeHolder adds hits to one holder's class, stack and typed
// time, below the :MONITOR of its waiter. If the holder waits
// for a lock itself, place calls placeHolder again for the
// holders of that lock. For example, g1 of class A waits for a
// lock that g2 of class B holds. g2 waits for a lock that g3 and
// g4 of class C hold. g3 runs, and g4 waits for g1's lock:
//
//	A ... :MONITOR B ... :MONITOR C ... :RUN                     1/2
//	                              C ... :MONITOR A :deadlock     1/2
//
// The chain is g1, g2, g4; then g1 occurs again, which closes the cycle.
func (b *builder) placeHolder(node int32, run sampledata.Run, w share) {
	a := b.scene.actor(run)
	class := b.tree.Child(node, b.frameOf(a.class))
	b.visited++
	switch {
	case slices.Contains(b.chain, run.Goroutine):
		b.add(b.childNode(class, b.cycleFrom(run.Goroutine)), w)
	case b.holders >= b.maxChain || b.visited > maxHolders || b.tree.Len() > b.maxNodes:
		b.warnings.add("cut-chain", 1, b.cutMessage)
		b.add(b.childNode(class, cutChain), w)
	default:
		b.chain = append(b.chain, run.Goroutine)
		b.holders++
		b.place(instance{a, b.stacks.node(class, run.Stack)}, w)
		b.holders--
		b.chain = b.chain[:len(b.chain)-1]
	}
}

// cycleFrom returns the frame for a cycle that closes at a
// goroutine of the chain.
func (b *builder) cycleFrom(g sampledata.GoroutineID) child {
	for _, member := range b.chain[slices.Index(b.chain, g):] {
		if run, exists := b.scene.at(member); exists && run.Evidence == sampledata.Likely {
			return likelyCycle
		}
	}
	return deadlock
}

func (b *builder) cutMessage() string {
	switch {
	case b.maxChain == 0:
		return "the holders of locks do too many different things: only their classes are shown"
	case b.maxChain < maxChain:
		return fmt.Sprintf("the holders of locks wait for locks in too many ways: chains end with holder %d", b.maxChain)
	}
	return "goroutines wait for one another's locks in a chain that is too long to show"
}

func (b *builder) add(node int32, w share) {
	w.addTo(b.tree, node)
	b.history.add(Ending, node, w.num, w.den, w.big)
}

func (b *builder) typedNode(node int32, t TypedTime) int32 { return b.tree.Child(node, b.typed[t]) }

// monitorNode returns the node of waiting for a lock, which may
// have a name.
func (b *builder) monitorNode(node int32, lock string) int32 {
	if lock == "" {
		return b.typedNode(node, Monitor)
	}
	f := b.tree.Symbols().Intern(Monitor.String() + placeMark + lock)
	b.named[f] = true
	return b.tree.Child(node, f)
}

// isMonitor reports whether a frame means waiting for a lock.
func (b *builder) isMonitor(f calltree.Func) bool { return f == b.typed[Monitor] || b.named[f] }

func (b *builder) childNode(node int32, c child) int32 { return b.tree.Child(node, b.children[c]) }

// frameOf returns the frame of a class, or of the child in place
// of a class.
func (b *builder) frameOf(to classID) calltree.Func {
	if c, ok := to.asChild(); ok {
		return b.children[c]
	}
	for int(to) >= len(b.frames) {
		b.frames = append(b.frames, newFrame)
	}
	if b.frames[to] == newFrame {
		b.frames[to] = b.tree.Symbols().Intern(b.scene.classes.names.All[to])
	}
	return b.frames[to]
}

func (b *builder) reason(text string) calltree.Func {
	return lists.Made(b.reasons, text,
		func() calltree.Func { return b.tree.Symbols().Intern(ReasonFrame(text)) })
}

// warnings counts warnings by kind, and keeps the first message of each.
type warnings []sampledata.Warning

func (ws *warnings) add(kind string, n int64, message func() string) {
	i := slices.IndexFunc(*ws, func(w sampledata.Warning) bool { return w.Kind == kind })
	if i < 0 {
		*ws = append(*ws, sampledata.Warning{Kind: kind, Message: message(), Count: n})
		return
	}
	(*ws)[i].Count += n
}
