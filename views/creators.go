package views

import (
	"cmp"
	"errors"
	"slices"

	"github.com/cpprof/cpprof/internal/intern"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
)

// maxCreators limits the creators above a goroutine. If it has
// more, it hangs below the same ones as its creator.
const maxCreators = 50

// creators know who started which goroutines, as far as the
// recording does. A goroutine of the runtime works for nobody:
// whoever needed it first started it.
type creators struct {
	r       *sampledata.Recording
	classes *classes
	of      []linkID // by goroutine
	links   intern.List[link, linkID]
}

// A linkID is the number of a link.
type linkID int32

// noLink says that a goroutine's creator is not known.
const noLink linkID = 0

// A link is where goroutines were started: by goroutines of a
// class, which other links lead to.
type link struct {
	up    linkID  // of the creator
	class classID // of the creator as it started them
	// of the creator, down to the function of the go statement;
	// NoStack if it was not seen there
	stack sampledata.NodeID
	site  sampledata.Site
	depth int // number of links up to here
}

// CheckCreators returns an error if a recording doesn't know of
// any goroutine who started it.
func CheckCreators(r *sampledata.Recording) error {
	for _, g := range r.Goroutines.All() {
		if g.Parent != 0 {
			return nil
		}
	}
	return errors.New("it is not known which goroutine started which: recordings of programs that Go 1.21 or a later one has built know it, and execution traces")
}

// A started goroutine is one whose creator is known, or at least
// its number.
type started struct {
	sampledata.Goroutine
	code    sampledata.GoroutineID
	creator sampledata.GoroutineID // nobody if it was not seen
	first   int32                  // the sample in which it was first seen
	// runs of the creator: the last one that began by then, and
	// the one before it; -1 if there is none
	now, before int32
}

func newCreators(r *sampledata.Recording, c *classes) *creators {
	cs := &creators{r: r, classes: c, of: make([]linkID, r.Goroutines.Len())}
	cs.links.Number(link{}) // noLink
	all := findStarted(r)
	index := make(map[sampledata.GoroutineID]int)
	for i := range all {
		index[all[i].code] = i
	}
	done := make([]bool, len(all))
	for i := range all {
		var way []int // up to a goroutine that has its link
		for j, ok := i, true; ok && !done[j]; j, ok = index[all[j].creator] {
			done[j] = true // also ends a circle
			way = append(way, j)
		}
		for _, j := range slices.Backward(way) {
			cs.of[all[j].code] = cs.link(&all[j])
		}
	}
	return cs
}

// findStarted finds the goroutines that others started, in the
// order in which they were first seen, and what their creators
// did then.
func findStarted(r *sampledata.Recording) (all []started) {
	byID := make(map[int64]sampledata.GoroutineID)
	for g, one := range r.Goroutines.All() {
		byID[one.ID] = g
	}
	seen := make([]bool, r.Goroutines.Len())
	for _, run := range r.Runs.All() {
		if seen[run.Goroutine] {
			continue
		}
		seen[run.Goroutine] = true
		g := r.Goroutines.At(run.Goroutine)
		if g.Parent == 0 || g.System || g.GC {
			continue
		}
		s := started{Goroutine: g, code: run.Goroutine, creator: nobody, first: run.First, now: -1, before: -1}
		if creator, ok := byID[g.Parent]; ok {
			s.creator = creator
		}
		all = append(all, s)
	}
	type runs struct{ last, before int32 }
	of := slices.Repeat([]runs{{-1, -1}}, r.Goroutines.Len())
	next := 0
	see := func(until int32) {
		for ; next < len(all) && all[next].first < until; next++ {
			if s := &all[next]; s.creator != nobody {
				s.now, s.before = of[s.creator].last, of[s.creator].before
			}
		}
	}
	for i, run := range r.Runs.All() {
		see(run.First)
		of[run.Goroutine] = runs{int32(i), of[run.Goroutine].last}
	}
	see(int32(r.Samples.Len()))
	return all
}

// link returns where a goroutine was started. Its creator has
// its link already.
func (cs *creators) link(s *started) linkID {
	l := link{class: cs.classes.members[cs.classes.member(unknownClass)].class,
		stack: sampledata.NoStack, site: s.Site}
	if s.creator != nobody {
		l.up = cs.of[s.creator]
	}
	l.depth = cs.links.All[l.up].depth + 1
	if l.depth > maxCreators {
		return l.up
	}
	for _, i := range []int32{s.now, s.before} {
		if i < 0 {
			continue
		}
		run := cs.r.Runs.At(int(i))
		if i == s.now {
			l.class = cs.classes.of(run)
		}
		if run.Last >= s.first-1 && l.stack == sampledata.NoStack {
			l.stack = toSite(cs.r, run, s.Site)
		}
	}
	return cs.links.Number(l)
}

// toSite returns a run's stack down to the function with a go
// statement; NoStack if it is not on the stack.
func toSite(r *sampledata.Recording, run sampledata.Run, site sampledata.Site) sampledata.NodeID {
	if run.Torn {
		return sampledata.NoStack
	}
	return r.Innermost(run.Stack, func(name string) bool { return name == site.Function })
}

// charged calls a function with each class that an actor's time
// is charged to: its own, and its creators'.
func (sc *scene) charged(a actor, to func(classID)) {
	to(a.class)
	for l := a.by; l != noLink; l = sc.creators.links.All[l].up {
		if c := sc.creators.links.All[l].class; c != a.class && !sc.creators.between(a.by, l, c) {
			to(c)
		}
	}
}

// between reports whether links below another one have a class.
func (cs *creators) between(from, to linkID, class classID) bool {
	for ; from != to; from = cs.links.All[from].up {
		if cs.links.All[from].class == class {
			return true
		}
	}
	return false
}

// isOf reports whether an actor's time is charged to a class.
func (sc *scene) isOf(a actor, class classID) bool {
	return a.class == class || a.by != noLink && sc.creators.between(a.by, noLink, class)
}

// top returns the class of the first of the goroutines that led
// to an actor.
func (sc *scene) top(a actor) classID {
	class := a.class
	for l := a.by; l != noLink; l = sc.creators.links.All[l].up {
		class = sc.creators.links.All[l].class
	}
	return class
}

// base returns the node below which an actor's stack begins: the
// view's root or, if it was started by others, its class below
// the go statement.
func (b *builder) base(a actor) int32 {
	top := b.topNode(a)
	if at, ok := b.createdNode(a.by, top); ok {
		return b.tree.Child(at, b.startedFrame(a.class))
	}
	return top
}

// createdNode returns the node of a go statement, given the node
// of the view's class; false if what it started is not charged to
// that class.
func (b *builder) createdNode(at linkID, top int32) (node int32, ok bool) {
	if at == noLink {
		return 0, false
	}
	if n, ok := b.created[at]; ok {
		return n, n >= 0
	}
	l := b.scene.creators.links.All[at]
	node = top
	above, ok := b.createdNode(l.up, top)
	switch {
	case ok:
		node, ok = b.tree.Child(above, b.startedFrame(l.class)), true
	case b.server || b.threads || l.class == b.class:
		ok = true
	}
	if !ok {
		b.created[at] = -1
		return 0, false
	}
	node = b.stacks.started(node, l.stack, l.site)
	b.created[at] = node
	return node, true
}

// startedMark begins the frame of a class whose goroutines were
// started above it. It is a frame like others, so that a path
// goes on below it.
const startedMark = "+"

func (b *builder) startedFrame(class classID) calltree.Func {
	return lists.Made(b.startedFrames, class, func() calltree.Func {
		return b.tree.Symbols().Intern(startedMark + b.scene.classes.names.All[class])
	})
}

// started returns the node of a function with a go statement. A
// stack that is known ends with this function.
func (s *stacks) started(base int32, stack sampledata.NodeID, site sampledata.Site) int32 {
	f := &sampledata.Function{Name: site.Function, File: site.File}
	n := &sampledata.Node{Parent: sampledata.NoStack, Function: -1, Line: site.Line}
	if stack != sampledata.NoStack {
		known := &s.r.Nodes[stack]
		f, n = &s.r.Functions[known.Function], &sampledata.Node{Parent: known.Parent,
			Function: known.Function, Line: cmp.Or(site.Line, known.Line), Inlined: known.Inlined}
		base = s.node(base, known.Parent)
		if s.o.mergedIntoCaller(s.r, known) {
			return base
		}
	}
	if f.Name == "" {
		return base
	}
	frame := s.b.Symbols().Intern(s.frameName(f, n))
	if frame == s.nearestFrame(n.Parent) && (s.o.Granularity == ByFile || s.o.Granularity == ByPackage) {
		return base
	}
	return s.b.Child(base, frame)
}

// WithStarted adds to stretches what the goroutines do that were
// started in them, directly or not, as long as the stretches
// last. Who was first seen in the first sample of a
// stretch may have been started before. It counts if the go
// statement is on its creator's stack there, and the stack fits.
func WithStarted(r *sampledata.Recording, in []sampledata.Stretch,
	fits func(sampledata.NodeID) bool) []sampledata.Stretch {
	of := make(map[sampledata.GoroutineID][]*started)
	all := findStarted(r)
	for i := range all {
		if s := &all[i]; s.creator != nobody {
			of[s.creator] = append(of[s.creator], s)
		}
	}
	list := slices.Clone(in)
	for _, st := range in {
		members, known := []sampledata.GoroutineID{st.Goroutine}, map[sampledata.GoroutineID]bool{st.Goroutine: true}
		for i := 0; i < len(members); i++ { // they become more
			for _, s := range of[members[i]] {
				if s.first < st.First || s.first > st.Last || known[s.code] ||
					i == 0 && s.first == st.First && !s.startedIn(r, fits) {
					continue
				}
				members, known[s.code] = append(members, s.code), true
				list = append(list, sampledata.Stretch{Goroutine: s.code, First: s.first, Last: st.Last})
			}
		}
	}
	return list
}

// startedIn reports whether the creator, in the first sample of
// a goroutine, has the go statement on its stack, and the stack
// down to there fits.
func (s *started) startedIn(r *sampledata.Recording, fits func(sampledata.NodeID) bool) bool {
	if s.now < 0 {
		return false
	}
	run := r.Runs.At(int(s.now))
	at := toSite(r, run, s.Site)
	return run.Last >= s.first && at != sampledata.NoStack && fits(at)
}
