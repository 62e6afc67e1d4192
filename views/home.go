package views

import (
	"cmp"
	"math"
	"path"
	"regexp"

	"github.com/cpprof/cpprof/internal/intern"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
)

// homes are the places that goroutines come back to between two
// pieces of work: a function, called by certain others, in whose
// loop they wait to receive, read, or be woken, with nothing of
// the work on the stack. The whole recording decides, so that an
// idle goroutine is idle in every span.
//
// The function in which a goroutine began is a home if
// goroutines that waited there were seen elsewhere later, or
// others of the same function were seen at work below it. A
// function further down may be a step of the work: the loop of a
// client that asks a server looks like one that waits for work.
// It is a home if goroutines came back to it again and again,
// and were never seen outside of it in between. A goroutine that
// lives for one piece of work has no home.
//
// What nobody was seen to leave is no home: whoever waits there
// has not moved.
type homes struct {
	d     *idleness
	calls []callID // by node
	stats []home   // by call

	requests  map[callID]bool // see findRequests
	exchanges []exchange      // by node; see findExchanges
	asks      []bool          // by node; see findAsks
	shared    []bool          // by node; see findNewChannels
	mailboxes map[mailbox]bool
}

// A mailbox is a channel from which a goroutine receives at home.
type mailbox struct {
	goroutine sampledata.GoroutineID
	channel   uint64
}

// A callID numbers a function with all its callers: the nodes
// that differ only in lines.
type callID int32

// A home counts what goroutines did at a call that may be a home.
type home struct {
	node   sampledata.NodeID // one of the call's
	parent callID
	first  bool // it is a goroutine's first function, or leads to it
	begins bool // goroutines began in it, and waited there
	left   bool // somebody who waited there was seen elsewhere, or somebody else at work below
	sleeps bool // somebody slept there
	serves bool // between two pieces of work, a request is read there or below
	// it has steps: somebody was in a call where nobody rests,
	// after somebody rested in another one
	divided bool
	// the first sample in which somebody waited in it or below
	// as one does at home; never if nobody did
	rests   int32
	until   int32 // the last sample in which somebody was in it or below
	returns int32 // times that a goroutine came back
	outside int32 // times that it was outside of it in between
	is      bool
}

// never is later than all samples.
const never = math.MaxInt32

// An origin is a function with which goroutines began.
type origin struct{ goroutines, ended int32 }

// livesForOne reports whether each goroutine lives for one piece
// of work, and hardly any comes back to a call.
func (o *origin) livesForOne(s *home) bool {
	return 2*o.ended > o.goroutines && s.returns < o.ended
}

// minReturns is how often goroutines come back at least to a
// home that is not the function in which they began.
const minReturns = 3

// maxStays limits the places of one goroutine that may be homes.
const maxStays = 8

// A stay is a goroutine at a place that may be its home.
type stay struct {
	at           callID
	run          sampledata.Run // when it was last seen there
	away, beyond bool           // it was seen elsewhere since, and outside of the place
}

// A stayState is what a goroutine does at its place.
type stayState struct {
	stack sampledata.NodeID
	does  Doing
}

func stateOf(run sampledata.Run) stayState { return stayState{run.Stack, DoingOf(run)} }

// WaitsAgain reports whether a goroutine that waits as before ran in between.
func WaitsAgain(before, run sampledata.Run) bool {
	return before.Last+1 == run.First && before.State() == run.State()
}

// Moved reports whether a goroutine moved between two of its
// runs: it does something else, or it waits again, or for
// another object.
func Moved(before, run sampledata.Run) bool {
	return stateOf(before) != stateOf(run) || WaitsAgain(before, run) || isOther(before.Lock, run.Lock)
}

// isOther reports whether two addresses are of different
// objects. 0 is not known.
func isOther(a, b uint64) bool { return a != b && a != 0 && b != 0 }

func newHomes(d *idleness) *homes {
	h := &homes{d: d}
	h.number()
	stays := make([][]stay, d.r.Goroutines.Len())
	origins := make([]*origin, d.r.Goroutines.Len())
	byFunction := make(map[sampledata.FunctionID]*origin)
	last := make([]int32, d.r.Goroutines.Len())
	for _, run := range d.r.Runs.All() {
		last[run.Goroutine] = run.Last
		if run.Stack == sampledata.NoStack || run.Torn {
			continue
		}
		if origins[run.Goroutine] == nil {
			origins[run.Goroutine] = lists.Made(byFunction, d.firstFunction(run.Stack),
				func() *origin { return new(origin) })
		}
		h.see(run, &stays[run.Goroutine])
	}
	of := make(map[callID]*origin)
	for g, o := range origins {
		if o == nil {
			continue
		}
		o.goroutines++
		if int(last[g]) < d.r.Samples.Len()-1 {
			o.ended++
		}
		for _, s := range stays[g] {
			of[s.at] = o
		}
	}
	h.divide()
	for c, o := range of {
		h.stats[c].is = h.judge(c, o)
	}
	h.findRequests()
	h.findExchanges()
	h.findAsks()
	h.findIntakes(of)
	h.findMailboxes()
	return h
}

// findMailboxes finds out from which channels goroutines receive their work.
func (h *homes) findMailboxes() {
	h.mailboxes = make(map[mailbox]bool)
	for _, run := range h.d.r.Runs.All() {
		if run.Stack == sampledata.NoStack || !receives(run) {
			continue
		}
		p := h.d.placeOf(run.Stack)
		home := p.verdict == mayBeHome || p.verdict == beginsHere
		if home && h.idle(run.Stack, p.at, DoingOf(run)) {
			h.mailboxes[mailbox{run.Goroutine, run.Lock}] = true
		}
	}
}

// collects reports whether a goroutine waits for more work,
// though it has some: it receives from the same channel as at
// home. Debouncers and batchers do.
func (h *homes) collects(run sampledata.Run, at sampledata.NodeID) bool {
	return receives(run) && !h.asks[at] && h.mailboxes[mailbox{run.Goroutine, run.Lock}]
}

// number numbers the calls.
func (h *homes) number() {
	type key struct {
		parent   callID
		function sampledata.FunctionID
	}
	var keys intern.List[key, callID]
	h.calls = make([]callID, len(h.d.r.Nodes))
	for n, node := range h.d.r.Nodes {
		k := key{-1, node.Function}
		if node.Parent != sampledata.NoStack {
			k.parent = h.calls[node.Parent]
		}
		c := keys.Number(k)
		if int(c) == len(h.stats) {
			first := k.parent < 0 || h.stats[k.parent].first && h.d.begins(node.Parent)
			h.stats = append(h.stats, home{node: sampledata.NodeID(n), parent: k.parent,
				first: first, rests: never})
		}
		h.calls[n] = c
	}
}

// divide finds out which calls have steps.
func (h *homes) divide() {
	for c := len(h.stats) - 1; c >= 0; c-- { // callers have smaller numbers
		if s := &h.stats[c]; s.parent >= 0 {
			of := &h.stats[s.parent]
			of.rests, of.until = min(of.rests, s.rests), max(of.until, s.until)
		}
	}
	for i := range h.stats {
		if s := &h.stats[i]; s.parent >= 0 && s.rests == never {
			of := &h.stats[s.parent]
			of.divided = of.divided || s.until > of.rests
		}
	}
}

// isStep reports whether a call is a step of a goroutine's work.
func (h *homes) isStep(c callID) bool {
	for c = h.stats[c].parent; c >= 0 && !h.stats[c].first; c = h.stats[c].parent {
		if h.stats[c].divided {
			return true
		}
	}
	return false
}

// idle reports whether a goroutine that waits as one may at home
// is idle: at the end of a stack, in the function of a node.
func (h *homes) idle(stack, at sampledata.NodeID, does Doing) bool {
	c := h.calls[at]
	if does != AwaitingIO {
		return h.stats[c].is && !h.stats[c].serves && !h.asks[at]
	}
	e := h.exchanges[stack]
	return e != answer && (e == request || h.stats[c].is || h.requests[c])
}

// see notes a run of a goroutine.
func (h *homes) see(run sampledata.Run, stays *[]stay) {
	now := h.calls[run.Stack]
	h.stats[now].until = max(h.stats[now].until, run.Last)
	at := h.waitsAt(run)
	if at >= 0 {
		s := &h.stats[at]
		s.rests = min(s.rests, run.First)
		s.sleeps = s.sleeps || DoingOf(run) == Sleeping
	}
	known := false
	for i := range *stays {
		s := &(*stays)[i]
		if s.at == at {
			known = true
			h.back(s, run)
			continue
		}
		s.away = true
		h.stats[s.at].left = true
		s.beyond = s.beyond || !h.within(now, s.at)
	}
	if at >= 0 && !known && len(*stays) < maxStays {
		*stays = append(*stays, stay{at: at, run: run})
	}
	if at < 0 && len(*stays) == 0 && run.First == 0 {
		h.works(run.Stack)
	}
}

// back notes that a goroutine waits at a place where it waited before.
func (h *homes) back(s *stay, run sampledata.Run) {
	of := &h.stats[s.at]
	if Moved(s.run, run) {
		of.left = true
	}
	if s.away {
		of.returns++
	}
	if s.beyond {
		of.outside++
	}
	*s = stay{at: s.at, run: run}
}

// works notes that a goroutine was at work when the recording
// began: it has left the home of its function, if there is one.
func (h *homes) works(stack sampledata.NodeID) {
	for n := stack; n != sampledata.NoStack; n = h.d.r.Nodes[n].Parent {
		if n != stack && h.d.begins(h.d.r.Nodes[n].Parent) {
			h.stats[h.calls[n]].left = true
		}
	}
}

// waitsAt returns the call at which a goroutine waits, if that
// may be a home, else -1.
func (h *homes) waitsAt(run sampledata.Run) callID {
	does := h.d.doing(run)
	if kindOf(run) != waiting || !meanings[does].home {
		return -1
	}
	p := h.d.placeOf(run.Stack)
	switch {
	case p.verdict == beginsHere:
		h.stats[h.calls[p.at]].begins = true
	case p.verdict != mayBeHome || does == AwaitingIO:
		return -1
	}
	return h.calls[p.at]
}

// within reports whether one call is another, or is made by it.
func (h *homes) within(inner, outer callID) bool {
	for inner > outer { // callers have smaller numbers
		inner = h.stats[inner].parent
	}
	return inner == outer
}

// barriers matches what goroutines call that wait until the
// others have come as far: they have no next piece of work.
var barriers = regexp.MustCompile(`(?i)^[^/]*\.[^/]*barrier`)

// judge decides whether a call is a home of the goroutines that
// began with a function.
func (h *homes) judge(c callID, o *origin) bool {
	s := &h.stats[c]
	if o.livesForOne(s) || barriers.MatchString(path.Base(h.d.name(s.node))) {
		return false
	}
	if s.begins {
		return s.left && !(s.sleeps && s.outside > 0) // a closure sleeps between two steps
	}
	return s.returns >= minReturns && s.outside == 0 && !(s.sleeps && h.isStep(c))
}

// HasNotMoved returns a function that reports whether a
// goroutine has not moved: it waits, for what is no lock, with
// the same stack in all samples of the recording. It was never
// seen to wait again, or for another object, and started no goroutine.
func HasNotMoved(r *sampledata.Recording) func(sampledata.GoroutineID) bool {
	type seen struct {
		run    sampledata.Run // the last one
		object uint64         // the address of what it waits for; 0 if not known
		until  int32          // the sample up to which it has not moved; 0 if it did
	}
	all := make([]seen, r.Goroutines.Len())
	for _, run := range r.Runs.All() {
		s := &all[run.Goroutine]
		switch {
		case !DoingOf(run).Waits(), inCoroutine(run.Reason):
			s.until = 0
		case run.First == 0:
			*s = seen{run, run.Lock, run.Last + 1}
		// the object may be known only of an earlier run
		case s.until == run.First && !Moved(s.run, run) && !isOther(s.object, run.Lock):
			*s = seen{run, cmp.Or(run.Lock, s.object), run.Last + 1}
		default:
			s.until = 0
		}
	}
	samples, starts := int32(r.Samples.Len()), Starts(r)
	return func(g sampledata.GoroutineID) bool {
		return samples > 1 && all[g].until == samples && len(starts[r.Goroutines.At(g).ID]) == 0
	}
}

// Starts returns the samples in which goroutines were first seen, by the
// ID of the goroutine that started them. Those that may have begun before
// the first sample are left out: IDs rise, but for a few.
func Starts(r *sampledata.Recording) map[int64][]int32 {
	starts, seen := make(map[int64][]int32), make([]bool, r.Goroutines.Len())
	newest := int64(0) // in the first sample
	for _, run := range r.Runs.All() {
		if run.First == 0 {
			newest = max(newest, r.Goroutines.At(run.Goroutine).ID)
		}
	}
	for _, run := range r.Runs.All() {
		if g := r.Goroutines.At(run.Goroutine); !seen[run.Goroutine] && run.First > 0 && g.ID > newest && g.Parent != 0 {
			starts[g.Parent] = append(starts[g.Parent], run.First)
		}
		seen[run.Goroutine] = true
	}
	return starts
}
