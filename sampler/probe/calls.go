package probe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/cpprof/cpprof/sampledata"
)

// A hit is what the kernel has recorded when a goroutine reached
// an instrument.
type hit struct {
	time uint64 // in nanoseconds, by the monotonic clock
	pc   uint64
	// its number, or the address of its g if it is the runtime's
	// own on a thread's stack
	goroutine uint64
	// from the upper end of the goroutine's stack down to the
	// stack pointer: it stays if the stack moves
	depth     uint64
	caller    uint64 // return address; at an entry
	lost      uint64 // number of hits that had been lost before
	registers []uint64
}

// A tally is what the hits have said of one function.
type tally struct {
	function             *Function
	timed                bool          // the returns have instruments
	untimed              atomic.Uint64 // when they were taken out, as hit.time; 0 if they were not
	returned, unfinished uint64
	blurred              uint64 // calls that were too full of hits to be timed
	elapsed              sampledata.Distribution
	sites                map[uint64]*siteTally
	arguments            []sampledata.Distribution
	log                  *callLog // nil if calls are not kept one by one
}

type siteTally struct {
	calls   uint64
	elapsed sampledata.Distribution
}

// An activation is a call that has not returned yet.
type activation struct {
	tally  *tally
	depth  uint64
	time   uint64
	caller uint64
	inside int64   // nanoseconds that hits within it have taken
	nested bool    // within another call of the function
	values []int64 // of the arguments, if the call is kept
}

// calls makes calls of hits. The hits of one goroutine come in
// their order.
type calls struct {
	entries map[uint64]*tally
	returns map[uint64]*tally
	open    map[uint64][]activation // by goroutine, the outermost first
	lost    uint64
	costs   costs
}

func newCalls(functions []Function) (*calls, []*tally) {
	c := &calls{entries: map[uint64]*tally{}, returns: map[uint64]*tally{},
		open: map[uint64][]activation{}}
	var tallies []*tally
	for i := range functions {
		f := &functions[i]
		t := &tally{function: f, sites: map[uint64]*siteTally{},
			arguments: make([]sampledata.Distribution, len(f.Arguments))}
		tallies = append(tallies, t)
		c.entries[f.Entry] = t
		for _, pc := range f.Returns {
			c.returns[pc] = t
		}
	}
	return c, tallies
}

// left reports whether the returns had been taken out at a time.
func (t *tally) left(at uint64) bool {
	from := t.untimed.Load()
	return from != 0 && at >= from
}

// end counts a call that has ended without a return, as far as
// that is known.
func (t *tally) end(at uint64) {
	if !t.left(at) {
		t.unfinished++
	}
}

// maxOpen limits the goroutines that are followed: of those that
// end by runtime.Goexit within a call, nothing more is heard.
const maxOpen = 1 << 16

// add adds a hit.
func (c *calls) add(h *hit) {
	if h.lost != c.lost || len(c.open) > maxOpen {
		c.forget(h.time)
		c.lost = h.lost
	}
	t := cmp.Or(c.entries[h.pc], c.returns[h.pc])
	if t != nil && t.log != nil && t.left(h.time) {
		c.closeWindow(t, h.time)
		return
	}
	if t := c.entries[h.pc]; t != nil {
		if t.function.Name == goexit {
			c.keep(h.goroutine, c.unwound(h.goroutine, 0, h.time))
		}
		c.enter(t, h)
	} else if t := c.returns[h.pc]; t != nil {
		c.leave(t, h)
	}
}

func (c *calls) enter(t *tally, h *hit) {
	stack := c.unwound(h.goroutine, h.depth, h.time)
	s := t.site(h.caller)
	s.calls++
	var values []int64
	if t.log != nil {
		values = make([]int64, len(t.function.Arguments))
	}
	for i := range t.function.Arguments {
		if a := &t.function.Arguments[i]; a.Register < len(h.registers) {
			value := a.value(h.registers[a.Register])
			t.arguments[i].Add(value)
			if values != nil {
				values[i] = value
			}
		}
	}
	early := t.log != nil && h.time < t.log.since // the instruments are in before the window is open
	if !t.timed || early || t.left(h.time) {
		return
	}
	nested := slices.ContainsFunc(stack, func(a activation) bool { return a.tally == t })
	c.open[h.goroutine] = append(stack,
		activation{tally: t, depth: h.depth, time: h.time, caller: h.caller, nested: nested, values: values})
}

// unwound returns the calls that are still open when a frame at
// a depth is entered: those that are at least as deep have ended
// without a return, by a panic or by runtime.Goexit.
func (c *calls) unwound(goroutine, depth, at uint64) []activation {
	stack := c.open[goroutine]
	for len(stack) > 0 && stack[len(stack)-1].depth >= depth {
		a := &stack[len(stack)-1]
		a.tally.end(at)
		if a.tally.log != nil {
			a.tally.log.add(goroutine, a, min(at, a.tally.untimed.Load()-1), true)
		}
		stack = stack[:len(stack)-1]
	}
	return stack
}

// maxInside is how many times longer a call takes than the hits
// within it, if it is timed: what these cost is known to about a
// third only.
const maxInside = 5

// maxBlurred is how many times more calls are timed than
// blurred, if times are given at all.
const maxBlurred = 20

func (c *calls) leave(t *tally, h *hit) {
	stack := c.unwound(h.goroutine, h.depth+1, h.time)
	top := len(stack) - 1
	if top < 0 || stack[top].depth != h.depth || stack[top].tally != t {
		c.keep(h.goroutine, stack) // the call began before the instrument was in
		if t.log != nil {
			t.log.addBegun(h)
		}
		return
	}
	a := stack[top]
	c.keep(h.goroutine, stack[:top])
	t.returned++
	if t.log != nil {
		t.log.add(h.goroutine, &a, h.time-uint64(c.costs.between), false)
	}
	if top > 0 {
		stack[top-1].inside += a.inside + int64(c.costs.entry+c.costs.ret)
	}
	if a.nested {
		return
	}
	elapsed := max(0, int64(h.time-a.time)-int64(c.costs.between))
	if a.inside*maxInside > elapsed {
		t.blurred++
		return
	}
	elapsed -= a.inside
	t.elapsed.Add(elapsed)
	t.site(a.caller).elapsed.Add(elapsed)
}

func (c *calls) keep(goroutine uint64, stack []activation) {
	if len(stack) == 0 {
		delete(c.open, goroutine)
	} else {
		c.open[goroutine] = stack
	}
}

// site returns the tally of a call site. Address 0 stands for
// all further sites.
func (t *tally) site(caller uint64) *siteTally {
	s := t.sites[caller]
	if s == nil {
		if len(t.sites) >= sampledata.MaxSites-1 {
			caller = 0
		}
		if s = t.sites[caller]; s == nil {
			s = &siteTally{}
			t.sites[caller] = s
		}
	}
	return s
}

// measured adds what the tally has to a result.
func (t *tally) measured(to *sampledata.Probe, site func(uint64) (string, string, int32)) {
	to.Returned, to.Unfinished = t.returned, t.unfinished
	known := t.blurred*maxBlurred <= t.elapsed.Count()
	if known {
		to.Elapsed = t.elapsed.Clone()
	} else {
		to.Note = strings.TrimPrefix(to.Note+"; ",
			"; ") + fmt.Sprintf("the times of calls are not known: "+
			"in %d of %d, hits of probed functions took more than a fifth of the time; "+
			"what calls these functions, or fewer of them, can be timed",
			t.blurred, t.blurred+t.elapsed.Count())
	}
	for caller, s := range t.sites {
		one := sampledata.CallSite{Calls: s.calls}
		if known {
			one.Elapsed = s.elapsed.Clone()
		}
		if caller != 0 {
			one.Caller, one.File, one.Line = site(caller)
		}
		to.Sites = append(to.Sites, one)
	}
	slices.SortFunc(to.Sites, func(a, b sampledata.CallSite) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Caller, b.Caller),
			cmp.Compare(a.Line, b.Line))
	})
	for i, a := range t.function.Arguments {
		to.Arguments = append(to.Arguments,
			sampledata.Argument{Name: a.Name, Kind: a.Kind, Values: t.arguments[i].Clone()})
	}
}
