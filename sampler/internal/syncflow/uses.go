package syncflow

import (
	"slices"

	"github.com/cpprof/cpprof/sampler/internal/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/internal/goruntime"
	"github.com/cpprof/cpprof/sampler/internal/machinecode"
)

// An ActionKind is what ends a wait that is not for a lock.
type ActionKind uint8

const (
	Send    ActionKind = iota // to a channel
	Receive                   // from a channel
	Done                      // of a sync.WaitGroup: Done, or Add of a number below 0
	Signal                    // of a sync.Cond, or Broadcast
)

// An Action is something that a goroutine may still do with a channel, a sync.WaitGroup or a sync.Cond, by the functions
// that it stands in.
type Action struct {
	Object  uint64 // address of the channel, the WaitGroup or the Cond
	Kind    ActionKind
	Awaited bool // the goroutine itself waits, in a method Wait, until others do that
}

// A useTerm is how to find it from a frame.
type useTerm struct {
	term  *Term
	does  ActionKind
	waits bool
}

// Bounds of what is looked at.
const (
	maxUses  = 16 // of a function
	maxCases = 16 // of a select
)

// Uses appends the channels, groups and conditions with which a goroutine may do something, by the functions that it stands in,
// from where it stands in them on: those that something in their frames leads to. Frames come from the innermost to the
// outermost; registers are as for Held. What isn't complete is worth asking again after a Refill.
func (a *Analyzer) Actions(dst []Action, frames []unwind.Frame, m Memory, registers []uint64) (uses []Action, complete bool) {
	complete = true
	for i := range frames {
		f := &frames[i]
		if f.System {
			continue
		}
		terms, ok := a.useTerms(f)
		complete = complete && ok
		if len(terms) == 0 {
			continue
		}
		fr := frame{sp: f.SP, m: m, register: a.registers(frames, i, m, registers)}
		for _, t := range terms {
			if addr, ok := t.term.eval(&fr); ok && addr != 0 {
				dst = append(dst, Action{addr, t.does, t.waits})
			}
		}
	}
	return dst, complete
}

// Deferred appends the uses of a deferred function that is still to run, by its closure's address.
func (a *Analyzer) DeferredActions(dst []Action, closure uint64, m Memory) (uses []Action, complete bool) {
	f := &frame{m: m, register: func(r int) (uint64, bool) { return closure, machinecode.Reg(r) == a.machine.closure }}
	code := &Term{kind: tLoad, a: &Term{kind: tRegister, c: int64(a.machine.closure)}}
	entry, ok := code.eval(f)
	if !ok {
		return dst, true
	}
	c := a.callee(entry)
	if c.wakersSeen == 0 && a.left <= 0 {
		return dst, false
	}
	a.spend(1)
	for _, d := range a.deedsOf(c, maxWakers) {
		if addr, ok := d.thing.eval(f); ok && addr != 0 {
			dst = append(dst, Action{Object: addr, Kind: d.does})
		}
	}
	return dst, true
}

var noUses = []useTerm{}

// useTerms gives the uses of a frame's place, false where they are not known yet.
func (a *Analyzer) useTerms(f *unwind.Frame) ([]useTerm, bool) {
	for int(f.Site) >= len(a.uses) {
		a.uses = append(a.uses, nil)
	}
	if t := a.uses[f.Site]; t != nil {
		return t, true
	}
	if a.left <= 0 {
		return nil, false
	}
	terms := a.learnUses(f)
	a.uses[f.Site] = terms
	return terms, true
}

func (a *Analyzer) learnUses(f *unwind.Frame) []useTerm {
	a.spend(1)
	fn, ok := a.p.Table.Func(f.PC)
	if !ok {
		return noUses
	}
	c := a.callee(fn.Entry)
	waits := c.role == goruntime.CallGroupWait || c.role == goruntime.CallCondWait
	if !waits && !a.useful(c) {
		return noUses
	}
	w := a.flowOf(fn)
	if w == nil {
		return noUses
	}
	i := w.at(f.PC)
	if !f.Exact {
		i = w.ending(f.PC)
	}
	if i < 0 {
		return noUses
	}
	if waits {
		return w.waitTerms(i, f.Exact, c.role)
	}
	return w.termsFrom(i, f.Exact)
}

// useful tells whether a function may have uses.
func (a *Analyzer) useful(c *function) bool {
	if c.quiet || c.role != goruntime.CallOther {
		return false
	}
	if !c.scanned {
		a.scan(c)
	}
	return c.sends || a.wakes(c, maxWakers)
}

// waitTerms gives what one waits for who stands in a method Wait.
func (w *flow) waitTerms(i int, exact bool, r goruntime.CallRole) []useTerm {
	does := Done
	if r == goruntime.CallCondWait {
		does = Signal
	}
	if s := w.before(i); s != nil {
		if t := w.locate(s, w.values.entry(w.a.machine.argument), exact, 0); t != nil {
			return []useTerm{{t, does, true}}
		}
	}
	return noUses
}

// termsFrom gives the uses that can come from an instruction on, as far as they can be found from a frame that stands there.
func (w *flow) termsFrom(i int, exact bool) []useTerm {
	s := w.before(i)
	if s == nil {
		return noUses
	}
	terms := noUses
	var known []use
	after := w.reach(i)
	for _, u := range w.listUses() {
		// What is under way in a call tells the callee's frame.
		here := u.at == i && (exact || !u.helper)
		if !here && !after(u.at) {
			continue
		}
		u.at, u.helper = 0, false
		if slices.Contains(known, u) || len(known) >= maxUses {
			continue
		}
		known = append(known, u)
		if t := w.locate(s, u.thing, exact, 0); t != nil {
			terms = append(terms, useTerm{term: t, does: u.does})
		}
	}
	return terms
}

// reach tells of each instruction whether the code can come to it after a given one.
func (w *flow) reach(from int) func(i int) bool {
	reached := make([]bool, len(w.blocks))
	own := w.blockOf(from)
	work := slices.Clone(w.blocks[own].next)
	for len(work) > 0 {
		k := work[len(work)-1]
		work = work[:len(work)-1]
		if !reached[k] {
			reached[k] = true
			work = append(work, w.blocks[k].next...)
		}
	}
	return func(i int) bool {
		k := w.blockOf(i)
		return reached[k] || k == own && i > from
	}
}
